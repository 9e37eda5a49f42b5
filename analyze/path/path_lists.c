/* path_lists.c - the waits and wake-ups of each thread, and what its waits are
 * put down to. */
#include "analyze/path/path_lists.h"

#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

struct path_lists {
	struct path_run *r;
	struct path_list *of; /* by thread */
	bool numbered;
	struct listed_edge {
		uint32_t item; /* of its thread, + 1; 0: it is of no piece */
		uint8_t link;  /* enum proof */
	} * edge;
	size_t n_edge, cap_edge;
};

struct path_lists *path_lists_new(struct path_run *r)
{
	struct path_lists *l = mem_new(1, sizeof(*l));

	l->r = r;
	l->of = mem_new(r->t->n_thread + 1, sizeof(*l->of));
	return l;
}

void path_lists_free(struct path_lists *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->r->t->n_thread; i++) {
		free(l->of[i].wait);
		free(l->of[i].wake);
	}
	free_all(l->of, l->edge, l);
}

const struct path_list *path_list_of(struct path_lists *l, uint32_t thread)
{
	const struct proofs *p = l->r->proofs;
	struct path_list *of = &l->of[thread];
	struct path_walk at = { .thread = thread };
	struct path_wait w;
	size_t n;

	if (of->made)
		return of;
	of->made = true;
	n = proofs_pieces(l->r->proofs, thread);
	/* Pieces that were made of nothing leave edges that ended no
	 * wait. */
	mem_reach(l->edge, l->n_edge, l->cap_edge, proofs_edges(p));
	for (size_t k = 0; k < n; k++) {
		const struct proof_piece pc = proofs_piece(p, thread, k);
		struct listed_edge *e;

		if (pc.edge == TIMELINE_NONE)
			continue;
		e = &l->edge[pc.edge];
		if (!e->item) {
			*mem_add(of->wake, of->n_wake, of->cap_wake) = pc.edge;
			e->item = (uint32_t)of->n_wake;
		}
		raise_to(e->link, pc.link);
	}
	while (path_next_of_thread(l->r, &at, &w))
		*mem_add(of->wait, of->n_wait, of->cap_wait) = w.piece;
	return of;
}

enum proof path_list_link(const struct path_lists *l, uint32_t edge)
{
	return (enum proof)l->edge[edge].link;
}

static void path_lists_number(struct path_lists *l)
{
	int64_t waits = 0;
	int64_t wakes = 0;

	for (uint32_t i = 0; !l->numbered && i < l->r->t->n_thread; i++) {
		const struct path_list *of = path_list_of(l, i);

		l->of[i].waits = waits;
		l->of[i].wakes = wakes;
		waits += (int64_t)of->n_wait;
		wakes += (int64_t)of->n_wake;
	}
	l->numbered = true;
}

int64_t path_list_wake_id(struct path_lists *l, uint32_t thread, uint32_t edge)
{
	path_lists_number(l);
	return l->of[thread].wakes + l->edge[edge].item;
}

int64_t path_list_wait_id(struct path_lists *l, uint32_t thread, uint32_t wait)
{
	path_lists_number(l);
	return l->of[thread].waits + wait + 1;
}

bool path_lists_find(struct path_lists *l, int64_t id, bool wakes,
		     uint32_t *thread, size_t *item)
{
	size_t n = l->r->t->n_thread;
	const struct path_list *of;
	size_t at;

	path_lists_number(l);
	at = search_where(n, i,
			  (wakes ? l->of[i].wakes : l->of[i].waits) >= id);
	if (id <= 0 || !at)
		return false;
	of = &l->of[at - 1];
	*thread = (uint32_t)at - 1;
	*item = (size_t)(id - 1 - (wakes ? of->wakes : of->waits));
	return *item < (wakes ? of->n_wake : of->n_wait);
}

/* ---- what waits are put down to */

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
	b->of = mem_new(r->t->n_thread + 1, sizeof(*b->of));
	return b;
}

void path_blame_free(struct path_blame *b)
{
	if (!b)
		return;
	free_all(b->row, b->of, b->order, b);
}

COMPARE_LARGEST_BY(blame_compare, struct blame_row, sum.ns, thread, sum.thread,
		   sum.state, sum.proof);

COMPARE_FUNCTION_OF(blame_compare_places, uint32_t, struct blame_row,
		    blame_compare(&of[*x], &of[*y]));

static void blame_take_wait(struct path_blame *b, const struct path_wait *w)
{
	struct blamed *of = &b->of[w->thread];
	struct chain c = { 0 };
	struct path_sum *sum;
	size_t n;

	path_chain(b->r, w->thread, w->from, w->to, &c);
	sum = path_sums(&c, true, &n);
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
}

const struct blame_row *path_blame_row(struct path_blame *b, uint32_t thread,
				       size_t i)
{
	struct blamed *of = &b->of[thread];
	struct path_walk at = { .thread = thread };
	struct path_wait w;

	if (!of->made) {
		of->made = true;
		of->first = b->n;
		while (path_next_of_thread(b->r, &at, &w))
			blame_take_wait(b, &w);
		sort_items(b->row + of->first, of->n, blame_compare);
		intern_release(&b->index);
	}
	return i < of->n ? &b->row[of->first + i] : NULL;
}

const struct blame_row *path_blame_any(struct path_blame *b, size_t i)
{
	if (!b->order) {
		for (uint32_t k = 0; k < b->r->t->n_thread; k++)
			path_blame_row(b, k, 0);
		b->order = mem_new(b->n + 1, sizeof(*b->order));
		for (size_t k = 0; k < b->n; k++)
			b->order[k] = (uint32_t)k;
		sort_items_by(b->order, b->n, blame_compare_places, b->row);
	}
	return i < b->n ? &b->row[b->order[i]] : NULL;
}
