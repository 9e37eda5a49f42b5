/* libarchive.c - loads libarchive. */
#include "formats/libarchive.h"

#include "stitch/base/mem.h"
#include "stitch/base/shared_library.h"

#define ARCHIVE_CALL_NAME(call) "archive_" #call,
static const char *const archive_names[] = { ARCHIVE_CALLS(ARCHIVE_CALL_NAME) };

const struct archive_calls *libarchive_load(struct err *err)
{
	static struct archive_calls calls;
	/* that of all versions since 3.1 */
	static const char *const files[] = { "libarchive.so.13", NULL };
	const struct shared_library l = {
		"archives are written and read by",
		files,
		"libarchive13",
		archive_names,
		ARRAY_SIZE(archive_names),
		&calls,
	};

	return shared_library_load(&l, err) ? NULL : &calls;
}
