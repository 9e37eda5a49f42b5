/* diff_runs.c - whether the means of a place in several runs of each side
 * differ; and how much more the samples of a row vary than by chance, in one
 * recording. */
#include "analyze/diffs/diff_runs.h"

#include <math.h>

#include "analyze/diffs/diff_chance.h"
#include "analyze/stacks/report_rows.h"
#include "stitch/base/mem.h"

/* The number of blocks, and of samples in each. */
#define BLOCKS_MIN 20
#define BLOCKS_MAX 400
#define BLOCK_SAMPLES 10
/* Noise that lasts for some blocks is found, too: one, two and four of them are
 * taken together, as long as enough are left. */
#define MERGED_MAX 4
/* Fewer samples prove nothing about blocks. */
#define SAMPLES_MIN 100

struct diff_noises {
	const struct report_rows *rows;
	size_t n_block;
	double *all;   /* samples of each block */
	double *own;   /* of one row, during a call */
	size_t *first; /* by group: its first in block[]; one more at the end */
	size_t n_group;
	uint16_t *block; /* of each sample, ordered by group */
	double n;	 /* samples */
	size_t *hit;	 /* by row: its first in hits[]; one more at the end */
	uint32_t *hits;	 /* groups << 1, | 1 for self, ordered by row */
};

void diff_noises_free(struct diff_noises *n)
{
	if (!n)
		return;
	free_all(n->all, n->own, n->first, n->block, n->hit, n->hits, n);
}

/* Reads sample i: its group and time. Returns whether it is counted. */
static bool noise_take(const struct diff_noises *n, const bool *counted,
		       const struct diff_times *t, size_t i, size_t *group,
		       int64_t *time)
{
	const struct packed_time x = packed_times_get(&t->at, i);

	*group = (size_t)x.event;
	*time = x.time;
	return *group < n->n_group && counted[*group];
}

size_t diff_noise_blocks(size_t n)
{
	n /= BLOCK_SAMPLES;
	raise_to(n, BLOCKS_MIN);
	return n < BLOCKS_MAX ? n : BLOCKS_MAX;
}

/* Puts the samples into blocks of time. Returns false if they are too few, or
 * all of one time. */
static bool noise_begin(struct diff_noises *n, const struct diff_times *t)
{
	/* groups whose samples are counted: those of some row */
	bool *counted OWNED = mem_new(n->n_group, sizeof(*counted));
	size_t rows = n->rows->n;
	int64_t from = INT64_MAX;
	int64_t to = INT64_MIN;
	size_t samples = 0;
	size_t group;
	int64_t time;

	for (size_t i = 0; i < n->hit[rows]; i++)
		counted[n->hits[i] >> 1] = true;
	for (size_t i = 0; i < t->at.n; i++) {
		if (!noise_take(n, counted, t, i, &group, &time))
			continue;
		samples++;
		lower_to(from, time);
		raise_to(to, time);
	}
	n->n = (double)samples;
	n->n_block = diff_noise_blocks(samples);
	n->all = mem_new(n->n_block, sizeof(*n->all));
	n->own = mem_new(n->n_block, sizeof(*n->own));
	n->first = mem_new(n->n_group + 1, sizeof(*n->first));
	if (samples < SAMPLES_MIN || from >= to)
		return false;

	/* cuts the time between the first and the last sample; rounding may
	 * put the last sample after the last block */
	double each = ((double)to - (double)from) / (double)n->n_block;

	/* by group: the place of its next sample */
	size_t *next OWNED = mem_new(n->n_group, sizeof(*next));

	for (size_t i = 0; i < t->at.n; i++)
		if (noise_take(n, counted, t, i, &group, &time))
			n->first[group + 1]++;
	for (size_t i = 0; i < n->n_group; i++) {
		n->first[i + 1] += n->first[i];
		next[i] = n->first[i];
	}
	n->block = mem_new(n->first[n->n_group], sizeof(*n->block));
	for (size_t i = 0; i < t->at.n; i++) {
		if (!noise_take(n, counted, t, i, &group, &time))
			continue; /* it may be before the first block */
		double at = ((double)time - (double)from) / each;
		size_t k =
			at < (double)n->n_block ? (size_t)at : n->n_block - 1;

		n->block[next[group]++] = (uint16_t)k;
		n->all[k]++;
	}
	return true;
}

struct diff_noises *diff_noises_new(const struct report_rows *rows,
				    const struct diff_times *t)
{
	if (t->untimed)
		return NULL;
	struct diff_noises *n = mem_new(1, sizeof(*n));
	n->rows = rows;
	/* the groups of all hits, sorted by row */
	const struct report_hit *h = n->rows->hit;
	size_t count = n->rows->n_hit, n_rows = n->rows->n;

	n->hit = mem_new(n_rows + 2, sizeof(*n->hit));
	n->hits = mem_new(count, sizeof(*n->hits));
	for (size_t i = 0; i < count; i++) {
		n->hit[h[i].row + 2]++;
		if (h[i].group >= n->n_group)
			n->n_group = (size_t)h[i].group + 1;
	}
	for (size_t i = 2; i < n_rows + 2; i++)
		n->hit[i] += n->hit[i - 1];
	for (size_t i = 0; i < count; i++)
		n->hits[n->hit[h[i].row + 1]++] = h[i].group << 1 | h[i].self;
	if (noise_begin(n, t))
		return n;
	diff_noises_free(n);
	return NULL;
}

/* Returns the variance of own[] next to its expected part `rest` of all[], with
 * `merged` blocks taken as one. *used: the number of blocks in which anything
 * ran, as nothing can vary elsewhere. */
static double noise_variance(const double *own, const double *all, size_t n,
			     double rest, size_t merged, size_t *used)
{
	double sum = 0;
	double last = 0;

	*used = 0;
	for (size_t i = 0; i < n; i += merged) {
		double d = 0;
		double whole = 0;

		for (size_t k = i; k < i + merged && k < n; k++) {
			d += own[k] - rest * all[k];
			whole += all[k];
		}
		if (!(whole > 0))
			continue;
		sum += *used ? (d - last) * (d - last) / 2 : 0;
		last = d;
		++*used;
	}
	return *used > 1 ? sum * (double)*used / (double)(*used - 1) : 0;
}

struct diff_noise diff_noise_in_blocks(const double *own, const double *all,
				       size_t n, double rest, double counting)
{
	struct diff_noise out = { 0, 0 };

	for (size_t merged = 1; counting > 0 && merged <= MERGED_MAX;
	     merged *= 2) {
		size_t used;
		double times =
			noise_variance(own, all, n, rest, merged, &used) /
			counting;

		if (used < BLOCKS_MIN / 2 ||
		    (merged > 1 && n / merged < BLOCKS_MIN))
			break;
		/* the variance of such a variance is that of two thirds as many
		 * independent ones */
		if (times > out.times)
			out = (struct diff_noise){ times,
						   (double)(used - 1) * 2 / 3 };
	}
	return out;
}

struct diff_noise diff_noise_of(struct diff_noises *n, size_t row, bool total,
				bool absolute)
{
	/* counts a row's samples in each block, and all of them */
	double count = 0;

	memset(n->own, 0, n->n_block * sizeof(*n->own));
	for (size_t i = n->hit[row]; i < n->hit[row + 1]; i++) {
		uint32_t group = n->hits[i] >> 1;

		if ((n->hits[i] & 1) == total)
			continue;
		for (size_t k = n->first[group]; k < n->first[group + 1]; k++)
			n->own[n->block[k]]++;
		count += (double)(n->first[group + 1] - n->first[group]);
	}
	double share = count / n->n;

	return diff_noise_in_blocks(n->own, n->all, n->n_block,
				    absolute ? 0 : share,
				    absolute ? count : count * (1 - share));
}

/* How much places usually vary is looked for from a 64th of themselves up to
 * all, and as known from one to 64 more runs: the fewest that are likely, by
 * less than 2 in the logarithm. */
#define USUAL_LEAST (1.0 / 64)
#define USUAL_MOST 64
#define USUAL_LIKELY 2

/* The range of a number, as samples were lost; without loss both are equal. */
struct runs_range {
	double low, high;
};

/* One side of a place. */
struct runs_side {
	size_t n;
	struct runs_range mean; /* of the numbers of its runs */
	/* The standard deviation of that mean differs by at most `doubt` from
	 * `spread`: spread is that of the middles of all ranges, doubt the
	 * length of the vector of the distances from there. */
	double spread, doubt;
	/* the variance that counting samples gives the mean of a rate of 1 */
	struct runs_range counting;
};

/* Returns the share of n samples and of those of `may` that belong to them. All
 * lost records are samples, or none is. */
static struct runs_range runs_share(double n, double may, double size,
				    double lost)
{
	double all = (n + may) / (size + lost);
	double none = (n + (may > lost ? may - lost : 0)) / size;

	return (struct runs_range){ n / (size + lost),
				    all > none ? all : none };
}

/* Returns the divisor of a place's samples in a run: all samples of the run,
 * for a share, or the inverse of their unit, for a weight. */
static double runs_divisor(const struct diff_whole *w, size_t i)
{
	const struct diff_run *run = &w->run[i];

	/* a run in which all places have changed has no samples left */
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

/* Sums up one side. loss: with lost samples; all: with runs in other tiers. */
static struct runs_side runs_side(const struct diff_place *p,
				  const struct diff_whole *w, int side,
				  bool loss, bool all)
{
	struct runs_side s = { .n = 0 };
	size_t first = side ? w->runs_a : 0;
	size_t end = w->runs_a + (side ? w->runs_b : 0);

	for (size_t i = first; i < end; i++)
		s.n += !p->run[i].other;
	all |= s.n < 2;
	s.n = all ? end - first : s.n;
	double n = (double)s.n;
	for (size_t i = first; i < end; i++) {
		struct runs_range r = runs_count(p, w, i, loss);
		double size = runs_divisor(w, i);

		if (!all && p->run[i].other)
			continue;
		s.mean.low += r.low / n;
		s.mean.high += r.high / n;
		s.counting.low += 1 / (size + runs_lost(w, i, loss)) / (n * n);
		s.counting.high += 1 / size / (n * n);
	}
	for (size_t i = first; s.n > 1 && i < end; i++) {
		struct runs_range r = runs_count(p, w, i, loss);
		double d = (r.low + r.high - s.mean.low - s.mean.high) / 2;
		double half = (r.high - r.low) / 2;

		if (!all && p->run[i].other)
			continue;
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

	for (size_t i = 0; i < w->runs_a + w->runs_b; i++) {
		count += (double)p->run[i].n;
		may += loss ? (double)p->run[i].may : 0;
		size += runs_divisor(w, i);
		lost += runs_lost(w, i, loss);
	}
	struct runs_range r = runs_share(count, may, size, lost);
	if (!exact)
		return r;
	r.high = diff_smaller(r.high, 1);
	double low = r.low * (1 - r.low);
	double high = r.high * (1 - r.high);
	return (struct runs_range){ diff_smaller(low, high),
				    r.low < 0.5 && r.high > 0.5 ? 0.25
				    : low > high		? low
								: high };
}

/* Returns the usual variance of the mean of a side: that of counting, and that
 * of a share that varies by `times` of itself and of the rest. */
static double runs_expected(const struct runs_side *s, double rate,
			    double times, double mean, bool nested)
{
	double rest = nested ? 1 : 1 - diff_smaller(mean, 1);

	return rate * s->counting.high +
	       times * times * mean * mean * rest * rest / (double)s->n;
}

/* Returns the variance of the mean of a side: of its runs or, if it has only
 * one, from the other side's; it is at least that of counting samples. */
static struct runs_range runs_variance(const struct runs_side *s,
				       const struct runs_side *other,
				       struct runs_range rate,
				       const struct runs_usual *usual,
				       bool nested)
{
	const struct runs_side *of = s->n == 1 ? other : s;
	double low = of->spread > of->doubt ? of->spread - of->doubt : 0;
	double high = of->spread + of->doubt;
	struct runs_range v = { low * low, high * high };
	struct runs_range floor = { rate.low * s->counting.low,
				    rate.high * s->counting.high };

	if (usual->df > 0) {
		double df = (double)of->n - 1;
		double more =
			usual->df * runs_expected(of, rate.high, usual->times,
						  diff_larger(s->mean.high,
							      other->mean.high),
						  nested);

		v.low = (df * v.low + more) / (df + usual->df);
		v.high = (df * v.high + more) / (df + usual->df);
	}
	if (s->n == 1) {
		v.low *= s->counting.low / other->counting.high;
		v.high *= s->counting.high / other->counting.low;
	}
	v.low = v.low > floor.low ? v.low : floor.low;
	v.high = v.high > floor.high ? v.high : floor.high;
	return v;
}

/* Used if it is not known what is usual. */
static const struct runs_usual usual_unknown[2];

/* Returns Welch's degrees of freedom of two sides with these variances. */
static double runs_freedom(const struct runs_side s[2],
			   const struct runs_usual usual[2], double a, double b)
{
	double n[2] = { (double)s[0].n - 1 + usual[0].df,
			(double)s[1].n - 1 + usual[1].df };

	return diff_freedom(n, s[0].n == 1 || s[1].n == 1, a, b);
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
	const struct runs_usual *usual = p->usual ? p->usual : usual_unknown;

	for (int i = 0; i < 2; i++)
		s[i] = runs_side(p, w, i, loss, false);
	for (int i = 0; i < 2; i++)
		v[i] = runs_variance(&s[i], &s[!i], rate,
				     &usual[s[i].n == 1 ? !i : i], nested);
	double sum = v[0].high + v[1].high;
	if (!(sum > 0))
		return out;
	out.t = (more ? s[1].mean.low - s[0].mean.high
		      : s[1].mean.high - s[0].mean.low) /
		sqrt(sum);
	/* the degrees rise and then fall with the ratio of the variances */
	out.df = diff_smaller(runs_freedom(s, usual, v[0].high, v[1].low),
			      runs_freedom(s, usual, v[0].low, v[1].high));
	return out;
}

double diff_runs_factor(const struct diff_place *p, const struct diff_whole *w)
{
	const struct runs_usual *usual = p->usual ? p->usual : usual_unknown;
	struct runs_side s[2];
	double v[2]; /* of the logarithm of each mean */

	for (int i = 0; i < 2; i++)
		s[i] = runs_side(p, w, i, false, false);
	if ((s[0].n == 1 && s[1].n == 1) || !(s[0].mean.low > 0) ||
	    !(s[1].mean.low > 0))
		return NAN;
	for (int i = 0; i < 2; i++)
		v[i] = runs_variance(&s[i], &s[!i], s[i].mean,
				     &usual[s[i].n == 1 ? !i : i], true)
			       .high /
		       (s[i].mean.low * s[i].mean.low);
	return diff_factor(v[0] + v[1], runs_freedom(s, usual, v[0], v[1]));
}

struct runs_varied runs_vary(const struct diff_place *p,
			     const struct diff_whole *w, int side)
{
	struct runs_side s = runs_side(p, w, side, false, false);
	struct runs_range rate = runs_counting(p, w, false, true);

	return (struct runs_varied){
		s.spread * s.spread, runs_expected(&s, rate.high, 0, 0, false),
		runs_expected(&s, 0, 1, s.mean.high, false)
	};
}

/* Returns the logarithm of the likelihood of n variances, each seen with `runs`
 * degrees of freedom, if the true ones are the usual one times `df` divided by
 * chi squared with `df` degrees of freedom. */
static double runs_likely(const struct runs_varied *v, size_t n, double runs,
			  double times, double df)
{
	int sign;
	double sum = (double)n * (lgamma_r((runs + df) / 2, &sign) -
				  lgamma_r(df / 2, &sign) - runs / 2 * log(df));

	for (size_t i = 0; i < n; i++) {
		double usual = v[i].counting + times * times * v[i].of_share;

		sum -= runs / 2 * log(usual) +
		       (runs + df) / 2 *
			       log1p(runs * v[i].variance / (df * usual));
	}
	return sum;
}

struct runs_usual runs_usual_of(const struct runs_varied *v, size_t n,
				size_t runs)
{
	struct runs_usual out = { 0, 0 };
	double most = -INFINITY;

	if (runs < 2)
		return out;
	/* down to fewer runs, as long as these are likely, too */
	for (double df = USUAL_MOST; df > 0.9; df /= M_SQRT2) {
		double best = -INFINITY;

		for (double times = 0; times <= 1;
		     times = times > 0 ? times * M_SQRT2 : USUAL_LEAST) {
			double likely =
				runs_likely(v, n, (double)runs - 1, times, df);

			if (likely <= best)
				continue;
			best = likely;
			if (best > most - USUAL_LIKELY)
				out = (struct runs_usual){ times, df };
		}
		most = diff_larger(most, best);
	}
	return out.df > 1.2 ? out : (struct runs_usual){ 0, 0 };
}

double runs_least(const struct diff_place *p, const struct diff_whole *w)
{
	double rate = runs_counting(p, w, false, !w->absolute).high;
	double count = (double)p->a + (double)p->b;
	double least = 1;
	double floor = 0;

	for (int i = 0; i < 2; i++)
		floor += rate * runs_side(p, w, i, false, false).counting.high;
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
				       (double)(w->runs_a + w->runs_b) - 2 +
					       (p->usual
							? p->usual[0].df +
								  p->usual[1].df
							: 0)));
	}
	return least;
}

void diff_spread(const struct diff_place *p, const struct diff_whole *w,
		 int side, double *mean, double *deviation)
{
	struct runs_side s = runs_side(p, w, side, false, true);

	*mean = s.mean.low;
	*deviation = s.n > 1 ? s.spread * sqrt((double)s.n) : NAN;
}
