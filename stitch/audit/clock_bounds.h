/* clock_bounds.h - by how much the clocks of CPUs differ at the most.
 *
 * A record of CPU a at time s that certainly precedes one of CPU b at time t
 * shows that b's clock is ahead of a's by t - s at the most, whatever the
 * clocks show: it is negative if a's clock is ahead. Such bounds add up: that
 * of a and b, and that of b and c, bound a and c. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/table.h"

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
/* A record of CPU `first` at `since` precedes one of CPU `second` at `time`.
 * Ignored if both are of one CPU. */
void clock_bounds_note(struct clock_bounds *cb, int32_t first, int64_t since,
		       int32_t second, int64_t time);
/* Adds all bounds of another one. */
void clock_bounds_join(struct clock_bounds *cb,
		       const struct clock_bounds *other);
/* Adds what follows by way of other CPUs, of which there are few enough. */
void clock_bounds_close(struct clock_bounds *cb);
/* Returns by how much the first clock is ahead of the other at the most;
 * INT64_MAX: nothing is known. */
int64_t clock_bounds_most(const struct clock_bounds *cb, int32_t ahead,
			  int32_t behind);
