/* diff_runs.c - a place in several runs of each side: whether their means
 * differ. */
#include "cli/diffs/diff_runs.h"

#include <math.h>

#include "cli/diffs/diff_chance.h"

/* What a number may be, as samples were lost: the same twice without loss. */
struct runs_range {
	double low, high;
};

/* One side of a place. */
struct runs_side {
	size_t n;
	struct runs_range mean; /* of its runs */
	/* The standard deviation of that mean is at most `doubt` from `spread`:
	 * that of the middles of all ranges, and the length of the vector of
	 * the distances from there. */
	double spread, doubt;
	/* the variance that counting samples gives the mean of a rate of 1 */
	struct runs_range counting;
};

/* Returns the share of n samples and those of `may` that belong to them. All
 * of the lost records are samples, or none is. */
static struct runs_range runs_share(double n, double may, double size,
				    double lost)
{
	double all = (n + may) / (size + lost);
	double none = (n + (may > lost ? may - lost : 0)) / size;

	return (struct runs_range){ n / (size + lost),
				    all > none ? all : none };
}

/* Returns what the samples of a place in a run are divided by: all samples of
 * the run, for a share, or the inverse of their unit, for a weight. */
static double runs_divisor(const struct diff_whole *w, size_t i)
{
	const struct diff_run *run = &w->run[i];

	/* of a run of which all places have changed nothing is left */
	return w->absolute ? 1 / run->unit : (double)run->n + !run->n;
}

static double runs_lost(const struct diff_whole *w, size_t i, bool loss)
{
	return loss && !w->absolute ? (double)w->run[i].lost : 0;
}

static struct runs_range runs_count(const struct diff_place *p,
				    const struct diff_whole *w, size_t i,
				    bool loss)
{
	return runs_share((double)p->run[i].n, loss ? (double)p->run[i].may : 0,
			  runs_divisor(w, i), runs_lost(w, i, loss));
}

static struct runs_side runs_side(const struct diff_place *p,
				  const struct diff_whole *w, int side,
				  bool loss)
{
	struct runs_side s = { .n = side ? w->runs_b : w->runs_a };
	size_t first = side ? w->runs_a : 0;
	double n = (double)s.n;

	for (size_t i = first; i < first + s.n; i++) {
		struct runs_range r = runs_count(p, w, i, loss);
		double size = runs_divisor(w, i);

		s.mean.low += r.low / n;
		s.mean.high += r.high / n;
		s.counting.low += 1 / (size + runs_lost(w, i, loss)) / (n * n);
		s.counting.high += 1 / size / (n * n);
	}
	for (size_t i = first; s.n > 1 && i < first + s.n; i++) {
		struct runs_range r = runs_count(p, w, i, loss);
		double d = (r.low + r.high - s.mean.low - s.mean.high) / 2;
		double half = (r.high - r.low) / 2;

		s.spread += d * d / (n - 1) / n;
		s.doubt += half * half / (n - 1) / n;
	}
	s.spread = sqrt(s.spread);
	s.doubt = sqrt(s.doubt);
	return s;
}

/* Returns the variance of counting one sample of the place, by its share in
 * both sides. exact: samples are of one place only, so that counting them has
 * the variance of a share. */
static struct runs_range runs_counting(const struct diff_place *p,
				       const struct diff_whole *w, bool loss,
				       bool exact)
{
	double count = 0;
	double may = 0;
	double size = 0;
	double lost = 0;
	struct runs_range r;
	double low, high;

	for (size_t i = 0; i < w->runs_a + w->runs_b; i++) {
		count += (double)p->run[i].n;
		may += loss ? (double)p->run[i].may : 0;
		size += runs_divisor(w, i);
		lost += runs_lost(w, i, loss);
	}
	r = runs_share(count, may, size, lost);
	if (!exact)
		return r;
	r.high = diff_smaller(r.high, 1);
	low = r.low * (1 - r.low);
	high = r.high * (1 - r.high);
	return (struct runs_range){ diff_smaller(low, high),
				    r.low < 0.5 && r.high > 0.5 ? 0.25
				    : low > high		? low
								: high };
}

/* Returns the variance of the mean of a side: of its runs or, if it has only
 * one, from the other side's; it is at least that of counting samples. */
static struct runs_range runs_variance(const struct runs_side *s,
				       const struct runs_side *other,
				       struct runs_range rate)
{
	const struct runs_side *of = s->n == 1 ? other : s;
	double low = of->spread > of->doubt ? of->spread - of->doubt : 0;
	double high = of->spread + of->doubt;
	struct runs_range v = { low * low, high * high };
	struct runs_range floor = { rate.low * s->counting.low,
				    rate.high * s->counting.high };

	if (s->n == 1) {
		v.low *= s->counting.low / other->counting.high;
		v.high *= s->counting.high / other->counting.low;
	}
	v.low = v.low > floor.low ? v.low : floor.low;
	v.high = v.high > floor.high ? v.high : floor.high;
	return v;
}

/* Returns Welch's degrees of freedom of two sides with these variances. */
static double runs_freedom(const struct runs_side s[2], double a, double b)
{
	double n[2] = { (double)s[0].n - 1, (double)s[1].n - 1 };

	if (s[0].n == 1 || s[1].n == 1)
		return n[0] + n[1];
	if (!(a + b > 0))
		return diff_smaller(n[0], n[1]);
	return (a + b) * (a + b) / (a * a / n[0] + b * b / n[1]);
}

struct runs_test runs_compare(const struct diff_place *p,
			      const struct diff_whole *w, bool loss, bool more,
			      bool nested)
{
	struct runs_range rate =
		runs_counting(p, w, loss, !nested && !w->absolute);
	struct runs_test out = { 0, 0 };
	struct runs_range v[2];
	struct runs_side s[2];
	double sum;

	for (int i = 0; i < 2; i++)
		s[i] = runs_side(p, w, i, loss);
	for (int i = 0; i < 2; i++)
		v[i] = runs_variance(&s[i], &s[!i], rate);
	sum = v[0].high + v[1].high;
	if (!(sum > 0))
		return out;
	out.t = (more ? s[1].mean.low - s[0].mean.high
		      : s[1].mean.high - s[0].mean.low) /
		sqrt(sum);
	/* the degrees rise and then fall with the ratio of the variances */
	out.df = diff_smaller(runs_freedom(s, v[0].high, v[1].low),
			      runs_freedom(s, v[0].low, v[1].high));
	return out;
}

double diff_runs_factor(const struct diff_place *p, const struct diff_whole *w)
{
	struct runs_side s[2];
	double v[2]; /* of the logarithm of a mean */

	for (int i = 0; i < 2; i++)
		s[i] = runs_side(p, w, i, false);
	if ((s[0].n == 1 && s[1].n == 1) || !(s[0].mean.low > 0) ||
	    !(s[1].mean.low > 0))
		return NAN;
	for (int i = 0; i < 2; i++)
		v[i] = runs_variance(&s[i], &s[!i], s[i].mean).high /
		       (s[i].mean.low * s[i].mean.low);
	return diff_factor(v[0] + v[1], runs_freedom(s, v[0], v[1]));
}

double runs_least(const struct diff_place *p, const struct diff_whole *w,
		  bool nested)
{
	double rate = runs_counting(p, w, false, !nested && !w->absolute).high;
	double count = (double)p->a + (double)p->b;
	double least = 1;
	double floor = 0;

	for (int i = 0; i < 2; i++)
		floor += rate * runs_side(p, w, i, false).counting.high;
	for (int i = 0; i < 2; i++) {
		size_t first = i ? w->runs_a : 0;
		size_t n = i ? w->runs_b : w->runs_a;
		double most = 0;

		for (size_t k = first; k < first + n; k++) {
			double share = count / runs_divisor(w, k);

			most = share > most ? share : most;
		}
		least = diff_smaller(
			least,
			diff_p_student(most / (double)n / sqrt(floor),
				       (double)(w->runs_a + w->runs_b) - 2));
	}
	return least;
}

void diff_spread(const struct diff_place *p, const struct diff_whole *w,
		 int side, double *mean, double *deviation)
{
	struct runs_side s = runs_side(p, w, side, false);

	*mean = s.mean.low;
	*deviation = s.n > 1 ? s.spread * sqrt((double)s.n) : NAN;
}
