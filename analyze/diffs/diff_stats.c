/* diff_stats.c - which counts of samples differ by more than chance and loss.
 *
 * First one test: the z-score of a place shows in which direction it changed,
 * and its p-value, with possible losses, whether it passes. Then the reference,
 * and all tests together. */
#include "analyze/diffs/diff_stats.h"

#include <math.h>

#include "analyze/diffs/diff_chance.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/search.h"

/* Below this z-score the exact test never passes, so it is not computed. */
#define Z_MIN 2.0
/* A place with a larger z-score has no part in choosing the reference, and one
 * above the second limit is not in it. */
#define Z_AGREES 4.0
#define Z_REFERENCE 2.5
/* How many places propose a ratio, and how often it is refined. */
#define PROPOSALS 64
#define REFINEMENTS 4
/* Weights that are as before speak for a ratio: by which part of it they may
 * differ, and how much they count. */
#define AS_BEFORE 0.08
#define AS_BEFORE_COUNTS 0.5
/* Places with fewer samples do not show whether the reference agrees. */
#define TELLING 10
/* A reference of fewer samples, or of a smaller part of a side, is no measure
 * for the rest: two samples next to one would make all of it grow by half. */
#define REFERENCE_LEAST 25
#define REFERENCE_PART 0.01
/* Degrees of freedom of a variance that is known. */
#define DF_KNOWN 10000.0

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

/* How much blocks of time add to the variance of a place: a distance in
 * standard deviations is multiplied by `shrink`, which is known with `df`
 * degrees of freedom; 0: exactly. */
struct noise_test {
	double shrink, df;
};

/* Returns the noise of the side that varies more, for both: without a change
 * they are of the same program. */
static struct diff_noise noise_of(const struct diff_place *p)
{
	const struct diff_noise *most =
		&p->noise[p->noise[1].times > p->noise[0].times];

	return most->times > 1 ? *most : (struct diff_noise){ 1, 0 };
}

/* Adds to a place's noise how its cost varies from run to run, by Welch's
 * degrees of freedom. A place with nearly all samples has little left against
 * which it can vary. */
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

/* Returns how much a place varies: its share does so with its own samples and
 * those of the others. beside: the place is compared with totals that may not
 * contain it. */
static struct noise_test noise_in(const struct diff_place *p,
				  const struct diff_whole *w, bool beside)
{
	struct diff_noise own = noise_of(p);
	double count = (double)p->a + (double)p->b;
	double rest = (double)w->a + (double)w->b - count;
	double times = own.times;

	if (!w->absolute && !beside && rest > 0 && w->noisy > 0)
		times = (rest * own.times +
			 count *
				 diff_larger(rest,
					     w->noisy - count * own.times) /
				 rest) /
			(rest + count);
	if (w->run)
		return (struct noise_test){ 1, 0 };
	return noise_between(
		p, w, beside,
		(struct diff_noise){ times > 1 ? times : 1,
				     own.df > 0 ? own.df : w->df });
}

/* Returns how far the sides of a place differ, in standard deviations. */
static double diff_z_of(const struct diff_place *p, const struct diff_whole *w)
{
	double shrink = noise_in(p, w, false).shrink;
	double a = (double)p->a, whole_a = (double)w->a;
	double b = (double)p->b, whole_b = (double)w->b;

	if (w->run)
		return runs_compare(p, w, false, false, false).t;
	if (w->absolute)
		return shrink * z_rates(a, b, chance_of(w));
	if (!(whole_a > 0 && whole_b > 0))
		return 0;
	double share = (a + b) / (whole_a + whole_b);
	double spread = sqrt(share * (1 - share) * (1 / whole_a + 1 / whole_b));
	return spread > 0 ? shrink * (b / whole_b - a / whole_a) / spread : 0;
}

/* Returns the p-value of a change in that direction in the worst case of loss:
 * all samples that may belong here do on the side with less, and none on the
 * other side; with several runs, they also make the runs of a side differ most.
 * Returns 1 if that reverses the change. */
static double diff_p_of(const struct diff_place *place,
			const struct diff_whole *w, bool more)
{
	struct diff_place p = *place;
	struct diff_whole even = *w;

	if (w->run) {
		struct runs_test t = runs_compare(place, w, true, more, false);

		return (more ? t.t > 0 : t.t < 0) ? diff_p_student(t.t, t.df)
						  : 1;
	}
	if (more)
		p.a = saturating_add(p.a, p.may_a);
	else
		p.b = saturating_add(p.b, p.may_b);
	even.a = saturating_add(even.a, w->part && more ? p.may_a : w->lost_a);
	even.b = saturating_add(even.b, w->part && !more ? p.may_b : w->lost_b);
	double z = diff_z_of(&p, &even);
	if (more ? !(z > 0) : !(z < 0))
		return 1;
	double exact = w->absolute ? diff_p_rates(p.a, p.b, chance_of(&even))
				   : diff_p_shares(p.a, even.a, p.b, even.b);
	double df = noise_in(&p, &even, false).df;
	return df > 0 ? diff_larger(exact, diff_p_student(z, df)) : exact;
}

/* Returns the smallest p-value that a place with so many samples can have. */
static double p_least(const struct diff_place *p, const struct diff_whole *w)
{
	uint64_t n = p->a + p->b;

	if (w->run)
		return runs_least(p, w);
	if (w->absolute) {
		double c = chance_of(w);

		return diff_smaller(1, 2 * diff_smaller(pow(c, (double)n),
							pow(1 - c, (double)n)));
	}

	uint64_t in_a = n < w->a ? n : w->a;
	uint64_t in_b = n < w->b ? n : w->b;

	return diff_smaller(diff_p_shares(in_a, w->a, n - in_a, w->b),
			    diff_p_shares(n - in_b, w->a, in_b, w->b));
}

/* The places of self, then those of total without samples that must not be
 * compared, and the total that they are compared with. */
struct family {
	struct diff_place *own;
	size_t n;
	struct diff_whole *with;
	struct diff_run *room; /* the runs of family_whole() */
	size_t families;
	bool suspect; /* which places are judged: by diff_place.suspect */
	struct runs_usual usual[2][2]; /* of self and of total, by side */
};

/* Returns how many samples of a run are in a place. With one run a side, A is
 * run 0, B run 1. */
static uint64_t place_samples(const struct diff_place *p, size_t run)
{
	return p->run ? p->run[run].n : run ? p->b : p->a;
}

/* Adds the samples of a place to a total, by run and in all; sign < 0: takes
 * them off. kept: only those that count for the reference. */
static void whole_add(struct diff_whole *w, const struct diff_place *p,
		      bool kept, int sign)
{
	size_t runs = w->run ? w->runs_a + w->runs_b : 2;

	for (size_t i = 0; i < runs; i++) {
		uint64_t n = kept ? (place_samples(p, i) -
				     (p->under ? p->under[i].n : 0))
				  : place_samples(p, i);
		uint64_t *sum = i < (w->run ? w->runs_a : 1) ? &w->a : &w->b;

		*sum += sign > 0 ? n : -n;
		if (w->run)
			w->run[i].n += sign > 0 ? n : -n;
	}
}

/* Returns the total that the i-th place of a family is compared with, and of
 * which it is a part. */
static struct diff_whole family_whole(const struct family *f, size_t i)
{
	struct diff_whole w = *f->with;
	const struct diff_place *p = &f->own[i];

	if (!w.part)
		return w;
	if (w.run) {
		memcpy(f->room, w.run, (w.runs_a + w.runs_b) * sizeof(*w.run));
		w.run = f->room;
	}
	if (p->kept)
		whole_add(&w, p, true, -1);
	whole_add(&w, p, false, 1);
	return w;
}

COMPARE_BY(compare_clear, struct diff_ranked, p, at);

void diff_correct(struct diff_ranked *rank, size_t n, size_t tests,
		  size_t families)
{
	double least = 0;

	sort_items(rank, n, compare_clear);
	for (size_t i = 0; i < n; i++) {
		/* n <= tests; none is below the one before */
		least = diff_larger(
			least,
			diff_smaller(1, rank[i].p * (double)((tests - i) *
							     families)));
		rank[i].p = least;
	}
}

/* Judges the places by their corrected p-values. Returns whether any changed.
 */
static bool family_judge_one(const struct family *f)
{
	bool *out = mem_new(f->n ? f->n : 1, sizeof(*out));
	struct diff_ranked *rank = mem_new(f->n ? f->n : 1, sizeof(*rank));
	/* Tarone's method: counts the tests that can pass at the limit for
	 * that number of tests, and marks the places that cannot. */
	double *least = mem_new(f->n ? f->n : 1, sizeof(*least));
	double *sorted = mem_new(f->n ? f->n : 1, sizeof(*sorted));
	size_t able = 0;
	size_t tests = 1;

	for (size_t i = 0; i < f->n; i++) {
		const struct diff_place *p = &f->own[i];
		struct diff_whole w = family_whole(f, i);

		least[i] = p->suspect != f->suspect || p->skip || p->only ||
					   !(p->a + p->b)
				   ? 2
				   : p_least(p, &w);
		if (least[i] < 2)
			sorted[able++] = least[i];
	}
	sort_items(sorted, able, compare_double);
	/* sorted[tests] would be the next that can pass */
	while (tests < able &&
	       sorted[tests] <= DIFF_ALPHA / (double)(tests * f->families))
		tests++;
	for (size_t i = 0; i < f->n; i++)
		out[i] = least[i] > DIFF_ALPHA / (double)(tests * f->families);
	free_all(sorted, least);
	size_t used = 0;
	bool any = false;

	for (size_t i = 0; i < f->n; i++) {
		struct diff_place *p = &f->own[i];
		struct diff_whole w = family_whole(f, i);
		double z = out[i] ? 0 : diff_z_of(p, &w);

		if (p->suspect != f->suspect)
			continue;
		p->change = p->only;
		p->p = 1;
		if (fabs(z) < Z_MIN)
			continue;
		p->p = diff_p_of(p, &w, z > 0);
		p->sign = z > 0 ? 1 : -1;
		rank[used++] = (struct diff_ranked){ p->p, i };
	}
	diff_correct(rank, used, tests, f->families);
	for (size_t i = 0; i < used; i++) {
		struct diff_place *at = &f->own[rank[i].at];

		at->p = rank[i].p;
		if (at->p > DIFF_ALPHA)
			continue;
		at->change = at->sign;
		any = true;
	}
	free_all(rank, out);
	return any;
}

/* Judges the families one after the other. Returns whether any place changed.
 */
static bool family_judge(struct family *f, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < f->n; i += n) {
		/* Finds how places usually vary, of self or of total. Places
		 * with few samples do not count. If samples may be missing,
		 * nothing is usual: each way in which they are missing would
		 * have its own. */
		struct runs_usual *usual = f->usual[i > 0];
		const struct diff_whole *w = f->with;
		size_t runs = w->runs_a + w->runs_b;
		struct runs_varied *v[2];
		size_t used = 0;
		bool may = !w->run || w->absolute || w->runs_a < 2 ||
			   w->runs_b < 2;

		for (int side = 0; side < 2; side++)
			v[side] = mem_new(n + 1, sizeof(**v));
		for (size_t k = i; k < i + n; k++) {
			struct diff_place *p = &f->own[k];
			struct diff_whole own = family_whole(f, k);

			p->usual = NULL;
			may |= p->may_a || p->may_b;
			if (may || p->skip || p->only ||
			    p->a + p->b < TELLING * runs)
				continue;
			p->usual = usual;
			for (int side = 0; side < 2; side++)
				v[side][used] = runs_vary(p, &own, side);
			used++;
		}
		for (int side = 0; side < 2; side++) {
			usual[side] =
				runs_usual_of(v[side], may ? 0 : used,
					      side ? w->runs_b : w->runs_a);
			free(v[side]);
		}
	}
	for (int suspect = 0; suspect < 2; suspect++) {
		f->suspect = suspect;
		any |= family_judge_one(f);
	}
	return any;
}

/* Returns the z-score of a place if `ratio` samples in B are expected for each
 * one in A. room: for the runs of w. */
static double z_at(const struct diff_place *p, const struct diff_whole *w,
		   double ratio, struct diff_run *room)
{
	struct diff_whole at = *w;

	at.between = w->run ? 0 : w->between;
	if (w->run) {
		double times = ratio * (double)w->a / (double)w->b;

		for (size_t i = 0; i < w->runs_a + w->runs_b; i++) {
			double n = (double)w->run[i].n *
				   (i < w->runs_a ? 1 : times);

			room[i] = w->run[i];
			room[i].n = (uint64_t)(n + 0.5);
		}
		at.run = room;
		return runs_compare(p, &at, false, false, true).t;
	}
	return noise_in(p, &at, true).shrink *
	       z_rates((double)p->a, (double)p->b, ratio / (1 + ratio));
}

/* Returns how much speaks for a ratio: each place that agrees counts by the
 * root of its share, so that many places outweigh a large one. */
static double ratio_score(const struct diff_place *p, size_t n,
			  const struct diff_whole *w, double ratio,
			  struct diff_run *room)
{
	size_t runs_a = w->runs_a ? w->runs_a : 1;
	size_t runs_b = w->runs_b ? w->runs_b : 1;
	/* the ratio if each run weighs the same on both sides */
	double before =
		(double)runs_b * w->unit_a / ((double)runs_a * w->unit_b);
	double far = log(ratio / before) / AS_BEFORE;
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double share = (double)p[i].a / (double)w->a +
			       (double)p[i].b / (double)w->b;
		double z =
			share > 0 ? z_at(&p[i], w, ratio, room) / Z_AGREES : 1;

		if (fabs(z) < 1)
			sum += sqrt(share) * (1 - z * z) * (1 - z * z);
	}
	return sum * (1 + AS_BEFORE_COUNTS * exp(-far * far));
}

/* Marks the places of self that did not change as `kept`, and adds them up in
 * *left, with the p-value of their agreement, by Fisher's method for those with
 * enough samples. Returns false if their samples are too few on a side. */
static bool reference_find(struct diff_place *own, size_t n,
			   const struct diff_whole *all,
			   struct diff_whole *left, struct diff_run *room)
{
	size_t runs = all->run ? all->runs_a + all->runs_b : 2;
	size_t runs_a = all->run ? all->runs_a : 1;
	struct diff_place *p = mem_dup(own, (n ? n : 1) * sizeof(*own));
	struct diff_count *count = mem_new((n ? n : 1) * runs, sizeof(*count));
	double ratio, x = 0;
	size_t tested = 0;

	for (size_t i = 0; i < n; i++) {
		struct diff_count *c = &count[i * runs];

		if (p[i].skip || p[i].only) {
			p[i].a = p[i].b = 0;
			p[i].run = NULL;
			continue;
		}
		p[i].a = p[i].b = 0;
		for (size_t k = 0; k < runs; k++) {
			uint64_t *sum = k < runs_a ? &p[i].a : &p[i].b;

			c[k].n = place_samples(&own[i], k) -
				 (own[i].under ? own[i].under[k].n : 0);
			c[k].other = all->run && own[i].run[k].other;
			*sum += c[k].n;
		}
		p[i].run = all->run ? c : NULL;
		p[i].under = NULL;
	}
	/* the ratio that most of the code agrees with */
	struct diff_ranked *rank = mem_new(n ? n : 1, sizeof(*rank));
	double best = (double)all->b / (double)all->a;
	double most = ratio_score(p, n, all, best, room);

	for (size_t i = 0; i < n; i++)
		rank[i] = (struct diff_ranked){ -(double)(p[i].a + p[i].b), i };
	sort_items(rank, n, compare_clear);
	for (size_t i = 0; i < n && i < PROPOSALS; i++) {
		const struct diff_place *of = &p[rank[i].at];
		double one = (double)of->b / (double)of->a;

		if (!of->a || !of->b)
			continue;
		double score = ratio_score(p, n, all, one, room);
		if (score > most) {
			most = score;
			best = one;
		}
	}
	free(rank);
	ratio = best;
	for (int round = 0; round < REFINEMENTS; round++) {
		left->a = left->b = 0;
		left->noisy = 0;
		for (size_t k = 0; left->run && k < runs; k++)
			left->run[k].n = 0;
		for (size_t i = 0; i < n; i++) {
			double z = p[i].a + p[i].b
					   ? z_at(&p[i], all, ratio, room)
					   : 2 * Z_REFERENCE;

			own[i].kept = fabs(z) < Z_REFERENCE;
			if (!own[i].kept)
				continue;
			whole_add(left, &p[i], true, 1);
			left->noisy += noise_of(&p[i]).times *
				       ((double)p[i].a + (double)p[i].b);
		}
		if (!left->a || !left->b)
			break;
		ratio = (double)left->b / (double)left->a;
	}
	for (size_t i = 0; i < n; i++) {
		if (!own[i].kept || p[i].a + p[i].b < TELLING)
			continue;
		x -= 2 * log(diff_p_student(z_at(&p[i], all, ratio, room),
					    DF_KNOWN));
		tested++;
	}
	left->kept_p = diff_p_chi(x, 2 * (double)tested);
	free_all(count, p);
	return left->a >= REFERENCE_LEAST && left->b >= REFERENCE_LEAST &&
	       (double)left->a >= REFERENCE_PART * (double)all->a &&
	       (double)left->b >= REFERENCE_PART * (double)all->b;
}

/* Returns whether the total has nothing but self, so that tests are the same.
 */
static bool place_is_leaf(const struct diff_place *self,
			  const struct diff_place *total)
{
	return self->a == total->a && self->b == total->b &&
	       self->may_a == total->may_a && self->may_b == total->may_b &&
	       !total->out_a && !total->out_b;
}

/* Takes out of each total the part of the reference that is certainly in it:
 * that did not change, and hides how much the rest did. count: room for the
 * runs of all totals. */
static void totals_without(struct diff_place *total, size_t n,
			   const struct diff_whole *all,
			   const struct diff_whole *left,
			   struct diff_count *count)
{
	size_t runs = all->runs_a + all->runs_b;

	for (size_t i = 0; i < n; i++) {
		struct diff_place *p = &total[i];
		double a = (double)left->a, b = (double)left->b;
		double part =
			diff_smaller(((double)p->a + a - (double)all->a) / a,
				     ((double)p->b + b - (double)all->b) / b);

		if (!(part > 0))
			continue;
		p->a -= (uint64_t)(part * a);
		p->b -= (uint64_t)(part * b);
		for (size_t k = 0; p->run && k < runs; k++) {
			struct diff_count c = p->run[k];
			uint64_t in = (uint64_t)(part * (double)left->run[k].n);

			c.n -= in < c.n ? in : c.n;
			count[i * runs + k] = c;
		}
		if (p->run)
			p->run = &count[i * runs];
	}
}

void diff_judge(struct diff_place *self, struct diff_place *total, size_t n,
		const struct diff_whole *w, struct diff_whole *left)
{
	size_t runs = w->runs_a + w->runs_b;
	struct family f = {
		.own = mem_new(n ? 2 * n : 1, sizeof(*f.own)),
		.n = total ? 2 * n : n,
		.with = left,
		.families = 1,
		.room = mem_new(runs ? runs : 1, sizeof(*f.room)),
	};
	struct diff_count *count = mem_new(n * runs + 1, sizeof(*count));

	*left = *w;
	/* the noise of all places */
	left->noisy = left->df = 0;
	left->kept_p = 1;
	if (w->run)
		left->run = mem_dup(w->run, runs * sizeof(*w->run));
	for (size_t i = 0; i < n; i++) {
		struct diff_noise own = noise_of(&self[i]);

		f.own[i] = self[i];
		if (self[i].suspect)
			f.families = 2;
		f.own[i].kept = !self[i].skip && !self[i].only;
		if (total) {
			f.own[n + i] = total[i];
			f.own[n + i].skip |= place_is_leaf(&self[i], &total[i]);
			f.own[n + i].a -= total[i].out_a;
			f.own[n + i].b -= total[i].out_b;
			f.own[n + i].kept = false;
		}
		if (self[i].apart || self[i].only) {
			whole_add(left, &self[i], false, -1);
			continue;
		}
		left->noisy +=
			own.times * ((double)self[i].a + (double)self[i].b);
		if (own.df > 0 && (!(left->df > 0) || own.df < left->df))
			left->df = own.df;
	}
	/* Without a change, all places are the reference: places that did not
	 * change are looked for only if something differs from that beyond
	 * chance. */
	if (family_judge(&f, n) && !w->absolute) {
		struct diff_whole all = *left;
		all.run = w->run ? mem_dup(left->run, runs * sizeof(*w->run))
				 : NULL;
		left->part = reference_find(f.own, n, &all, left, f.room);
		if (left->part && total)
			totals_without(f.own + n, n, &all, left, count);
		if (left->part)
			family_judge(&f, n);
		free(left->part ? all.run : left->run);
		if (!left->part)
			*left = all;
		for (size_t i = 0; !left->part && i < n; i++)
			f.own[i].kept = !self[i].skip && !self[i].only;
	}
	for (size_t i = 0; i < f.n; i++) {
		struct diff_place *to = i < n ? &self[i] : &total[i - n];

		to->change = f.own[i].change;
		to->p = f.own[i].p;
		to->kept = f.own[i].kept;
	}
	for (size_t i = 0; total && i < n; i++) {
		if (!place_is_leaf(&self[i], &total[i]))
			continue;
		total[i].change = self[i].change;
		total[i].p = self[i].p;
	}
	free_all(count, f.room, f.own);
}

double diff_scale(const struct diff_whole *left)
{
	if (left->absolute || !left->a)
		return left->run ? (double)left->runs_b / (double)left->runs_a
				 : 1;
	return (double)left->b * left->unit_b /
	       ((double)left->a * left->unit_a);
}
