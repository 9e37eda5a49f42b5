/* align.c - puts all captures on one timeline: two clocks are compared by
 * events that both captures have, then all captures by the clocks that fit. */
#include "stitch/order/align.h"

#include <inttypes.h>

#include "stitch/base/err.h"
#include "stitch/base/log.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/wide.h"
#include "stitch/base/words.h"
#include "stitch/order/clocks.h"
#include "stitch/order/fingerprints.h"

/* Events that occur once in each capture and look equal are taken as the same
 * event. Some are not: one was recorded while only one capture ran, or was
 * lost. Therefore, the difference on which most pairs agree is used, and at
 * least half of the possible pairs must agree. */

/* Smallest number of events that proves anything. */
#define CLOCK_FIT_MIN 10
/* Largest distance in ns from the 5th to the 95th percentile. */
#define CLOCK_FIT_SPREAD 100000

struct clock_fit {
	struct clock_map map; /* maps times of a to b */
	int64_t error;	/* ns: the spread, plus the distance of the hooks that
			 * record the event */
	uint64_t found; /* events that occur once in both */
};

/* Numbers of switches in the time that both recorded: in a, in b, and those of
 * a that are also in b. */
struct switch_agreement {
	uint64_t a, b, both;
};

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
	/* find the slope between the first and the last third */
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

/* Fits a map by events of one kind. Returns false if they prove none. */
static bool clock_fit_kind(const struct fingerprints *a,
			   const struct fingerprints *b,
			   enum fingerprint_kind kind, struct clock_fit *out)
{
	struct pairs ps = { 0 };
	struct cluster c = { 0 };
	bool good = false;

	/* Pairs the events that occur once in both. */
	const struct fingerprint_list *of_a = &a->list[kind];
	const struct fingerprint_list *of_b = &b->list[kind];
	size_t k = 0;

	for (size_t i = 0; i < of_a->n;) {
		size_t na = count_equal_hashes(of_a, i);

		while (k < of_b->n && of_b->p[k].hash < of_a->p[i].hash)
			k++;
		if (k < of_b->n && of_b->p[k].hash == of_a->p[i].hash &&
		    na == 1 && count_equal_hashes(of_b, k) == 1)
			*mem_add(ps.p, ps.n, ps.cap) = (struct pair){
				of_a->p[i].time,
				(int64_t)(of_b->p[k].time - of_a->p[i].time)
			};
		i += na;
	}
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

/* Counts the events of two lists, and those of a that are also in b. */
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

/* Returns the number of events of other kinds that are in both at the same
 * time. */
static uint64_t clock_fit_others(const struct fingerprints *a,
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

/* Returns true if threads with the same id have different names. */
static bool clock_fit_names_differ(const struct fingerprints *x,
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

/* Returns true if a process has code at the same page in both, which no other
 * boot would have chosen. */
static bool clock_fit_share_process(const struct fingerprints *x,
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

/* Least error of a link, in ns. */
#define ALIGN_LEAST 1000

/* Why two captures do not fit together. */
enum align_why {
	WHY_NOT_ASKED,
	WHY_NO_TIME, /* one has no times, or none that could be examined */
	WHY_CLOCKS,  /* no method applies to the two clocks */
	WHY_APART,   /* one ended before the other began */
	/* From here on: proofs that the captures are not of one run. */
	WHY_HOST,
	WHY_RELEASE,
	WHY_BOOT,
	WHY_WALL,    /* the same clock, but started at different times */
	WHY_EVENTS,  /* the same clock, but equal events have different times */
	WHY_MISSING, /* the switches of one are missing in the other */
};

struct align_link {
	enum align_method method; /* 0: none; see why */
	enum align_why why;
	struct clock_map map;
	int64_t error;
	uint64_t pairs;
	uint64_t found; /* switches that occur once in both */
	int64_t away;	/* WHY_APART, WHY_EVENTS, WHY_WALL: distance in ns */
	bool proved;	/* of the same kernel at the same time */
	bool strangers; /* equal thread ids in the two captures mean different
			 * threads, even if proved */
	bool part; /* in its time, a has exactly the switches of b, so comparing
		    * b with a third capture suffices */
};

/* Each method that applies proposes a map. The records may refute it: the
 * captures do not overlap, or the switches of one are missing in the other. Of
 * the remaining proposals the one with the smallest error wins, except that
 * equal clocks need no other proposal. */

/* Errors in ns (backstitch-formats(5), "Alignment"). Two hooks of one
 * tracepoint are 0.5 to 2 us apart; a recorder reads wall time in us. */
#define SAME_ERROR 3000
#define TSC_ERROR 3000
#define SCHED_ERROR 3000
#define WALL_ERROR 100000
/* NTP changes the rate of a clock by at most 500 ppm: 1 / 2000. */
#define SLEW 2000
/* ns by which wall time may have been set meanwhile; a larger difference means
 * another boot. */
#define WALL_STEP 60000000000
/* A smaller difference, in ns, means the same boot. */
#define WALL_CLOSE 1000000000
/* Number of events other than switches that prove one kernel. */
#define OTHERS_MIN 3
/* Captures with one clock that are this many ns apart have no event in common:
 * it is more than equal events could correct. */
#define APART_MIN 1000000
/* Number of switches that clocks may move out of a part at both ends: so few
 * that two parts of one capture have most of their switches in common. */
#define PART_EDGES 4

static bool known_and_different(const char *a, const char *b)
{
	return a && b && *a && *b && strcmp(a, b) != 0;
}

static bool known_and_equal(const char *a, const char *b)
{
	return a && b && *a && !strcmp(a, b);
}

/* Returns the name of the host; NULL: unknown, or a default of many hosts. */
static const char *known_host(const struct source_info *info)
{
	static const char *const no_name[] = { "(none)", "localhost",
					       "localhost.localdomain" };

	return any_where(ARRAY_SIZE(no_name), i,
			 known_and_equal(info->host, no_name[i]))
		       ? NULL
		       : info->host;
}

static int64_t absolute_ns(int64_t v)
{
	return v < 0 ? -(v + 1) : v;
}

/* Sets *base to wall time minus clock. Returns false if it is unknown. */
static bool wall_base(const struct source_info *info, int64_t *base)
{
	*base = (int64_t)(info->wall_ns - info->wall_clock_ns);
	return info->wall_ns && info->wall_clock_ns;
}

static bool is_same_clock(const struct source_info *a,
			  const struct source_info *b)
{
	return a->clock_id && a->clock_id == b->clock_id &&
	       a->tsc.mult * (a->clock_id == CLOCK_ID_TSC) ==
		       b->tsc.mult * (b->clock_id == CLOCK_ID_TSC);
}

/* Returns the proof that the captures are not from one run of one machine;
 * WHY_NOT_ASKED: none. */
static enum align_why other_machine(const struct source_info *a,
				    const struct source_info *b, int64_t *away)
{
	int64_t wa, wb;

	const bool boots = a->has_boot_id && b->has_boot_id;

	/* within a boot, a host may be renamed, and a container has a name of
	 * its own */
	if (!boots && known_and_different(known_host(a), known_host(b)))
		return WHY_HOST;
	if (known_and_different(a->release, b->release))
		return WHY_RELEASE;
	if (boots && memcmp(a->boot_id, b->boot_id, sizeof(a->boot_id)) != 0)
		return WHY_BOOT;
	/* within a boot, wall time may be set, and monotonic time stops while
	 * the machine sleeps */
	if (boots || !is_same_clock(a, b) || !wall_base(a, &wa) ||
	    !wall_base(b, &wb))
		return WHY_NOT_ASKED;
	*away = (int64_t)((uint64_t)wa - (uint64_t)wb);
	return absolute_ns(*away) > WALL_STEP ? WHY_WALL : WHY_NOT_ASKED;
}

/* Returns whether perf saw the kernel at two addresses, which it chooses at
 * random when it boots (CONFIG_RANDOMIZE_BASE). Files next to a trace of ftrace
 * may be of another boot. */
static bool kernels_differ(const struct align_in *x, const struct align_in *y)
{
	const struct fingerprints *a = x->fingerprints, *b = y->fingerprints;

	return x->info->cookies == COOKIES_PERF &&
	       y->info->cookies == COOKIES_PERF && a && b && a->kernel &&
	       b->kernel && a->kernel_by == b->kernel_by &&
	       a->kernel != b->kernel;
}

static void align_propose(struct align_link *l, enum align_method m,
			  int64_t offset, int64_t error)
{
	l->method = m;
	l->map.offset = offset;
	l->error = error;
}

/* Converts the cycles of a, raw or already scaled to ns by another factor, to
 * perf's clock. */
static bool align_by_tsc(const struct source_info *a,
			 const struct source_info *b, struct align_link *l)
{
	const struct tsc_conv *own = &a->tsc;
	const struct tsc_conv *perf = &b->tsc;

	if (a->clock_id != CLOCK_ID_TSC || b->clock_id != CLOCK_ID_PERF ||
	    !perf->mult)
		return false;
	align_propose(l, ALIGN_TSC, 0, TSC_ERROR);
	if (!own->mult) {
		l->map.tsc = *perf;
		return true;
	}
	double ratio = (double)perf->mult / (double)own->mult;

	for (int i = perf->shift; i > own->shift; i--)
		ratio /= 2;
	for (int i = perf->shift; i < own->shift; i++)
		ratio *= 2;
	if (ratio < 0.99 || ratio > 1.01)
		return false;
	l->map.drift = (int64_t)((ratio - 1) * (double)DRIFT_ONE);
	l->map.offset = (int64_t)perf->zero;
	return true;
}

static bool align_by_sched(const struct source_info *a,
			   const struct source_info *b,
			   const struct align_report *said,
			   struct align_link *l)
{
	if (!said->has_sched)
		return false;
	if (a->clock_id == CLOCK_ID_SCHED && b->clock_id == CLOCK_ID_PERF)
		align_propose(l, ALIGN_SCHED, said->sched, SCHED_ERROR);
	else if (a->clock_id == CLOCK_ID_PERF && b->clock_id == CLOCK_ID_SCHED)
		align_propose(l, ALIGN_SCHED, -said->sched, SCHED_ERROR);
	else
		return false;
	return true;
}

/* Returns the ns that a clock may have drifted since its wall time. */
static int64_t possible_slew(const struct align_in *c)
{
	uint64_t at = c->info->wall_clock_ns;
	uint64_t a = absolute_ns((int64_t)(c->fingerprints->first - at));
	uint64_t b = absolute_ns((int64_t)(c->fingerprints->last - at));

	if (clock_is_steered(c->info->clock_id))
		return 0;
	return (int64_t)((a > b ? a : b) / SLEW);
}

static bool align_by_wall(const struct align_in *a, const struct align_in *b,
			  struct align_link *l)
{
	int64_t wa, wb;

	if (clock_is_raw(a->info) || clock_is_raw(b->info) ||
	    !wall_base(a->info, &wa) || !wall_base(b->info, &wb))
		return false;
	align_propose(l, ALIGN_WALL, (int64_t)((uint64_t)wa - (uint64_t)wb),
		      WALL_ERROR + possible_slew(a) + possible_slew(b));
	return true;
}

/* Returns the ns between the end of one and the start of the other; 0: they
 * overlap. */
static int64_t recording_gap(const struct align_in *a, const struct align_in *b,
			     const struct clock_map *map)
{
	int64_t first = (int64_t)clock_map_time(map, a->fingerprints->first);
	int64_t last = (int64_t)clock_map_time(map, a->fingerprints->last);
	int64_t from = (int64_t)b->fingerprints->first;
	int64_t to = (int64_t)b->fingerprints->last;

	if (last < from)
		return (int64_t)((uint64_t)from - (uint64_t)last);
	return to < first ? (int64_t)((uint64_t)first - (uint64_t)to) : 0;
}

/* Returns whether all of a was recorded within the time of b, and all switches
 * of both are kept. */
static bool is_within(const struct align_in *a, const struct align_in *b,
		      const struct clock_map *map, uint64_t within)
{
	const struct fingerprints *x = a->fingerprints;
	const struct fingerprints *y = b->fingerprints;

	return clock_map_time(map, x->first) + within >= y->first &&
	       clock_map_time(map, x->last) <= y->last + within &&
	       !x->list[FINGERPRINT_SWITCH].mask &&
	       !y->list[FINGERPRINT_SWITCH].mask;
}

/* Rejects the proposal. */
static void align_refute(struct align_link *l, enum align_why why, int64_t away)
{
	l->method = 0;
	l->why = why;
	l->away = away;
}

/* Returns the difference, in the middle of a, between the map by equal events
 * and the proposed one. */
static int64_t offset_from_events(const struct align_in *a,
				  const struct clock_fit *events,
				  const struct clock_map *map)
{
	uint64_t middle = a->fingerprints->first +
			  (a->fingerprints->last - a->fingerprints->first) / 2;

	return (int64_t)(clock_map_time(&events->map, middle) -
			 clock_map_time(map, middle));
}

/* Tests a proposed link against the records; sets its error and `proved`, or
 * rejects it. events: the map by equal events; NULL: none, or the proposal
 * itself. */
static void align_examine(const struct align_in *a, const struct align_in *b,
			  const struct clock_fit *events, struct align_link *l)
{
	uint64_t within = (uint64_t)l->error + CLOCK_FIT_SPREAD;
	struct switch_agreement ag;
	int64_t away = events ? offset_from_events(a, events, &l->map) : 0;

	if (absolute_ns(away) > l->error + CLOCK_FIT_SPREAD) {
		align_refute(l, WHY_EVENTS, away);
		return;
	}
	/* The error is the distance of equal events: of the hooks and of the
	 * clocks. */
	if (events)
		l->error = absolute_ns(away) + events->error;
	away = recording_gap(a, b, &l->map);
	if (away > l->error) {
		align_refute(l, WHY_APART, away);
		return;
	}
	fingerprints_agree(&a->fingerprints->list[FINGERPRINT_SWITCH],
			   &b->fingerprints->list[FINGERPRINT_SWITCH], &l->map,
			   within, &ag);
	/* If two tracers saw all switches, nearly all switches must be in both,
	 * unless they recorded different CPUs (perf record -C). */
	uint64_t less = ag.a < ag.b ? ag.a : ag.b;
	if (fingerprints_see_all_switches(a->fingerprints) &&
	    fingerprints_see_all_switches(b->fingerprints) &&
	    fingerprints_share_cpus(a->fingerprints, b->fingerprints) &&
	    less >= 2 * CLOCK_FIT_MIN && ag.both * 10 < less) {
		align_refute(l, WHY_MISSING, 0);
		return;
	}
	uint64_t others = clock_fit_others(a->fingerprints, b->fingerprints,
					   &l->map, within);

	l->part = ag.both >= CLOCK_FIT_MIN && ag.a - ag.both <= PART_EDGES &&
		  ag.b <= ag.both + PART_EDGES &&
		  is_within(a, b, &l->map, within);
	l->pairs = ag.both + others;
	l->proved = ag.both >= CLOCK_FIT_MIN || others >= OTHERS_MIN;
	/* Check that a's samples are of threads that were on a CPU according to
	 * b. A few may not be: a switch was lost, or an interrupt was sampled
	 * during a switch. If most are not, the thread ids of a and b differ:
	 * another run, or the namespace of a container. */
	struct oncpu_result said;

	oncpu_match_compare(&a->fingerprints->oncpu, &b->fingerprints->oncpu,
			    &l->map, (uint64_t)l->error, &said);
	l->proved |= said.yes >= CLOCK_FIT_MIN && said.no * 20 <= said.yes;
	if (fingerprints_see_all_switches(b->fingerprints))
		said.no += said.unknown;
	l->strangers = said.no >= CLOCK_FIT_MIN && said.no > said.yes;
}

/* Without equal events, the boot id proves it, or the machine's name and
 * kernel, or a clock that starts with the boot. */
static bool is_same_machine(const struct source_info *a,
			    const struct source_info *b)
{
	int64_t wa, wb;

	if (a->has_boot_id && b->has_boot_id)
		return true;
	if (!known_and_equal(known_host(a), known_host(b)))
		return false;
	return known_and_equal(a->release, b->release) ||
	       (is_same_clock(a, b) && wall_base(a, &wa) && wall_base(b, &wb) &&
		absolute_ns((int64_t)((uint64_t)wa - (uint64_t)wb)) <
			WALL_CLOSE);
}

static void keep_better(struct align_link *best, const struct align_link *l)
{
	bool better = !best->method && (l->method || l->why > best->why);

	if (best->method && l->method)
		better = l->error < best->error;
	if (better)
		*best = *l;
}

/* Tries all methods by the clocks and events; *out: the best link. */
static void align_by_times(const struct align_in *a, const struct align_in *b,
			   const struct align_report *said, bool far,
			   struct align_link *out)
{
	bool same = is_same_clock(a->info, b->info);
	struct align_link l = { .why = WHY_CLOCKS };
	struct clock_fit events;
	bool matched;

	if (same) {
		align_propose(&l, ALIGN_SAME, 0, SAME_ERROR);
		int64_t gap = recording_gap(a, b, &l.map);
		/* consecutive captures have no events in common, but a process
		 * that the kernel put at a random address proves one boot;
		 * pieces are files of one recorder, each continued in
		 * another */
		l.proved = (gap > 0 || (a->info->pieces && b->info->pieces &&
					known_and_equal(a->info->cmdline,
							b->info->cmdline))) &&
			   clock_fit_share_process(a->fingerprints,
						   b->fingerprints);

		*out = l;
		if (!l.proved && gap > APART_MIN)
			align_refute(out, WHY_APART, gap);
		if (l.proved || (gap > APART_MIN && !far))
			return;
	}
	memset(&events, 0, sizeof(events));
	matched = any_where(FINGERPRINT_KINDS, k,
			    clock_fit_kind(a->fingerprints, b->fingerprints,
					   (enum fingerprint_kind)k, &events));
	l.found = events.found;
	if (same) {
		align_examine(a, b, matched ? &events : NULL, &l);
		*out = l;
		return;
	}

	const struct align_link blank = l;

	*out = l;
	if (matched) {
		align_propose(&l, ALIGN_EVENTS, 0, events.error);
		l.map = events.map;
		align_examine(a, b, NULL, &l);
		keep_better(out, &l);
	}
	l = blank;
	if (align_by_tsc(a->info, b->info, &l)) {
		align_examine(a, b, matched ? &events : NULL, &l);
		keep_better(out, &l);
	}
	l = blank;
	if (align_by_sched(a->info, b->info, said, &l)) {
		align_examine(a, b, matched ? &events : NULL, &l);
		keep_better(out, &l);
	}
	l = blank;
	if (align_by_wall(a, b, &l)) {
		align_examine(a, b, matched ? &events : NULL, &l);
		keep_better(out, &l);
	}
}

/* Compares the clocks of two captures. Fills *out with the best method that is
 * not refuted, which maps times of a to b, or with method 0 and the reason.
 * far: search for equal events even if the captures are far apart on a common
 * clock: this can only improve the reason why they do not fit. */
static void align_pair(const struct align_in *a, const struct align_in *b,
		       const struct align_report *said, bool far,
		       struct align_link *out)
{
	struct align_link l = { .why = WHY_NO_TIME };

	l.why = other_machine(a->info, b->info, &l.away);
	if (l.why == WHY_WALL && a->fingerprints && b->fingerprints &&
	    clock_fit_share_process(a->fingerprints, b->fingerprints))
		l.why = WHY_NOT_ASKED;
	if (l.why == WHY_NOT_ASKED)
		l.why = kernels_differ(a, b) ? WHY_BOOT : WHY_NO_TIME;
	if (l.why == WHY_NO_TIME && a->fingerprints && a->info->has_time &&
	    b->fingerprints && b->info->has_time) {
		if (a->fingerprints->last && b->fingerprints->last)
			align_by_times(a, b, said, far, &l);
		/* nothing was sampled during one of them: one boot is enough */
		else if (is_same_clock(a->info, b->info) &&
			 clock_fit_share_process(a->fingerprints,
						 b->fingerprints))
			align_propose(&l, ALIGN_SAME, 0, SAME_ERROR);
		if (l.method)
			l.proved |= is_same_machine(a->info, b->info);
		if (l.proved &&
		    clock_fit_names_differ(a->fingerprints, b->fingerprints))
			l.proved = false;
	}
	*out = l;
}

/* Bytes of a path to show in a message. */
#define PATH_SHOWN 60

/* The part of a link that is kept, as there are n * n links. */
struct align_given {
	bool known : 1;			/* they were compared */
	bool refused : 1;		/* they are not from one run */
	bool proved : 1, strangers : 1; /* see struct align_link */
};

struct align_graph {
	const struct align_in *in;
	const struct align_report *said;
	size_t n, ref;
	struct align_given *between; /* n * n: from row to column */
	size_t *part; /* the capture of which each is a part (align_link.part);
		       * SIZE_MAX: none */
	struct align_out *out;
	int64_t *sum; /* sum of errors up to the reference; -1: not connected */
	bool *settled;
};

WORDS_FUNCTION(
	align_method_name,
	unsigned int, [ALIGN_REFERENCE] = "reference", [ALIGN_GIVEN] = "given",
	[ALIGN_HOST] = "host", [ALIGN_SAME] = "same_clock",
	[ALIGN_TSC] = "time_conv", [ALIGN_SCHED] = "sched_clock",
	[ALIGN_EVENTS] = "events", [ALIGN_WALL] = "wall");

/* Compares a capture with another one. */
static struct align_link align_compare(struct align_graph *g, size_t from,
				       size_t to)
{
	struct align_link l;

	align_pair(&g->in[from], &g->in[to], g->said, false, &l);
	LOG(LOG_ALIGN,
	    "%s and %s: method %s, error %" PRId64 " ns, %" PRIu64
	    " equal events, reason %d%s",
	    g->in[from].path, g->in[to].path,
	    l.method ? align_method_name(l.method) : "none", l.error, l.pairs,
	    (int)l.why, l.proved ? ", proved" : "");
	g->between[from * g->n + to] = (struct align_given){
		.known = true,
		.refused = l.why >= WHY_HOST && !l.method,
		.proved = l.proved,
		.strangers = l.strangers,
	};
	return l;
}

/* Returns the kept part of a link; compares the captures first if needed. */
static struct align_given align_between(struct align_graph *g, size_t from,
					size_t to)
{
	if (!g->between[from * g->n + to].known)
		align_compare(g, from, to);
	return g->between[from * g->n + to];
}

static const char *align_clock_name(const struct align_in *c)
{
	return c->info->clock ? c->info->clock : "not known";
}

/* Writes why two captures do not fit. */
static void describe_refusal(const struct align_in *a, const struct align_in *b,
			     const struct align_link *l, char *buf, size_t size)
{
	double ms = (double)l->away / 1e6;

	ms = ms < 0 ? -ms : ms;
	switch (l->why) {
	case WHY_HOST:
		snprintf(buf, size, "hosts '%.40s' and '%.40s'", a->info->host,
			 b->info->host);
		break;
	case WHY_RELEASE:
		snprintf(buf, size, "kernels '%.40s' and '%.40s'",
			 a->info->release, b->info->release);
		break;
	case WHY_BOOT:
		snprintf(buf, size, "two boots of the machine");
		break;
	case WHY_WALL:
		snprintf(buf, size,
			 "clock '%.20s' was started %.0f s apart: two boots, "
			 "or time was set or the machine slept in between",
			 align_clock_name(a), ms / 1000);
		break;
	case WHY_APART:
		snprintf(buf, size, "%.3f ms lie between them", ms);
		break;
	case WHY_EVENTS:
		snprintf(buf, size,
			 "by their clocks equal events are %.3f ms apart", ms);
		break;
	case WHY_MISSING:
		snprintf(buf, size,
			 "the thread switches of one are not in the other");
		break;
	case WHY_CLOCKS:
		if (clock_is_raw(a->info) || clock_is_raw(b->info)) {
			snprintf(buf, size,
				 "one counts cycles, and the other does not "
				 "tell the cycles per ns");
			break;
		}
		snprintf(buf, size,
			 "clocks '%.20s' and '%.20s', and %" PRIu64
			 " equal events are too few or do not agree",
			 align_clock_name(a), align_clock_name(b), l->found);
		break;
	case WHY_NO_TIME:
	case WHY_NOT_ASKED:
		snprintf(buf, size, "no times could be read from one of them");
		break;
	}
}

/* Returns advice how to record with a common clock. */
static const char *align_advice(const struct align_in *a,
				const struct align_in *b,
				const struct align_link *l, bool one_boot)
{
	switch (l->why) {
	case WHY_APART:
		return one_boot ? "; of chunks of one LTTng session give the "
				  "folder around them"
				: "";
	case WHY_CLOCKS:
		/* equal events do not show the length of a cycle */
		if (clock_is_raw(a->info) || clock_is_raw(b->info))
			return "; record with one clock ('perf record -k "
			       "mono', 'trace-cmd record -C mono'; LTTng has "
			       "mono)";
		return "; record with one clock ('perf record -k mono', "
		       "'trace-cmd record -C mono'; LTTng has mono) or with "
		       "sched:sched_switch in both";
	case WHY_NO_TIME:
	case WHY_NOT_ASKED:
		return "; record again with times";
	default:
		return "";
	}
}

/* Returns the end of a long path, which distinguishes captures. */
static const char *path_tail(const char *path)
{
	size_t n = strlen(path);

	return n > PATH_SHOWN ? path + n - PATH_SHOWN : path;
}

/* Sets *err: why two captures do not fit, and what would help. Returns -1. */
static int align_refuse(const struct align_graph *g, size_t a, size_t b,
			struct err *err)
{
	/* different boot ids would be WHY_BOOT */
	const bool boots =
		g->in[a].info->has_boot_id && g->in[b].info->has_boot_id;
	struct align_link l;
	char why[160];

	align_pair(&g->in[a], &g->in[b], g->said, true, &l);
	describe_refusal(&g->in[b], &g->in[a], &l, why, sizeof(why));
	const bool one_boot = boots && l.why == WHY_APART;

	return err_set(err, ERR_FORMAT,
		       "%s and %s are %s: %s%s; "
		       "--clock-offset %zu=NS if you know it, or --separate",
		       path_tail(g->in[b].path), path_tail(g->in[a].path),
		       one_boot ? "of one boot, but not of one time"
				: "not of one timeline",
		       why, align_advice(&g->in[a], &g->in[b], &l, one_boot),
		       a + 1);
}

/* Returns the first capture whose times are ns and have no given offset. */
static size_t find_reference(const struct align_graph *g)
{
	for (int strict = 2; strict >= 0; strict--)
		for (size_t i = 0; i < g->n; i++)
			if (!(strict > 0 && g->in[i].given) &&
			    !(strict > 1 && (clock_is_raw(g->in[i].info) ||
					     g->in[i].host != SIZE_MAX)))
				return i;
	return 0;
}

static void align_start(struct align_graph *g, size_t i, enum align_method m)
{
	g->out[i] = (struct align_out){
		.method = m,
		.map.offset = g->in[i].given ? g->in[i].offset : 0,
		.error = m == ALIGN_REFERENCE ? 0 : ALIGN_UNKNOWN,
		.line = (uint16_t)i,
	};
	g->sum[i] = 0;
}

/* Returns whether two captures cannot be of one run. Two that have all switches
 * of a third one in their times do not differ: only their machines may. */
static bool align_is_refused(struct align_graph *g, size_t i, size_t k)
{
	bool parts = g->part[i] < g->n && g->part[i] == g->part[k] &&
		     !g->between[i * g->n + k].known;

	if (!parts)
		return align_between(g, i, k).refused;
	const struct align_in *a = &g->in[i];
	const struct align_in *b = &g->in[k];
	int64_t away;

	return other_machine(a->info, b->info, &away) != WHY_NOT_ASKED;
}

/* Checks that all captures are connected, and that no two of them that cannot
 * be of one run are connected through a third one. Returns 0, or -1 and
 * *err. */
static int align_check(struct align_graph *g, struct err *err)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->sum[i] < 0)
			return align_refuse(g, i, g->ref, err);
	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < i; k++) {
			bool said = g->in[i].given || g->in[k].given ||
				    g->in[i].host < g->n ||
				    g->in[k].host < g->n;

			if (!said && align_is_refused(g, i, k))
				return align_refuse(g, i, k, err);
		}
	return 0;
}

static bool is_same_kernel(struct align_graph *g, size_t i, size_t k)
{
	const struct align_given x = align_between(g, i, k);
	const struct align_given y = align_between(g, k, i);

	return (x.proved || y.proved) && !x.strangers && !y.strangers;
}

int align_captures(const struct align_in *in, size_t n,
		   const struct align_report *said, struct align_out *out,
		   struct err *err)
{
	struct align_graph g = {
		.in = in,
		.said = said,
		.n = n,
		.between = mem_new(n * n, sizeof(struct align_given)),
		.part = mem_new(n, sizeof(size_t)),
		.out = out,
		.sum = mem_new(n, sizeof(int64_t)),
		.settled = mem_new(n, sizeof(bool)),
	};

	memset(out, 0, n * sizeof(*out));
	g.ref = find_reference(&g);
	for (size_t i = 0; i < n; i++) {
		g.sum[i] = -1;
		g.part[i] = SIZE_MAX;
		if (in[i].given && i != g.ref)
			align_start(&g, i, ALIGN_GIVEN);
	}
	align_start(&g, g.ref, ALIGN_REFERENCE);
	/* Find the way with the smallest error from each capture to the
	 * reference: settles the nearest of the remaining ones, and improves
	 * those that it links to. */
	for (;;) {
		size_t to = SIZE_MAX;

		for (size_t i = 0; i < g.n; i++)
			if (!g.settled[i] && g.sum[i] >= 0 &&
			    (to == SIZE_MAX || g.sum[i] < g.sum[to]))
				to = i;
		if (to == SIZE_MAX)
			break;
		g.settled[to] = true;
		for (size_t i = 0; i < g.n; i++) {
			struct align_out *o = &g.out[i];
			int64_t least = g.sum[to] + ALIGN_LEAST;

			if (g.settled[i] || g.in[i].given ||
			    (clock_is_raw(g.in[to].info) && to != g.ref) ||
			    (g.sum[i] >= 0 && g.sum[i] <= least))
				continue;

			const struct align_link l = align_compare(&g, i, to);
			int64_t sum = g.sum[to] + l.error;

			if (!l.method || (g.sum[i] >= 0 && g.sum[i] <= sum))
				continue;
			g.sum[i] = sum;
			g.part[i] = l.part ? to : SIZE_MAX;
			o->method = l.method;
			o->map = clock_map_then(&l.map, &g.out[to].map);
			o->error = sum;
			o->pairs = l.pairs;
		}
	}
	for (size_t i = 0; i < n; i++) {
		/* A guest uses the map of its host. */
		size_t host = g.in[i].host;

		if (host >= g.n || g.in[i].given || g.in[host].host != SIZE_MAX)
			continue;
		g.out[i] = g.out[host];
		g.out[i].method = ALIGN_HOST;
		g.out[i].pairs = 0;
		g.sum[i] = g.sum[host];
	}
	int rc = align_check(&g, err);
	if (!rc) {
		/* captures already in one line need not be compared again */
		for (size_t i = 0; i < g.n; i++)
			g.out[i].line = (uint16_t)i;
		for (size_t i = 0; i < g.n; i++)
			for (size_t k = 0; k < i; k++) {
				uint16_t a = g.out[i].line, b = g.out[k].line;

				if (a == b || !is_same_kernel(&g, i, k))
					continue;
				for (size_t j = 0; j < g.n; j++)
					if (g.out[j].line == a ||
					    g.out[j].line == b)
						g.out[j].line = a < b ? a : b;
			}
	}
	free_all(g.between, g.part, g.sum, g.settled);
	return rc;
}
