/* diff_stats.h - which counts of samples differ by more than chance and loss.
 *
 * Two recordings count samples in the same places. A place has changed if an
 * exact test rejects that both counts were drawn from the same distribution,
 * and if the difference is larger than the samples that may have been lost.
 *
 * Many places are tested at once, of self and of total together, so Holm's
 * method limits the probability that a comparison shows any false change to
 * DIFF_ALPHA. Places with too few samples to ever pass do not count as tests
 * (Tarone). Half of it is for the few places that something else makes suspect,
 * if there are any, and half for all others. Benjamini-Hochberg would find more
 * changes, but a known part of them would be false, and users would investigate
 * those.
 *
 * When one place grows, the shares of all others shrink. So if any share
 * differs, places are judged again, next to those that did not change: the
 * reference. It is the largest set of places that agree on one ratio of B to A,
 * many places before a large one, and of about equal ones that whose weight is
 * as before. What is under a function that changed is not in it, though it may
 * be too little of each place to be seen there (diff_place.under).
 *
 * Samples of one recording need not be independent: a change must also be
 * larger than what the blocks of each recording vary by (diff_runs.h), by
 * Student's t.
 *
 * Several recordings of a side are compared by diff_runs.h. */
#pragma once
#include <stddef.h>

#include "analyze/diffs/diff_runs.h"

#define DIFF_ALPHA 0.01

/* Sets run, a, b and what may belong there from the counts of n runs, of which
 * the first runs_a are those of A. Two runs are one of each side. */
void diff_place_add_up(struct diff_place *p, const struct diff_count *run,
		       size_t n, size_t runs_a);
struct diff_ranked {
	double p;
	size_t at;
};

/* Sorts n p-values, the smallest first, and corrects them by Holm's method, of
 * so many tests in each of `families`: at least n. */
void diff_correct(struct diff_ranked *rank, size_t n, size_t tests,
		  size_t families);
/* Judges n places: what they have themselves, which is in no other one, and
 * total, which may be; NULL: only self. Stores the sums of the reference in
 * *left; the caller frees left->run. */
void diff_judge(struct diff_place *self, struct diff_place *total, size_t n,
		const struct diff_whole *w, struct diff_whole *left);
/* Returns the weight in all runs of B that corresponds to 1 in all of A where
 * nothing changed. */
double diff_scale(const struct diff_whole *left);
