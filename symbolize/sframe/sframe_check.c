/* sframe_check.c - checks an SFrame section: its own consistency, and with
 * sframe_code.c and sframe_eh.c the rest. */
#include "symbolize/sframe/sframe_check.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "symbolize/elf/elf.h"
#include "symbolize/sframe/sframe_code.h"
#include "symbolize/sframe/sframe_eh.h"
#include "symbolize/sframe/sframe_judge.h"
#include "symbolize/sframe/sframe_table.h"
#include "stitch/base/search.h"

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

static void sframe_check_row(void *arg, const struct sframe_func *f,
			     const struct sframe_row *row,
			     const struct sframe_rule *rule)
{
	struct sframe_reading *r = arg;

	(void)f;
	(void)rule;
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

static void sframe_check_bad(void *arg, uint32_t i, const struct err *err)
{
	struct sframe_reading *r = arg;

	(void)i;
	judge_found(r->j, SFRAME_T_READABLE, 0, 0, 1, "%s", err->msg);
}

static int sframe_check_compare_start(const void *a, const void *b)
{
	const struct judge_function *x = a;
	const struct judge_function *y = b;

	return compare_numbers(x->start, y->start)
		       ?: compare_numbers(x->index, y->index);
}

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
			    h->fixed_ra, sframe_abi_name(j->sf), want);
	/* From here on a function ends where the next one starts. */
	if (j->n)
		qsort(j->func, j->n, sizeof(*j->func),
		      sframe_check_compare_start);
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
	if (j->n_part)
		qsort(j->part, j->n_part, sizeof(*j->part),
		      sframe_check_compare_part);
}

static int sframe_check_compare_finding(const void *a, const void *b)
{
	const struct sframe_finding *x = a;
	const struct sframe_finding *y = b;

	return compare_numbers(x->test, y->test)
		       ?: compare_numbers(x->start, y->start);
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
	sframe_check_read_parts(&j);
	sframe_check_section(&j);
	j.rows = sframe_table(&f->sf, NULL);
	sframe_eh_check(&j);
	ret = sframe_code_check(&j, err);
	if (out->n)
		qsort(out->finding, out->n, sizeof(*out->finding),
		      sframe_check_compare_finding);
	unwind_rows_free(j.rows);
	unwind_rows_free(j.eh);
	free(j.func);
	free(j.part);
	return ret;
}
