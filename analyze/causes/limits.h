/* limits.h - what may keep a runnable thread from the CPU: the quotas and the
 * freezing of its cgroups, which CPUs it may use, and whether it is real-time,
 * as 'record --waits' read them before, each second of and after a recording
 * (cli/record/cgroups.h).
 *
 * A thread that leaves the CPU by its quota is in state R. Until Linux 6.17
 * throttle_cfs_rq() takes the whole queue of its group, since 6.18
 * throttle_cfs_rq_work() takes the thread when it returns to its program; both
 * add the time to throttled_time of cpu.stat when the queue is given back. From
 * Linux 6.1 on a frozen thread was in state R, too, until TASK_FROZEN was shown
 * as D (__task_state_index()). Real-time threads that ran for too long are held
 * back, all of a CPU (sched_rt_runtime_exceeded(), kernel/sched/rt.c), since
 * Linux 6.12 only with CONFIG_RT_GROUP_SCHED. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct limits;
struct rows;
struct store;

/* An event that 'record --waits' wrote, of which n fields are asked for. */
struct limits_rows_ask {
	const char *event; /* "limits_thread" */
	int64_t capture;   /* whose host is stored in .host, of .host_size */
	const char *const *name;
	size_t n;
	char *host; /* NULL: it is not asked for */
	size_t host_size;
};

/* Opens its rows, which the caller ends, and stores in at[] the column of each
 * field, where there is one. Returns 1; 0 if there is no such event, or -1 and
 * *err. */
int limits_open_rows(struct store *db, const struct limits_rows_ask *ask,
		     size_t *at, struct rows **out, struct err *err);

/* A time of a thread, and the first and the last record of it. */
struct limits_ask {
	int32_t tid;
	int64_t from, to, first, last;
};

struct limits_answer {
	bool known;	    /* all that could hold the thread was read */
	bool frozen;	    /* .cgroup was, or else throttled for all of it */
	const char *cgroup; /* NULL: none was */
	int64_t periods, throttled; /* of .cgroup, between two readings */
	int64_t stolen;	  /* ns that the host took from all CPUs, likewise */
	const char *cpus; /* that the thread may use, "0-3,8"; NULL: not read */
	bool pinned;	  /* these are not all that there are */
	bool real_time;	  /* it is, and the kernel may hold that back */
	int32_t idle;	  /* a CPU that was, if .cpus is NULL; -1: none was */
};

/* What "ready" rests on, a sum of these. */
enum limits_premise {
	LIMITS_QUOTA = 1,    /* no reading says that no cgroup held it */
	LIMITS_AFFINITY = 2, /* nor which CPUs it may use, and one was idle */
	LIMITS_REAL_TIME = 4
};

static inline unsigned int limits_premises(const struct limits_answer *t)
{
	return (!t->known || t->cgroup ? LIMITS_QUOTA : 0) |
	       (t->idle >= 0 ? LIMITS_AFFINITY : 0) |
	       (t->real_time ? LIMITS_REAL_TIME : 0);
}

/* Return a sum as a clause that begins with " if", "": it is 0; and as the
 * column premise of SQL has it. */
const char *limits_words(unsigned int premises);
const char *limits_keys(unsigned int premises);

/* Reads what was read on the machine of a capture. Returns NULL and *err on
 * failure; where nothing was read, nothing is known of any thread. */
struct limits *limits_load(struct store *db, int64_t capture, struct err *err);
void limits_free(struct limits *l);
/* Answers by the readings around a time; l NULL: nothing is known. */
struct limits_answer limits_tell(const struct limits *l,
				 const struct limits_ask *ask);
/* For how long cgroups were throttled between two readings in a row: ns, summed
 * over CPUs and cgroups. */
struct limits_span {
	int64_t from, to;
	int64_t throttled;
};
/* Returns n of them, in time order, of the cgroups with a thread that takes()
 * returns true for; the caller frees them. l NULL: there are none. */
struct limits_span *limits_spans(const struct limits *l,
				 bool (*takes)(const void *arg, int32_t tid),
				 const void *arg, size_t *n);
/* Returns whether a list such as "0-3,8" has a CPU. */
bool limits_has_cpu(const char *list, int32_t cpu);
