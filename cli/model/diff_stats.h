/* diff_stats.h - which counts of samples differ by more than chance and loss.
 *
 * Two recordings count samples in the same places. A place has changed if an
 * exact test rejects that both counts were drawn from the same distribution,
 * and if the difference is larger than the samples that may have been lost.
 *
 * Many places are tested at once, so Holm's method limits the probability that
 * a picture shows any false change to DIFF_ALPHA. Places with too few samples
 * to ever pass do not count as tests (Tarone). Benjamini-Hochberg would find
 * more changes, but a known part of them would be false, and users would
 * investigate those. Holm's steps also suit shares: when one place grows, the
 * shares of all others shrink. Therefore each step removes the clearest change
 * from both totals and compares the rest with the rest.
 *
 * Samples of one recording need not be independent: a change must also be
 * larger than what the blocks of each recording vary by (diff_noise.h), by
 * Student's t.
 *
 * With several recordings of a side, each is one measurement: the test is
 * Welch's t of their shares (or numbers), so that what differs from run to run
 * is no change. The variance of a side is at least that of counting: shares of
 * a few runs may be equal by chance. A side with one run is taken to vary as
 * the other side does. What was lost in one run may also be why its side
 * differs so little: t and its degrees of freedom are the smallest that any
 * distribution of the lost samples has. */
#ifndef CLI_MODEL_DIFF_STATS_H
#define CLI_MODEL_DIFF_STATS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/model/diff_noise.h"

#define DIFF_ALPHA 0.01

/* Samples of one run in a place, and those that were lost or counted elsewhere,
 * but may belong there. */
struct diff_count {
	uint64_t n, may;
};

struct diff_place {
	uint64_t a, b;		      /* samples here, in all runs */
	uint64_t may_a, may_b;	      /* samples that were lost or counted
				       * elsewhere, but may belong here */
	uint64_t out_a, out_b;	      /* of a and b, those that are not to be
				       * compared with those of other places */
	const struct diff_count *run; /* of each run, those of A first; NULL
				       * if diff_whole.run is */
	struct diff_noise noise[2];   /* of A and B, where each is one run */
	bool skip;		      /* do not test */
	int8_t only; /* the programs tell that only B can have samples here, 1,
		      * or only A, -1: that is no question of chance */
	bool apart;  /* nor compare others with it */
	int change;  /* out: 1 more, -1 less, 0 not proved */
	double p;    /* out: p-value, corrected for the number of tests; 1: no
		      * more, or not tested */
};

/* One recording of a side. */
struct diff_run {
	uint64_t n, lost; /* samples of all places, and of none */
	double unit;	  /* weight of one sample */
};

struct diff_whole {
	uint64_t a, b;		 /* samples of all places */
	uint64_t lost_a, lost_b; /* samples that are in no place */
	bool absolute;		 /* counts are compared, not shares */
	double between; /* by how much of itself the cost of a place varies from
			 * run to run (standard deviation); 0: as the runs do */
	double unit_a, unit_b; /* weight of one sample */
	/* private: the samples of all places, each times its noise, and the
	 * degrees of freedom of that */
	double noisy, df;
	struct diff_run *run; /* those of A first; NULL: one each */
	size_t runs_a, runs_b;
};

/* Stores the mean and the standard deviation (NaN of one run) of a place's
 * shares in the runs of A (side 0) or B (1); absolute: of its numbers. */
void diff_spread(const struct diff_place *p, const struct diff_whole *w,
		 int side, double *mean, double *deviation);

/* Sets run, a, b and what may belong there from the counts of n runs, of which
 * the first runs_a are those of A. Two runs are one of each side. */
void diff_place_add_up(struct diff_place *p, const struct diff_count *run,
		       size_t n, size_t runs_a);
/* Judges places that share no sample. Stores the totals without the changed
 * places in *left, for diff_judge_nested() and diff_scale(); the caller frees
 * left->run. */
void diff_judge(struct diff_place *p, size_t n, const struct diff_whole *w,
		struct diff_whole *left);
/* Judges places that may contain each other; left: from diff_judge(). */
void diff_judge_nested(struct diff_place *p, size_t n,
		       const struct diff_whole *left);
/* Returns the weight in all runs of B that corresponds to 1 in all of A where
 * nothing changed. */
double diff_scale(const struct diff_whole *left);
#endif
