/* lost_times.h - when records may be missing: losses, gaps that no loss
 * reports, and the times in which the recorder was not on.
 *
 * Each recording is a world of its own; pairs of several have one with the
 * times of each. Order of calls: lost_times_add() for all, lost_times_seal();
 * then questions. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "stitch/base/table.h"

struct lost_time {
	int64_t from, to; /* between two records; INT64_MIN, INT64_MAX: open */
	int64_t n;	  /* records; -1: not known */
	int64_t id;	  /* of table loss; 0: none */
	int32_t cpu;	  /* -1: any */
	bool silent;	  /* records are missing without a loss; without that
			   * and an id, the recorder was not on */
	bool of_tasks;	  /* only those of tasks of which nothing is recorded */
};

/* All zeros is empty. */
struct lost_times {
	struct lost_list *list;
	size_t n, cap;
	struct table index; /* of list[], by world, CPU and of_tasks */
};

void lost_times_release(struct lost_times *l);
void lost_times_add(struct lost_times *l, uint32_t world,
		    const struct lost_time *t);
void lost_times_seal(struct lost_times *l);

/* What may be missing between two records. */
struct lost_sum {
	uint64_t n;  /* records; UINT64_MAX: any number */
	int64_t id;  /* the first loss; 0: none */
	bool silent; /* or some without a loss */
	bool off;    /* the recorder may not have been on */
};

struct lost_ask {
	uint32_t world;
	int32_t cpu; /* -1: all */
	int64_t from, to;
	bool recorded; /* only records of a task that has others */
};

/* Returns what is missing. O(log n). */
struct lost_sum lost_times_between(const struct lost_times *l,
				   const struct lost_ask *ask);
