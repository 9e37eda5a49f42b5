/* sframe_finding.c - the tests of sframe_check() and what they have found. */
#include "symbolize/sframe/sframe_finding.h"

#include <stdlib.h>

/* An error, or a remark, that a test finds. */
#define SFRAME_ERROR(id, name, unit, summary)                                  \
	[SFRAME_T_##id] = { name, summary, unit, false }
#define SFRAME_NOTE(id, name, unit, summary)                                   \
	[SFRAME_T_##id] = { name, summary, unit, true }

/* clang-format off */
const struct sframe_test_info sframe_tests[SFRAME_TESTS] = {
	SFRAME_ERROR(READABLE, "readable", "functions",
		"functions and their rows can be read"),
	SFRAME_ERROR(SORTED, "sorted", "functions",
		"functions are sorted as the header says"),
	SFRAME_ERROR(OVERLAP, "overlap", "functions",
		"no two functions overlap"),
	SFRAME_ERROR(IN_CODE, "in-code", "functions",
		"functions are in executable segments"),
	SFRAME_ERROR(ROW_COUNT, "row-count", "rows",
		"the number of rows is that in the header"),
	SFRAME_ERROR(FIRST_ROW, "first-row", "functions",
		"the first row is at the start of its function"),
	SFRAME_ERROR(FIXED_RA, "fixed-ra", "headers",
		"the return address is at the place the ABI defines"),
	SFRAME_ERROR(ENTRY, "entry", "functions",
		"the rule at a function entry, before SP changes, is that "
		"after a call"),
	SFRAME_ERROR(SP_MOVES, "sp-moves", "instructions",
		"the CFA stays the same when code changes SP"),
	SFRAME_ERROR(RETURN, "return", "returns",
		"the rule at a return is that after a call"),
	SFRAME_ERROR(CALL_SITE, "call-site", "calls",
		"the return address is saved before a call"),
	SFRAME_NOTE(BOUNDARY, "boundary", "rows",
		"rows begin at instruction boundaries"),
	SFRAME_ERROR(EH_FRAME, "eh-frame", "bytes",
		"rules are the same as in .eh_frame"),
	SFRAME_ERROR(PLT_GOT, "plt-got", "bytes",
		"rules of .plt.got are the same as in .eh_frame (GNU ld "
		"writes sp+16 for sp+8)"),
	SFRAME_NOTE(OUTERMOST, "outermost", "bytes",
		"code without a caller in .eh_frame has none here (version 2"
		" often cannot express it)"),
	SFRAME_NOTE(SIGNAL, "signal", "bytes",
		"signal frames of .eh_frame are marked here (possible from "
		"version 3 on)"),
	SFRAME_NOTE(MISSING, "missing", "bytes",
		"everything that .eh_frame covers is covered"),
	SFRAME_NOTE(EXTRA, "extra", "bytes",
		"nothing is covered that .eh_frame does not cover"),
	SFRAME_NOTE(COMPLEX, "complex", "bytes",
		"both rules fit in a row, so they can be compared"),
};
/* clang-format on */

void sframe_report_release(struct sframe_report *r)
{
	free(r->finding);
	r->finding = NULL;
	r->n = r->cap = 0;
}
