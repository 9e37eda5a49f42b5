/* sframe_check.c - is an SFrame section right? By itself, and by the parts that
 * look at code and at .eh_frame. */
#include "symbolize/sframe/sframe_check.h"

#include <elf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "symbolize/elf/elf.h"
#include "symbolize/sframe/sframe_judge.h"
#include "symbolize/sframe/sframe_table.h"

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

void judge_found(struct judge *j, enum sframe_test test, uint64_t start,
		 uint64_t end, uint64_t n, const char *fmt, ...)
{
	struct sframe_report *r = j->r;
	struct sframe_finding *f;
	va_list ap;

	r->found[test] += n;
	if (r->kept[test] >= r->limit)
		return;
	r->kept[test]++;
	r->finding =
		mem_grow(r->finding, &r->cap, r->n + 1, sizeof(*r->finding));
	f = &r->finding[r->n++];
	f->test = test;
	f->start = start;
	f->end = end;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
}

void sframe_report_release(struct sframe_report *r)
{
	free(r->finding);
	r->finding = NULL;
	r->n = r->cap = 0;
}

const char *judge_part(const struct judge *j, uint64_t addr)
{
	size_t lo = 0;
	size_t hi = j->n_part;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (j->part[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && addr < j->part[lo - 1].end ? j->part[lo - 1].name : "";
}

static const char *reg_text(const struct judge *j, uint32_t reg,
			    struct rule_text *t)
{
	if (reg == sframe_sp(j->sf))
		return "sp";
	if (reg == sframe_fp(j->sf))
		return "fp";
	snprintf(t->s, sizeof(t->s), "r%" PRIu32, reg);
	return t->s;
}

static const char *place_text(const struct judge *j, const struct place_rule *p,
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
	if (p->kind == PLACE_REG)
		return reg_text(j, (uint32_t)p->off, t);
	snprintf(t->s, sizeof(t->s), from[p->kind], p->off);
	return t->s;
}

const char *judge_rule(const struct judge *j, const struct row_rule *rule,
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
		 place_text(j, &rule->fp, &fp), place_text(j, &rule->ra, &ra),
		 rule->flags & ROW_SIGNED	 ? " signed"
		 : rule->flags & ROW_INTERRUPTED ? " interrupted"
						 : "");
	return t->s;
}

/* ---- the section by itself */

/* What is read of it, in the order of the file. */
struct reading {
	struct judge *j;
	uint64_t last; /* start of the last function */
	uint64_t rows;
	uint64_t first; /* row of the function; UINT64_MAX: none yet */
};

static bool in_code(const struct judge *j, const struct sframe_func *f)
{
	for (size_t i = 0; i < j->ef->n_seg; i++) {
		const struct segment *s = &j->ef->seg[i];

		if (f->start >= s->vaddr && f->start - s->vaddr <= s->filesz &&
		    f->size <= s->filesz - (f->start - s->vaddr))
			return true;
	}
	return false;
}

static void see_func(void *arg, uint32_t i, const struct sframe_func *f)
{
	struct reading *r = arg;
	struct judge *j = r->j;

	if (j->sf->head.flags & SFRAME_SORTED) {
		j->r->asked[SFRAME_T_SORTED]++;
		if (f->start < r->last)
			judge_found(j, SFRAME_T_SORTED, f->start,
				    f->start + f->size, 1,
				    "function %" PRIu32 " is below the one "
				    "before it, at 0x%" PRIx64,
				    i, r->last);
	}
	r->last = f->start;
	r->first = UINT64_MAX;
	j->r->asked[SFRAME_T_IN_CODE]++;
	if (!in_code(j, f))
		judge_found(j, SFRAME_T_IN_CODE, f->start, f->start + f->size,
			    1,
			    "function %" PRIu32 ", %" PRIu32
			    " bytes, is not in an executable segment",
			    i, f->size);
}

static void see_row(void *arg, const struct sframe_func *f,
		    const struct sframe_row *row,
		    const struct sframe_rule *rule)
{
	struct reading *r = arg;

	(void)f;
	(void)rule;
	r->rows++;
	if (r->first == UINT64_MAX)
		r->first = row->pc;
}

static void see_end(void *arg, uint32_t i, const struct sframe_func *f)
{
	struct reading *r = arg;
	struct judge *j = r->j;

	if (f->n) {
		j->r->asked[SFRAME_T_FIRST_ROW]++;
		if (r->first)
			judge_found(j, SFRAME_T_FIRST_ROW, f->start,
				    f->start + f->size, 1,
				    "the first row of function %" PRIu32
				    " is at byte %" PRIu64,
				    i, r->first);
	}
	if (!f->size || !in_code(j, f))
		return;
	j->func = mem_grow(j->func, &j->cap, j->n + 1, sizeof(*j->func));
	j->func[j->n++] = (struct judged){ .start = f->start,
					   .end = f->start + f->size,
					   .index = i,
					   .signal = f->signal,
					   .repeats = f->rep != 0 };
}

static void see_bad(void *arg, uint32_t i, const struct err *err)
{
	struct reading *r = arg;

	(void)i;
	judge_found(r->j, SFRAME_T_READABLE, 0, 0, 1, "%s", err->msg);
}

static int by_start(const void *a, const void *b)
{
	const struct judged *x = a;
	const struct judged *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* A function ends where the next one begins, for all that comes. */
static void find_overlaps(struct judge *j)
{
	if (j->n)
		qsort(j->func, j->n, sizeof(*j->func), by_start);
	for (size_t i = 0; i < j->n; i++) {
		struct judged *f = &j->func[i];

		j->r->asked[SFRAME_T_OVERLAP]++;
		f->limit = f->end;
		if (i + 1 == j->n || j->func[i + 1].start >= f->end)
			continue;
		f->limit = j->func[i + 1].start;
		judge_found(j, SFRAME_T_OVERLAP, f->limit, f->end, 1,
			    "functions %" PRIu32 " and %" PRIu32 " overlap",
			    f->index, j->func[i + 1].index);
	}
}

static void judge_section(struct judge *j)
{
	static const struct sframe_visitor v = { see_func, see_row, see_end,
						 see_bad };
	const struct sframe_head *h = &j->sf->head;
	struct reading r = { .j = j };
	int want = h->abi == SFRAME_AMD64 ? -8 : 0;

	sframe_visit(j->sf, &v, &r);
	j->r->asked[SFRAME_T_READABLE] = h->funcs;
	j->r->asked[SFRAME_T_ROW_COUNT] = h->rows;
	j->r->asked[SFRAME_T_FIXED_RA] = 1;
	if (r.rows != h->rows)
		judge_found(j, SFRAME_T_ROW_COUNT, 0, 0, 1,
			    "%" PRIu64 " rows, the header says %" PRIu32,
			    r.rows, h->rows);
	if (h->fixed_ra != want)
		judge_found(j, SFRAME_T_FIXED_RA, 0, 0, 1,
			    "return address at CFA%+d, %s has it at CFA%+d",
			    h->fixed_ra, sframe_abi_name(j->sf), want);
	find_overlaps(j);
}

static int by_part(const void *a, const void *b)
{
	const struct part *x = a;
	const struct part *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void read_parts(struct judge *j)
{
	size_t n = elf_sections(j->ef);
	struct elf_section s;

	for (size_t i = 1; i < n; i++) {
		if (!elf_section_get(j->ef, i, &s) ||
		    !(s.flags & SHF_EXECINSTR) || s.size > UINT64_MAX - s.addr)
			continue;
		j->part = mem_grow(j->part, &j->cap_part, j->n_part + 1,
				   sizeof(*j->part));
		j->part[j->n_part++] =
			(struct part){ s.addr, s.addr + s.size, s.name };
	}
	if (j->n_part)
		qsort(j->part, j->n_part, sizeof(*j->part), by_part);
}

static int by_test(const void *a, const void *b)
{
	const struct sframe_finding *x = a;
	const struct sframe_finding *y = b;

	if (x->test != y->test)
		return x->test < y->test ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

int sframe_check(const struct elf_file *ef, const struct sframe_file *f,
		 struct sframe_report *out, struct err *err)
{
	struct judge j = { .ef = ef, .sf = &f->sf, .r = out };
	int ret;

	if (f->object)
		return err_set(err, ERR_FORMAT,
			       "%s: an object file; link it first: where its "
			       "code will be is not known yet",
			       ef->path);
	read_parts(&j);
	judge_section(&j);
	j.rows = sframe_table(&f->sf, NULL);
	judge_eh(&j);
	ret = judge_code(&j, err);
	if (out->n)
		qsort(out->finding, out->n, sizeof(*out->finding), by_test);
	unwind_rows_free(j.rows);
	unwind_rows_free(j.eh);
	free(j.func);
	free(j.part);
	return ret;
}
