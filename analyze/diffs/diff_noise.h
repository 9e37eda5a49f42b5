/* diff_noise.h - how much more the samples of a row vary than by chance, in one
 * recording.
 *
 * The samples of a clock are not independent of each other: a loop may be in
 * step with the timer, and other programs on the machine slow down some
 * functions for a while. So the recording is cut into blocks of equal time, and
 * the variance of a row's samples is taken from the differences of neighbouring
 * blocks (von Neumann), which do not count a phase of the program twice: it
 * begins once and ends once. A change needs to be larger than by this variance,
 * or by that of counting, whichever is larger. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/causes/packed_times.h"

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
