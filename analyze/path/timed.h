/* timed.h - the times of databases that are no samples, read for a comparison:
 * pairs of events, waits, times of the scheduler, and what the time of the
 * program went to with which a recording began. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analyze/diffs/timings.h"
#include "analyze/names/name_opts.h"
#include "analyze/samples/filter.h"

/* What the third key of a part begins with, in which others waited for a lock.
 */
#define TIMED_LOCK "lock of "
/* First keys of parts: in place of "ready", while threads of other processes
 * had the CPU; and what the cgroup's counter says, too, of the time in which
 * threads are likely to have been throttled, which is in other rows. */
#define TIMED_BEHIND "ready behind other programs"
#define TIMED_QUOTA "throttled by its cgroup's quota"

enum timed_what {
	TIMED_PAIRS, /* of events: a kind and a name */
	TIMED_WAITS, /* what for, and where or who ended it */
	/* who did what while the program's first thread ran or waited; third
	 * key: where it waited, TIMED_LOCK and where others waited for a lock
	 * that it had */
	TIMED_PARTS,
	/* ready, likewise while another CPU was idle, preempted by whom (third
	 * key), migrated */
	TIMED_SCHED,
};

struct timed_ask {
	enum timed_what what;
	const struct filter *filter; /* borrowed */
	bool all; /* threads; else of the program that a recording began with,
		   * if it did */
	bool by_waker;	  /* waits by who ended them, not by where they were */
	const char *kind; /* of pairs; NULL: all that were recorded */
	bool no_names;	  /* of pairs: those of a kind are one */
	const char *per;  /* "KIND:NAME", "KIND" or an event: what numbers and
			   * times are divided by; NULL: the seconds, or runs */
	struct name_opts names;
};

struct timed {
	struct timed_ask ask;
	struct timings t;
	char comm[64];	 /* of the program; "": all threads */
	bool of_threads; /* parts are of those that ask.filter selects */
	/* of the run that is read */
	struct intervals *iv;
	int64_t from, to; /* --time, or when the program ran */
	struct filter filter;
	char pid[24];
	const char *counted; /* name of pairs that are only counted; NULL */
	bool counts;	     /* pairs are only counted, for ask.per */
};

/* d is all zeros; timings_release(&d->t) in the end. */
void timed_begin(struct timed *d, const struct timed_ask *ask);
/* Reads a run; those of side 0 first. Returns 0, or -1 and *err. */
int timed_read(struct timed *d, int side, struct store *db, const char *path,
	       struct err *err);
/* Returns whether others waited for a lock meanwhile. */
bool timed_is_lock(const struct timed *d, const struct timings_row *r);
/* Returns whether that is the first key of a row of parts. */
bool timed_is(const struct timed *d, const struct timings_row *r,
	      const char *what);
/* Returns whether a recording began with a program, and has switches of all
 * threads: whether it has parts. */
bool timed_has_parts(struct store *db);
