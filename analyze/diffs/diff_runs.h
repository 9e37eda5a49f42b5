/* diff_runs.h - a place in several runs of each side: whether their means
 * differ.
 *
 * Each run is one measurement: the test is Welch's t of their shares (or
 * numbers), so that what differs from run to run is no change. The variance of
 * a side is at least that of counting: shares of a few runs may be equal by
 * chance. A side with one run is taken to vary as the other side does.
 *
 * A few runs tell little of how a place varies, and more of how all places do.
 * So the variance of a share is drawn towards what is usual on its side, the
 * more the more alike the places are (Smyth 2004): struct runs_usual.
 *
 * Lost samples may belong to any place, so each number of a run is a range, and
 * what is computed of such numbers is one too (struct runs_range). What was
 * lost in one run may also be why its side differs so little: t and its degrees
 * of freedom are the smallest that any distribution of the lost samples has. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/causes/packed_times.h"

/* The samples of a clock are not independent of each other: a loop may be in
 * step with the timer, and other programs on the machine slow down some
 * functions for a while. So the recording is cut into blocks of equal time, and
 * the variance of a row's samples is taken from the differences of neighbouring
 * blocks (von Neumann), which do not count a phase of the program twice: it
 * begins once and ends once. A change needs to be larger than by this variance,
 * or by that of counting, whichever is larger. */

struct report_rows;

/* The samples of a recording, in any order. */
struct diff_times {
	struct packed_times at; /* event: one of stacks.group */
	bool untimed;		/* some have no time: nothing is known */
};

/* times: the variance divided by that of counting; df: the degrees of freedom
 * with which it is known; 0: not known. */
struct diff_noise {
	double times, df;
};

struct diff_noises;

/* Cuts a recording into blocks. rows was counted with KEY_HITS, and is borrowed
 * until diff_noises_free(). Returns NULL if nothing is known. */
struct diff_noises *diff_noises_new(const struct report_rows *rows,
				    const struct diff_times *t);
void diff_noises_free(struct diff_noises *n);
/* Returns the noise of a row, by its index: of its self, or its total; of its
 * number of samples if absolute, else of its share of all. */
struct diff_noise diff_noise_of(struct diff_noises *n, size_t row, bool total,
				bool absolute);
/* Returns into how many blocks a recording with n samples or times is cut. */
size_t diff_noise_blocks(size_t n);
/* Returns the noise of what a row has in each of n blocks of equal time, own[],
 * next to its share `rest` of all[], where it would vary by `counting`. */
struct diff_noise diff_noise_in_blocks(const double *own, const double *all,
				       size_t n, double rest, double counting);

/* Samples of one run in a place, and those that were lost or counted elsewhere,
 * but may belong there. */
struct diff_count {
	uint64_t n, may;
	bool other; /* the run had it in code of another tier: two others of its
		     * side tell more */
};

/* How places of one side vary: what their shares have next to the variance of
 * counting is usually the square of `times` of themselves, and that is known
 * as well as from `df` more runs; 0: not known. */
struct runs_usual {
	double times, df;
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
	int8_t only;  /* the programs tell that only B can have samples here, 1,
		       * or only A, -1: that is no question of chance */
	bool apart;   /* nor compare others with it */
	bool suspect; /* something else tells that it may have changed */
	/* of each run, samples that the reference does without, as they are of
	 * what changed; NULL: none */
	const struct diff_count *under;
	int change; /* out: 1 more, -1 less, 0 not proved */
	double p;   /* out: p-value, corrected for the number of tests; 1: no
		     * more, or not tested */
	bool kept;  /* out: it is in the reference */
	int sign;   /* private: of the change, if it is one */
	/* private: of places like this one, on A and B; NULL: not known */
	const struct runs_usual *usual;
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
	bool part;     /* out: not all places are in it, as some changed */
	double kept_p; /* out: p-value that its places differ by chance only */
};

/* How the mean of a place's shares on one side varies, by its runs and by
 * counting, and what it would if each share varied by itself. */
struct runs_varied {
	double variance, counting, of_share;
};

struct runs_test {
	double t, df;
};

/* Returns Welch's t of the runs' shares or numbers as they are counted; t > 0
 * if B has more. loss: returns the smallest t for `more` (else for less), and
 * the smallest degrees of freedom, of all ways in which samples were lost. The
 * ways need not be the same: such a p is too large rather than too small. */
struct runs_test runs_compare(const struct diff_place *p,
			      const struct diff_whole *w, bool loss, bool more,
			      bool nested);
struct runs_varied runs_vary(const struct diff_place *p,
			     const struct diff_whole *w, int side);
/* Returns what is usual for n places on a side of so many runs. */
struct runs_usual runs_usual_of(const struct runs_varied *v, size_t n,
				size_t runs);
/* Returns the smallest p-value that the samples of a place can have: all of
 * them are in one side, as evenly as can be. */
double runs_least(const struct diff_place *p, const struct diff_whole *w);
/* Returns diff_factor() of the ratio of the means of B and A, as they are
 * counted; NaN: of one run a side, or without samples of both. */
double diff_runs_factor(const struct diff_place *p, const struct diff_whole *w);
/* Stores the mean and the standard deviation (NaN of one run) of a place's
 * shares in the runs of A (side 0) or B (1); absolute: of its numbers. */
void diff_spread(const struct diff_place *p, const struct diff_whole *w,
		 int side, double *mean, double *deviation);
