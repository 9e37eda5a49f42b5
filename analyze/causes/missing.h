/* missing.h - finds which records of a CPU or a thread may be missing in a
 * time, and the premises of "no others are missing", on which all proofs by
 * absence rest. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analyze/causes/timeline.h"

/* Premises of "no other records are missing", as bits. */
enum {
	MISSING_IF_TASKS = 1, /* only records of silent tasks are missing
			       * without a loss */
	MISSING_IF_SHOWS = 2, /* others are missing only where a contradiction
			       * shows it */
	MISSING_IF_ON = 4,    /* tracing was not switched off in between */
	MISSING_IF_CPUS = 16, /* no other CPUs ran than those with records */
	MISSING_ANYWHERE = 8, /* records may be missing anywhere: absence proves
			       * nothing */
};

/* Records that a run from sleep to sleep leaves: sched_waking, sched_wakeup,
 * and two of sched_switch. */
#define UNSEEN_RUN 4

/* Two of the premises in words. */
#define MISSING_ON_WORDS "tracing was not switched off in between"
#define MISSING_CPUS_WORDS                                                     \
	"no CPUs ran but those in the text (ingest --cpus tells how many)"

/* Returns whether records of a CPU (-1: of any CPU) may be missing in a time. A
 * loss that only touches the time does not count, and one of silent tasks only
 * if `tasks`: records of interrupts are complete if there are any. O(log n)
 * plus the losses in the time. */
bool missing_in(const struct timeline *t, int32_t cpu, int64_t from, int64_t to,
		bool tasks);
/* Returns the premises of proofs by absence in this timeline: MISSING_ bits. */
unsigned int missing_premise(const struct timeline *t);
/* Stores the tids of the threads of which the loss may hide a run, if the
 * records around it name them, and returns their number, at most 2; -1: any
 * thread. A loss may always hide runs of silent tasks. If only records of those
 * are missing, the run began when the task was last seen or later, and goes on
 * after the loss: its end would be recorded. */
int missing_runs(const struct timeline *t, const struct timeline_loss *l,
		 int32_t tid[2]);
/* Returns whether a loss may contain a whole run of any thread, from sleep to
 * sleep. Nothing in such a time is even likely: of 18 requests in a loss of
 * 2,876 records only the last wake-up was visible. */
bool missing_holds(const struct timeline *t, const struct timeline_loss *l);
/* Returns whether numbers of lost records prove something: no record is missing
 * without a reported loss, not even of a silent task. */
bool missing_counts(const struct timeline *t);
