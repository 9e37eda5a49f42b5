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

/* Returns a wait as a group of an event, for stacks_add(). */
struct stacks_group wall_group(const struct offcpu_wait *w, uint32_t event);
/* Returns the heaviest event whose weights are ns; -1: there is none. */
int wall_clock(const struct stacks *s);
/* Loads the waits that the filter selects as an event. tick: ns; the samples of
 * a wait are the instants, one in a tick, at which a clock would see its thread
 * off the CPU, and each is passed to s->o.each; 0: a wait is one sample.
 * Returns the event, or -1 and *err, also if there are no waits; path is for
 * that message. */
int wall_load_waits(struct store *db, const char *path,
		    const struct filter *filter, struct stacks *s, int64_t tick,
		    struct offcpu_sums *sums, struct err *err);
/* Makes one event of the samples of a clock and of these waits. Returns the
 * event, or -1 and *err, also if there are no waits or no such samples; path is
 * for that message. */
int wall_load(struct store *db, const char *path, const struct filter *filter,
	      struct stacks *s, int64_t tick, struct offcpu_sums *sums,
	      struct err *err);

/* Counts of intervals; unknown: left out, because their times are not known. */
struct wall_intervals {
	/* set by the caller, as for wall_load_waits(); 0: an interval is one
	 * sample */
	int64_t tick;
	uint64_t proved, unknown;
	uint64_t loose;	   /* ns that the unknown ones may have; UINT64_MAX:
			    * any */
	char premise[160]; /* of the proved ones, "if ..."; "": none */
};

struct wall_interval {
	int64_t event; /* event that begins it or, without one, ends it */
	int64_t begin; /* INTERVAL_NEVER: not known */
	int64_t ns; /* its length: the most, if that is known, else the least */
	uint32_t pair, name;
	uint8_t verdict, reason; /* as in struct interval */
};
/* Called with an interval and its event e. group: index in stacks.group, for
 * the stack of that event. name: its name and, unless it is proved, why: "read,
 * consistent: loss". */
typedef void wall_interval_fn(void *arg, const struct wall_interval *w,
			      const struct event_row *e, uint32_t group,
			      const char *name);

/* Loads the intervals of a kind, as in struct intervals_ask, as an event. Its
 * samples are the proved ones, with the stacks of their begins. The filter
 * selects begins. kind: an own pair has a comma; NULL: all recorded kinds
 * except calls and slices, each as an event. fn, unless it is NULL, is called
 * for all intervals in the order of events, except cancelled ones. Returns the
 * event of the kind (0: of all kinds), or -1 and *err, for one kind also if no
 * interval is proved. */
int wall_load_intervals(struct store *db, const char *path,
			const struct filter *filter, const char *kind,
			struct stacks *s, struct wall_intervals *sums,
			wall_interval_fn *fn, void *arg, struct err *err);
