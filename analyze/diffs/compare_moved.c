/* compare_moved.c - whether a run of one side takes more than one of the other,
 * by weights. */
#include "analyze/diffs/compare.h"

#include <math.h>

#include "analyze/diffs/diff_chance.h"
#include "stitch/base/mem.h"

/* Runs whose weights differ by so many standard deviations differ. */
#define MOVED_Z 2.0
#define MOVED_P 0.05

/* The mean weight of the runs of a side, and the variance of that mean by its
 * runs. */
static double moved_mean(const struct compare *c, int side, double *variance)
{
	double n = (double)c->d->side[side].runs;
	double mean = (double)c->d->side[side].weight / n;
	double sum = 0;

	for (size_t i = 0; i < c->n; i++) {
		double off = (double)c->rows[i].rows->weight - mean;

		sum += compare_side(c, i) == side ? off * off : 0;
	}
	*variance = n > 1 ? sum / (n - 1) / n : NAN;
	return mean;
}

/* Returns whether the sides differ by more than what counting and other runs
 * make likely. */
static bool moved_apart(const struct compare *c, double a, double b)
{
	return fabs(b - a) / a >
	       MOVED_Z * sqrt(2 * DIFF_BETWEEN * DIFF_BETWEEN +
			      1 / (double)c->d->side[0].samples +
			      1 / (double)c->d->side[1].samples);
}

/* A side with one run is taken to vary as the other one does. */
static void moved_take_variance(const struct compare *c, double *va, double *vb)
{
	double n[2] = { (double)c->d->side[0].runs,
			(double)c->d->side[1].runs };

	if (isnan(*va))
		*va = *vb * n[1] / n[0];
	if (isnan(*vb))
		*vb = *va * n[0] / n[1];
}

static double moved_freedom(const struct compare *c, double va, double vb)
{
	double df[2] = { (double)c->d->side[0].runs - 1,
			 (double)c->d->side[1].runs - 1 };

	return diff_freedom(df, !(df[0] > 0) || !(df[1] > 0), va, vb);
}

/* Returns whether the runs of both sides differ: by Welch's t, where a side has
 * several. */
static bool moved_is(const struct compare *c, double a, double b, double va,
		     double vb)
{
	if (c->n == 2)
		return moved_apart(c, a, b);
	return va + vb > 0 ? diff_p_student((b - a) / sqrt(va + vb),
					    moved_freedom(c, va, vb)) < MOVED_P
			   : a != b;
}

const struct diff_rows *compare_cause(const struct compare *c)
{
	const struct diff_rows *other = c->by[!c->d->absolute];

	return c->d->cause.row != REPORT_NONE		  ? c->d
	       : other && other->cause.row != REPORT_NONE ? other
							  : NULL;
}

bool compare_is_cpu(const struct compare *c)
{
	const char *event = compare_event(c);

	return !strcmp(c->unit, "ns") && event &&
	       (!strncmp(event, "cpu-clock", strlen("cpu-clock")) ||
		!strncmp(event, "task-clock", strlen("task-clock")));
}

int64_t compare_wall(const struct compare *c, int side)
{
	int64_t sum = 0, n = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (compare_side(c, i) != side)
			continue;
		if (!c->run[i].took ||
		    __builtin_add_overflow(sum, c->run[i].took, &sum))
			return 0;
		n++;
	}
	return n ? sum / n : 0;
}

bool compare_has_none(const struct compare *c)
{
	for (int i = 0; i < 4; i++) {
		const struct diff_rows *d = c->by[i / 2];

		if (!d)
			continue;
		struct diff_counts n = diff_rows_changed(d, i % 2);

		if (n.more || n.less)
			return false;
	}
	return true;
}

void compare_find_moved(const struct compare *c, struct compare_moved *m)
{
	double va, vb;
	double a = m->mean[0] = moved_mean(c, 0, &va);
	double b = m->mean[1] = moved_mean(c, 1, &vb);

	moved_take_variance(c, &va, &vb);
	m->proved = moved_is(c, a, b, va, vb);
	/* means that lie apart, of runs that do too, are not about the same */
	m->apart = m->proved || moved_apart(c, a, b);
	m->factor = NAN;
	if (c->n == 2 || !(a > 0) || !(b > 0))
		return;
	/* equal runs do not make it exact: counting remains */
	va = diff_larger(va / a / a, 1 / (double)c->d->side[0].samples);
	vb = diff_larger(vb / b / b, 1 / (double)c->d->side[1].samples);
	m->factor = diff_factor(va + vb, moved_freedom(c, va, vb));
}
