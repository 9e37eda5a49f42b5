/* latency_sched.h - intervals of the scheduler, "wake-up" (ready until it runs)
 * and "off-cpu" (from one time on a CPU to the next), as analyze/causes proves
 * them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/path/path_run.h"

struct err;
struct interval;
struct intervals_thread;
struct store;

/* thread: valid until latency_sched_close(). */
typedef void latency_sched_fn(void *arg, const struct interval *i,
			      const char *kind, const char *name,
			      const struct intervals_thread *thread);

struct latency_sched {
	struct path_ask ask;
	struct path_run r; /* what chains of these threads are made of */
	/* for latency_sched.c only */
	struct intervals_thread *thread; /* of the timeline */
	const char *kind;
	latency_sched_fn *fn;
	void *arg;
};

/* Returns whether a kind is one of these. */
bool latency_sched_has(const char *kind);
/* Returns whether it is a kind of latency: one of these, or of pair_kinds[]. */
bool latency_has_kind(const char *kind);
/* Returns NULL and *err if there are no switches. calls: as in struct path_run,
 * for who prints chains. */
struct latency_sched *latency_sched_open(struct store *db, const char *path,
					 bool calls, struct err *err);
void latency_sched_close(struct latency_sched *s);
/* Calls fn for each interval of a kind, thread by thread. */
void latency_sched_each(struct latency_sched *s, const char *kind,
			latency_sched_fn *fn, void *arg);
/* Writes whom most of a thread's time is put down to, as far as path proves it:
 * "COMM/TID", who ended its waits; what it did itself, such as "computing";
 * what interrupt woke it; or "not known". */
void latency_sched_behind(struct latency_sched *s, int64_t tid, int64_t from,
			  int64_t to, char *out, size_t size);
/* Writes the function in which a thread left the CPU, or "not known". */
void latency_sched_caller(struct latency_sched *s, int64_t event, char *out,
			  size_t size);
