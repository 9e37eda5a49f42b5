/* clock_skew.h - finds how much the clocks of CPUs differ, at most and at
 * least.
 *
 * A record of another CPU that has a counter is later than the samples that
 * made this counter and the ones before it, on their own CPU. Where the times
 * say otherwise, the clock of the counter's CPU is ahead of the other one, by
 * at least the difference. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/table.h"

struct fact_finding;

/* A record of CPU a at time s that certainly precedes one of CPU b at time t
 * shows that b's clock is ahead of a's by t - s at the most, whatever the
 * clocks show: it is negative if a's clock is ahead. Such bounds add up: that
 * of a and b, and that of b and c, bound a and c. */

struct clock_bound {
	int32_t ahead, behind;
	int64_t most;
};

/* All zeros: empty. */
struct clock_bounds {
	struct clock_bound *at;
	size_t n, cap;
	struct table by_cpus;
};

void clock_bounds_release(struct clock_bounds *cb);
/* Notes that a record of CPU `first` at `since` precedes one of CPU `second` at
 * `time`. Ignored if the CPUs are equal. */
void clock_bounds_note(struct clock_bounds *cb, int32_t first, int64_t since,
		       int32_t second, int64_t time);
/* Adds all bounds of another one. */
void clock_bounds_join(struct clock_bounds *cb,
		       const struct clock_bounds *other);
/* Adds the bounds that follow from those of other CPUs, unless there are too
 * many CPUs. */
void clock_bounds_close(struct clock_bounds *cb);
/* Returns the most ns by which the first clock is ahead of the other;
 * INT64_MAX: nothing is known. */
int64_t clock_bounds_most(const struct clock_bounds *cb, int32_t ahead,
			  int32_t behind);

/* The newest counter of a CPU that a record of another CPU had. */
struct clock_far {
	uint64_t count; /* 0: none */
	int64_t time;
	int32_t cpu;
	bool unmade; /* a sample, before any record of the counter's CPU */
};

/* Two CPUs, of which one's clock was seen to be ahead. */
struct clock_pair {
	int32_t ahead, behind;
	uint64_t n;		/* how often it was seen to be ahead */
	uint64_t last, records; /* counter of the newest record of CPU behind,
				 * and how many such records there are */
	int64_t time, since; /* times at the greatest difference: of the record
			      * that was first, and of the one that seems
			      * older */
};

/* All zeros: empty. */
struct clock_skew {
	struct clock_pair *pair;
	size_t n, cap;
	struct table by_cpus;
};

void clock_skew_release(struct clock_skew *cs);
/* Notes that a record made at `time` on CPU ahead precedes that of `far`.
 * Ignored unless `time` is later. */
void clock_skew_add(struct clock_skew *cs, int32_t ahead, int64_t time,
		    const struct clock_far *far);
/* One record alone may have a wrong cookie. Removes the CPU whose clock, ahead
 * of or behind the others, explains most of the remaining records. Returns 1
 * and all of *f but the source, or 0. Nothing can be added after the first
 * call. */
int clock_skew_take(struct clock_skew *cs, struct fact_finding *f);
