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
		"functions are sorted, as the header says"),
	SFRAME_ERROR(OVERLAP, "overlap", "functions",
		"no two functions overlap"),
	SFRAME_ERROR(IN_CODE, "in-code", "functions",
		"functions are in executable segments"),
	SFRAME_ERROR(ROW_COUNT, "row-count", "rows",
		"there are as many rows as the header says"),
	SFRAME_ERROR(FIRST_ROW, "first-row", "functions",
		"rows begin where their function does"),
	SFRAME_ERROR(FIXED_RA, "fixed-ra", "headers",
		"the return address is where the ABI has it"),
	SFRAME_ERROR(ENTRY, "entry", "functions",
		"where a function begins, before SP moves, the rule is that "
		"of a call"),
	SFRAME_ERROR(SP_MOVES, "sp-moves", "instructions",
		"the CFA stays where it is when the code moves SP"),
	SFRAME_ERROR(RETURN, "return", "returns",
		"at a return the rule is that of a call"),
	SFRAME_ERROR(CALL_SITE, "call-site", "calls",
		"at a call the return address is safe"),
	SFRAME_NOTE(BOUNDARY, "boundary", "rows",
		"rows begin where instructions do"),
	SFRAME_ERROR(EH_FRAME, "eh-frame", "bytes",
		"rules are those of .eh_frame"),
	SFRAME_ERROR(PLT_GOT, "plt-got", "bytes",
		"rules of .plt.got are those of .eh_frame (GNU ld writes "
		"sp+16 for sp+8)"),
	SFRAME_NOTE(OUTERMOST, "outermost", "bytes",
		"code without a caller in .eh_frame has none here (version 2"
		" often cannot say so)"),
	SFRAME_NOTE(SIGNAL, "signal", "bytes",
		"signal frames of .eh_frame are such here (before version 3 "
		"they cannot be)"),
	SFRAME_NOTE(MISSING, "missing", "bytes",
		"what .eh_frame covers is covered"),
	SFRAME_NOTE(EXTRA, "extra", "bytes",
		"nothing is covered but by .eh_frame"),
	SFRAME_NOTE(COMPLEX, "complex", "bytes",
		"both can be said in rows, and be compared"),
};
/* clang-format on */

void sframe_report_release(struct sframe_report *r)
{
	free(r->finding);
	r->finding = NULL;
	r->n = r->cap = 0;
}
