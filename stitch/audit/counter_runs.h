/* counter_runs.h - the missing counters of a CPU, as a sorted list of runs. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Missing counters lo, lo + step, ... hi, which were assigned after t0 and
 * before t1. */
struct counter_run {
	uint64_t lo, hi;
	int64_t t0, t1;
};

/* Sorted; two runs are never adjacent. All zeros: empty. */
struct counter_runs {
	struct counter_run *at;
	size_t n, cap;
};

void counter_runs_release(struct counter_runs *rs);
/* Inserts a run at this index, which keeps the order. */
void counter_runs_insert(struct counter_runs *rs, size_t at,
			 const struct counter_run *r);
/* Removes a counter that is seen now. Returns false if it was not missing. */
bool counter_runs_fill(struct counter_runs *rs, uint64_t e, uint8_t step);
/* Removes the first n runs. */
void counter_runs_drop(struct counter_runs *rs, size_t n);
