/* beside.h - reads what tracefs has besides a text: the number of CPUs, the
 * clock, and how many events the buffer of each CPU lost.
 *
 * ftext_beside_open() finds the folder per_cpu, and ftext_beside_read() reads
 * the counts in it, repeatedly while they grow.
 *
 * A piece of a stream that was cut has lines FTEXT_BESIDE. The first line of
 * the text has the clock. At its end there is one for each CPU that dropped
 * events (0: an unknown number), and then the number of CPUs: a piece without
 * that line may lack others too.
 *
 * # beside: clock=monotonic
 *
 * # beside: cpu=1 dropped=12
 *
 * # beside: cpus=2 */
#pragma once
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/record.h"

struct err;

#define FTEXT_BESIDE "# beside:"

/* How many events the buffer of a CPU lost. */
struct ftext_total {
	int32_t cpu;
	enum lost_place place;
	uint64_t n;
};

struct ftext_beside {
	char per_cpu[PATH_MAX]; /* path of the folder; "": there is none */
	char clock[32];		/* "": unknown */
	int32_t cpus;		/* 0: unknown */
	int32_t only; /* the text is per_cpu/cpuN/trace, and this is N + 1; 0:
			 it is of all CPUs */
	bool live;    /* the folder is in tracefs, so counts grow */
	struct ftext_total *total; /* sorted by CPU and place */
	size_t n_total, cap_total;
};

/* Finds the files of tracefs for a text. *b must be zeroed. It is no error if
 * there are none. */
void ftext_beside_open(struct ftext_beside *b, const char *path);
/* Sets total[] from the files cpuN/stats in dir, or from that of b->only.
 * Returns the number of files, or -1 and *err with total[] empty. */
int ftext_beside_read(struct ftext_beside *b, const char *dir, struct err *err);
/* Returns how many CPUs there are now, or 0 if that is unknown. */
int32_t ftext_beside_cpus(const struct ftext_beside *b);
/* Returns the sum of the totals, at most UINT64_MAX. */
uint64_t ftext_beside_sum(const struct ftext_beside *b);
