/* sframe_judge.c - what the parts of sframe_check() share: its tests, and how
 * they tell what they found. */
#include "symbolize/sframe/sframe_judge.h"

#include <inttypes.h>
#include <stdarg.h>

#include "stitch/base/mem.h"
#include "stitch/base/search.h"

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

void judge_found(struct judge *j, enum sframe_test test, uint64_t start,
		 uint64_t end, uint64_t n, const char *fmt, ...)
{
	struct sframe_report *r = j->r;
	va_list ap;

	r->found[test] += n;
	if (r->kept[test] >= r->limit)
		return;
	r->kept[test]++;
	struct sframe_finding *f = mem_add(r->finding, r->n, r->cap);
	f->test = test;
	f->start = start;
	f->end = end;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
}

const char *judge_section_name(const struct judge *j, uint64_t addr)
{
	size_t lo = search_where(j->n_part, i, j->part[i].start > addr);

	return lo && addr < j->part[lo - 1].end ? j->part[lo - 1].name : "";
}

static const char *judge_place_text(const struct judge *j,
				    const struct place_rule *p,
				    struct rule_text *t)
{
	static const char *const from[] = {
		[PLACE_CFA] = "c%+" PRId32,
		[PLACE_FP] = "(fp%+" PRId32 ")",
		[PLACE_SP] = "(sp%+" PRId32 ")",
	};

	if (p->kind == PLACE_SAME)
		return "u";
	if (p->kind == PLACE_UNDEFINED)
		return "undefined";
	if (p->kind == PLACE_REG) {
		uint32_t reg = (uint32_t)p->off;
		if (reg == j->sf->machine->sp)
			return "sp";
		if (reg == j->sf->machine->fp)
			return "fp";
		snprintf(t->s, sizeof(t->s), "r%" PRIu32, reg);
		return t->s;
	}
	snprintf(t->s, sizeof(t->s), from[p->kind], p->off);
	return t->s;
}

const char *judge_rule(const struct judge *j, const struct unwind_rule *rule,
		       struct rule_text *t)
{
	static const char *const cfa[] = {
		[ROW_SP] = "sp%+" PRId64,
		[ROW_FP] = "fp%+" PRId64,
		[ROW_SP_DEREF] = "(sp%+" PRId64 ")",
		[ROW_FP_DEREF] = "(fp%+" PRId64 ")",
		[ROW_DRAP] = "r10%+" PRId64,
		[ROW_PLT] = "PLT, pushed at byte %" PRId64,
	};
	struct rule_text fp;
	struct rule_text ra;
	char base[40];

	switch (rule->kind) {
	case ROW_GAP:
		return "nothing";
	case ROW_OUTERMOST:
		return "outermost";
	case ROW_SIGNAL:
		return "signal frame";
	case ROW_COMPLEX:
		return "complex";
	default:
		break;
	}
	snprintf(base, sizeof(base), cfa[rule->kind], rule->cfa);
	snprintf(t->s, sizeof(t->s), "CFA %s FP %.16s RA %.16s%s", base,
		 judge_place_text(j, &rule->fp, &fp),
		 judge_place_text(j, &rule->ra, &ra),
		 rule->flags & ROW_SIGNED	 ? " signed"
		 : rule->flags & ROW_INTERRUPTED ? " interrupted"
						 : "");
	return t->s;
}
