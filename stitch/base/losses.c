/* losses.c - the time intervals in which records were dropped.
 *
 * Intervals are sorted by their ends, which is nearly the order in which they
 * are added. low[i] is the index of the interval with the smallest start among
 * i and all that follow, so one comparison tells whether any of them starts
 * early enough. */
#include "stitch/base/losses.h"

#include <stdlib.h>

#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/record.h"

#define LOSSES_MAX (1u << 16)
/* Most intervals that a search examines one by one. */
#define LOOK 64

#define CPU_MAX 65536

/* Each loss is in two rings of its source: RING_ALL, and the ring of its CPU or
 * RING_UNKNOWN. */
enum {
	RING_ALL,
	RING_UNKNOWN,
	RING_CPU
};

struct ring {
	struct loss *loss;
	uint32_t *low;
	size_t n, cap, cap_low;
	int64_t newest; /* latest end; valid if n > 0 */
	bool dirty;
};

struct per_source {
	struct ring *ring;
	size_t n, cap;
	uint32_t any;
};

struct losses {
	struct per_source *src;
	size_t n, cap;
};

struct losses *losses_new(void)
{
	return mem_new(1, sizeof(struct losses));
}

void losses_free(struct losses *ls)
{
	if (!ls)
		return;
	for (size_t i = 0; i < ls->n; i++) {
		for (size_t k = 0; k < ls->src[i].n; k++) {
			free(ls->src[i].ring[k].loss);
			free(ls->src[i].ring[k].low);
		}
		free(ls->src[i].ring);
	}
	free(ls->src);
	free(ls);
}

static size_t losses_ring_index(int32_t cpu)
{
	return cpu < 0 || cpu >= CPU_MAX ? RING_UNKNOWN
					 : RING_CPU + (size_t)cpu;
}

static struct ring *losses_ring_at(struct per_source *ps, size_t i)
{
	ps->ring =
		mem_reach(ps->ring, &ps->n, &ps->cap, i + 1, sizeof(*ps->ring));
	return &ps->ring[i];
}

static int compare_loss_ends(const void *a, const void *b)
{
	const struct loss *x = a;
	const struct loss *y = b;

	return compare_numbers(x->t1, y->t1) ?: compare_numbers(x->id, y->id);
}

static void losses_ring_sort(struct ring *rg)
{
	if (!rg->dirty)
		return;
	rg->dirty = false;
	qsort(rg->loss, rg->n, sizeof(*rg->loss), compare_loss_ends);
	rg->low = mem_grow(rg->low, &rg->cap_low, rg->n, sizeof(*rg->low));
	for (size_t i = rg->n; i-- > 0;) {
		rg->low[i] = (uint32_t)i;
		if (i + 1 < rg->n &&
		    rg->loss[rg->low[i + 1]].t0 < rg->loss[i].t0)
			rg->low[i] = rg->low[i + 1];
	}
}

/* There are too many intervals: merges each pair of neighbours into one
 * interval that covers both and the time between them. */
static void losses_ring_halve(struct ring *rg)
{
	size_t n = 0;

	rg->dirty = true;
	losses_ring_sort(rg);
	for (size_t i = 0; i < rg->n; i += 2) {
		struct loss l = rg->loss[i];

		if (i + 1 < rg->n) {
			const struct loss *next = &rg->loss[i + 1];

			l.t0 = next->t0 < l.t0 ? next->t0 : l.t0;
			l.t1 = next->t1;
		}
		rg->loss[n++] = l;
	}
	rg->n = n;
	rg->dirty = true;
}

static void losses_ring_add(struct ring *rg, const struct loss *l)
{
	if (rg->n >= LOSSES_MAX)
		losses_ring_halve(rg);
	if (!rg->n || l->t1 > rg->newest)
		rg->newest = l->t1;
	*mem_add(rg->loss, rg->n, rg->cap) = *l;
	rg->dirty = true;
}

void losses_add(struct losses *ls, uint16_t source, const struct loss *l)
{
	struct loss one = *l;

	ls->src = mem_reach(ls->src, &ls->n, &ls->cap, source + 1u,
			    sizeof(*ls->src));
	struct per_source *ps = &ls->src[source];

	if (one.t1 == TIME_NONE) {
		one.t0 = INT64_MIN;
		one.t1 = INT64_MAX;
	}
	if (!ps->any)
		ps->any = one.id;
	if (one.t0 >= one.t1)
		return;
	losses_ring_add(losses_ring_at(ps, RING_ALL), &one);
	losses_ring_add(losses_ring_at(ps, losses_ring_index(one.cpu)), &one);
}

uint32_t losses_any(const struct losses *ls, uint16_t source)
{
	return source < ls->n ? ls->src[source].any : 0;
}

static int64_t losses_ring_newest(const struct per_source *ps, size_t i)
{
	return i < ps->n && ps->ring[i].n ? ps->ring[i].newest : INT64_MIN;
}

int64_t losses_newest(const struct losses *ls, uint16_t source, int32_t cpu)
{
	if (source >= ls->n)
		return INT64_MIN;
	const struct per_source *ps = &ls->src[source];
	int64_t a = losses_ring_newest(ps, cpu < 0 ? RING_ALL
						   : losses_ring_index(cpu));
	int64_t b = losses_ring_newest(ps, RING_UNKNOWN);

	return a > b ? a : b;
}

/* Returns the first interval that ends after from, if it starts before to, else
 * a later one that starts before to, else NULL. */
static const struct loss *losses_ring_find(struct ring *rg, int64_t from,
					   int64_t to)
{
	losses_ring_sort(rg);
	size_t lo = search_where(rg->n, i, rg->loss[i].t1 > from);

	if (lo == rg->n || rg->loss[rg->low[lo]].t0 >= to)
		return NULL;
	for (size_t i = lo; i < rg->n && i < lo + LOOK; i++)
		if (rg->loss[i].t0 < to)
			return &rg->loss[i];
	return &rg->loss[rg->low[lo]];
}

uint32_t losses_find(struct losses *ls, uint16_t source, int32_t cpu,
		     int64_t from, int64_t to)
{
	size_t i = cpu < 0 ? RING_ALL : losses_ring_index(cpu);

	if (source >= ls->n || !ls->src[source].n)
		return 0;
	struct per_source *ps = &ls->src[source];
	const struct loss *l =
		i < ps->n ? losses_ring_find(&ps->ring[i], from, to) : NULL;

	if (cpu < 0 || i == RING_UNKNOWN)
		return l ? l->id : 0;
	const struct loss *u =
		losses_ring_find(losses_ring_at(ps, RING_UNKNOWN), from, to);

	if (u && (!l || compare_loss_ends(u, l) < 0))
		l = u;
	return l ? l->id : 0;
}
