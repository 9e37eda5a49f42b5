/* timings.h - things that take time, on two sides: how many there are, how long
 * they take, and what of that changed.
 *
 * Order of calls: timings_add_run() for each run, those of A first, followed by
 * timings_add() for its things; then timings_judge().
 *
 * If a side has several runs, each is one measurement, and the variation that
 * is usual for all rows helps to judge each of them, as in diff_runs.h. One run
 * a side is cut into blocks of equal time, as in diff_runs.h, and each row is
 * taken to vary by timings.between more from run to run, its p99 by twice that,
 * or a part as its group does. Logarithms are compared: a change is a ratio. A
 * side without any of a row counts as having as many as it may have by chance.
 *
 * A loss is a bound: each number of a run lies between its least and its most,
 * and a change is reported only if it is one for all values in between. All
 * tests of all rows are corrected as for samples, and a change is reported at
 * DIFF_ALPHA.
 *
 * The shares of a part are tested too: a function, by its samples, in the time
 * that a thread computed. If a row is not proved to have more, but its share
 * is, the share becomes a row. */
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
	TIMINGS_RATE, /* how many in a second */
	TIMINGS_AVERAGE,
	TIMINGS_P50,
	TIMINGS_P99,
	TIMINGS_TOTAL, /* ns in a second */
	TIMINGS_MEASURES
};

struct timings_change {
	double size[2];	  /* mean of the runs; NaN: not known */
	double low, high; /* ratio of B to A: interval of 95 %, with losses;
			   * NaN: not known */
	double p;	  /* corrected; 1: not tested */
	int change;	  /* 1 more in B, -1 less, 0 not proved */
	bool hidden;	  /* it would be a change if nothing was lost */
	/* a run has less than TIMINGS_LITTLE of this, and is tested with that
	 * much: the interval is not that of the sizes */
	bool little;
};

struct timings_row {
	uint32_t key[TIMINGS_KEYS]; /* ids in timings.words */
	unsigned int group;	    /* of the first thing */
	uint64_t n[2], unproved[2];
	double longest[2]; /* ns, of the longest proved thing on each side */
	/* The other side has nothing with the first key: it may not have been
	 * recorded there. */
	bool apart;
	/* id in words: the share from which most of its growth in B comes; "":
	 * not known. Set by timings_judge(). */
	uint32_t mostly;
	bool share; /* it has the share `mostly` alone, which another row has
		     * too */
	struct timings_change of[TIMINGS_MEASURES];
};

struct timings_run {
	int64_t from, to; /* of the recording */
	uint64_t lost;	  /* records; UINT64_MAX: any number */
	uint64_t per;  /* number and sums are divided by this; 0: by the seconds
			* or, of parts, by nothing */
	double loose;  /* ns of parts without proof */
	double others; /* for parts: ns of CPU time of other processes */
	struct packed_times item; /* see timings_add() */
	uint64_t *share;	  /* by share: how much it has */
	size_t n_share, cap_share;
};

/* A share of a row, on each side: of the time that a thread computed, the
 * samples of a clock in a function or its callees; of the time that it was
 * ready, the ns that another thread had the CPU. name "": all of it. */
struct timings_share {
	uint32_t row, name; /* of words */
	uint32_t all;	    /* index of the share that is all of this row */
	uint32_t own; /* the row of this share alone; row: there is none */
	uint64_t n[2];
};

/* Parts that vary alike from run to run. */
struct timings_group {
	struct runs_usual usual;
	/* how their number varies; df 0: the number is not judged */
	struct runs_usual number;
	bool whole; /* their shares are not tested */
	/* its numbers come from a counter: it is not one of many tests, few are
	 * enough, and unproved time of others is no part of them */
	bool apart;
};

struct timings {
	/* for one run a side: how much a number varies from run to run, as a
	 * part of itself (standard deviation of its logarithm) */
	double between;
	/* How the parts of each group usually vary; NULL: things are no parts.
	 * Parts are those of a run's time, and unproved time may belong to any
	 * of them: numbers and sums are of a run, not of a second, only sums
	 * and some numbers are judged, and less than TIMINGS_LITTLE counts as
	 * that much. */
	const struct timings_group *parts;
	bool all_kinds; /* a missing first key means none, not unrecorded */
	size_t runs[2];
	struct timings_run *run;
	size_t n_run, cap_run;
	struct timings_row *row; /* after timings_judge(): see order */
	size_t n, cap;
	struct intern words, index;
	struct intern share_index;
	struct timings_share *share;
	size_t n_share, cap_share;
	uint32_t *order; /* numbers of row[], changed ones first */
};

/* A thing that took time. at: when it ended. If it began or ended outside of
 * the recording, only its time inside is known, and its length is left out. */
struct timings_item {
	int64_t at;
	int64_t least, most; /* ns; INT64_MAX: any */
	uint8_t group;	     /* index in timings.parts */
	bool proved;
	bool cut; /* it began or ended outside of the recording */
};

/* Begins the next run. */
void timings_add_run(struct timings *t, int side);
/* Adds a thing to the last run. A NULL key is "". Returns its row. */
uint32_t timings_add(struct timings *t, const char *const key[TIMINGS_KEYS],
		     struct timings_item i);
/* Returns thing i of a run without its group, and stores its row. */
struct timings_item timings_get(const struct timings_run *run, size_t i,
				uint32_t *row);
/* Adds n to a share of a row, on the side of the last run. Add the share ""
 * first, and functions with the outer ones first. */
void timings_add_share(struct timings *t, uint32_t row, const char *name,
		       uint64_t n);
/* Stores how long a run of each side is or, if others, how many CPUs other
 * processes had meanwhile, and the interval of the ratio; its low is NaN for
 * one run a side. */
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
