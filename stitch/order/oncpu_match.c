/* oncpu_match.c - do the threads of one capture run when another saw them on a
 * CPU? */
#include "stitch/order/oncpu_match.h"

#include <stdlib.h>

#include "stitch/base/clock_map.h"
#include "stitch/base/mem.h"

/* 6 MiB and 1 MiB. */
#define EDGES_MAX ((size_t)1 << 18)
#define HITS_MAX ((size_t)1 << 16)

void ran_release(struct ran *r)
{
	free(r->edge);
	free(r->hit);
	*r = (struct ran){ 0 };
}

static void add_edge(struct ran *r, const struct ran_edge *e)
{
	if (e->tid <= 0)
		return; /* the idle task is one for each CPU */
	r->edge = mem_grow(r->edge, &r->cap_edge, r->n_edge + 1,
			   sizeof(*r->edge));
	r->edge[r->n_edge++] = *e;
}

void ran_switch(struct ran *r, int32_t cpu, int32_t prev, int32_t next,
		uint64_t t)
{
	const struct ran_edge out = { t, prev, cpu, false };
	const struct ran_edge in = { t, next, cpu, true };

	if (r->n_edge + 2 > EDGES_MAX)
		return;
	if (!r->last)
		r->first = t;
	r->last = t;
	add_edge(r, &out);
	add_edge(r, &in);
}

/* Every second one goes. */
static void thin(struct ran *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_hit; i += 2)
		r->hit[n++] = r->hit[i];
	r->n_hit = n;
	r->every *= 2;
}

void ran_hit(struct ran *r, int32_t cpu, int32_t tid, uint64_t t)
{
	if (tid <= 0)
		return;
	if (!r->every)
		r->every = 1;
	if (r->seen++ % r->every)
		return;
	if (r->n_hit == HITS_MAX)
		thin(r);
	r->hit = mem_grow(r->hit, &r->cap_hit, r->n_hit + 1, sizeof(*r->hit));
	r->hit[r->n_hit++] = (struct ran_hit){ t, tid, cpu };
}

static int by_thread(const void *a, const void *b)
{
	const struct ran_edge *x = a;
	const struct ran_edge *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	/* it leaves one CPU before it gets another */
	return x->comes - y->comes;
}

void ran_end(struct ran *r)
{
	if (r->n_edge)
		qsort(r->edge, r->n_edge, sizeof(*r->edge), by_thread);
}

/* The number of edges in front of the first one of tid after t. */
static size_t up_to(const struct ran *r, int32_t tid, uint64_t t)
{
	size_t lo = 0;
	size_t hi = r->n_edge;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct ran_edge *e = &r->edge[mid];

		if (e->tid < tid || (e->tid == tid && e->time <= t))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static const struct ran_edge *edge_of(const struct ran *r, size_t i,
				      int32_t tid)
{
	return i < r->n_edge && r->edge[i].tid == tid ? &r->edge[i] : NULL;
}

/* Which number of *out it adds to; NULL: none. */
static uint64_t *ran_at(const struct ran *r, const struct ran_hit *h,
			uint64_t t, uint64_t within, struct ran_said *out)
{
	size_t i = up_to(r, h->tid, t);
	const struct ran_edge *before = i ? edge_of(r, i - 1, h->tid) : NULL;
	const struct ran_edge *after = edge_of(r, i, h->tid);

	if (!before && !after)
		return &out->unknown;
	/* out of sight, close to a switch, or one of them was not recorded */
	if (!before || !after || t - before->time <= within ||
	    after->time - t <= within || before->comes == after->comes)
		return NULL;
	if (after->comes)
		return &out->no;
	return h->cpu < 0 || h->cpu == before->cpu ? &out->yes : &out->no;
}

void ran_compare(const struct ran *a, const struct ran *b,
		 const struct clock_map *map, uint64_t within,
		 struct ran_said *out)
{
	*out = (struct ran_said){ 0 };
	for (size_t i = 0; i < a->n_hit; i++) {
		uint64_t t = clock_map_time(map, a->hit[i].time);
		uint64_t *n = NULL;

		if (t >= b->first && t <= b->last)
			n = ran_at(b, &a->hit[i], t, within, out);
		if (n)
			++*n;
	}
}
