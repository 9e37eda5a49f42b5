/* unwind_rows.c - a table of how to step from a frame to its caller. */
#include "symbolize/cfi/unwind_rows.h"

#include <stdbool.h>

#include "stitch/base/mem.h"
#include "stitch/base/search.h"

#define CFA_MAX ((1 << 23) - 1)
#define FEW_ROWS 32

/* A function during construction. pc of its rows counts from start. */
struct unwind_rows_function {
	uint64_t start, end;
	size_t row, n; /* range in made[] */
};

struct unwind_rows {
	uint64_t base, end;
	/* sorted by pc, valid after unwind_rows_finish() */
	struct unwind_row *row;
	size_t n, cap;
	struct unwind_row *made;
	size_t n_made, cap_made;
	struct unwind_rows_function *func;
	size_t n_func, cap_func;
	/* Index of the row at the start of each block of 2^shift bytes, as a
	 * binary search over all rows would cost a cache miss per step. NULL:
	 * there are few rows, as for one function. */
	uint32_t *block;
	unsigned int shift;
	int32_t word;
};

struct unwind_rows *unwind_rows_new(unsigned int word)
{
	struct unwind_rows *t = mem_new(1, sizeof(*t));

	t->word = (int32_t)word;
	return t;
}

void unwind_rows_free(struct unwind_rows *t)
{
	if (!t)
		return;
	free_all(t->row, t->made, t->func, t->block, t);
}

void unwind_rows_begin(struct unwind_rows *t, uint64_t start, uint64_t end)
{
	*mem_add(t->func, t->n_func, t->cap_func) =
		(struct unwind_rows_function){ start, end, t->n_made, 0 };
}

static bool unwind_rows_pack_value(int64_t v, int64_t min, int64_t zero,
				   int64_t max, int16_t *out)
{
	if (v + zero < min || v + zero > max)
		return false;
	*out = (int16_t)(v + zero);
	return true;
}

static bool unwind_rows_pack_place(const struct place_rule *p, int32_t word,
				   int16_t *out)
{
	int32_t v = p->off / word;

	if (p->kind == PLACE_REG)
		return unwind_rows_pack_value(p->off, ROW_REG_ZERO,
					      ROW_REG_ZERO, ROW_REG_ZERO + 127,
					      out);
	if (p->kind == PLACE_SAME || p->kind == PLACE_UNDEFINED) {
		*out = p->kind == PLACE_SAME ? ROW_SAME : ROW_UNDEFINED;
		return true;
	}
	if (p->off % word)
		return false;
	if (p->kind == PLACE_FP)
		return unwind_rows_pack_value(v, ROW_CFA_MAX + 1, ROW_FP_ZERO,
					      0x5fff, out);
	if (p->kind == PLACE_SP)
		return unwind_rows_pack_value(v, 0x6000, ROW_SP_ZERO, 0x6fff,
					      out);
	return unwind_rows_pack_value(v, INT16_MIN, 0, ROW_CFA_MAX, out);
}

static struct unwind_row unwind_rows_pack(const struct unwind_rule *r,
					  int32_t word)
{
	struct unwind_row row = { .how = r->kind | r->flags,
				  .fp = ROW_SAME,
				  .ra = ROW_SAME };
	struct unwind_row whole = row;

	if (r->kind < ROW_SP || r->kind > ROW_PLT)
		return row;
	row.how = ROW_COMPLEX | r->flags;
	whole.cfa = (int32_t)r->cfa;
	return r->cfa >= -CFA_MAX && r->cfa <= CFA_MAX &&
			       unwind_rows_pack_place(&r->fp, word,
						      &whole.fp) &&
			       unwind_rows_pack_place(&r->ra, word, &whole.ra)
		       ? whole
		       : row;
}

static bool unwind_rows_same_rule(const struct unwind_row *a,
				  const struct unwind_row *b)
{
	return a->cfa == b->cfa && a->how == b->how && a->fp == b->fp &&
	       a->ra == b->ra;
}

void unwind_rows_add(struct unwind_rows *t, uint64_t addr,
		     const struct unwind_rule *rule)
{
	struct unwind_rows_function *f = &t->func[t->n_func - 1];
	struct unwind_row row = unwind_rows_pack(rule, t->word);

	if (addr < f->start || addr >= f->end || addr - f->start > UINT32_MAX)
		return;
	row.pc = (uint32_t)(addr - f->start);
	struct unwind_row *last = f->n ? &t->made[t->n_made - 1] : NULL;
	if (last && last->pc > row.pc)
		return;
	if (last && last->pc == row.pc) {
		*last = row;
		return;
	}
	if (last && unwind_rows_same_rule(last, &row))
		return;
	*mem_add(t->made, t->n_made, t->cap_made) = row;
	f->n++;
}

void unwind_rows_end(struct unwind_rows *t)
{
	struct unwind_rows_function *f = &t->func[t->n_func - 1];

	if (!f->n || f->start >= f->end)
		t->n_func--;
}

COMPARE_BY(unwind_rows_compare_start, struct unwind_rows_function, start, row);

/* Appends a row to the table unless it equals the last one. */
static void unwind_rows_put(struct unwind_rows *t, uint64_t addr,
			    struct unwind_row row)
{
	row.pc = (uint32_t)(addr - t->base);
	while (t->n && t->row[t->n - 1].pc == row.pc)
		t->n--;
	if (t->n && unwind_rows_same_rule(&t->row[t->n - 1], &row))
		return;
	*mem_add(t->row, t->n, t->cap) = row;
}

void unwind_rows_finish(struct unwind_rows *t)
{
	const struct unwind_row gap = { .how = ROW_GAP,
					.fp = ROW_SAME,
					.ra = ROW_SAME };

	sort_items(t->func, t->n_func, unwind_rows_compare_start);
	t->base = t->n_func ? t->func[0].start : 0;
	for (size_t i = 0; i < t->n_func; i++) {
		const struct unwind_rows_function *f = &t->func[i];
		uint64_t end = f->end;

		if (i + 1 < t->n_func && t->func[i + 1].start < end)
			end = t->func[i + 1].start;
		/* functions more than 4 GiB after the first one get no rows */
		if (end - t->base > UINT32_MAX || end <= f->start)
			continue;
		if (t->made[f->row].pc)
			unwind_rows_put(t, f->start, gap);
		for (size_t k = 0; k < f->n; k++) {
			const struct unwind_row *row = &t->made[f->row + k];

			if (f->start + row->pc >= end)
				break;
			unwind_rows_put(t, f->start + row->pc, *row);
		}
		unwind_rows_put(t, end, gap);
		t->end = end;
	}
	free_all(t->made, t->func);
	t->made = NULL;
	t->func = NULL;
	t->n_func = 0;
	if (t->n > FEW_ROWS) {
		/* At most as many blocks as rows: a table may be sparse. */
		uint64_t span = t->end - t->base;
		size_t row = 0;

		t->shift = 8;
		while (span >> t->shift >= t->n && t->shift < 31)
			t->shift++;
		size_t n = (size_t)(span >> t->shift) + 2;

		t->block = mem_new(n, sizeof(*t->block));
		for (size_t i = 0; i < n; i++) {
			while (row + 1 < t->n &&
			       t->row[row + 1].pc <= (uint64_t)i << t->shift)
				row++;
			t->block[i] = (uint32_t)row;
		}
	}
}

const struct unwind_row *unwind_rows_find(const struct unwind_rows *t,
					  uint64_t addr)
{
	if (!t->n || addr < t->base || addr >= t->end)
		return NULL;
	uint32_t pc = (uint32_t)(addr - t->base);
	const struct unwind_row *row = t->row;
	size_t n = t->n;

	if (t->block) {
		const uint32_t *block = &t->block[pc >> t->shift];

		row += block[0];
		n = block[1] - block[0] + 1;
	}

	/* binary search without branches that depend on the comparison */
	while (n > 1) {
		size_t half = n / 2;

		row = row[half].pc <= pc ? row + half : row;
		n -= half;
	}
	return row->pc <= pc ? row : NULL;
}

void unwind_rows_rule(const struct unwind_rows *t, const struct unwind_row *row,
		      struct unwind_rule *out)
{
	*out = (struct unwind_rule){
		.kind = unwind_row_kind(row),
		.flags = row->how & (ROW_SIGNED | ROW_INTERRUPTED),
		.cfa = row->cfa,
		.fp = unwind_row_place(row->fp, t->word),
		.ra = unwind_row_place(row->ra, t->word),
	};
}

size_t unwind_rows_count(const struct unwind_rows *t)
{
	return t->n;
}

const struct unwind_row *unwind_rows_at(const struct unwind_rows *t, size_t i,
					uint64_t *addr)
{
	*addr = t->base + t->row[i].pc;
	return &t->row[i];
}
