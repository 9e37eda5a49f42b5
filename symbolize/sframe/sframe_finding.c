/* sframe_finding.c - the tests of sframe_check() and what they have found. */
#include "symbolize/sframe/sframe_finding.h"

#include <stdlib.h>

const struct sframe_test_info sframe_tests[SFRAME_TESTS] = {
	[SFRAME_T_READABLE] = { "readable",
				"functions and their rows can be read",
				"functions", false },
	[SFRAME_T_SORTED] = { "sorted",
			      "functions are sorted, as the header says",
			      "functions", false },
	[SFRAME_T_OVERLAP] = { "overlap", "no two functions overlap",
			       "functions", false },
	[SFRAME_T_IN_CODE] = { "in-code",
			       "functions are in executable segments",
			       "functions", false },
	[SFRAME_T_ROW_COUNT] = { "row-count",
				 "there are as many rows as the header says",
				 "rows", false },
	[SFRAME_T_FIRST_ROW] = { "first-row",
				 "rows begin where their function does",
				 "functions", false },
	[SFRAME_T_FIXED_RA] = { "fixed-ra",
				"the return address is where the ABI has it",
				"headers", false },
	[SFRAME_T_ENTRY] = { "entry",
			     "where a function begins, before SP moves, the "
			     "rule is that of a call",
			     "functions", false },
	[SFRAME_T_SP_MOVES] = { "sp-moves",
				"the CFA stays where it is when the code "
				"moves SP",
				"instructions", false },
	[SFRAME_T_RETURN] = { "return",
			      "at a return the rule is that of a call",
			      "returns", false },
	[SFRAME_T_CALL_SITE] = { "call-site",
				 "at a call the return address is safe",
				 "calls", false },
	[SFRAME_T_BOUNDARY] = { "boundary", "rows begin where instructions do",
				"rows", true },
	[SFRAME_T_EH_FRAME] = { "eh-frame", "rules are those of .eh_frame",
				"bytes", false },
	[SFRAME_T_PLT_GOT] = { "plt-got",
			       "rules of .plt.got are those of .eh_frame (GNU "
			       "ld writes sp+16 for sp+8)",
			       "bytes", false },
	[SFRAME_T_OUTERMOST] = { "outermost",
				 "code without a caller in .eh_frame has none "
				 "here (version 2 often cannot say so)",
				 "bytes", true },
	[SFRAME_T_SIGNAL] = { "signal",
			      "signal frames of .eh_frame are such here "
			      "(before version 3 they cannot be)",
			      "bytes", true },
	[SFRAME_T_MISSING] = { "missing", "what .eh_frame covers is covered",
			       "bytes", true },
	[SFRAME_T_EXTRA] = { "extra", "nothing is covered but by .eh_frame",
			     "bytes", true },
	[SFRAME_T_COMPLEX] = { "complex",
			       "both can be said in rows, and be compared",
			       "bytes", true },
};

void sframe_report_release(struct sframe_report *r)
{
	free(r->finding);
	r->finding = NULL;
	r->n = r->cap = 0;
}
