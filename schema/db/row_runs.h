/* row_runs.h - puts rows that are almost in the order of their key in order,
 * within bounded memory.
 *
 * A row is added to the first ascending run that it continues; if there are too
 * many runs, the shorter ones are made one. When the runs are full, the rows
 * with the lowest keys are taken from them. A row whose key is below one that
 * was taken is refused. Requests and chains come when they are settled: a dozen
 * runs have them all, but for those that wait for long. Mappings come process
 * by process at the end: thousands of runs. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROW_RUNS_MAX 32

/* Rows with ascending keys, in data[head..len). */
struct row_run {
	unsigned char *data;
	size_t head, len, cap;
	int64_t last; /* key of the row added last */
};

struct row_runs {
	struct row_run run[ROW_RUNS_MAX]; /* by last, descending */
	unsigned int n;
	size_t bytes; /* in all of them */
	bool any;     /* a row was taken, the last one with: */
	int64_t taken;
};

/* Adds a copy of a row. Returns false if it comes too late. */
bool row_runs_add(struct row_runs *rr, int64_t key, const void *row,
		  size_t len);
/* Calls fn for rows in the order of their keys until at most `keep` bytes are
 * left. Returns 0, or what fn has returned that is not 0. */
int row_runs_take(struct row_runs *rr, size_t keep,
		  int (*fn)(void *arg, int64_t key, const void *row,
			    size_t len),
		  void *arg);
void row_runs_release(struct row_runs *rr);
