/* diff_chance.h - how probable counts of samples are by chance. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Returns the p-value of the shares a/whole_a and b/whole_b under the
 * hypothesis that they are equal: Fisher's exact test, twice the smaller tail.
 */
double diff_p_shares(uint64_t a, uint64_t whole_a, uint64_t b,
		     uint64_t whole_b);
/* Returns the p-value of b out of a + b events if each belongs to b with
 * probability `chance`: exact binomial test, twice the smaller tail. */
double diff_p_rates(uint64_t a, uint64_t b, double chance);
/* Returns the probability that Student's t with df degrees of freedom is at
 * least as far from 0 as t. */
double diff_p_student(double t, double df);
/* Returns Welch's degrees of freedom of the difference of two means with
 * variances a and b and degrees of freedom df. alone: one side has one run,
 * which varies as the other side does. */
double diff_freedom(const double df[2], bool alone, double a, double b);
/* Returns the factor by which a ratio may be off, with a confidence of 95 %:
 * Student's interval of its logarithm, which has this variance. */
double diff_factor(double variance, double df);
/* Returns the probability that chi squared with df degrees of freedom is at
 * least x, by Wilson and Hilferty: right to 0.01. */
double diff_p_chi(double x, double df);

/* Unlike fmin() and fmax(), these do not pass over NaN. */
static inline double diff_smaller(double a, double b)
{
	return a < b ? a : b;
}

static inline double diff_larger(double a, double b)
{
	return a > b ? a : b;
}
