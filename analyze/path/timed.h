/* timed.h - reads the times in databases that do not come from samples, for a
 * comparison: pairs of events, waits, times of the scheduler, and the use of
 * time by the program with which a recording began. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analyze/diffs/timings.h"
#include "analyze/names/name_opts.h"
#include "analyze/samples/filter.h"

/* How the third key begins if other threads waited for a lock. */
#define TIMED_LOCK "lock of "
/* First keys of parts. TIMED_BEHIND replaces "ready" while threads of other
 * processes had the CPU. TIMED_QUOTA is throttled time that the cgroup's
 * counter confirms; other rows have the same time. */
#define TIMED_BEHIND "ready behind other programs"
#define TIMED_QUOTA "throttled by its cgroup's quota"

enum timed_what {
	TIMED_PAIRS, /* pairs of events: a kind and a name */
	TIMED_WAITS, /* waits: their cause, and their place or waker */
	/* what each thread did while the program's first thread ran or waited;
	 * third key: where it waited, or TIMED_LOCK and where others waited for
	 * a lock that it held */
	TIMED_PARTS,
	/* times ready, ready while another CPU was idle, preempted (third key:
	 * by which thread), migrated */
	TIMED_SCHED,
};

struct timed_ask {
	enum timed_what what;
	const struct filter *filter; /* borrowed */
	bool all;      /* all threads; false: those of the program with which a
			* recording began, if there is one */
	bool by_waker; /* group waits by their waker, not by their place */
	const char *kind; /* kind of pairs; NULL: all recorded ones */
	bool no_names;	  /* merge all pairs of a kind */
	const char *per;  /* unit by which numbers and times are divided:
			   * "KIND:NAME", "KIND" or an event; NULL: seconds, or
			   * runs */
	struct name_opts names;
};

struct timed {
	struct timed_ask ask;
	struct timings t;
	char comm[64];	 /* name of the program; "": all threads */
	bool of_threads; /* parts are those of the threads that ask.filter
			  * selects */
	/* state of the run being read */
	struct intervals *iv;
	int64_t from, to; /* --time, or when the program ran */
	struct filter filter;
	char pid[24];
	const char *counted; /* name of pairs that are only counted; NULL:
			      * any */
	bool counts;	     /* pairs are only counted, for ask.per */
};

/* Initialises *d, which must be all zeros. The caller calls
 * timings_release(&d->t) at the end. */
void timed_begin(struct timed *d, const struct timed_ask *ask);
/* Reads a run; runs of side 0 must come first. Returns 0, or -1 and *err. */
int timed_read(struct timed *d, int side, struct store *db, const char *path,
	       struct err *err);
/* Returns whether a row is about other threads that waited for a lock. */
bool timed_is_lock(const struct timed *d, const struct timings_row *r);
/* Returns whether `what` is the first key of a row of parts. */
bool timed_is(const struct timed *d, const struct timings_row *r,
	      const char *what);
/* Returns whether a database has parts: its recording began with a program and
 * has the switches of all threads. */
bool timed_has_parts(struct store *db);
