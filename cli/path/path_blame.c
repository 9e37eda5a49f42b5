/* path_blame.c - what the waits of each thread are put down to, as rows. */
#include "cli/path/path_blame.h"

#include <stdbool.h>
#include <stdlib.h>

#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* The rows of a thread. */
struct blamed {
	size_t first, n;
	bool made;
};

struct path_blame {
	struct path_run *r;
	struct blame_row *row; /* thread by thread, as they were asked for */
	size_t n, cap;
	struct blamed *of;   /* by thread */
	uint32_t *order;     /* all rows, by time; NULL: not yet */
	struct intern index; /* rows of the thread that is made */
};

struct path_blame *path_blame_new(struct path_run *r)
{
	struct path_blame *b = mem_new(1, sizeof(*b));

	b->r = r;
	b->of = mem_new(timeline_threads(r->t) + 1u, sizeof(*b->of));
	return b;
}

void path_blame_free(struct path_blame *b)
{
	if (!b)
		return;
	free(b->row);
	free(b->of);
	free(b->order);
	free(b);
}

static int blame_compare(const void *pa, const void *pb)
{
	const struct blame_row *a = pa;
	const struct blame_row *b = pb;

	return compare_numbers(b->sum.ns, a->sum.ns)
		       ?: compare_numbers(a->thread, b->thread)
		       ?: compare_numbers(a->sum.thread, b->sum.thread)
		       ?: compare_numbers(a->sum.state, b->sum.state)
		       ?: compare_numbers(a->sum.proof, b->sum.proof);
}

static int blame_compare_places(const void *pa, const void *pb, void *arg)
{
	const struct blame_row *row = arg;

	return blame_compare(&row[*(const uint32_t *)pa],
			     &row[*(const uint32_t *)pb]);
}

static int blame_take_wait(void *arg, const struct path_wait *w,
			   struct err *err)
{
	struct path_blame *b = arg;
	struct blamed *of = &b->of[w->thread];
	struct chain c = { 0 };
	struct path_sum *sum;
	size_t n;

	(void)err;
	path_chain(b->r, w->thread, w->from, w->to, &c);
	sum = path_sums(&c, &n);
	for (size_t k = 0; k < n; k++) {
		const uint32_t key[3] = { sum[k].thread, (uint32_t)sum[k].state,
					  (uint32_t)sum[k].proof };
		uint32_t id = intern_add_bytes(&b->index, key, sizeof(key));
		struct blame_row *row;

		if (id == of->n) {
			*mem_add(b->row, b->n, b->cap) =
				(struct blame_row){ .thread = w->thread,
						    .sum = sum[k] };
			b->row[of->first + of->n++].sum.ns = 0;
		}
		row = &b->row[of->first + id];
		row->sum.ns += sum[k].ns;
		row->waits++;
	}
	free(sum);
	chain_release(&c);
	return 0;
}

const struct blame_row *path_blame_row(struct path_blame *b, uint32_t thread,
				       size_t i)
{
	struct blamed *of = &b->of[thread];

	if (!of->made) {
		of->made = true;
		of->first = b->n;
		path_thread_waits(b->r, thread, blame_take_wait, b, NULL);
		if (of->n)
			qsort(b->row + of->first, of->n, sizeof(*b->row),
			      blame_compare);
		intern_release(&b->index);
	}
	return i < of->n ? &b->row[of->first + i] : NULL;
}

const struct blame_row *path_blame_any(struct path_blame *b, size_t i)
{
	if (!b->order) {
		for (uint32_t k = 0; k < timeline_threads(b->r->t); k++)
			path_blame_row(b, k, 0);
		b->order = mem_new(b->n + 1, sizeof(*b->order));
		for (size_t k = 0; k < b->n; k++)
			b->order[k] = (uint32_t)k;
		if (b->n)
			qsort_r(b->order, b->n, sizeof(*b->order),
				blame_compare_places, b->row);
	}
	return i < b->n ? &b->row[b->order[i]] : NULL;
}
