/* archive_calls.c - loads libarchive. */
#include "formats/archive_calls.h"

#include <dlfcn.h>
#include <stdbool.h>

#include "stitch/base/err.h"

struct archive_calls libarchive;

int archive_load(struct err *err)
{
	/* that of all versions since 3.1 */
	static const char name[] = "libarchive.so.13";
	static bool loaded;

	if (loaded)
		return 0;
	void *lib = dlopen(name, RTLD_NOW);

	if (!lib)
		return err_set(err, ERR_USAGE,
			       "archives are written and read by %s, which is "
			       "not here; install libarchive13",
			       name);
#define ARCHIVE_CALL_LOAD(call)                                                \
	libarchive.call =                                                      \
		(__typeof__(libarchive.call))dlsym(lib, "archive_" #call);     \
	if (!libarchive.call)                                                  \
		return err_set(err, ERR_USAGE,                                 \
			       "%s is too old: it has no archive_%s()", name,  \
			       #call);
	ARCHIVE_CALLS(ARCHIVE_CALL_LOAD)
#undef ARCHIVE_CALL_LOAD
	loaded = true;
	return 0;
}
