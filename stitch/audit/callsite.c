/* callsite.c - the words for results of the call-site check. */
#include "stitch/audit/callsite.h"

#include "stitch/base/words.h"

WORDS_FUNCTION(
	callsite_kind_name, unsigned int, [CALLSITE_DIRECT] = "direct",
	[CALLSITE_INDIRECT] = "indirect", [CALLSITE_SIGNAL] = "signal",
	[CALLSITE_START] = "start", [CALLSITE_NO_CALL] = "no_call",
	[CALLSITE_NO_CODE] = "no_code", [CALLSITE_UNCHECKED] = "unchecked");

WORDS_FUNCTION(callsite_link_name, unsigned int, [CALLSITE_PROVED] = "proved",
	       [CALLSITE_OPEN] = "open", [CALLSITE_GAP] = "gap",
	       [CALLSITE_UNKNOWN] = "unknown", [CALLSITE_NEVER] = "never",
	       [CALLSITE_INJECTED] = "injected", [CALLSITE_WALKED] = "walked");

WORDS_FUNCTION(
	thread_start_name,
	unsigned int, [START_TABLE] = "table", [START_ENTRY] = "entry",
	[START_LIBRARY] = "library", [START_ROUTINE] = "routine",
	[START_MARK] = "mark", [ENDS_FILE] = "file without frame pointers",
	[ENDS_FUNCTION] = "function without frame pointer",
	[ENDS_FRAME] = "frame pointer", [START_EXIT] = "exit",
	[ENDS_SWITCH] = "function that goes to another stack",
	[ENDS_DUMP] = "end of a stack dump", [START_KERNEL] = "kernel entry",
	[START_INTERRUPT] = "interrupt entry");

WORDS_FUNCTION(
	walk_name, unsigned int, [WALK_FP] = "frame pointers",
	[WALK_SFRAME] = "SFrame", [WALK_BOTH] = "SFrame and frame pointers",
	[WALK_EITHER] = "frame pointers or SFrame");

WORDS_FUNCTION(
	judged_name, unsigned int, [JUDGED_OPEN] = "not judged (uncertain)",
	[JUDGED_GENERATED] = "not judged (generated code)",
	[JUDGED_NO_FILE] = "not judged (no file)",
	[JUDGED_OTHER_FILE] = "not judged (other file)",
	[JUDGED_MAPPINGS] = "not judged (mappings)",
	[JUDGED_UNMAPPED] = "in no mapping", [JUDGED_ONE_FRAME] = "one frame",
	[JUDGED_FABRICATED] = "fabricated (no frame pointers)",
	[JUDGED_CALLER] = "caller missing", [JUDGED_WHOLE] = "whole",
	[JUDGED_NO_TABLE] = "not judged (no table)",
	[JUDGED_NO_START] = "not judged (start)",
	[JUDGED_EARLY_FILE] = "ends early (no frame pointers)",
	[JUDGED_EARLY_FUNCTION] = "ends early (function)",
	[JUDGED_EARLY_FRAME] = "ends early (unread)",
	[JUDGED_HOLE] = "caller missing (further out)",
	[JUDGED_EARLY_NO_SFRAME] = "ends early (no .sframe)",
	[JUDGED_EARLY_SFRAME] = "ends early (.sframe not registered)",
	[JUDGED_EARLY_SIGNED] = "ends early (signed address)",
	[JUDGED_FULL] = "cut (full)", [JUDGED_GUEST] = "not judged (guest)");
