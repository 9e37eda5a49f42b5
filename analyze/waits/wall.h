/* wall.h - times as events of stacks: waits, next to samples or alone, and the
 * intervals between two events that belong together. */
#pragma once
#include <stdint.h>

struct err;
struct event_row;
struct filter;
struct offcpu_sums;
struct offcpu_wait;
struct stacks;
struct stacks_group;
struct store;

/* Returns a wait as a group of that event, for stacks_add(). */
struct stacks_group wall_group(const struct offcpu_wait *w, uint32_t event);
/* Returns the heaviest event whose weights are ns; -1: there is none. */
int wall_clock(const struct stacks *s);
/* Loads the waits that the filter selects as an event. tick: ns; the samples of
 * a wait are the instants, one a tick, at which its thread was off the CPU, as
 * a clock sees them, and each is given to s->o.each; 0: a wait is one sample.
 * Returns the event, or -1 and *err, also if there are none; path is for that
 * message. */
int wall_load_waits(struct store *db, const char *path,
		    const struct filter *filter, struct stacks *s, int64_t tick,
		    struct offcpu_sums *sums, struct err *err);
/* Makes one event of the samples of a clock and of these waits. Returns the
 * event, or -1 and *err, also if there are no waits or no such samples; path is
 * for that message. */
int wall_load(struct store *db, const char *path, const struct filter *filter,
	      struct stacks *s, int64_t tick, struct offcpu_sums *sums,
	      struct err *err);

/* Which intervals were taken, and which were not, as their times are not known.
 */
struct wall_intervals {
	/* set before: as of wall_load_waits(); 0: an interval is one sample */
	int64_t tick;
	uint64_t proved, unknown;
	uint64_t loose;	   /* ns that the others may have had at most;
			    * UINT64_MAX: any */
	char premise[160]; /* of the proved ones: "if ..."; "": none */
};

struct wall_interval {
	int64_t event; /* that begins it or, without one, ends it */
	int64_t begin; /* INTERVAL_NEVER: not known */
	int64_t ns; /* its length: the most, if that is known, or the least */
	uint32_t pair, name;
	uint8_t verdict, reason; /* as in struct interval */
};
/* e: that event. group: of the stacks, where it began, or ended. name: its name
 * and, unless it is proved, why: "read, consistent: loss". */
typedef void wall_interval_fn(void *arg, const struct wall_interval *w,
			      const struct event_row *e, uint32_t group,
			      const char *name);

/* Loads the intervals of a kind, as in struct intervals_ask, as an event whose
 * samples are the proved ones: each has the stack of its begin. The filter
 * selects begins. kind: an own pair has a comma; NULL: all kinds that were
 * recorded but calls and slices, each as an event. fn, unless it is NULL, is
 * called for all in the order of events, but not of the cancelled ones. Returns
 * the event of the kind (0: of all kinds), or -1 and *err, which of one kind is
 * also if none is proved. */
int wall_load_intervals(struct store *db, const char *path,
			const struct filter *filter, const char *kind,
			struct stacks *s, struct wall_intervals *sums,
			wall_interval_fn *fn, void *arg, struct err *err);
