/* thread_times.h - the time of each thread: on a CPU, ready for one,
 * waiting; and how many threads of a capture ran at a time, by the runs of
 * waits.h. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "analyze/causes/wait_cause.h"
#include "analyze/waits/waits.h"
#include "stitch/base/intern.h"

struct thread_times {
	uint32_t comm; /* for stacks_comm(); 0: not known */
	int64_t named; /* when it had that name */
	int64_t tid;
	/* ns; longest: the longest wait */
	uint64_t on_cpu, ready, waiting, longest;
	uint64_t cause[WAIT_CAUSES]; /* ns, parts of waiting */
};

/* All threads; those that had or wanted a CPU longest come first. */
struct threads {
	struct stacks *stacks; /* used for names only */
	struct wait_causes *causes;
	struct thread_times *t;
	size_t n, cap;
	struct intern index; /* of t[], by pid and tid */
	struct offcpu_sums sums;
	uint64_t on_cpu, ready, waiting;
};

/* Reads the times of all threads. Returns 0, or -1 and *err: ERR_FORMAT if the
 * database does not have them. The caller releases *th in any case. */
int threads_load(struct store *db, const char *path, struct threads *th,
		 struct err *err);
void threads_release(struct threads *th);
/* Returns the word of the cause with the most time; "" if most of the time has
 * none. */
const char *threads_cause(const struct thread_times *t);

struct err;
struct store;

/* How many threads ran from this time on. */
struct parallel_step {
	int64_t time;
	int32_t least; /* that certainly ran */
	int32_t maybe; /* more that may have run */
};

/* All zeros: nothing is known. */
struct parallel {
	struct parallel_step *step; /* by time */
	size_t n, cap;
	int32_t cpus; /* 0: not known */
};

/* How many threads ran: at least 1, because the sampled one did, and at most as
 * many as there are CPUs. */
struct parallel_range {
	int32_t least, most;
};

/* Reads when threads ran. Returns 0, or -1 and *err, also if not all switches
 * were recorded; path is for that message. The caller always releases *p. */
int parallel_load(struct store *db, const char *path, struct parallel *p,
		  struct err *err);
void parallel_release(struct parallel *p);
/* Returns how many threads ran at a time. */
struct parallel_range parallel_at(const struct parallel *p, int64_t time);
