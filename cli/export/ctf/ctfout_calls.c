/* ctfout_calls.c - loads libbabeltrace2. */
#include "cli/export/ctf/ctfout_calls.h"

#include "stitch/base/mem.h"
#include "stitch/base/shared_library.h"

struct bt_calls bt;

#define BT_CALL_NAME(call) "bt_" #call,
static const char *const bt_names[] = { BT_CALLS(BT_CALL_NAME) };

int bt_load(struct err *err)
{
	/* that of all versions since 2.0 */
	static const char *const files[] = { "libbabeltrace2.so.0", NULL };
	const struct shared_library l = {
		"CTF is written by",  files, "libbabeltrace2-0", bt_names,
		ARRAY_SIZE(bt_names), &bt,
	};

	return shared_library_load(&l, err);
}
