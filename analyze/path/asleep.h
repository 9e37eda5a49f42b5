/* asleep.h - which threads of a process never ran while it was recorded.
 *
 * No switch of such a thread is in a capture, so that only the readings of
 * 'record --waits -p PID' show it: how often each thread has left a CPU, in
 * which call it is and for which thread it waits (cli/record/cgroups.h). If the
 * kernel has counted as many switches at the first reading as at the last, and
 * the thread does not run at either, it did not run between them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/intern.h"

struct err;
struct path_run;

/* What shows for which thread a thread waits, weakest last. */
enum asleep_by {
	ASLEEP_NOT_KNOWN,
	ASLEEP_KERNEL, /* the kernel reads the owner, of a lock with priority
			* inheritance */
	ASLEEP_END,    /* the word has a thread's number until that ends */
	ASLEEP_WORD,   /* the word has it, and the bit for waiters */
	ASLEEP_MUTEX,  /* memory that is as a mutex of glibc is */
};

/* The words for these in readings and in JSON; NULL: not known. */
extern const char *const asleep_by_words[];

struct asleep_thread {
	int64_t tid;
	int64_t from, to; /* it did not run between these times */
	char state;	  /* as in /proc/PID/status: 'S', 'D', 'T', 't' */
	const char *call; /* "futex", borrowed from struct asleep; "-": none */
	int64_t owner;	  /* thread for which it waits; 0: not known */
	enum asleep_by by;
};

/* All 0: empty. */
struct asleep {
	struct asleep_thread *thread; /* by tid */
	size_t n;
	size_t all;	  /* threads of the process that were read */
	int64_t from, to; /* none of them ran between these times */
	/* positions in .thread of those that wait for one another, each for
	 * the next one, and the last one for the first; n_ring 0: none do */
	size_t *ring;
	size_t n_ring;
	struct intern words;
};

/* Finds the threads of process pid, without a result if it was not read twice;
 * call asleep_release() in either case. Returns 0, or -1 and *err. */
int asleep_find(const struct path_run *r, int64_t pid, struct asleep *out,
		struct err *err);
void asleep_release(struct asleep *a);
