/* oncpu_match.c - checks samples of one capture against switches of another. */
#include "stitch/order/oncpu_match.h"

#include "stitch/base/clock_map.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* 6 MiB and 1 MiB. */
#define EDGES_MAX ((size_t)1 << 18)
#define HITS_MAX ((size_t)1 << 16)

void oncpu_match_release(struct oncpu_match *r)
{
	free(r->edge);
	free(r->hit);
	*r = (struct oncpu_match){ 0 };
}

static void oncpu_add_edge(struct oncpu_match *r, const struct oncpu_edge *e)
{
	if (e->tid <= 0)
		return; /* the idle task exists on each CPU */
	*mem_add(r->edge, r->n_edge, r->cap_edge) = *e;
}

void oncpu_match_add_switch(struct oncpu_match *r, int32_t cpu, int32_t prev,
			    int32_t next, uint64_t t)
{
	const struct oncpu_edge out = { t, prev, cpu, false };
	const struct oncpu_edge in = { t, next, cpu, true };

	if (r->n_edge + 2 > EDGES_MAX)
		return;
	if (!r->last)
		r->first = t;
	r->last = t;
	oncpu_add_edge(r, &out);
	oncpu_add_edge(r, &in);
}

void oncpu_match_add_hit(struct oncpu_match *r, int32_t cpu, int32_t tid,
			 uint64_t t)
{
	if (tid <= 0)
		return;
	if (!r->every)
		r->every = 1;
	if (r->seen++ % r->every)
		return;
	if (r->n_hit == HITS_MAX) {
		/* Drop every second sample. */
		size_t n = 0;

		for (size_t i = 0; i < r->n_hit; i += 2)
			r->hit[n++] = r->hit[i];
		r->n_hit = n;
		r->every *= 2;
	}
	*mem_add(r->hit, r->n_hit, r->cap_hit) =
		(struct oncpu_hit){ t, tid, cpu };
}

/* A thread leaves one CPU before it comes to another. */
COMPARE_BY(compare_edges, struct oncpu_edge, tid, time, comes);

void oncpu_match_end(struct oncpu_match *r)
{
	sort_items(r->edge, r->n_edge, compare_edges);
}

static const struct oncpu_edge *oncpu_edge_of(const struct oncpu_match *r,
					      size_t i, int32_t tid)
{
	return i < r->n_edge && r->edge[i].tid == tid ? &r->edge[i] : NULL;
}

/* Returns the counter of *out that the sample adds to, or NULL. */
static uint64_t *oncpu_count_for(const struct oncpu_match *r,
				 const struct oncpu_hit *h, uint64_t t,
				 uint64_t within, struct oncpu_result *out)
{
	const struct oncpu_edge *e = r->edge;
	/* the number of edges up to the thread's last one at or before t */
	size_t i = search_where(r->n_edge, k,
				e[k].tid > h->tid ||
					(e[k].tid == h->tid && e[k].time > t));
	const struct oncpu_edge *before =
		i ? oncpu_edge_of(r, i - 1, h->tid) : NULL;
	const struct oncpu_edge *after = oncpu_edge_of(r, i, h->tid);

	if (!before && !after)
		return &out->unknown;
	/* The thread is unknown at this time, the sample is too close to a
	 * switch, or a switch was not recorded. */
	if (!before || !after || t - before->time <= within ||
	    after->time - t <= within || before->comes == after->comes)
		return NULL;
	if (after->comes)
		return &out->no;
	return h->cpu < 0 || h->cpu == before->cpu ? &out->yes : &out->no;
}

void oncpu_match_compare(const struct oncpu_match *a,
			 const struct oncpu_match *b,
			 const struct clock_map *map, uint64_t within,
			 struct oncpu_result *out)
{
	*out = (struct oncpu_result){ 0 };
	for (size_t i = 0; i < a->n_hit; i++) {
		uint64_t t = clock_map_time(map, a->hit[i].time);
		uint64_t *n = NULL;

		if (t >= b->first && t <= b->last)
			n = oncpu_count_for(b, &a->hit[i], t, within, out);
		if (n)
			++*n;
	}
}
