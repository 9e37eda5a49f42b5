/* align_pair.c - compares the clocks of two captures.
 *
 * Each method that applies proposes a map. The records may refute it: the
 * captures do not overlap, or the switches of one are missing in the other. Of
 * the remaining proposals the one with the smallest error wins, except that
 * equal clocks need no other proposal. */
#include "stitch/order/align_pair.h"

#include "stitch/base/mem.h"
#include "stitch/order/clock_fit.h"
#include "stitch/order/clocks.h"
#include "stitch/order/fingerprints.h"

/* Errors in ns (backstitch-formats(5), "Alignment"). Two hooks of one
 * tracepoint are 0.5 to 2 us apart; a recorder reads wall time in us. */
#define SAME_ERROR 3000
#define TSC_ERROR 3000
#define SCHED_ERROR 3000
#define WALL_ERROR 100000
/* NTP changes the rate of a clock by at most 500 ppm: 1 / 2000. */
#define SLEW 2000
/* ns that wall time may have been set meanwhile; a larger difference means
 * another boot. */
#define WALL_STEP 60000000000
/* A smaller difference, in ns, means the same boot. */
#define WALL_CLOSE 1000000000
/* Number of events other than switches that prove one kernel. */
#define OTHERS_MIN 3
/* Captures with one clock that are so many ns apart have no event in common:
 * more than equal events may correct it by. */
#define APART_MIN 1000000
/* Switches at both ends of a part that clocks may put out of it: so few that
 * two parts of one capture have most of their switches in common. */
#define PART_EDGES 4

static bool known_and_different(const char *a, const char *b)
{
	return a && b && *a && *b && strcmp(a, b) != 0;
}

static bool known_and_equal(const char *a, const char *b)
{
	return a && b && *a && !strcmp(a, b);
}

/* A machine without a name of its own has one of these. */
static const char *known_host(const struct source_info *info)
{
	static const char *const no_name[] = { "(none)", "localhost",
					       "localhost.localdomain" };

	for (size_t i = 0; i < ARRAY_SIZE(no_name); i++)
		if (known_and_equal(info->host, no_name[i]))
			return NULL;
	return info->host;
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

/* Returns what proves that they are not of one run of one machine. */
static enum align_why other_machine(const struct source_info *a,
				    const struct source_info *b, int64_t *away)
{
	int64_t wa, wb;

	if (known_and_different(known_host(a), known_host(b)))
		return WHY_HOST;
	if (known_and_different(a->release, b->release))
		return WHY_RELEASE;
	if (a->has_boot_id && b->has_boot_id &&
	    memcmp(a->boot_id, b->boot_id, sizeof(a->boot_id)) != 0)
		return WHY_BOOT;
	if (!is_same_clock(a, b) || !wall_base(a, &wa) || !wall_base(b, &wb))
		return WHY_NOT_ASKED;
	*away = (int64_t)((uint64_t)wa - (uint64_t)wb);
	return absolute_ns(*away) > WALL_STEP ? WHY_WALL : WHY_NOT_ASKED;
}

bool align_other_machine(const struct align_in *a, const struct align_in *b)
{
	int64_t away;

	return other_machine(a->info, b->info, &away) != WHY_NOT_ASKED;
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
			   const struct align_said *said, struct align_link *l)
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

/* Returns how much a clock may have drifted since its wall time was noted. */
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

/* Returns whether all of a was recorded in the time of b, of which all events
 * are kept. */
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

/* If two tracers saw all switches, nearly all switches must be in both. */
static bool switches_are_missing(const struct align_in *a,
				 const struct align_in *b,
				 const struct switch_agreement *ag)
{
	uint64_t less = ag->a < ag->b ? ag->a : ag->b;

	return fingerprints_see_all_switches(a->fingerprints) &&
	       fingerprints_see_all_switches(b->fingerprints) &&
	       less >= 2 * CLOCK_FIT_MIN && ag->both * 10 < less;
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

/* Files of one recorder that went on in another one have no events in common,
 * and may have a gap between them. */
static bool are_pieces(const struct align_in *a, const struct align_in *b)
{
	return a->info->pieces && b->info->pieces &&
	       known_and_equal(a->info->cmdline, b->info->cmdline) &&
	       clock_fit_share_process(a->fingerprints, b->fingerprints);
}

/* events: the map by equal events; NULL: none, or the proposal itself. */
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
	clock_fit_switches(a->fingerprints, b->fingerprints, &l->map, within,
			   &ag);
	if (switches_are_missing(a, b, &ag)) {
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

static void align_by_times(const struct align_in *a, const struct align_in *b,
			   const struct align_said *said, bool far,
			   struct align_link *out)
{
	bool same = is_same_clock(a->info, b->info);
	struct align_link l = { .why = WHY_CLOCKS };
	struct clock_fit events;
	bool matched;

	if (same) {
		align_propose(&l, ALIGN_SAME, 0, SAME_ERROR);
		l.proved = are_pieces(a, b);
		int64_t gap = recording_gap(a, b, &l.map);

		*out = l;
		if (!l.proved && gap > APART_MIN)
			align_refute(out, WHY_APART, gap);
		if (l.proved || (gap > APART_MIN && !far))
			return;
	}
	matched = clock_fit_find(a->fingerprints, b->fingerprints, &events);
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

void align_pair(const struct align_in *a, const struct align_in *b,
		const struct align_said *said, bool far, struct align_link *out)
{
	struct align_link l = { .why = WHY_NO_TIME };

	l.why = other_machine(a->info, b->info, &l.away);
	if (l.why == WHY_NOT_ASKED)
		l.why = WHY_NO_TIME;
	if (l.why == WHY_NO_TIME && a->fingerprints && a->fingerprints->last &&
	    a->info->has_time && b->fingerprints && b->fingerprints->last &&
	    b->info->has_time) {
		align_by_times(a, b, said, far, &l);
		if (l.method)
			l.proved |= is_same_machine(a->info, b->info);
		if (l.proved &&
		    clock_fit_names_differ(a->fingerprints, b->fingerprints))
			l.proved = false;
	}
	*out = l;
}
