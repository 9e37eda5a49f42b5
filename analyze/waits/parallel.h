/* parallel.h - how many threads of a capture ran at a time, by the runs of
 * waits.h. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct err;
struct store;

/* From this time on. */
struct parallel_step {
	int64_t time;
	int32_t least; /* that ran for certain */
	int32_t maybe; /* more than these, that may have */
};

/* All zeros is one of which nothing is known. */
struct parallel {
	struct parallel_step *step; /* by time */
	size_t n, cap;
	int32_t cpus; /* 0: not known */
};

/* How many ran: at least 1, as the one that was sampled did, and at most as
 * many as there are CPUs. */
struct parallel_range {
	int32_t least, most;
};

/* Reads a database. Returns 0, or -1 and *err, also if it does not tell who
 * left and came; path is for that message. To be released in any case. */
int parallel_load(struct store *db, const char *path, struct parallel *p,
		  struct err *err);
void parallel_release(struct parallel *p);
struct parallel_range parallel_at(const struct parallel *p, int64_t time);
