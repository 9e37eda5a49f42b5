/* capstone_calls.c - loads capstone. */
#include "symbolize/disasm/capstone_calls.h"

#include "stitch/base/mem.h"
#include "stitch/base/shared_library.h"

struct capstone_calls capstone;

/* Structures differ between versions, so only that of the header will do. */
#define CAPSTONE_TEXT(major) #major
#define CAPSTONE_MAJOR(major) CAPSTONE_TEXT(major)

#define CAPSTONE_CALL_NAME(call) "cs_" #call,
static const char *const capstone_names[] = { CAPSTONE_CALLS(
	CAPSTONE_CALL_NAME) };

int capstone_load(struct err *err)
{
	static const char *const files[] = {
		"libcapstone.so." CAPSTONE_MAJOR(CS_API_MAJOR), NULL
	};
	const struct shared_library l = {
		"instructions are shown by",
		files,
		"libcapstone" CAPSTONE_MAJOR(CS_API_MAJOR),
		capstone_names,
		ARRAY_SIZE(capstone_names),
		&capstone,
	};

	return shared_library_load(&l, err);
}
