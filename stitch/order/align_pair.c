/* align_pair.c - how the clock of one capture leads to another's.
 *
 * Every method that applies makes a proposal; what was recorded may refute
 * it: the captures do not overlap, or the switches of one are not in the
 * other. Of those that are left the one with the smallest error counts, but
 * a clock that is the same is the same. */
#include "stitch/order/align_pair.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/order/clock_fit.h"
#include "stitch/order/clocks.h"
#include "stitch/order/fingerprints.h"

/* Errors, ns (backstitch-formats(5), "Alignment"). Two hooks of one tracepoint
 * are 0.5 to 2 us apart; a recorder reads wall time in us. */
#define SAME_ERROR 3000
#define TSC_ERROR 3000
#define SCHED_ERROR 3000
#define WALL_ERROR 100000
/* NTP turns no clock faster than 500 ppm. */
#define SLEW 2000
/* Wall time that was set meanwhile: more is another boot. */
#define WALL_STEP 60000000000
/* And closer than this it is the same. */
#define WALL_CLOSE 1000000000
/* Events that prove one kernel, besides the switches. */
#define OTHERS_MIN 3

static bool differ(const char *a, const char *b)
{
	return a && b && *a && *b && strcmp(a, b) != 0;
}

static bool equal(const char *a, const char *b)
{
	return a && b && *a && !strcmp(a, b);
}

/* A machine that nobody gave a name has one of these. */
static const char *host_of(const struct source_info *info)
{
	static const char *const no_name[] = { "(none)", "localhost",
					       "localhost.localdomain" };

	for (size_t i = 0; i < sizeof(no_name) / sizeof(*no_name); i++)
		if (equal(info->host, no_name[i]))
			return NULL;
	return info->host;
}

static int64_t absolute(int64_t v)
{
	return v < 0 ? -(v + 1) : v;
}

/* Wall time less clock. False: not said. */
static bool wall_base(const struct source_info *info, int64_t *base)
{
	*base = (int64_t)(info->wall_ns - info->wall_clock_ns);
	return info->wall_ns && info->wall_clock_ns;
}

static bool same_clock(const struct source_info *a, const struct source_info *b)
{
	return a->clock_id && a->clock_id == b->clock_id &&
	       a->tsc.mult * (a->clock_id == CLOCK_ID_TSC) ==
		       b->tsc.mult * (b->clock_id == CLOCK_ID_TSC);
}

/* What says that they cannot be of one run of one machine. */
static enum align_why other_machine(const struct source_info *a,
				    const struct source_info *b, int64_t *away)
{
	int64_t wa, wb;

	if (differ(host_of(a), host_of(b)))
		return WHY_HOST;
	if (differ(a->release, b->release))
		return WHY_RELEASE;
	if (a->has_boot_id && b->has_boot_id &&
	    memcmp(a->boot_id, b->boot_id, sizeof(a->boot_id)) != 0)
		return WHY_BOOT;
	if (!same_clock(a, b) || !wall_base(a, &wa) || !wall_base(b, &wb))
		return WHY_NOT_ASKED;
	*away = (int64_t)((uint64_t)wa - (uint64_t)wb);
	return absolute(*away) > WALL_STEP ? WHY_WALL : WHY_NOT_ASKED;
}

/* ---- proposals */

static void propose(struct align_link *l, enum align_method m, int64_t offset,
		    int64_t error)
{
	l->method = m;
	l->map.offset = offset;
	l->error = error;
}

/* From cycles, raw or turned into ns by a factor of their own, to perf's. */
static bool by_tsc(const struct source_info *a, const struct source_info *b,
		   struct align_link *l)
{
	const struct tsc_conv *own = &a->tsc;
	const struct tsc_conv *perf = &b->tsc;

	if (a->clock_id != CLOCK_ID_TSC || b->clock_id != CLOCK_ID_PERF ||
	    !perf->mult)
		return false;
	propose(l, ALIGN_TSC, 0, TSC_ERROR);
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

static bool by_sched(const struct source_info *a, const struct source_info *b,
		     const struct align_said *said, struct align_link *l)
{
	if (!said->has_sched)
		return false;
	if (a->clock_id == CLOCK_ID_SCHED && b->clock_id == CLOCK_ID_PERF)
		propose(l, ALIGN_SCHED, said->sched, SCHED_ERROR);
	else if (a->clock_id == CLOCK_ID_PERF && b->clock_id == CLOCK_ID_SCHED)
		propose(l, ALIGN_SCHED, -said->sched, SCHED_ERROR);
	else
		return false;
	return true;
}

/* How much a clock may have gone another way since its wall time was noted. */
static int64_t slewed(const struct align_in *c)
{
	uint64_t at = c->info->wall_clock_ns;
	uint64_t a = absolute((int64_t)(c->prints->first - at));
	uint64_t b = absolute((int64_t)(c->prints->last - at));

	if (clock_is_steered(c->info->clock_id))
		return 0;
	return (int64_t)((a > b ? a : b) / SLEW);
}

static bool by_wall(const struct align_in *a, const struct align_in *b,
		    struct align_link *l)
{
	int64_t wa, wb;

	if (clock_is_raw(a->info) || clock_is_raw(b->info) ||
	    !wall_base(a->info, &wa) || !wall_base(b->info, &wb))
		return false;
	propose(l, ALIGN_WALL, (int64_t)((uint64_t)wa - (uint64_t)wb),
		WALL_ERROR + slewed(a) + slewed(b));
	return true;
}

/* ---- what was recorded says */

/* ns between the end of one and the start of the other; 0: they overlap. */
static int64_t gap(const struct align_in *a, const struct align_in *b,
		   const struct clock_map *map)
{
	int64_t first = (int64_t)clock_map_time(map, a->prints->first);
	int64_t last = (int64_t)clock_map_time(map, a->prints->last);
	int64_t from = (int64_t)b->prints->first;
	int64_t to = (int64_t)b->prints->last;

	if (last < from)
		return (int64_t)((uint64_t)from - (uint64_t)last);
	return to < first ? (int64_t)((uint64_t)first - (uint64_t)to) : 0;
}

/* Takes the method away for a reason. */
static void refute(struct align_link *l, enum align_why why, int64_t away)
{
	l->method = 0;
	l->why = why;
	l->away = away;
}

/* Of two tracers that saw all switches nearly all must be in both. */
static bool missing(const struct align_in *a, const struct align_in *b,
		    const struct agreement *ag)
{
	uint64_t less = ag->a < ag->b ? ag->a : ag->b;

	return prints_whole(a->prints) && prints_whole(b->prints) &&
	       less >= 2 * MATCH_MIN && ag->both * 10 < less;
}

/* Equal events and the proposal in the middle of a: how far apart? */
static int64_t off_by(const struct align_in *a, const struct match *events,
		      const struct clock_map *map)
{
	uint64_t middle =
		a->prints->first + (a->prints->last - a->prints->first) / 2;

	return (int64_t)(clock_map_time(&events->map, middle) -
			 clock_map_time(map, middle));
}

/* Samples of one capture in the turns that the other saw. Some may be outside:
 * a switch was lost, or the sample is of an interrupt on the way. When most
 * are, the ids of one are not those of the other: another run, or the
 * namespace of a container. */
static void ask_who_ran(const struct align_in *a, const struct align_in *b,
			struct align_link *l)
{
	struct ran_said said;

	ran_compare(&a->prints->ran, &b->prints->ran, &l->map,
		    (uint64_t)l->error, &said);
	l->proved |= said.yes >= MATCH_MIN && said.no * 20 <= said.yes;
	if (prints_whole(b->prints))
		said.no += said.unknown;
	l->strangers = said.no >= MATCH_MIN && said.no > said.yes;
}

/* events: NULL: the proposal is theirs, or there are none. */
static void examine(const struct align_in *a, const struct align_in *b,
		    const struct match *events, struct align_link *l)
{
	uint64_t within = (uint64_t)l->error + MATCH_SPREAD;
	struct agreement ag;
	int64_t away = events ? off_by(a, events, &l->map) : 0;

	if (absolute(away) > l->error + MATCH_SPREAD) {
		refute(l, WHY_EVENTS, away);
		return;
	}
	/* how far apart equal events are: the hooks, and the clock */
	if (events)
		l->error = absolute(away) + events->error;
	away = gap(a, b, &l->map);
	if (away > l->error) {
		refute(l, WHY_APART, away);
		return;
	}
	match_switches(a->prints, b->prints, &l->map, within, &ag);
	if (missing(a, b, &ag)) {
		refute(l, WHY_MISSING, 0);
		return;
	}
	uint64_t others = match_others(a->prints, b->prints, &l->map, within);

	l->pairs = ag.both + others;
	l->proved = ag.both >= MATCH_MIN || others >= OTHERS_MIN;
	ask_who_ran(a, b, l);
}

/* Without equal events: the run of the kernel has a name, or the machine and
 * its kernel have, or its clock, which starts with it. */
static bool same_machine(const struct source_info *a,
			 const struct source_info *b)
{
	int64_t wa, wb;

	if (a->has_boot_id && b->has_boot_id)
		return true;
	if (!equal(host_of(a), host_of(b)))
		return false;
	return equal(a->release, b->release) ||
	       (same_clock(a, b) && wall_base(a, &wa) && wall_base(b, &wb) &&
		absolute((int64_t)((uint64_t)wa - (uint64_t)wb)) < WALL_CLOSE);
}

static void keep_better(struct align_link *best, const struct align_link *l)
{
	bool better = !best->method && (l->method || l->why > best->why);

	if (best->method && l->method)
		better = l->error < best->error;
	if (better)
		*best = *l;
}

static void by_times(const struct align_in *a, const struct align_in *b,
		     const struct align_said *said, struct align_link *out)
{
	struct match events;
	bool matched = match_clocks(a->prints, b->prints, &events);
	struct align_link l = { .why = WHY_CLOCKS, .found = events.found };
	const struct align_link blank = l;

	*out = l;
	if (same_clock(a->info, b->info)) {
		propose(&l, ALIGN_SAME, 0, SAME_ERROR);
		examine(a, b, matched ? &events : NULL, &l);
		*out = l;
		return;
	}
	if (matched) {
		propose(&l, ALIGN_EVENTS, 0, events.error);
		l.map = events.map;
		examine(a, b, NULL, &l);
		keep_better(out, &l);
	}
	l = blank;
	if (by_tsc(a->info, b->info, &l)) {
		examine(a, b, matched ? &events : NULL, &l);
		keep_better(out, &l);
	}
	l = blank;
	if (by_sched(a->info, b->info, said, &l)) {
		examine(a, b, matched ? &events : NULL, &l);
		keep_better(out, &l);
	}
	l = blank;
	if (by_wall(a, b, &l)) {
		examine(a, b, matched ? &events : NULL, &l);
		keep_better(out, &l);
	}
}

void align_pair(const struct align_in *a, const struct align_in *b,
		const struct align_said *said, struct align_link *out)
{
	struct align_link l = { .why = WHY_NO_TIME };

	l.why = other_machine(a->info, b->info, &l.away);
	if (l.why == WHY_NOT_ASKED)
		l.why = WHY_NO_TIME;
	if (l.why == WHY_NO_TIME && a->prints && a->prints->last &&
	    a->info->has_time && b->prints && b->prints->last &&
	    b->info->has_time) {
		by_times(a, b, said, &l);
		if (l.method)
			l.proved |= same_machine(a->info, b->info);
		if (l.proved && match_names_differ(a->prints, b->prints))
			l.proved = false;
	}
	*out = l;
}
