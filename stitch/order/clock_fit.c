/* clock_fit.c - compares two clocks by events that both captures have.
 *
 * Events that occur once in each capture and look equal are taken as the same
 * event. Some are not: one was recorded while only one capture ran, or was
 * lost. Therefore, the difference on which most pairs agree is used, and at
 * least half of the possible pairs must agree. */
#include "stitch/order/clock_fit.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/wide.h"
#include "stitch/order/fingerprints.h"

/* Clocks of one kernel drift by at most 1000 ppm. */
#define DRIFT_MAX (DRIFT_ONE / 1000)
/* With fewer pairs, a slope is noise. */
#define DRIFT_MIN 30
/* Threads that may differ by chance: a name was set while only one capture
 * ran. */
#define NAMES_MIN 3

struct pair {
	uint64_t t; /* time in a */
	int64_t d;  /* time in b, minus t */
};

struct pairs {
	struct pair *p;
	size_t n, cap;
	int64_t *d; /* differences not explained by the map, sorted */
};

/* Where most of the sorted d[0..n) are. */
struct cluster {
	size_t from, n;
	int64_t middle, spread;
};

/* Returns the distance, in ns, of the hooks that record a kind of event. */
static int64_t hook_distance(enum fingerprint_kind kind, bool records)
{
	if (kind == FINGERPRINT_FORK)
		return 20000;
	return records && kind != FINGERPRINT_CHAIN ? 6000 : 1000;
}

static size_t count_equal_hashes(const struct fingerprint_list *l, size_t i)
{
	size_t n = 1;

	while (i + n < l->n && l->p[i + n].hash == l->p[i].hash)
		n++;
	return n;
}

/* Pairs the events that occur once in both. */
static void clock_fit_pairs(const struct fingerprint_list *a,
			    const struct fingerprint_list *b, struct pairs *ps)
{
	size_t k = 0;

	for (size_t i = 0; i < a->n;) {
		size_t na = count_equal_hashes(a, i);

		while (k < b->n && b->p[k].hash < a->p[i].hash)
			k++;
		if (k < b->n && b->p[k].hash == a->p[i].hash && na == 1 &&
		    count_equal_hashes(b, k) == 1)
			*mem_add(ps->p, ps->n, ps->cap) = (struct pair){
				a->p[i].time,
				(int64_t)(b->p[k].time - a->p[i].time)
			};
		i += na;
	}
}

COMPARE_BY(compare_pair_times, struct pair, t);

/* Returns the largest cluster of the differences of pairs from..to that the map
 * does not explain. */
static struct cluster unexplained_rest(struct pairs *ps, size_t from, size_t to,
				       const struct clock_map *map)
{
	struct cluster c = { 0 };
	int64_t *d = ps->d;
	size_t n = to - from;
	size_t low = 0;

	if (!n)
		return c;
	for (size_t i = from; i < to; i++)
		d[i - from] = (int64_t)((uint64_t)ps->p[i].d + ps->p[i].t -
					clock_map_time(map, ps->p[i].t));
	sort_items(d, n, compare_i64);
	for (size_t i = 0; i < n; i++) {
		/* The differences of invalid times may not fit into int64_t. */
		while ((uint64_t)d[i] - (uint64_t)d[low] > CLOCK_FIT_SPREAD)
			low++;
		if (i + 1 - low > c.n)
			c = (struct cluster){ .from = low, .n = i + 1 - low };
	}
	const int64_t *in = d + c.from;

	c.middle = in[c.n / 2];
	c.spread = in[c.n - 1 - c.n / 20] - in[c.n / 20];
	return c;
}

/* Returns the number of pairs that lie in the time that both recorded. */
static size_t count_possible_pairs(const struct pairs *ps,
				   const struct clock_map *map,
				   const struct fingerprints *a,
				   const struct fingerprints *b)
{
	uint64_t from = clock_map_time(map, a->first);
	uint64_t to = clock_map_time(map, a->last);
	size_t n = 0;

	for (size_t i = 0; i < ps->n; i++) {
		uint64_t there = ps->p[i].t + (uint64_t)ps->p[i].d;
		uint64_t here = clock_map_time(map, ps->p[i].t);

		n += here >= b->first && here <= b->last && there >= from &&
		     there <= to;
	}
	return n;
}

/* Fits a constant offset, and a slope if that fits better. */
static struct cluster fit_line(struct pairs *ps, struct clock_map *map)
{
	struct clock_map tilted;
	struct cluster c, t;

	memset(map, 0, sizeof(*map));
	sort_items(ps->p, ps->n, compare_pair_times);
	c = unexplained_rest(ps, 0, ps->n, map);
	map->offset = c.middle;
	memset(&tilted, 0, sizeof(tilted));
	/* Finds the slope between the first and the last third. Returns false
	 * if there is none. */
	const struct clock_map none = { .offset = 0 };
	size_t third = ps->n / 3;

	if (ps->n < DRIFT_MIN)
		return c;
	struct cluster b = unexplained_rest(ps, 0, third, &none);
	struct cluster e = unexplained_rest(ps, ps->n - third, ps->n, &none);
	int64_t t0 = (int64_t)ps->p[third / 2].t;
	int64_t t1 = (int64_t)ps->p[ps->n - 1 - third / 2].t;

	if (b.n < CLOCK_FIT_MIN / 2 || e.n < CLOCK_FIT_MIN / 2 || t1 <= t0)
		return c;
	bool minus = e.middle < b.middle;
	uint64_t apart = (uint64_t)e.middle - (uint64_t)b.middle;
	uint64_t drift = wide_div(wide_mul(minus ? -apart : apart, DRIFT_ONE),
				  (uint64_t)t1 - (uint64_t)t0);

	if (drift > DRIFT_MAX)
		return c;
	tilted.drift = minus ? -(int64_t)drift : (int64_t)drift;
	tilted.at = (uint64_t)t0;
	tilted.offset = 0;
	t = unexplained_rest(ps, 0, ps->n, &tilted);
	tilted.offset = t.middle;
	if (t.n > c.n + c.n / 5 ||
	    (t.n + c.n / 10 >= c.n && t.spread < c.spread - c.spread / 4 &&
	     c.spread - t.spread > 1000)) {
		*map = tilted;
		return t;
	}
	return c;
}

static bool clock_fit_kind(const struct fingerprints *a,
			   const struct fingerprints *b,
			   enum fingerprint_kind kind, struct clock_fit *out)
{
	struct pairs ps = { 0 };
	struct cluster c = { 0 };
	bool good = false;

	clock_fit_pairs(&a->list[kind], &b->list[kind], &ps);
	raise_to(out->found, ps.n);
	if (ps.n >= CLOCK_FIT_MIN) {
		ps.d = mem_new(ps.n, sizeof(*ps.d));
		c = fit_line(&ps, &out->map);
		good = c.n >= CLOCK_FIT_MIN && c.spread < CLOCK_FIT_SPREAD &&
		       c.n * 2 >= count_possible_pairs(&ps, &out->map, a, b);
	}
	if (good)
		out->error = c.spread +
			     hook_distance(kind, a->records != b->records);
	free_all(ps.d, ps.p);
	return good;
}

bool clock_fit_find(const struct fingerprints *a, const struct fingerprints *b,
		    struct clock_fit *out)
{
	memset(out, 0, sizeof(*out));
	return any_where(FINGERPRINT_KINDS, k,
			 clock_fit_kind(a, b, (enum fingerprint_kind)k, out));
}

/* Returns true if l has the hash at a time near t. */
static bool fingerprint_is_near(const struct fingerprint_list *l, uint64_t hash,
				uint64_t t, uint64_t within)
{
	uint64_t from = t > within ? t - within : 0;
	size_t lo = search_where(l->n, i,
				 l->p[i].hash > hash || (l->p[i].hash == hash &&
							 l->p[i].time >= from));

	return lo < l->n && l->p[lo].hash == hash &&
	       l->p[lo].time <= t + within;
}

static void fingerprints_agree(const struct fingerprint_list *a,
			       const struct fingerprint_list *b,
			       const struct clock_map *map, uint64_t within,
			       struct switch_agreement *out)
{
	uint64_t mask = a->mask | b->mask;
	uint64_t from = clock_map_time(map, a->first);
	uint64_t to = clock_map_time(map, a->last);

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < a->n; i++) {
		uint64_t t = clock_map_time(map, a->p[i].time);

		if (a->p[i].hash & mask || t < b->first || t > b->last)
			continue;
		out->a++;
		out->both += fingerprint_is_near(b, a->p[i].hash, t, within);
	}
	for (size_t i = 0; i < b->n; i++)
		out->b += !(b->p[i].hash & mask) && b->p[i].time >= from &&
			  b->p[i].time <= to;
}

void clock_fit_switches(const struct fingerprints *a,
			const struct fingerprints *b,
			const struct clock_map *map, uint64_t within,
			struct switch_agreement *out)
{
	fingerprints_agree(&a->list[FINGERPRINT_SWITCH],
			   &b->list[FINGERPRINT_SWITCH], map, within, out);
}

uint64_t clock_fit_others(const struct fingerprints *a,
			  const struct fingerprints *b,
			  const struct clock_map *map, uint64_t within)
{
	struct switch_agreement fork, chain;

	fingerprints_agree(&a->list[FINGERPRINT_FORK],
			   &b->list[FINGERPRINT_FORK], map, within, &fork);
	fingerprints_agree(&a->list[FINGERPRINT_CHAIN],
			   &b->list[FINGERPRINT_CHAIN], map, within, &chain);
	return fork.both + chain.both;
}

static size_t count_names(const struct fingerprint_names *p, size_t i)
{
	size_t n = 1;

	while (i + n < p->n && p->p[i + n].tid == p->p[i].tid)
		n++;
	return n;
}

bool clock_fit_names_differ(const struct fingerprints *x,
			    const struct fingerprints *y)
{
	const struct fingerprint_names *a = &x->name;
	const struct fingerprint_names *b = &y->name;
	size_t k = 0;
	size_t both = 0;
	size_t equal = 0;

	for (size_t i = 0, n; i < a->n; i += n) {
		bool same = false;

		n = count_names(a, i);
		while (k < b->n && b->p[k].tid < a->p[i].tid)
			k++;
		if (k == b->n || b->p[k].tid != a->p[i].tid)
			continue;
		size_t m = count_names(b, k);

		for (size_t g = i; g < i + n; g++)
			for (size_t h = k; h < k + m; h++)
				same |= a->p[g].hash == b->p[h].hash;
		both++;
		equal += same;
	}
	return both - equal >= NAMES_MIN && (both - equal) * 3 > both;
}

bool clock_fit_share_process(const struct fingerprints *x,
			     const struct fingerprints *y)
{
	const struct fingerprint_names *a = &x->map;
	const struct fingerprint_names *b = &y->map;
	size_t i = 0, k = 0;

	while (i < a->n && k < b->n) {
		const int d = fingerprint_names_compare(&a->p[i], &b->p[k]);

		if (!d)
			return true;
		i += d < 0;
		k += d > 0;
	}
	return false;
}
