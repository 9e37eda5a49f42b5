/* intervals.h - the intervals of a database: times between two events that
 * belong together, as cli/latency pairs and judges them.
 *
 * Events are read once, in time order. Memory grows with open intervals, names,
 * threads and losses. Intervals come in the order of their ends; those without
 * an end come last, or when it is clear that they have none. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/latency/pairing.h"

struct err;
struct intervals;
struct store;

extern const char intervals_by_caller[], intervals_by_lock[];

struct intervals_ask {
	const char *kind; /* NULL: all that were recorded */
	/* Own pairs: "BEGIN,END[,FIELD...]". By default all of them, and of the
	 * others none. */
	const char *const *pair;
	size_t n_pair;
	/* What interval.by is the name of: the value of this field of the
	 * begin, or else of the end; or "cgroup": that of the sample; or
	 * intervals_by_caller: the function that called; or intervals_by_lock:
	 * of locks and calls of futex, what is waited for. NULL: of nothing. */
	const char *by;
	bool any; /* it is no error if nothing that was recorded makes pairs */
};

struct intervals_thread {
	int64_t tid, pid; /* -1: not known */
	const char *comm;
	uint32_t process;
	bool short_code; /* a program of 32 bits */
};

struct intervals_sums {
	int64_t first, last; /* times of all events; first > last: none */
	uint64_t no_thread;  /* records left out, as nobody knows their thread
			      */
	uint64_t doubled;    /* left out, as they are there twice */
	const char *premise; /* of what is proved: "if ..."; NULL: none */
};

/* Returns whether pairs were recorded, or -1 and *err. */
int intervals_any(struct store *db, struct err *err);
/* a: borrowed. Returns NULL and *err, also if nothing that was recorded makes
 * such pairs, unless a->any. path is for messages, and borrowed. */
struct intervals *intervals_open(struct store *db, const char *path,
				 const struct intervals_ask *a,
				 struct err *err);
void intervals_close(struct intervals *iv);
/* Calls fn for each interval. Returns 0, or -1 and *err. */
int intervals_each(struct intervals *iv, pairing_fn *fn, void *arg,
		   struct err *err);
/* Returns the word of its kind. */
const char *intervals_kind(const struct intervals *iv, uint32_t pair);
/* Returns whether results below 0 are errors. */
bool intervals_are_calls(const struct intervals *iv, uint32_t pair);
/* Returns whether they are of programs, not of the kernel: calls, own pairs. */
bool intervals_of_program(const struct intervals *iv, uint32_t pair);
/* Returns the text of interval.name or .by, "" for 0. */
const char *intervals_name(const struct intervals *iv, uint32_t name);
/* Returns what is known of a thread, also of 0. */
const struct intervals_thread *intervals_thread(const struct intervals *iv,
						uint32_t thread);
struct intervals_sums intervals_sums(const struct intervals *iv);
