/* diff_stats.h - which counts of samples differ by more than chance and loss.
 *
 * Two recordings count samples in the same places. A place has changed if an
 * exact test rejects that both counts were drawn from the same distribution,
 * and if the difference is larger than the samples that may have been lost.
 *
 * Many places are tested at once, of self and of total together, so Holm's
 * method limits the probability that a comparison shows any false change to
 * DIFF_ALPHA. Places with too few samples to ever pass do not count as tests
 * (Tarone). Half of DIFF_ALPHA is for the few places that something else makes
 * suspect, if there are any, and half for all others. Benjamini-Hochberg would
 * find more changes, but a known part of them would be false, and users would
 * investigate those.
 *
 * When one place grows, the shares of all others shrink. So if any share
 * differs, places are judged again, against those that did not change: the
 * reference. It is the largest set of places that agree on one ratio of B to A:
 * many places are preferred to a large one, and of about equal sets the one
 * whose weight is as before. Samples under a function that changed are not in
 * it, even if they are too few in each place to be seen (diff_place.under).
 *
 * Samples of one recording need not be independent: a change must also be
 * larger than the blocks of each recording vary (diff_runs.h), by Student's t.
 *
 * Several recordings of a side are compared by diff_runs.h. */
#pragma once
#include <stddef.h>

#include "analyze/diffs/diff_runs.h"

#define DIFF_ALPHA 0.01

/* Sets run, a, b, may_a and may_b of a place from the counts of n runs, of
 * which the first runs_a are those of A. Two runs are one of each side. */
void diff_place_add_up(struct diff_place *p, const struct diff_count *run,
		       size_t n, size_t runs_a);
/* A p-value, and the index of its test. */
struct diff_ranked {
	double p;
	size_t at;
};

/* Sorts n p-values, the smallest first, and corrects them by Holm's method, for
 * `tests` tests, at least n, in each of `families`. */
void diff_correct(struct diff_ranked *rank, size_t n, size_t tests,
		  size_t families);
/* Judges n places. self: their own samples, which are in no other place; total:
 * those that may be; NULL: judges only self. Stores the sums of the reference
 * in *left; the caller frees left->run. */
void diff_judge(struct diff_place *self, struct diff_place *total, size_t n,
		const struct diff_whole *w, struct diff_whole *left);
/* Returns the weight in all runs of B that corresponds to 1 in all of A where
 * nothing changed. */
double diff_scale(const struct diff_whole *left);
