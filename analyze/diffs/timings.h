/* timings.h - things that take time, on two sides: how many there are, how long
 * they take, and which of that changed.
 *
 * timings_add_run() for each run, those of A first, and then its things; then
 * timings_judge().
 *
 * Of several runs of a side each is one measurement, and what is usual for all
 * rows tells how one varies, as in diff_runs.h. Of one run a side it is
 * cut into blocks of equal time, as in diff_runs.h, and each row is taken to
 * vary by timings.between more from run to run, its p99 by twice that, or a
 * part as its group does. What is compared are the logarithms: a change is a
 * ratio. A side without any of a row is said to have as many as it may have by
 * chance.
 *
 * What was lost is a bound: each number of a run lies between what it is at
 * least and at most, and a change is one only if it is for all of these. All
 * tests of all rows are corrected as samples are, and a change is reported at
 * DIFF_ALPHA.
 *
 * What a part is made of is tested too: a function, by its samples, of what a
 * thread computed. That of a row which is not proved to have more is a row of
 * its own. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/causes/packed_times.h"
#include "analyze/diffs/diff_runs.h"
#include "stitch/base/intern.h"

#define TIMINGS_KEYS 3
#define TIMINGS_LITTLE 0.001

enum timings_measure {
	TIMINGS_RATE, /* how many each second */
	TIMINGS_AVERAGE,
	TIMINGS_P50,
	TIMINGS_P99,
	TIMINGS_TOTAL, /* ns each second */
	TIMINGS_MEASURES
};

struct timings_change {
	double size[2];	  /* mean of the runs; NaN: not known */
	double low, high; /* of the ratio of B to A: interval of 95 %, with what
			   * was lost; NaN: not known */
	double p;	  /* corrected; 1: not tested */
	int change;	  /* 1 more in B, -1 less, 0 not proved */
	bool hidden;	  /* it would be a change if nothing were lost */
	/* a run has less than TIMINGS_LITTLE of this, and is tested with that
	 * much: the interval is not one of the sizes */
	bool little;
};

struct timings_row {
	uint32_t key[TIMINGS_KEYS]; /* of timings.words */
	unsigned int group;	    /* of the first thing */
	uint64_t n[2], unproved[2];
	double longest[2]; /* ns */
	/* The other side has nothing of the first key: it may not have been
	 * recorded there. */
	bool apart;
	/* of words: what most of what it has more in B comes from, of its
	 * shares; "": not known. After timings_judge(). */
	uint32_t mostly;
	bool share; /* it is of mostly alone, and in another row too */
	struct timings_change of[TIMINGS_MEASURES];
};

struct timings_run {
	int64_t from, to; /* of the recording */
	uint64_t lost;	  /* records; UINT64_MAX: any number */
	uint64_t per;	  /* things that numbers and sums are divided by; 0: the
			   * seconds or, of parts, nothing */
	double loose;	  /* ns of parts that are not proved */
	double others;	  /* ns that other processes had CPUs, of parts */
	struct packed_times item; /* see timings_add() */
	uint64_t *share;	  /* what each has of it */
	size_t n_share, cap_share;
};

/* What a row is made of, on each side: of time in which a thread computed, how
 * many samples of a clock a function, or what it called, has; of time in which
 * one was ready, how many ns another had the CPU. name "": all. */
struct timings_share {
	uint32_t row, name; /* of words */
	uint32_t all;	    /* the share of this row that is all */
	uint32_t own;	    /* a row of this alone; row: there is none */
	uint64_t n[2];
};

/* Parts that vary alike from run to run. */
struct timings_group {
	struct runs_usual usual;
	/* of how many there are; df 0: that is not judged */
	struct runs_usual number;
	bool whole; /* their shares are not tested */
	/* its numbers are of a counter: it is not one of many tests, few are
	 * enough, and what is not proved of others is no part of them */
	bool apart;
};

struct timings {
	/* of one run a side: by how much of itself a number varies from run to
	 * run (standard deviation of its logarithm) */
	double between;
	/* Things are parts of a run's time, and what is not proved may be of
	 * any of them: numbers and sums are of a run, not of a second, only
	 * sums and some numbers are judged, and less than TIMINGS_LITTLE of it
	 * is as much. By what those of each group usually vary; NULL: no parts.
	 */
	const struct timings_group *parts;
	bool all_kinds; /* a first key is no kind that may not be recorded */
	size_t runs[2];
	struct timings_run *run;
	size_t n_run, cap_run;
	struct timings_row *row; /* after timings_judge(): what changed most is
				  * first */
	size_t n, cap;
	struct intern words, index;
	struct intern share_index;
	struct timings_share *share;
	size_t n_share, cap_share;
	uint32_t *order; /* of row[], after timings_judge() */
};

/* What one took. at: when it ended. Known of a time that began or ended outside
 * the recording is what it had there, and its length does not count. */
struct timings_item {
	int64_t at;
	int64_t least, most; /* ns; INT64_MAX: any */
	uint8_t group;	     /* of timings.parts */
	bool proved;
	bool cut; /* at an end of the recording */
};

/* Begins the next run. */
void timings_add_run(struct timings *t, int side);
/* Adds a thing to the last run. A key that is NULL is "". Returns the row. */
uint32_t timings_add(struct timings *t, const char *const key[TIMINGS_KEYS],
		     struct timings_item i);
/* Returns a thing of a run, and its row; the group is that of the row. */
struct timings_item timings_get(const struct timings_run *run, size_t i,
				uint32_t *row);
/* Adds to a share of a row, on the side of the last run: that of "" first, and
 * of functions that of outer ones. */
void timings_add_share(struct timings *t, uint32_t row, const char *name,
		       uint64_t n);
/* Stores how long a run of each side is or, if others, how many CPUs other
 * processes had meanwhile, and the interval of the ratio; low is NaN of one run
 * a side. */
void timings_find_run(const struct timings *t, bool others,
		      struct timings_change *out);
/* Judges all rows. */
void timings_judge(struct timings *t);
void timings_release(struct timings *t);
/* Returns by how much of itself a measure grew: (B - A) / A. */
static inline double timings_growth(const struct timings_change *c)
{
	return c->size[1] / c->size[0] - 1;
}
