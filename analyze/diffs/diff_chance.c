/* diff_chance.c - how probable counts of samples are by chance. */
#include "analyze/diffs/diff_chance.h"

#include <math.h>

#define CONFIDENCE 0.95

static double log_factorial(double n)
{
	int sign;

	return lgamma_r(n + 1, &sign);
}

static double log_choose(double n, double k)
{
	return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

/* The distribution of b among a + b events. */
struct law {
	double n;		 /* a + b */
	double whole_a, whole_b; /* hypergeometric; 0: binomial */
	double chance;		 /* binomial */
};

static double law_log(const struct law *l, double b)
{
	if (l->whole_a > 0)
		return log_choose(l->whole_b, b) +
		       log_choose(l->whole_a, l->n - b) -
		       log_choose(l->whole_a + l->whole_b, l->n);
	return log_choose(l->n, b) + b * log(l->chance) +
	       (l->n - b) * log1p(-l->chance);
}

/* P(b + 1) / P(b) */
static double law_next_ratio(const struct law *l, double b)
{
	if (l->whole_a > 0)
		return (l->n - b) * (l->whole_b - b) /
		       ((b + 1) * (l->whole_a - l->n + b + 1));
	return (l->n - b) / (b + 1) * l->chance / (1 - l->chance);
}

/* Returns twice the smaller tail of the distribution at b, 1 at most. */
static double two_sided(const struct law *l, double b)
{
	double highest = l->n;
	double lowest = 0;
	double mean = l->n * l->chance;

	if (l->whole_a > 0) {
		highest = fmin(l->n, l->whole_b);
		lowest = l->n > l->whole_a ? l->n - l->whole_a : 0;
		mean = l->n * l->whole_b / (l->whole_a + l->whole_b);
	}
	/* Sums the smaller tail up until further terms do not change the sum,
	 * or it reaches 1, as terms grow towards the middle. */
	int step = b > mean ? 1 : -1;
	double term = exp(law_log(l, b));
	double sum = term;

	while (step > 0 ? b < highest : b > lowest) {
		term = step > 0 ? term * law_next_ratio(l, b)
				: term / law_next_ratio(l, b - 1);
		b += step;
		sum += term;
		if (!(term > sum * 1e-17) || sum > 1)
			break;
	}
	return fmin(1, 2 * fmin(sum, 1));
}

double diff_p_shares(uint64_t a, uint64_t whole_a, uint64_t b, uint64_t whole_b)
{
	struct law l = {
		.n = (double)a + (double)b,
		.whole_a = (double)whole_a,
		.whole_b = (double)whole_b,
	};

	return !whole_a || !whole_b || a > whole_a || b > whole_b
		       ? 1
		       : two_sided(&l, (double)b);
}

double diff_p_rates(uint64_t a, uint64_t b, double chance)
{
	struct law l = { .n = (double)a + (double)b, .chance = chance };

	return !(chance > 0 && chance < 1) ? 1 : two_sided(&l, (double)b);
}

/* Returns the regularized incomplete beta function of 0 <= x <= 1. */
static double beta_part(double x, double a, double b)
{
	int sign;

	if (!(x > 0))
		return 0;
	if (x >= 1)
		return 1;
	/* the fraction converges fast on the smaller side */
	if (x > (a + 1) / (a + b + 2))
		return 1 - beta_part(1 - x, b, a);
	double front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) -
			   lgamma_r(b, &sign) + a * log(x) + b * log1p(-x));
	double c = 1;
	double d = 1 / (1 - (a + b) * x / (a + 1));
	double f = d;

	for (int m = 1; m < 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x /
			     ((a + 2 * m) * (a + 2 * m + 1));

		d = 1 / (1 + even * d);
		c = 1 + even / c;
		f *= c * d;
		d = 1 / (1 + odd * d);
		c = 1 + odd / c;
		double step = c * d;
		f *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return front * f / a;
}

double diff_p_student(double t, double df)
{
	return !(df > 0) || isnan(t)
		       ? 1
		       : beta_part(df / (df + t * t), df / 2, 0.5);
}

double diff_freedom(const double df[2], bool alone, double a, double b)
{
	if (alone)
		return df[0] + df[1];
	return !(a + b > 0)
		       ? diff_smaller(df[0], df[1])
		       : (a + b) * (a + b) / (a * a / df[0] + b * b / df[1]);
}

double diff_factor(double variance, double df)
{
	double low = 0, high = 1;

	while (diff_p_student(high, df) > 1 - CONFIDENCE && high < 1e6)
		high *= 2;
	for (int i = 0; i < 60; i++) {
		double t = (low + high) / 2;

		if (diff_p_student(t, df) > 1 - CONFIDENCE)
			low = t;
		else
			high = t;
	}
	return exp(high * sqrt(variance));
}

double diff_p_chi(double x, double df)
{
	double spread = 2 / (9 * df);

	return !(df > 0)
		       ? 1
		       : erfc((cbrt(x / df) - 1 + spread) / sqrt(2 * spread)) /
				 2;
}
