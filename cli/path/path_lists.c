/* path_lists.c - the waits and wake-ups of each thread. */
#include "cli/path/path_lists.h"

#include <stdlib.h>

#include "cli/path/path.h"
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
	l->of = mem_new(timeline_threads(r->t) + 1u, sizeof(*l->of));
	return l;
}

void path_lists_free(struct path_lists *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < timeline_threads(l->r->t); i++) {
		free(l->of[i].wait);
		free(l->of[i].wake);
	}
	free(l->of);
	free(l->edge);
	free(l);
}

static int path_list_wait(void *arg, const struct path_wait *w, struct err *err)
{
	struct path_list *of = arg;

	(void)err;
	*mem_add(of->wait, of->n_wait, of->cap_wait) = w->piece;
	return 0;
}

const struct path_list *path_list_of(struct path_lists *l, uint32_t thread)
{
	const struct proofs *p = l->r->proofs;
	struct path_list *of = &l->of[thread];
	size_t n;

	if (of->made)
		return of;
	of->made = true;
	n = proofs_pieces(l->r->proofs, thread);
	/* Pieces that were made of nothing leave edges behind that ended no
	 * wait. */
	l->edge = mem_reach(l->edge, &l->n_edge, &l->cap_edge, proofs_edges(p),
			    sizeof(*l->edge));
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
		if (pc.link > e->link)
			e->link = pc.link;
	}
	path_thread_waits(l->r, thread, path_list_wait, of, NULL);
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

	for (uint32_t i = 0; !l->numbered && i < timeline_threads(l->r->t);
	     i++) {
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
	size_t n = timeline_threads(l->r->t);
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
