/* trust_words.c - what the classes of view trust are called in sentences, and
 * what they mean. */
#include "analyze/stacks/trust_words.h"

#include <string.h>

const struct trust_word trust_words[] = {
	{ "whole", TRUST_WHOLE, "are whole",
	  "nothing speaks against a frame, and the outermost is where its "
	  "thread begins; a function that jumped to what it calls last (a "
	  "tail call) has left the stack" },
	{ "caller missing", TRUST_SHORT, "lack the innermost caller",
	  "the caller of the innermost function is not there: frame pointers "
	  "do not show it, nor further ones that have none either" },
	{ "caller missing (further out)", TRUST_SHORT,
	  "lack a caller further out",
	  "the caller of another function is not there: it sets no frame "
	  "pointer, or a signal interrupted it" },
	{ "ends early (no frame pointers)", TRUST_SHORT, "end early",
	  "no thread begins in the outermost frame: frame pointers lead no "
	  "further, as its file sets none" },
	{ "ends early (function)", TRUST_SHORT,
	  "end early in a function that sets no frame pointer",
	  "the same, but others of its file set one" },
	{ "ends early (unread)", TRUST_SHORT,
	  "end early at a frame that could not be read",
	  "the same, but this function has set one: the kernel could not read "
	  "the stack there" },
	{ "one frame", TRUST_SHORT, "have one frame only",
	  "a walk along frame pointers ended where it began" },
	{ "cut (full)", TRUST_SHORT, "have as many frames as the kernel keeps",
	  "there may be more: perf keeps 127 with those of the kernel (sysctl "
	  "kernel.perf_event_max_stack), ftrace 8" },
	{ "cut (truncated_dump)", TRUST_SHORT, "end with their dump",
	  "the stack goes on behind the end of the bytes that were recorded" },
	{ "cut (no_map)", TRUST_SHORT, "end in no mapping",
	  "the next address is in no mapping that can be code" },
	{ "cut (no_file)", TRUST_SHORT, "end in a file that is not here",
	  "the file of the next frame's code was not found" },
	{ "cut (no_table)", TRUST_SHORT, "end in code without unwind tables",
	  "no unwind table covers the code of the next frame" },
	{ "cut (foreign_stack)", TRUST_SHORT, "end on another stack",
	  "the stack goes on where nothing was recorded of it" },
	{ "cut (complex)", TRUST_SHORT, "end at a value that is not known",
	  "the unwind table needs a value that was not recorded" },
	{ "cut (loop)", TRUST_SHORT, "end in a loop",
	  "the next frame is not above the one that it called" },
	{ "cut (limit)", TRUST_SHORT, "have more frames than are kept",
	  "only the innermost 1,024 frames are" },
	{ "cut (contradiction)", TRUST_SHORT, "end where tables are wrong",
	  "the unwind table contradicts what was recorded" },
	{ "fabricated (no frame pointers)", TRUST_WRONG, "are fabricated",
	  "wrong: nothing can have been called from a frame, as when code "
	  "without frame pointers is walked" },
	{ "in no mapping", TRUST_WRONG, "have a frame in no mapping",
	  "nothing was mapped at an address" },
	{ "missing (chain_lost)", TRUST_MISSING, "ended in lost records",
	  "the verdict chain_lost, see above; likewise the others" },
	{ "missing (exit_per_task)", TRUST_MISSING, "ended with their thread",
	  "the verdict exit_per_task" },
	{ "missing (pending_end)", TRUST_MISSING, "were due at the end",
	  "the verdict pending_end" },
	{ "missing (unjoinable)", TRUST_MISSING, "have no cookie",
	  "the verdict unjoinable" },
	{ "missing (refused)", TRUST_MISSING, "were refused",
	  "the verdict refused, without a stack" },
	{ "missing (stripped)", TRUST_MISSING, "were removed from the file",
	  "the verdict stripped" },
	{ "missing (before_opt_in)", TRUST_MISSING, "were not logged yet",
	  "the verdict before_opt_in" },
	{ "missing (in_unwinder)", TRUST_MISSING, "were asked while unwinding",
	  "the verdict in_unwinder" },
	{ "missing (unwinder_died)", TRUST_MISSING, "were never logged",
	  "the verdict unwinder_died" },
	{ "missing (unexplained)", TRUST_MISSING, "are missing, unexplained",
	  "the verdict unexplained" },
	{ "missing (empty)", TRUST_MISSING, "came without a frame",
	  "the verdict empty" },
	{ "not judged (no file)", TRUST_UNCHECKED,
	  "are unchecked for want of the file",
	  "the file of a frame's code is not here" },
	{ "not judged (other file)", TRUST_UNCHECKED,
	  "are unchecked, as the file may be another",
	  "the file that is here may not be the one that ran: no build-id "
	  "proves it, and its calls do not fit the return addresses in it, or "
	  "its code what was mapped" },
	{ "not judged (mappings)", TRUST_UNCHECKED,
	  "are unchecked for want of mappings",
	  "not all mappings of the process are known" },
	{ "not judged (generated code)", TRUST_UNCHECKED,
	  "are unchecked for want of generated code",
	  "the bytes of code made at run time were not recorded" },
	{ "not judged (exec)", TRUST_UNCHECKED, "are of a later program",
	  "the thread called exec after the sample" },
	{ "not judged (uncertain)", TRUST_UNCHECKED,
	  "are unchecked at an inexact frame",
	  "a frame is not exactly known, or the call in front of it cannot have "
	  "led to the next inner one" },
	{ "not judged (no table)", TRUST_UNCHECKED,
	  "are unchecked for want of unwind tables",
	  "no unwind table covers a function, most often the innermost, whose "
	  "caller may be missing" },
	{ "not judged (start)", TRUST_UNCHECKED, "are unchecked where they end",
	  "too little is known of the outermost function to tell whether a "
	  "thread begins there" },
	{ "not recorded", TRUST_SILENT, "were not recorded",
	  "the event takes no user stacks" },
	{ NULL, TRUST_UNCHECKED, "are of an unknown class", NULL },
};

const struct trust_word *trust_word(const char *name)
{
	const struct trust_word *w = trust_words;

	while (w->name && strcmp(w->name, name))
		w++;
	return w;
}
