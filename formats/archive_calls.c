/* archive_calls.c - loads libarchive. */
#include "formats/archive_calls.h"

#include <stddef.h>

#include "stitch/base/mem.h"
#include "stitch/base/shared_library.h"

struct archive_calls libarchive;

#define ARCHIVE_CALL_NAME(call) "archive_" #call,
static const char *const archive_names[] = { ARCHIVE_CALLS(ARCHIVE_CALL_NAME) };

int archive_load(struct err *err)
{
	/* that of all versions since 3.1 */
	static const char *const files[] = { "libarchive.so.13", NULL };
	const struct shared_library l = {
		"archives are written and read by",
		files,
		"libarchive13",
		archive_names,
		ARRAY_SIZE(archive_names),
		&libarchive,
	};

	return shared_library_load(&l, err);
}
