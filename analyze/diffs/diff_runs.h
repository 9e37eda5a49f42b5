/* diff_runs.h - whether the means of a place in several runs of each side
 * differ.
 *
 * Each run is one measurement: the test is Welch's t of their shares (or
 * numbers), so that a difference from run to run is no change. The variance of
 * a side is at least that of counting: shares of a few runs may be equal by
 * chance. A side with one run is taken to vary as the other side does.
 *
 * A few runs show little about how one place varies, and more about how all
 * places do. So the variance of a share is drawn towards what is usual on its
 * side, the more the more alike the places are (Smyth 2004): struct runs_usual.
 *
 * Lost samples may belong to any place, so each number of a run is a range, and
 * so is each result that is computed from them (struct runs_range). Losses in
 * one run may also be the reason why its side differs so little: t and its
 * degrees of freedom are the smallest that any distribution of the lost samples
 * has. */
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
 * begins once and ends once. A change must be larger than this variance, or
 * that of counting, makes likely, whichever is larger. */

struct report_rows;

/* The samples of a recording, in any order. */
struct diff_times {
	struct packed_times at; /* event: index in stacks.group */
	bool untimed;		/* some have no time: no noise is known */
};

/* times: the variance divided by that of counting; df: the degrees of freedom
 * with which it is known; 0: not known. */
struct diff_noise {
	double times, df;
};

struct diff_noises;

/* Cuts a recording into blocks. rows must have been counted with KEY_HITS, and
 * is borrowed until diff_noises_free(). Returns NULL if nothing is known. */
struct diff_noises *diff_noises_new(const struct report_rows *rows,
				    const struct diff_times *t);
void diff_noises_free(struct diff_noises *n);
/* Returns the noise of a row's self, or total: of its number of samples if
 * absolute, else of its share of all. */
struct diff_noise diff_noise_of(struct diff_noises *n, size_t row, bool total,
				bool absolute);
/* Returns into how many blocks a recording with n samples or times is cut. */
size_t diff_noise_blocks(size_t n);
/* Returns the noise of a row that has own[] in each of n blocks of equal time,
 * next to its part `rest` of all[]; counting: its variance by chance. */
struct diff_noise diff_noise_in_blocks(const double *own, const double *all,
				       size_t n, double rest, double counting);

/* Samples of one run in a place, and those that were lost or counted elsewhere,
 * but may belong there. */
struct diff_count {
	uint64_t n, may;
	bool other; /* the run had it in code of another tier: it does not count
		     * if its side has two others */
};

/* How places of one side vary: besides counting, their shares usually have a
 * standard deviation of `times` of themselves, which is known as well as from
 * `df` more runs; 0: not known. */
struct runs_usual {
	double times, df;
};

struct diff_place {
	uint64_t a, b;	       /* samples here, in all runs */
	uint64_t may_a, may_b; /* samples that were lost or counted
				* elsewhere, but may belong here */
	uint64_t out_a, out_b; /* those of a and b that must not be compared
				* with other places */
	const struct diff_count *run; /* by run, those of A first; NULL if
				       * diff_whole.run is */
	struct diff_noise noise[2];   /* of A and B, if each has one run */
	bool skip;		      /* it must not be tested */
	int8_t only; /* the programs prove that only B can have samples here, 1,
		      * or only A, -1: this is no question of chance */
	bool apart;  /* nor may others be compared with it */
	bool suspect; /* something else shows that it may have changed */
	/* by run: samples in changed code, which the reference leaves out;
	 * NULL: none */
	const struct diff_count *under;
	int change; /* out: 1 more, -1 less, 0 not proved */
	double p;   /* out: p-value, corrected for the number of tests; 1: no
		     * more, or not tested */
	bool kept;  /* out: it is in the reference */
	int sign;   /* private: of the change, if there is one */
	/* private: of similar places, on A and B; NULL: not known */
	const struct runs_usual *usual;
};

/* One recording of a side. */
struct diff_run {
	uint64_t n, lost; /* samples of all places, and lost ones */
	double unit;	  /* weight of one sample */
};

struct diff_whole {
	uint64_t a, b;		 /* samples of all places */
	uint64_t lost_a, lost_b; /* samples that are in no place */
	bool absolute;		 /* counts are compared, not shares */
	double between; /* how much the cost of a place varies from run to run,
			 * as a part of itself (standard deviation); 0: as the
			 * runs do */
	double unit_a, unit_b; /* weight of one sample */
	/* private: the samples of all places, each times its noise, and the
	 * degrees of freedom of that */
	double noisy, df;
	struct diff_run *run; /* those of A first; NULL: one each */
	size_t runs_a, runs_b;
	bool part;     /* out: places that changed are not in it */
	double kept_p; /* out: p-value that its places differ by chance only */
};

/* How the mean of a place's shares on one side varies: by its runs, by
 * counting, and if each share varied by all of itself. */
struct runs_varied {
	double variance, counting, of_share;
};

/* Student's t, and its degrees of freedom. */
struct runs_test {
	double t, df;
};

/* Returns Welch's t of the runs' shares or numbers as they are counted; t > 0
 * if B has more. loss: returns the smallest t for `more` (else for less), and
 * the smallest degrees of freedom, of all ways in which samples may be lost.
 * The ways need not be the same: such a p is too large rather than too small.
 * nested: the place need not be a part of the total. */
struct runs_test runs_compare(const struct diff_place *p,
			      const struct diff_whole *w, bool loss, bool more,
			      bool nested);
/* Returns how a place varies on a side. */
struct runs_varied runs_vary(const struct diff_place *p,
			     const struct diff_whole *w, int side);
/* Returns how n places usually vary on a side with so many runs. */
struct runs_usual runs_usual_of(const struct runs_varied *v, size_t n,
				size_t runs);
/* Returns the smallest p-value that the samples of a place can have: if all
 * were on one side, as evenly as possible. */
double runs_least(const struct diff_place *p, const struct diff_whole *w);
/* Returns diff_factor() of the ratio of the means of B and A, as they are
 * counted; NaN: for one run a side, or if a side has no samples. */
double diff_runs_factor(const struct diff_place *p, const struct diff_whole *w);
/* Stores the mean and the standard deviation (NaN of one run) of a place's
 * shares in the runs of A (side 0) or B (1); absolute: of its numbers. */
void diff_spread(const struct diff_place *p, const struct diff_whole *w,
		 int side, double *mean, double *deviation);
