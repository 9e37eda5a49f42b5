/* latency_sched.h - finds intervals of the scheduler as analyze/causes proves
 * them: "wake-up" (ready until it runs) and "off-cpu" (from one run to the
 * next). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/path/path_run.h"

struct err;
struct interval;
struct intervals_thread;
struct store;

/* Called for each interval, whose thread is the timeline's number. thread is
 * valid until latency_sched_close(). */
typedef void latency_sched_fn(void *arg, const struct interval *i,
			      const char *kind, const char *name,
			      const struct intervals_thread *thread);

struct latency_sched {
	struct path_ask ask;
	struct path_run r; /* data from which the chains of these threads are
			    * made */
	/* private to latency_sched.c */
	struct intervals_thread *thread; /* names of the timeline's threads, by
					  * number */
	const char *kind;
	latency_sched_fn *fn;
	void *arg;
};

/* Returns whether a kind is "wake-up" or "off-cpu". */
bool latency_sched_has(const char *kind);
/* Returns whether a kind is "wake-up", "off-cpu" or in pair_kinds[]. */
bool latency_has_kind(const char *kind);
/* Returns a new object, to be freed by latency_sched_close(); NULL and *err if
 * there are no switches. calls: as in struct path_run, for callers that print
 * chains. */
struct latency_sched *latency_sched_open(struct store *db, const char *path,
					 bool calls, struct err *err);
void latency_sched_close(struct latency_sched *s);
/* Calls fn for each interval of a kind, thread by thread. */
void latency_sched_each(struct latency_sched *s, const char *kind,
			latency_sched_fn *fn, void *arg);
/* Writes what most of a thread's time (of the timeline; TIMELINE_NONE: not
 * known) is put down to, as far as it is proved:
 * "COMM/TID", the thread that ended its waits; what it did itself, such as
 * "computing"; the interrupt that woke it; or "not known". */
void latency_sched_behind(struct latency_sched *s, uint32_t thread,
			  int64_t from, int64_t to, char *out, size_t size);
/* Returns the function in which a thread left the CPU, as path_function(). */
const char *latency_sched_caller(struct latency_sched *s, int64_t event);
