/* lost_times.h - when records may be missing: losses, gaps that no loss
 * reports, and times in which the recorder was off.
 *
 * Each recording is a world of its own; pairs over several recordings have a
 * world with the losses of each. Order of calls: lost_times_add() for all,
 * lost_times_seal(), then lost_times_between(). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "stitch/base/table.h"

struct lost_time {
	int64_t from, to; /* between two records; INT64_MIN, INT64_MAX: open */
	int64_t n;	  /* lost records; -1: not known */
	int64_t id;	  /* in table loss; 0: none */
	int32_t cpu;	  /* -1: any */
	bool silent;   /* records are missing though no loss reports it; if this
			* is false and id is 0, the recorder was off */
	bool of_tasks; /* only of tasks without any record */
};

/* All zeros is empty. */
struct lost_times {
	struct lost_list *list;
	size_t n, cap;
	struct table index; /* of list[], by world, CPU and of_tasks */
};

void lost_times_release(struct lost_times *l);
/* Adds a time to a world, and copies it. */
void lost_times_add(struct lost_times *l, uint32_t world,
		    const struct lost_time *t);
/* Sorts all times, once; then lost_times_between() may be called. */
void lost_times_seal(struct lost_times *l);

/* The records that may be missing between two others. */
struct lost_sum {
	uint64_t n;  /* records; UINT64_MAX: any number */
	int64_t id;  /* id of the first loss; 0: none */
	bool silent; /* some may be missing though no loss reports it */
	bool off;    /* the recorder may have been off */
};

/* The time to look at. */
struct lost_ask {
	uint32_t world;
	int32_t cpu; /* -1: all */
	int64_t from, to;
	bool recorded; /* only records of a task that has others */
};

/* Returns what may be missing in that time, in O(log n). */
struct lost_sum lost_times_between(const struct lost_times *l,
				   const struct lost_ask *ask);
