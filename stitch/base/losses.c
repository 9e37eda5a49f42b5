/* losses.c - the intervals of time in which records were dropped.
 *
 * Sorted by their ends, in which order they mostly come. low[i] is the
 * interval with the smallest start among i and all after it, so that one
 * look tells whether any of them reaches back far enough. */
#include "stitch/base/losses.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/base/mem.h"
#include "stitch/record.h"

#define LOSSES_MAX (1u << 16)
/* How many are looked at one by one for the first that fits. */
#define LOOK 64

#define CPU_MAX 65536

/* Each loss is in two of a source's rings: in that of all, and in that of its
 * CPU, or of those whose CPU is not known. */
enum {
	RING_ALL,
	RING_UNKNOWN,
	RING_CPU
};

struct ring {
	struct loss *loss;
	uint32_t *low;
	size_t n, cap, cap_low;
	int64_t newest; /* end of the latest; when n */
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

static struct per_source *source_at(struct losses *ls, uint16_t source)
{
	ls->src = mem_reach(ls->src, &ls->n, &ls->cap, source + 1u,
			    sizeof(*ls->src));
	return &ls->src[source];
}

static size_t ring_of(int32_t cpu)
{
	return cpu < 0 || cpu >= CPU_MAX ? RING_UNKNOWN
					 : RING_CPU + (size_t)cpu;
}

static struct ring *ring_at(struct per_source *ps, size_t i)
{
	ps->ring =
		mem_reach(ps->ring, &ps->n, &ps->cap, i + 1, sizeof(*ps->ring));
	return &ps->ring[i];
}

static int by_end(const void *a, const void *b)
{
	const struct loss *x = a;
	const struct loss *y = b;

	if (x->t1 != y->t1)
		return x->t1 < y->t1 ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static void sort(struct ring *rg)
{
	if (!rg->dirty)
		return;
	rg->dirty = false;
	qsort(rg->loss, rg->n, sizeof(*rg->loss), by_end);
	rg->low = mem_grow(rg->low, &rg->cap_low, rg->n, sizeof(*rg->low));
	for (size_t i = rg->n; i-- > 0;) {
		rg->low[i] = (uint32_t)i;
		if (i + 1 < rg->n &&
		    rg->loss[rg->low[i + 1]].t0 < rg->loss[i].t0)
			rg->low[i] = rg->low[i + 1];
	}
}

/* Too many to keep: neighbours become one, with what is between them. */
static void halve(struct ring *rg)
{
	size_t n = 0;

	rg->dirty = true;
	sort(rg);
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

static void add(struct ring *rg, const struct loss *l)
{
	if (rg->n >= LOSSES_MAX)
		halve(rg);
	if (!rg->n || l->t1 > rg->newest)
		rg->newest = l->t1;
	rg->loss = mem_grow(rg->loss, &rg->cap, rg->n + 1, sizeof(*rg->loss));
	rg->loss[rg->n++] = *l;
	rg->dirty = true;
}

void losses_add(struct losses *ls, uint16_t source, const struct loss *l)
{
	struct per_source *ps = source_at(ls, source);
	struct loss one = *l;

	if (one.t1 == TIME_NONE) {
		one.t0 = INT64_MIN;
		one.t1 = INT64_MAX;
	}
	if (!ps->any)
		ps->any = one.id;
	if (one.t0 >= one.t1)
		return;
	add(ring_at(ps, RING_ALL), &one);
	add(ring_at(ps, ring_of(one.cpu)), &one);
}

uint32_t losses_any(const struct losses *ls, uint16_t source)
{
	return source < ls->n ? ls->src[source].any : 0;
}

static int64_t newest(const struct per_source *ps, size_t i)
{
	return i < ps->n && ps->ring[i].n ? ps->ring[i].newest : INT64_MIN;
}

int64_t losses_newest(const struct losses *ls, uint16_t source, int32_t cpu)
{
	if (source >= ls->n)
		return INT64_MIN;
	const struct per_source *ps = &ls->src[source];
	int64_t a = newest(ps, cpu < 0 ? RING_ALL : ring_of(cpu));
	int64_t b = newest(ps, RING_UNKNOWN);

	return a > b ? a : b;
}

/* The first interval of the ring that ends after from, if it begins before
 * to; else one of those after it that does. */
static const struct loss *find(struct ring *rg, int64_t from, int64_t to)
{
	size_t lo = 0;

	sort(rg);
	for (size_t hi = rg->n; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (rg->loss[mid].t1 > from)
			hi = mid;
		else
			lo = mid + 1;
	}
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
	size_t i = cpu < 0 ? RING_ALL : ring_of(cpu);

	if (source >= ls->n || !ls->src[source].n)
		return 0;
	struct per_source *ps = &ls->src[source];
	const struct loss *l = i < ps->n ? find(&ps->ring[i], from, to) : NULL;

	if (cpu < 0 || i == RING_UNKNOWN)
		return l ? l->id : 0;
	const struct loss *u = find(ring_at(ps, RING_UNKNOWN), from, to);

	if (u && (!l || by_end(u, l) < 0))
		l = u;
	return l ? l->id : 0;
}
