/* limits.h - what may keep a runnable thread from the CPU: the quotas and the
 * freezing of its cgroups, which CPUs it may use, and whether it is real-time,
 * as 'record --waits' read them before, during (each second) and after a
 * recording (cli/record/cgroups.h).
 *
 * A thread that leaves the CPU because its quota is used up is in state R.
 * Until Linux 6.17 throttle_cfs_rq() takes the whole queue of its group, since
 * 6.18 throttle_cfs_rq_work() takes the thread when it returns to its program;
 * both add the time to throttled_time of cpu.stat when the queue is given back.
 * From Linux 6.1 on a frozen thread was in state R, too, until TASK_FROZEN was
 * shown as D (__task_state_index()). If real-time threads ran for too long, the
 * kernel holds back all those of a CPU (sched_rt_runtime_exceeded(),
 * kernel/sched/rt.c), since Linux 6.12 only with CONFIG_RT_GROUP_SCHED. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct causes_kernel;
struct err;
struct limits;
struct rows;
struct store;

/* Which n fields to read of an event that 'record --waits' wrote. */
struct limits_rows_ask {
	const char *event; /* "limits_thread" */
	int64_t capture;   /* capture whose host name is stored in `host` */
	const char *const *name;
	size_t n;
	char *host; /* host_size bytes; NULL: not requested */
	size_t host_size;
};

/* Opens the event's rows, which the caller ends, and stores the column of each
 * field that exists in at[]. Returns 1; 0 if there is no such event, or -1 and
 * *err. */
int limits_open_rows(struct store *db, const struct limits_rows_ask *ask,
		     size_t *at, struct rows **out, struct err *err);
/* Returns whether a row of limits_open_rows() was read on the machine of the
 * kernel, as far as is known; k NULL: of any. */
bool limits_rows_is_of(const struct rows *r, const struct causes_kernel *k);

/* A period of a thread, and the times of the thread's first and last record. */
struct limits_ask {
	int32_t tid;
	int64_t from, to, first, last;
};

struct limits_answer {
	bool known;  /* all cgroups that could hold the thread were read */
	bool frozen; /* the cgroup was frozen; false: it was throttled as long
		      * as the period or more */
	const char *cgroup; /* cgroup that held the thread; NULL: none */
	int64_t periods, throttled; /* of `cgroup`, between the readings around
				     * the period */
	int64_t stolen;	  /* ns that the host took from all CPUs meanwhile */
	const char *cpus; /* CPUs that the thread may use, "0-3,8"; NULL: not
			   * read */
	bool pinned;	  /* `cpus` are not all CPUs of the machine */
	bool real_time; /* the thread is real-time, and the kernel may hold such
			 * threads back */
	int32_t idle; /* a CPU that was idle, if `cpus` is NULL; -1: none was */
};

/* Premises of "ready", as bits. */
enum limits_premise {
	LIMITS_QUOTA = 1,    /* no reading says that no cgroup held it */
	LIMITS_AFFINITY = 2, /* no reading has the CPUs that it may use, and one
			      * CPU was idle */
	LIMITS_REAL_TIME = 4
};

static inline unsigned int limits_premises(const struct limits_answer *t)
{
	return (!t->known || t->cgroup ? LIMITS_QUOTA : 0) |
	       (t->idle >= 0 ? LIMITS_AFFINITY : 0) |
	       (t->real_time ? LIMITS_REAL_TIME : 0);
}

/* Return a sum of premises as a clause that begins with " if", or as in SQL's
 * column premise; "" for 0. */
const char *limits_words(unsigned int premises);
const char *limits_keys(unsigned int premises);

/* Loads the readings made on the machine of a kernel, which stays until
 * limits_free(). Returns NULL and *err on failure; without readings,
 * limits_tell() knows nothing. */
struct limits *limits_load(struct store *db, const struct causes_kernel *k,
			   struct err *err);
void limits_free(struct limits *l);
/* Returns what the readings around a period say about a thread; l NULL: nothing
 * is known. Strings are valid as long as l. */
struct limits_answer limits_tell(const struct limits *l,
				 const struct limits_ask *ask);
/* How long cgroups were throttled between two adjacent readings: ns, summed
 * over CPUs and cgroups. */
struct limits_span {
	int64_t from, to;
	int64_t throttled;
};
/* Returns *n spans in time order, of the cgroups with a thread for which
 * takes() returns true; the caller frees them. l NULL: there are none. */
struct limits_span *limits_spans(const struct limits *l,
				 bool (*takes)(const void *arg, int32_t tid),
				 const void *arg, size_t *n);
/* Returns whether a list such as "0-3,8" has a CPU. */
bool limits_has_cpu(const char *list, int32_t cpu);
