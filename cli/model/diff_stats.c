/* diff_stats.c - which counts of samples differ by more than chance and loss.
 *
 * First one test: the z-score of a place says how clear its change is, which
 * orders the places, and its p-value, with what may have been lost, whether it
 * passes. Then all of them: how many tests there are, and in which order, with
 * which totals, they are made. */
#include "cli/model/diff_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/diff_chance.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/search.h"

/* Below this z-score the exact test never passes, so it is not computed. */
#define Z_MIN 2.0
/* Of changes with z-scores within this factor, the largest in numbers goes
 * first. */
#define Z_TIE 0.9
/* Degrees of freedom of a variance that is known. */
#define DF_KNOWN 10000.0
/* A round ends when 1/ROUND of the total has been taken out. */
#define ROUND 50

/* Returns the probability that an event of either recording is in b. */
static double chance_of(const struct diff_whole *w)
{
	double a = (double)w->a;
	double b = (double)w->b;

	if (w->absolute) {
		/* a larger weight for each sample means fewer expected samples
		 */
		a = w->unit_b;
		b = w->unit_a;
	}
	return a + b > 0 ? b / (a + b) : 0;
}

/* Returns the distance of the counts from those expected, in standard
 * deviations; > 0 if b has more. */
static double z_rates(double a, double b, double chance)
{
	double n = a + b;

	return n > 0 ? (b - n * chance) / sqrt(n * chance * (1 - chance)) : 0;
}

void diff_place_add_up(struct diff_place *p, const struct diff_count *run,
		       size_t n, size_t runs_a)
{
	p->run = n > 2 ? run : NULL;
	for (size_t i = 0; i < n; i++) {
		uint64_t *count = i < runs_a ? &p->a : &p->b;
		uint64_t *may = i < runs_a ? &p->may_a : &p->may_b;

		*count = saturating_add(*count, run[i].n);
		*may = saturating_add(*may, run[i].may);
	}
}

/* ---- one test */

/* What blocks of time add to the variance of a place: by how much a distance in
 * standard deviations shrinks, and with how many degrees of freedom that is
 * known; 0: with all. */
struct noise_test {
	double shrink, df;
};

/* Both sides are taken to vary as the one that varies more does: without a
 * change they are of the same program. */
static struct diff_noise noise_of(const struct diff_place *p)
{
	const struct diff_noise *most =
		&p->noise[p->noise[1].times > p->noise[0].times];

	return most->times > 1 ? *most : (struct diff_noise){ 1, 0 };
}

/* Adds what the cost of a place varies from run to run to its noise, by Welch's
 * degrees of freedom. A place that is nearly all has little that it can vary
 * beside. */
static struct noise_test noise_between(const struct diff_place *p,
				       const struct diff_whole *w, bool beside,
				       struct diff_noise own)
{
	double count = (double)p->a + (double)p->b;
	double whole = (double)w->a + (double)w->b;
	double rest = w->absolute ? 1 : 1 - diff_smaller(1, count / whole);
	double chance = chance_of(w);
	double times = own.times + 2 * w->between * w->between * count *
					   chance * (1 - chance) * rest *
					   (beside ? rest : 1);

	if (!(times > 1))
		return (struct noise_test){ 1, 0 };
	if (!(own.times > 1) || !(own.df > 0))
		return (struct noise_test){ 1 / sqrt(times), DF_KNOWN };
	return (struct noise_test){
		1 / sqrt(times),
		diff_smaller(DF_KNOWN,
			     own.df * times * times / own.times / own.times)
	};
}

/* The share of a place varies with its own samples and those of the others.
 * beside: the place is compared with totals that may not contain it. */
static struct noise_test noise_in(const struct diff_place *p,
				  const struct diff_whole *w, bool beside)
{
	struct diff_noise own = noise_of(p);
	double count = (double)p->a + (double)p->b;
	double rest = (double)w->a + (double)w->b - count;
	double times = own.times;

	if (!w->absolute && !beside && rest > 0 && w->noisy > 0)
		times = (rest * own.times +
			 count * (w->noisy - count * own.times) / rest) /
			(rest + count);
	if (w->run)
		return (struct noise_test){ 1, 0 };
	return noise_between(
		p, w, beside,
		(struct diff_noise){ times > 1 ? times : 1,
				     own.df > 0 ? own.df : w->df });
}

static double diff_z_of(const struct diff_place *p, const struct diff_whole *w)
{
	double shrink = noise_in(p, w, false).shrink;
	double a = (double)p->a, whole_a = (double)w->a;
	double b = (double)p->b, whole_b = (double)w->b;
	double share, spread;

	if (w->run)
		return runs_compare(p, w, false, false, false).t;
	if (w->absolute)
		return shrink * z_rates(a, b, chance_of(w));
	if (!(whole_a > 0 && whole_b > 0))
		return 0;
	share = (a + b) / (whole_a + whole_b);
	spread = sqrt(share * (1 - share) * (1 / whole_a + 1 / whole_b));
	return spread > 0 ? shrink * (b / whole_b - a / whole_a) / spread : 0;
}

/* The same for a place that may contain others. */
static double diff_z_nested(const struct diff_place *p,
			    const struct diff_whole *w)
{
	if (w->run)
		return runs_compare(p, w, false, false, true).t;
	return noise_in(p, w, true).shrink *
	       z_rates((double)p->a, (double)p->b, chance_of(w));
}

/* Returns the p-value of a change in that direction in the worst case of loss:
 * all samples that may belong here do on the side with less, and none on the
 * other side; of several runs, they make the runs of a side differ most, too.
 * Returns 1 if that reverses the change. */
static double diff_p_of(const struct diff_place *place,
			const struct diff_whole *w, bool more, bool nested)
{
	struct diff_place p = *place;
	struct diff_whole even = *w;
	double z, exact, df;

	if (w->run) {
		struct runs_test t = runs_compare(place, w, true, more, nested);

		return (more ? t.t > 0 : t.t < 0) ? diff_p_student(t.t, t.df)
						  : 1;
	}
	if (more)
		p.a = saturating_add(p.a, p.may_a);
	else
		p.b = saturating_add(p.b, p.may_b);
	even.a = saturating_add(even.a, w->lost_a);
	even.b = saturating_add(even.b, w->lost_b);
	z = nested ? diff_z_nested(&p, &even) : diff_z_of(&p, &even);
	if (more ? !(z > 0) : !(z < 0))
		return 1;
	exact = w->absolute || nested ? diff_p_rates(p.a, p.b, chance_of(&even))
				      : diff_p_shares(p.a, even.a, p.b, even.b);
	df = noise_in(&p, &even, nested).df;
	return df > 0 ? diff_larger(exact, diff_p_student(z, df)) : exact;
}

/* Returns the smallest p-value that the samples of a place can have. */
static double p_least(const struct diff_place *p, const struct diff_whole *w,
		      bool nested)
{
	uint64_t n = p->a + p->b;

	if (w->run)
		return runs_least(p, w, nested);
	if (w->absolute || nested) {
		double c = chance_of(w);

		return diff_smaller(1, 2 * diff_smaller(pow(c, (double)n),
							pow(1 - c, (double)n)));
	}

	uint64_t in_a = n < w->a ? n : w->a;
	uint64_t in_b = n < w->b ? n : w->b;

	return diff_smaller(diff_p_shares(in_a, w->a, n - in_a, w->b),
			    diff_p_shares(n - in_b, w->a, in_b, w->b));
}

static int compare_double(const void *pa, const void *pb)
{
	double a = *(const double *)pa;
	double b = *(const double *)pb;

	return compare_numbers(a, b);
}

/* Tarone's method: returns the number of tests that can pass at the limit for
 * that number of tests, and marks in out[] the places that cannot. */
static size_t count_tests(const struct diff_place *p, size_t n,
			  const struct diff_whole *w, bool nested, bool *out)
{
	double *least = mem_new(n ? n : 1, sizeof(*least));
	double *sorted = mem_new(n ? n : 1, sizeof(*sorted));
	size_t used = 0;
	size_t k = 1;

	for (size_t i = 0; i < n; i++) {
		least[i] = p[i].skip || p[i].only || !(p[i].a + p[i].b)
				   ? 2
				   : p_least(&p[i], w, nested);
		if (least[i] < 2)
			sorted[used++] = least[i];
	}
	qsort(sorted, used, sizeof(*sorted), compare_double);
	/* sorted[k] would be the (k + 1)th that can pass */
	while (k < used && sorted[k] <= DIFF_ALPHA / (double)k)
		k++;
	for (size_t i = 0; i < n; i++)
		out[i] = least[i] > DIFF_ALPHA / (double)k;
	free(sorted);
	free(least);
	return k;
}

struct ranked {
	double z; /* or -p */
	size_t at;
};

static int compare_clear(const void *pa, const void *pb)
{
	const struct ranked *a = pa;
	const struct ranked *b = pb;

	return compare_numbers(b->z, a->z) ?: compare_numbers(a->at, b->at);
}

/* Lists the places with a large z-score, clearest first, except that of about
 * equal ones the one with the largest change in numbers comes first. */
static size_t rank_clear(const struct diff_place *p, size_t n, const bool *done,
			 const struct diff_whole *w, struct ranked *rank)
{
	struct diff_whole as_is = *w;
	double numbers = -1;
	size_t best = 0;
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		double z = done[i] ? 0 : fabs(diff_z_of(&p[i], w));

		if (z > Z_MIN)
			rank[used++] = (struct ranked){ z, i };
	}
	qsort(rank, used, sizeof(*rank), compare_clear);
	/* by how much the absolute numbers changed: of two shares, one may have
	 * changed only because the other did */
	as_is.absolute = true;
	for (size_t i = 0; i < used && rank[i].z >= rank[0].z * Z_TIE; i++) {
		double z = fabs(diff_z_of(&p[rank[i].at], &as_is));

		if (z > numbers) {
			numbers = z;
			best = i;
		}
	}
	if (used) {
		struct ranked first = rank[best];

		memmove(rank + 1, rank, best * sizeof(*rank));
		rank[0] = first;
	}
	return used;
}

/* Takes a place out of the totals. */
static void diff_take_out(const struct diff_place *p, struct diff_whole *left)
{
	left->a -= p->a;
	left->b -= p->b;
	left->noisy -= noise_of(p).times * ((double)p->a + (double)p->b);
	for (size_t k = 0; left->run && k < left->runs_a + left->runs_b; k++)
		left->run[k].n -= p->run[k].n;
}

void diff_judge(struct diff_place *p, size_t n, const struct diff_whole *w,
		struct diff_whole *left)
{
	bool *done = mem_new(n ? n : 1, sizeof(*done));
	struct ranked *rank = mem_new(n ? n : 1, sizeof(*rank));
	size_t passed = 0;
	size_t tests, used;

	*left = *w;
	/* the noise of all places */
	left->noisy = left->df = 0;
	for (size_t i = 0; i < n; i++) {
		struct diff_noise own = noise_of(&p[i]);

		left->noisy += own.times * ((double)p[i].a + (double)p[i].b);
		if (own.df > 0 && (!(left->df > 0) || own.df < left->df))
			left->df = own.df;
	}
	if (w->run)
		left->run = mem_dup(w->run,
				    (w->runs_a + w->runs_b) * sizeof(*w->run));
	for (size_t i = 0; i < n; i++)
		if (p[i].apart || p[i].only)
			diff_take_out(&p[i], left);
	tests = count_tests(p, n, left, false, done);
	for (size_t i = 0; i < n; i++) {
		p[i].change = p[i].only;
		p[i].p = 1;
	}
	/* Rounds in which all places are judged once, until so much is taken
	 * out of the totals that the rest must be judged again: large changes
	 * one by one, small ones together. */
	while (passed < tests && (used = rank_clear(p, n, done, left, rank))) {
		const struct diff_whole before = *left;

		for (size_t i = 0; i < used && passed < tests; i++) {
			struct diff_place *at = &p[rank[i].at];
			double z = diff_z_of(at, left);

			if (before.a - left->a > before.a / ROUND ||
			    before.b - left->b > before.b / ROUND)
				break;
			if (fabs(z) <= Z_MIN)
				continue;
			done[rank[i].at] = true;
			at->p = diff_smaller(1,
					     diff_p_of(at, left, z > 0, false) *
						     (double)(tests - passed));
			if (at->p > DIFF_ALPHA)
				continue;
			at->change = z > 0 ? 1 : -1;
			passed++;
			diff_take_out(at, left);
		}
	}
	free(rank);
	free(done);
}

double diff_scale(const struct diff_whole *left)
{
	if (left->absolute || !left->a)
		return left->run ? (double)left->runs_b / (double)left->runs_a
				 : 1;
	return (double)left->b * left->unit_b /
	       ((double)left->a * left->unit_a);
}

/* Holm's method: one walk over the places sorted by p-value. */
void diff_judge_nested(struct diff_place *p, size_t n,
		       const struct diff_whole *left)
{
	/* without what is out of them */
	struct diff_place *own = mem_new(n ? n : 1, sizeof(*own));
	bool *out = mem_new(n ? n : 1, sizeof(*out));
	struct ranked *rank = mem_new(n ? n : 1, sizeof(*rank));
	double least = 0;
	size_t used = 0;
	size_t tests;

	for (size_t i = 0; i < n; i++) {
		own[i] = p[i];
		own[i].a -= p[i].out_a;
		own[i].b -= p[i].out_b;
	}
	tests = count_tests(own, n, left, true, out);
	for (size_t i = 0; i < n; i++) {
		double z = diff_z_nested(&own[i], left);

		p[i].change = p[i].only;
		p[i].p = 1;
		if (out[i] || fabs(z) < Z_MIN)
			continue;
		p[i].p = diff_p_of(&own[i], left, z > 0, true);
		rank[used++] = (struct ranked){ -p[i].p, i };
	}
	qsort(rank, used, sizeof(*rank), compare_clear);
	for (size_t i = 0; i < used; i++) {
		struct diff_place *at = &p[rank[i].at];
		double times = (double)(tests - i); /* used <= tests */

		/* no less than those before */
		least = diff_larger(least, diff_smaller(1, at->p * times));
		at->p = least;
		if (least > DIFF_ALPHA)
			continue;
		at->change = diff_z_nested(&own[rank[i].at], left) > 0 ? 1 : -1;
	}
	free(rank);
	free(out);
	free(own);
}
