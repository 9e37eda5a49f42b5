/* diff_hidden.c - functions that may be where a stack lacks its callers.
 *
 * A leaf that a compiler gives no frame in one build only makes its caller
 * vanish from a chain along frame pointers: that has not less for it. So a
 * sample whose innermost function lacks its callers may be of all functions
 * that another stack has in front of that function. */
#include "analyze/diffs/diff_rows.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"

/* A function that some stack has in front of a leaf. */
struct hidden_pair {
	uint32_t leaf, caller;
};

struct hidden {
	const struct diff_rows *d;
	bool *lacks; /* by row: it is a leaf that lacks callers */
	struct hidden_pair *pair;
	size_t n, cap;
	struct table known; /* of pair[] */
};

/* One stack: its hits are hit[0..n). */
typedef void hidden_fn(struct hidden *h, size_t run,
		       const struct report_stack *st,
		       const struct report_hit *hit, size_t n, void *arg);

static void hidden_each(struct hidden *h, hidden_fn *fn, void *arg)
{
	for (size_t run = 0; run < h->d->n_run; run++) {
		const struct report_rows *rows = h->d->run[run].rows;
		const struct report_stack *st = rows->stack;
		size_t first = 0;

		for (size_t i = 0; i < rows->n_stack; first = st[i++].end)
			if (st[i].leaf != REPORT_NONE)
				fn(h, run, &st[i], rows->hit + first,
				   st[i].end - first, arg);
	}
}

static void hidden_note(struct hidden *h, size_t run,
			const struct report_stack *st,
			const struct report_hit *hit UNUSED, size_t n UNUSED,
			void *any)
{
	if (st->lacks)
		h->lacks[h->d->of_row[run][st->leaf]] = *(bool *)any = true;
}

static void hidden_pair_up(struct hidden *h, size_t run,
			   const struct report_stack *st,
			   const struct report_hit *hit, size_t n,
			   void *arg UNUSED)
{
	const uint32_t *of_row = h->d->of_row[run];
	uint32_t leaf = of_row[st->leaf];

	for (size_t i = 0; h->lacks[leaf] && i < n && hit[i].row != st->leaf;
	     i++) {
		struct hidden_pair p = { leaf, of_row[hit[i].row] };
		uint64_t hash = hash_u32s(p.leaf, p.caller);

		if (table_find_hash(&h->known, hash) != TABLE_NONE)
			continue;
		table_add(&h->known, hash, (uint32_t)h->n);
		*mem_add(h->pair, h->n, h->cap) = p;
	}
}

COMPARE_BY(hidden_compare, struct hidden_pair, leaf, caller);

/* Adds the weight of a stack to all that may be in it and are not. */
static void hidden_weigh(struct hidden *h, size_t run,
			 const struct report_stack *st,
			 const struct report_hit *hit, size_t n, void *out)
{
	const uint32_t *of_row = h->d->of_row[run];
	uint32_t leaf = of_row[st->leaf];

	if (!st->lacks)
		return;
	for (size_t at = search_where(h->n, k, h->pair[k].leaf >= leaf);
	     at < h->n && h->pair[at].leaf == leaf; at++) {
		struct diff_row *row =
			(struct diff_row *)out + h->pair[at].caller;
		size_t i = 0;

		while (i < n && of_row[hit[i].row] != h->pair[at].caller)
			i++;
		if (i == n)
			row->hidden[run >= h->d->side[0].runs] += st->weight;
	}
}

void diff_hidden_find(struct diff_rows *d)
{
	struct hidden h = { .d = d, .lacks = mem_new(d->n + 1, 1) };
	bool any = false;

	hidden_each(&h, hidden_note, &any);
	if (any)
		hidden_each(&h, hidden_pair_up, NULL);
	if (h.n) {
		sort_items(h.pair, h.n, hidden_compare);
		hidden_each(&h, hidden_weigh, d->row);
	}
	diff_rows_take_hidden(d);
	table_release(&h.known);
	free(h.pair);
	free(h.lacks);
}
