/* capstone_calls.c - loads capstone. */
#include "symbolize/disasm/capstone_calls.h"

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <stdbool.h>

#include "stitch/base/err.h"

struct capstone_calls capstone;

/* Structures differ between versions, so only that of the header will do. */
#define CAPSTONE_TEXT(major) #major
#define CAPSTONE_NAME(major) "libcapstone.so." CAPSTONE_TEXT(major)

int capstone_load(struct err *err)
{
	static const char name[] = CAPSTONE_NAME(CS_API_MAJOR);
	static bool loaded;

	if (loaded)
		return 0;
	void *lib = dlopen(name, RTLD_NOW);

	if (!lib)
		return err_set(err, ERR_USAGE,
			       "instructions are shown by %s, which is not "
			       "here; install libcapstone%u",
			       name, CS_API_MAJOR);
#define CAPSTONE_CALL_LOAD(call)                                               \
	capstone.call = (__typeof__(capstone.call))dlsym(lib, "cs_" #call);    \
	if (!capstone.call)                                                    \
		return err_set(err, ERR_USAGE, "%s has no cs_%s()", name,      \
			       #call);
	CAPSTONE_CALLS(CAPSTONE_CALL_LOAD)
#undef CAPSTONE_CALL_LOAD
	loaded = true;
	return 0;
}
