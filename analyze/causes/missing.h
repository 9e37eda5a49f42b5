/* missing.h - which records of a CPU or a thread may be missing in a time, and
 * what it rests on that no others are: for all that is known by the absence of
 * records. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analyze/causes/timeline.h"

/* That no other records are missing rests on these, as bits. */
enum {
	MISSING_IF_TASKS = 1, /* only those of silent tasks are, without a loss
			       */
	MISSING_IF_SHOWS = 2, /* or they are only where it shows */
	MISSING_IF_ON = 4,    /* tracing was not switched off in between */
	MISSING_IF_CPUS = 16, /* no other CPUs ran than those with records */
	MISSING_ANYWHERE = 8, /* it rests on nothing: absence proves nothing */
};

/* Records that a run from sleep to sleep leaves: sched_waking, sched_wakeup,
 * and two of sched_switch. */
#define UNSEEN_RUN 4

/* Two of them in words. */
#define MISSING_ON_WORDS "tracing was not switched off in between"
#define MISSING_CPUS_WORDS                                                     \
	"no CPUs ran but those in the text (ingest --cpus tells how many)"

/* Returns whether records of a CPU, -1: of any, may be missing in a time; a
 * loss that only touches it does not count, and one of silent tasks only if
 * `tasks`: records of interrupts are complete where there are any. O(log n)
 * besides the losses of the time. */
bool missing_in(const struct timeline *t, int32_t cpu, int64_t from, int64_t to,
		bool tasks);
/* Returns the premise of the timeline. */
unsigned int missing_premise(const struct timeline *t);
/* Stores the tids of the threads of which a loss may hide a run, where the
 * records around it name them, and returns how many these are, at most 2; -1:
 * of any. Of silent tasks every loss may. Where only records of those are
 * missing, the run began when the task was last seen or later, and goes on
 * after the loss: its end would be recorded. */
int missing_runs(const struct timeline *t, const struct timeline_loss *l,
		 int32_t tid[2]);
/* Returns whether a loss may hold a whole run of any thread, from sleep to
 * sleep. In such a time nothing is even likely: of 18 requests in a loss of
 * 2,876 records only the last wake-up was there to be seen. */
bool missing_holds(const struct timeline *t, const struct timeline_loss *l);
/* Returns whether numbers of lost records prove something: all others are
 * there, those of silent tasks too. */
bool missing_counts(const struct timeline *t);
