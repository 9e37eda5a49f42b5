/* losses.c - the time intervals in which records were dropped.
 *
 * Intervals are sorted by their ends, which is nearly the order in which they
 * are added: an interval that is not later than the last one begins a new run,
 * and a run is merged into the previous one when it has become as long. So
 * there are O(log n) runs, and an interval is moved O(log n) times, whatever
 * the order.
 *
 * low[] of a run are the indexes of intervals that start before all that follow
 * them, ascending: the first at or after i has the smallest start from i on, so
 * one comparison shows whether any of them starts early enough. */
#include "stitch/base/losses.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/record.h"

#define LOSSES_MAX (1u << 16)
/* Most intervals that a search examines one by one. */
#define LOOK 64

/* Each loss is in two rings of its source: RING_ALL, and the ring of its CPU or
 * RING_UNKNOWN. */
enum {
	RING_ALL,
	RING_UNKNOWN,
	RING_CPU
};

struct run {
	struct loss *loss;
	uint32_t *low;
	size_t n, cap, n_low, cap_low;
};

struct ring {
	struct run *run;
	size_t n, cap;
	size_t losses;	/* in all runs */
	int64_t newest; /* latest end; valid if losses > 0 */
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

static void losses_run_release(struct run *rn)
{
	free_all(rn->loss, rn->low);
}

void losses_free(struct losses *ls)
{
	if (!ls)
		return;
	for (size_t i = 0; i < ls->n; i++) {
		for (size_t k = 0; k < ls->src[i].n; k++) {
			struct ring *rg = &ls->src[i].ring[k];

			while (rg->n)
				losses_run_release(&rg->run[--rg->n]);
			free(rg->run);
		}
		free(ls->src[i].ring);
	}
	free_all(ls->src, ls);
}

static size_t losses_ring_index(int32_t cpu)
{
	return cpu < 0 || cpu >= CPUS_MAX ? RING_UNKNOWN
					  : RING_CPU + (size_t)cpu;
}

static struct ring *losses_ring_at(struct per_source *ps, size_t i)
{
	return mem_at(ps->ring, ps->n, ps->cap, i);
}

COMPARE_BY(compare_loss_ends, struct loss, t1, id);

/* Adds an interval that is later than all of the run. */
static void losses_run_add(struct run *rn, const struct loss *l)
{
	while (rn->n_low && rn->loss[rn->low[rn->n_low - 1]].t0 >= l->t0)
		rn->n_low--;
	*mem_add(rn->low, rn->n_low, rn->cap_low) = (uint32_t)rn->n;
	*mem_add(rn->loss, rn->n, rn->cap) = *l;
}

/* Merges the last two runs. */
static void losses_ring_merge(struct ring *rg)
{
	struct run *a = &rg->run[rg->n - 2];
	struct run *b = &rg->run[rg->n - 1];
	struct run all = { 0 };

	for (size_t i = 0, k = 0; i < a->n || k < b->n;)
		losses_run_add(
			&all, k == b->n || (i < a->n &&
					    compare_loss_ends(&a->loss[i],
							      &b->loss[k]) <= 0)
				      ? &a->loss[i++]
				      : &b->loss[k++]);
	losses_run_release(a);
	losses_run_release(b);
	*a = all;
	rg->n--;
}

/* There are too many intervals: merges each pair of neighbours into one
 * interval that covers both and the time between them. */
static void losses_ring_halve(struct ring *rg)
{
	struct run half = { 0 };

	while (rg->n > 1)
		losses_ring_merge(rg);
	struct run *rn = &rg->run[0];

	for (size_t i = 0; i < rn->n; i += 2) {
		struct loss l = rn->loss[i];

		if (i + 1 < rn->n) {
			const struct loss *next = &rn->loss[i + 1];

			lower_to(l.t0, next->t0);
			l.t1 = next->t1;
		}
		losses_run_add(&half, &l);
	}
	losses_run_release(rn);
	*rn = half;
	rg->losses = half.n;
}

/* Adds an interval to a ring, and keeps its runs few. */
static void losses_ring_add(struct ring *rg, const struct loss *l)
{
	if (rg->losses >= LOSSES_MAX)
		losses_ring_halve(rg);
	if (!rg->losses || l->t1 > rg->newest)
		rg->newest = l->t1;
	rg->losses++;
	struct run *rn = rg->n ? &rg->run[rg->n - 1] : NULL;

	if (!rn || compare_loss_ends(&rn->loss[rn->n - 1], l) > 0) {
		rn = mem_add(rg->run, rg->n, rg->cap);
		*rn = (struct run){ 0 };
	}
	losses_run_add(rn, l);
	while (rg->n > 1 && rg->run[rg->n - 2].n <= rg->run[rg->n - 1].n)
		losses_ring_merge(rg);
}

void losses_add(struct losses *ls, uint16_t source, const struct loss *l)
{
	struct loss one = *l;

	struct per_source *ps = mem_at(ls->src, ls->n, ls->cap, source);

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
	return i < ps->n && ps->ring[i].losses ? ps->ring[i].newest : INT64_MIN;
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
static const struct loss *losses_run_find(const struct run *rn, int64_t from,
					  int64_t to)
{
	size_t lo = search_where(rn->n, i, rn->loss[i].t1 > from);
	size_t low = search_where(rn->n_low, i, rn->low[i] >= lo);

	if (lo == rn->n || rn->loss[rn->low[low]].t0 >= to)
		return NULL;
	for (size_t i = lo; i < rn->n && i < lo + LOOK; i++)
		if (rn->loss[i].t0 < to)
			return &rn->loss[i];
	return &rn->loss[rn->low[low]];
}

/* Returns which of two comes first; either may be NULL. */
static const struct loss *losses_first(const struct loss *a,
				       const struct loss *b)
{
	return !a || (b && compare_loss_ends(b, a) < 0) ? b : a;
}

static const struct loss *losses_ring_find(const struct ring *rg, int64_t from,
					   int64_t to)
{
	const struct loss *l = NULL;

	for (size_t i = 0; i < rg->n; i++)
		l = losses_first(l, losses_run_find(&rg->run[i], from, to));
	return l;
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

	if (i != RING_ALL && i != RING_UNKNOWN)
		l = losses_first(
			l, losses_ring_find(losses_ring_at(ps, RING_UNKNOWN),
					    from, to));
	return l ? l->id : 0;
}
