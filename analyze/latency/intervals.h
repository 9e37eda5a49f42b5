/* intervals.h - the intervals of a database: times between two events that
 * belong together, as analyze/latency pairs and judges them.
 *
 * Events are read once, in time order. Memory grows with open intervals, names,
 * threads and losses. Intervals come in the order of their ends; those without
 * an end come last, or when it is clear that they have none. */
#pragma once
#include <stdbool.h>

#include "analyze/latency/lost_times.h"
#include "analyze/latency/pair_kinds.h"
#include "analyze/latency/pairing.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"

struct err;
struct store;

/* Added to the ids of texts in key fields, so that they are above all numbers
 * of fields: sys_exit has "-1" where a signal handler returns. */
#define INTERVALS_TEXT ((int64_t)1 << 62)
#define intervals_is_text(value) ((value) >= INTERVALS_TEXT)

extern const char intervals_by_caller[], intervals_by_lock[];

struct intervals_ask {
	const char *kind; /* NULL: all kinds that were recorded */
	const char *also; /* another kind, besides that; NULL: none */
	/* own pairs, "BEGIN,END[,FIELD...]"; without a kind, these alone */
	const char *const *pair;
	size_t n_pair;
	/* What interval.by names: the value of this field of the begin, or else
	 * of the end; "cgroup": the cgroup of the sample; intervals_by_caller:
	 * the function that called; intervals_by_lock: the lock, or the futex
	 * of a call. NULL: it is 0. */
	const char *by;
	bool nested; /* all kinds of PAIR_NEST, and system calls, which they may
		      * be inside of */
	bool any; /* it is no error if nothing that was recorded makes pairs */
};

struct intervals_thread {
	int64_t tid, pid; /* -1: not known */
	const char *comm;
	uint32_t process;
	uint32_t same;	 /* row of this thread in the first piece of the stream
			  * that has it; 0: this one */
	int64_t born;	 /* INT64_MIN: before the recording, or not known */
	int64_t died;	 /* 0: after the recording, or not known */
	bool short_code; /* a 32-bit program */
};

struct intervals_sums {
	int64_t first, last; /* times of all events; first > last: none */
	uint64_t no_thread;  /* records without a known thread, left out */
	uint64_t doubled;    /* records left out because they are there twice */
	bool cut_before, cut_behind; /* the stream has pieces before or after
				      * this that are missing */
	const char *premise;	     /* of all proofs, "if ..."; NULL: none */
};

/* A value of a counter that a program writes to trace_marker. name: an id as
 * interval.name. */
struct intervals_counter {
	int64_t event, time, pid, value;
	uint32_t thread, name;
};
typedef void intervals_counter_fn(void *arg, const struct intervals_counter *c);

struct intervals_pair {
	/* .calls: negative results are errors */
	const struct pair_kind *kind;
	uint32_t world;
	bool begins, ends, cancels;
};

struct intervals {
	struct store *db;
	const char *path;
	const struct intervals_ask *ask;
	struct pair_kind *own; /* of ask->pair, in its order */
	uint32_t *line;	       /* by capture.id: its first piece; 0: itself */
	size_t n_line, cap_line;
	struct intervals_type *type;
	size_t n_type, cap_type;
	struct intervals_capture *capture; /* by capture.id */
	size_t n_capture, cap_capture;
	struct intervals_cpu *cpu;
	size_t n_cpu, cap_cpu;
	struct table by_cpu;
	struct intervals_pair *pair;
	size_t n_pair, cap_pair;
	struct intervals_role *role;
	size_t n_role, cap_role;
	struct intervals_thread *thread; /* by thread.id */
	size_t n_thread, cap_thread;
	struct intern names;	     /* of interval.name and .by; id 0 is "" */
	struct table by_value;	     /* of names, by type and value */
	struct table by_lock;	     /* of names, by capture and address */
	struct table by_event;	     /* of names, for ask->by "cgroup" */
	struct callers *callers;     /* NULL: not asked for */
	struct callers *here;	     /* for pair_kind.here; NULL: not needed */
	struct futex_locks *futexes; /* for intervals_by_lock; or NULL */
	bool by_cgroup, by_field; /* cgroups, or fields with names for .by, were
				   * found */
	struct arena text;
	struct lost_times lost;
	struct payloads *payloads;
	struct pairing *pairing;
	/* called by intervals_each() with its argument; NULL: not needed */
	pairing_inside_fn *inside;
	intervals_counter_fn *counter;
	void *arg;
	struct intervals_sums sums;
};

/* Returns whether pairs were recorded, or -1 and *err. */
int intervals_any(struct store *db, struct err *err);
/* Opens the intervals of a database. a, path: borrowed; path is for messages.
 * Returns NULL and *err, also if nothing that was recorded makes such pairs,
 * unless a->any. */
struct intervals *intervals_open(struct store *db, const char *path,
				 const struct intervals_ask *a,
				 struct err *err);
/* Frees it; NULL is fine. */
void intervals_close(struct intervals *iv);
/* Calls fn for each interval. Returns 0, or -1 and *err. */
int intervals_each(struct intervals *iv, pairing_fn *fn, void *arg,
		   struct err *err);
/* Returns whether a pair is of programs, not of the kernel: system calls, own
 * pairs. */
bool intervals_of_program(const struct intervals *iv, uint32_t pair);
/* Returns what is known about a thread, borrowed; for 0, that nothing is. */
const struct intervals_thread *intervals_thread(const struct intervals *iv,
						uint32_t thread);
