/* sframe_check.c - checks an SFrame section: its own consistency, against
 * .eh_frame, and with sframe_code.c against the code. */
#include "symbolize/sframe/sframe_check.h"

#include <elf.h>
#include <inttypes.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/cfi/cfi_rows.h"
#include "symbolize/elf/elf.h"
#include "symbolize/sframe/sframe_file.h"

/* ---- against .eh_frame, address by address */

/* Longer intervals are not compared byte by byte. */
#define ONE_BY_ONE_MAX (1u << 20)

/* Position in a table, by increasing address. */
struct sframe_eh_cursor {
	const struct unwind_rows *t;
	size_t i;
	struct unwind_rule rule; /* rule at the current address */
};

static uint64_t sframe_eh_next_address(const struct sframe_eh_cursor *c)
{
	uint64_t addr;

	if (c->i == unwind_rows_count(c->t))
		return UINT64_MAX;
	unwind_rows_at(c->t, c->i, &addr);
	return addr;
}

static void sframe_eh_step_to(struct sframe_eh_cursor *c, uint64_t addr)
{
	while (c->i < unwind_rows_count(c->t) &&
	       sframe_eh_next_address(c) <= addr) {
		uint64_t unused;

		unwind_rows_rule(c->t, unwind_rows_at(c->t, c->i, &unused),
				 &c->rule);
		c->i++;
	}
}

/* Resolves ROW_PLT to the rule at one address. */
static struct unwind_rule sframe_eh_rule_at(const struct unwind_rule *r,
					    uint64_t addr)
{
	struct unwind_rule p = *r;

	if (r->kind == ROW_PLT) {
		p.kind = ROW_SP;
		p.cfa = (int64_t)(addr & 15) >= r->cfa ? 16 : 8;
	}
	return p;
}

static bool sframe_eh_same_place(const struct place_rule *a,
				 const struct place_rule *b)
{
	return a->kind == b->kind && a->off == b->off;
}

static bool sframe_eh_same_rule(const struct unwind_rule *a,
				const struct unwind_rule *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind < ROW_SP || a->kind > ROW_PLT)
		return true;
	return a->cfa == b->cfa && a->flags == b->flags &&
	       sframe_eh_same_place(&a->fp, &b->fp) &&
	       sframe_eh_same_place(&a->ra, &b->ra);
}

static enum sframe_test sframe_eh_test_of(const struct judge *j, uint64_t addr,
					  const struct unwind_rule *a,
					  const struct unwind_rule *b)
{
	if (b->kind == ROW_OUTERMOST)
		return SFRAME_T_OUTERMOST;
	/* Only version 3 can mark signal frames. */
	if (j->sf->head.version < 3 && !(a->flags & ROW_INTERRUPTED) &&
	    (b->kind == ROW_SIGNAL || b->flags & ROW_INTERRUPTED))
		return SFRAME_T_SIGNAL;
	if (!strcmp(judge_section_name(j, addr), ".plt.got"))
		return SFRAME_T_PLT_GOT;
	return SFRAME_T_EH_FRAME;
}

static void sframe_eh_report(struct judge *j, uint64_t start, uint64_t end,
			     const struct unwind_rule *a,
			     const struct unwind_rule *b)
{
	struct rule_text ta;
	struct rule_text tb;

	judge_found(j, sframe_eh_test_of(j, start, a, b), start, end,
		    end - start, "%s, .eh_frame has %s", judge_rule(j, a, &ta),
		    judge_rule(j, b, &tb));
}

static void sframe_eh_compare(struct judge *j, uint64_t start, uint64_t end,
			      const struct unwind_rule *a,
			      const struct unwind_rule *b)
{
	uint64_t len = end - start;
	uint64_t *asked = j->r->asked; /* bytes that each test looks at */
	struct rule_text t;

	if (b->kind != ROW_GAP)
		asked[SFRAME_T_MISSING] += len;
	if (a->kind != ROW_GAP)
		asked[SFRAME_T_EXTRA] += len;
	if (a->kind != ROW_GAP && b->kind != ROW_GAP) {
		asked[SFRAME_T_COMPLEX] += len;
		asked[sframe_eh_test_of(j, start, a, b)] += len;
	}
	if (a->kind == ROW_GAP && b->kind == ROW_GAP)
		return;
	if (a->kind == ROW_GAP)
		judge_found(j, SFRAME_T_MISSING, start, end, len,
			    "not covered, .eh_frame has %s",
			    judge_rule(j, b, &t));
	else if (b->kind == ROW_GAP)
		judge_found(j, SFRAME_T_EXTRA, start, end, len,
			    "%s, not covered by .eh_frame",
			    judge_rule(j, a, &t));
	else if (a->kind == ROW_COMPLEX || b->kind == ROW_COMPLEX)
		judge_found(j, SFRAME_T_COMPLEX, start, end, len,
			    "not in rows: %s",
			    a->kind != ROW_COMPLEX   ? ".eh_frame"
			    : b->kind != ROW_COMPLEX ? "this"
						     : "both");
	else if (a->kind != b->kind &&
		 (a->kind == ROW_PLT || b->kind == ROW_PLT) &&
		 len <= ONE_BY_ONE_MAX) {
		/* the other table has a row for each part of ROW_PLT */
		for (uint64_t addr = start; addr < end; addr++) {
			struct unwind_rule x = sframe_eh_rule_at(a, addr);
			struct unwind_rule y = sframe_eh_rule_at(b, addr);

			if (!sframe_eh_same_rule(&x, &y))
				sframe_eh_report(j, addr, addr + 1, &x, &y);
		}
	} else if (!sframe_eh_same_rule(a, b))
		sframe_eh_report(j, start, end, a, b);
}

/* Runs the tests that compare with .eh_frame; sets no_eh_frame in the report if
 * the file has none. */
static void sframe_eh_check(struct judge *j)
{
	struct cfi *cfi = cfi_open(j->ef, ".eh_frame");

	if (!cfi) {
		j->r->no_eh_frame = true;
		return;
	}
	j->eh = cfi_rows(cfi, 0, 1);
	cfi_close(cfi);

	struct sframe_eh_cursor a = { .t = j->rows };
	struct sframe_eh_cursor b = { .t = j->eh };
	uint64_t at = sframe_eh_next_address(&a);

	lower_to(at, sframe_eh_next_address(&b));
	while (at != UINT64_MAX) {
		sframe_eh_step_to(&a, at);
		sframe_eh_step_to(&b, at);
		uint64_t end = sframe_eh_next_address(&a);

		lower_to(end, sframe_eh_next_address(&b));
		if (end != UINT64_MAX)
			sframe_eh_compare(j, at, end, &a.rule, &b.rule);
		at = end;
	}
}

/* ---- consistency of the section */

/* State while the functions are read in file order. */
struct sframe_reading {
	struct judge *j;
	uint64_t last; /* start of the previous function */
	uint64_t rows;
	uint64_t first; /* address of its first row; UINT64_MAX: none yet */
};

static bool sframe_check_in_code(const struct judge *j,
				 const struct sframe_func *f)
{
	for (size_t i = 0; i < j->ef->n_seg; i++) {
		const struct segment *s = &j->ef->seg[i];

		if (f->start >= s->vaddr && f->start - s->vaddr <= s->filesz &&
		    f->size <= s->filesz - (f->start - s->vaddr))
			return true;
	}
	return false;
}

static void sframe_check_func(void *arg, uint32_t i,
			      const struct sframe_func *f)
{
	struct sframe_reading *r = arg;
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
	if (!sframe_check_in_code(j, f))
		judge_found(j, SFRAME_T_IN_CODE, f->start, f->start + f->size,
			    1,
			    "function %" PRIu32 ", %" PRIu32
			    " bytes, is not in an executable segment",
			    i, f->size);
}

static void sframe_check_row(void *arg, const struct sframe_func *f UNUSED,
			     const struct sframe_row *row,
			     const struct sframe_rule *rule UNUSED)
{
	struct sframe_reading *r = arg;

	r->rows++;
	if (r->first == UINT64_MAX)
		r->first = row->pc;
}

static void sframe_check_end(void *arg, uint32_t i, const struct sframe_func *f)
{
	struct sframe_reading *r = arg;
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
	if (!f->size || !sframe_check_in_code(j, f))
		return;
	*mem_add(j->func, j->n, j->cap) =
		(struct judge_function){ .start = f->start,
					 .end = f->start + f->size,
					 .index = i,
					 .signal = f->signal,
					 .repeats = f->rep != 0 };
}

static void sframe_check_bad(void *arg, uint32_t i UNUSED,
			     const struct err *err)
{
	struct sframe_reading *r = arg;

	judge_found(r->j, SFRAME_T_READABLE, 0, 0, 1, "%s", err->msg);
}

COMPARE_BY(sframe_check_compare_start, struct judge_function, start, index);

static void sframe_check_section(struct judge *j)
{
	static const struct sframe_visitor v = { sframe_check_func,
						 sframe_check_row,
						 sframe_check_end,
						 sframe_check_bad };
	const struct sframe_head *h = &j->sf->head;
	struct sframe_reading r = { .j = j };
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
			    h->fixed_ra, j->sf->machine->name, want);
	/* From here on a function ends where the next one starts. */
	sort_items(j->func, j->n, sframe_check_compare_start);
	for (size_t i = 0; i < j->n; i++) {
		struct judge_function *f = &j->func[i];

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

COMPARE_BY(sframe_check_compare_part, struct judge_section, start);

static void sframe_check_read_parts(struct judge *j)
{
	size_t n = elf_sections(j->ef);
	struct elf_section s;

	for (size_t i = 1; i < n; i++) {
		if (!elf_section_get(j->ef, i, &s) ||
		    !(s.flags & SHF_EXECINSTR) || s.size > UINT64_MAX - s.addr)
			continue;
		*mem_add(j->part, j->n_part, j->cap_part) =
			(struct judge_section){ s.addr, s.addr + s.size,
						s.name };
	}
	sort_items(j->part, j->n_part, sframe_check_compare_part);
}

COMPARE_BY(sframe_check_compare_finding, struct sframe_finding, test, start);

int sframe_check(const struct elf_file *ef, const struct sframe_file *f,
		 struct sframe_report *out, struct err *err)
{
	struct judge j = { .ef = ef, .sf = &f->sf, .r = out };

	if (f->object)
		return err_set(err, ERR_FORMAT,
			       "%s: an object file; link it first: where its "
			       "code will be is not known yet",
			       ef->path);
	sframe_check_read_parts(&j);
	sframe_check_section(&j);
	j.rows = sframe_table(&f->sf, NULL);
	sframe_eh_check(&j);
	int ret = sframe_code_check(&j, err);
	sort_items(out->finding, out->n, sframe_check_compare_finding);
	unwind_rows_free(j.rows);
	unwind_rows_free(j.eh);
	free_all(j.func, j.part);
	return ret;
}
