/* beside.h - what tracefs tells next to a text: how many CPUs there are, the
 * clock, and what the buffer of each CPU lost.
 *
 * ftext_beside_open() finds the folder per_cpu, and ftext_beside_read() reads
 * the counts in it, again and again where they grow.
 *
 * A piece of a stream that was cut has lines FTEXT_BESIDE. The first line of
 * the text has the clock. At its end there is one for each CPU that dropped
 * events (0: not known how many), and then the number of CPUs: a piece
 * without that one may lack others, too.
 *
 *	# beside: clock=monotonic
 *	# beside: cpu=1 dropped=12
 *	# beside: cpus=2
 */
#pragma once
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/record.h"

struct err;

#define FTEXT_BESIDE "# beside:"

/* Events that a CPU's buffer lost. */
struct ftext_total {
	int32_t cpu;
	enum lost_place place;
	uint64_t n;
};

struct ftext_beside {
	char per_cpu[PATH_MAX]; /* the folder; "": there is none */
	char clock[32];		/* "": unknown */
	int32_t cpus;		/* 0: unknown */
	int32_t only; /* the text is per_cpu/cpuN/trace, of CPU only-1; 0: it is
		       * of all CPUs */
	bool live;    /* it is in tracefs: counts grow */
	struct ftext_total *total; /* by CPU and place */
	size_t n_total, cap_total;
};

/* Finds what is next to a text; *b is zero. Nothing may be there. */
void ftext_beside_open(struct ftext_beside *b, const char *path);
/* Sets total[] by the files cpuN/stats in dir, or that of the only CPU. Returns
 * how many these are, or -1 and *err; total[] is empty then. */
int ftext_beside_read(struct ftext_beside *b, const char *dir, struct err *err);
/* Returns how many CPUs there are now; 0: unknown. */
int32_t ftext_beside_cpus(const struct ftext_beside *b);
/* Adds up the totals; at most UINT64_MAX. */
uint64_t ftext_beside_sum(const struct ftext_beside *b);
