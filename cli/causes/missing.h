/* missing.h - which records of a CPU or a thread may be missing in a time, and
 * what it rests on that no others are: for all that is told by the absence of
 * records. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/causes/timeline.h"

/* That no other records are missing rests on these, as bits. */
enum {
	MISSING_IF_TASKS = 1, /* only those of silent tasks are, without a loss
			       */
	MISSING_IF_SHOWS = 2, /* or they are only where it shows */
	MISSING_IF_ON = 4,    /* tracing was not switched off in between */
	MISSING_ANYWHERE = 8, /* it rests on nothing: absence proves nothing */
};

/* Records that a run from sleep to sleep leaves: sched_waking, sched_wakeup,
 * and two of sched_switch. */
#define UNSEEN_RUN 4

/* The last but one in words. */
#define MISSING_ON_WORDS "tracing was not switched off in between"

struct missing_ask {
	int64_t from, to; /* what only touches them does not count */
	int32_t cpu;	  /* -1: of all */
	uint32_t thread;  /* TIMELINE_NONE: of any */
};

struct missing {
	size_t losses;	 /* that are in the time: timeline_losses_in() of that
			  * CPU */
	size_t of_tasks; /* of them those of silent tasks: records of
			  * interrupts are complete where there are any */
	bool wakes;	 /* a wake-up may be missing, */
	bool runs; /* or a run of the thread, also one that goes on behind */
	unsigned int premise;
};

/* Returns what may be missing. O(log n) besides the losses of the time. */
struct missing missing_in(const struct timeline *t,
			  const struct missing_ask *ask);
/* Returns the premise of the timeline. */
unsigned int missing_premise(const struct timeline *t);
/* Stores the tids of the threads of which a loss may hide a run, where the
 * records around it name them, and returns how many these are, at most 2; -1:
 * of any. Of silent tasks every loss may. Where only records of those are
 * missing, the run began when the task was last seen or later, and goes on
 * behind the loss: its end would be recorded. */
int missing_runs(const struct timeline *t, const struct timeline_loss *l,
		 int32_t tid[2]);
/* Returns whether a loss may hold a whole run of any thread, from sleep to
 * sleep. In such a time nothing is even likely: of 18 requests in a loss of
 * 2,876 records only the last wake-up was there to be seen. */
bool missing_holds(const struct timeline *t, const struct timeline_loss *l);
/* Returns whether numbers of lost records prove something: all others are
 * there, those of silent tasks too. */
bool missing_counts(const struct timeline *t);
