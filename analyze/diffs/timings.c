/* timings.c - judges things that take time, on two sides. */
#include "analyze/diffs/timings.h"

#include <math.h>

#include "analyze/diffs/diff_chance.h"
#include "analyze/diffs/diff_stats.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* Fewer things prove nothing: on both sides, or for the average of one run. */
#define TIMINGS_FEW 8
/* A percentile is known from the things beyond it: so many standard deviations
 * of their number to either side. */
#define TIMINGS_WIDE 3
/* Parts with a smaller share of all time on each side are not tested. */
#define TIMINGS_PART 0.01
/* Shares with fewer samples explain nothing; TIMINGS_AS_GOOD: those that have
 * this part of the best are as good. */
#define TIMINGS_FEW_SAMPLES 5
/* Fewer samples may be so many by chance, and have their variance. */
#define TIMINGS_NO_SAMPLES 3
#define TIMINGS_AS_GOOD 0.93
/* A share with a larger part of its row is not tested, because the row is. */
#define TIMINGS_ALL 0.9
/* Probability that a side without any has more than is assumed. */
#define TIMINGS_NONE 1e-6
/* How much more than usual one run a side may vary: the machine may have been
 * busy, or its CPUs eight times as slow, which was seen at a load of twenty. */
#define TIMINGS_ONE 1.5

/* A number of one run, its bounds, and the variance of its logarithm. */
struct timings_value {
	double is, least, most;
	double variance, df;
	double seconds; /* length of the run */
};

/* The things of one row in one run, sorted by length, and its blocks. */
struct timings_part {
	const struct timings_run *run;
	double seconds; /* its sums are divided by this */
	struct timings_item *item;
	size_t n;
	double *length; /* of the proved ones, sorted */
	size_t n_length;
	double *least, *most; /* bounds of all that are not cut, each sorted */
	size_t n_bound;
	double known, sum, sum_least, sum_most, squares; /* ns */
	size_t unproved;
	size_t blocks;
	double *own, *all; /* by block, see timings_fill_blocks() */
};

void timings_add_run(struct timings *t, int side)
{
	if (t->n_run)
		packed_times_close(&t->run[t->n_run - 1].item);
	*mem_add(t->run, t->n_run, t->cap_run) =
		(struct timings_run){ .from = INT64_MAX, .to = INT64_MIN };
	t->runs[side]++;
}

uint32_t timings_add(struct timings *t, const char *const key[TIMINGS_KEYS],
		     struct timings_item i)
{
	struct timings_run *run = &t->run[t->n_run - 1];
	struct timings_row row = { .group = i.group };
	int side = t->runs[1] > 0;

	for (size_t k = 0; k < TIMINGS_KEYS; k++)
		row.key[k] = intern_add(&t->words, key[k] ?: "");
	uint32_t id = intern_add_bytes(&t->index, row.key, sizeof(row.key));
	if (id == t->n)
		*mem_add(t->row, t->n, t->cap) = row;
	t->row[id].n[side]++;
	t->row[id].unproved[side] += !i.proved;
	if (i.proved && (double)i.least > t->row[id].longest[side])
		t->row[id].longest[side] = (double)i.least;
	if (!i.proved)
		run->loose += (double)i.most;
	packed_times_put(
		&run->item, run->item.n,
		&(struct packed_time){
			.time = i.at,
			.event = (int64_t)id << 2 | i.proved << 1 | i.cut,
			.a = (uint64_t)i.least,
			.b = (uint64_t)i.most - (uint64_t)i.least });
	return id;
}

struct timings_item timings_get(const struct timings_run *run, size_t i,
				uint32_t *row)
{
	const struct packed_time x = packed_times_get(&run->item, i);

	*row = (uint32_t)(x.event >> 2);
	return (struct timings_item){ .at = x.time,
				      .least = (int64_t)x.a,
				      .most = (int64_t)(x.a + x.b),
				      .proved = x.event & 2,
				      .cut = x.event & 1 };
}

void timings_add_share(struct timings *t, uint32_t row, const char *name,
		       uint64_t n)
{
	struct timings_run *run = &t->run[t->n_run - 1];
	uint32_t key[] = { row, intern_add(&t->words, "") };
	struct timings_share c = {
		.row = row,
		.all = intern_add_bytes(&t->share_index, key, sizeof(key)),
	};
	uint32_t id;

	c.name = key[1] = intern_add(&t->words, name);
	id = intern_add_bytes(&t->share_index, key, sizeof(key));
	if (id == t->n_share)
		*mem_add(t->share, t->n_share, t->cap_share) = c;
	t->share[id].n[t->runs[1] > 0] += n;
	*mem_at(run->share, run->n_share, run->cap_share, id) += n;
}

void timings_release(struct timings *t)
{
	for (size_t i = 0; i < t->n_run; i++) {
		packed_times_release(&t->run[i].item);
		free(t->run[i].share);
	}
	free_all(t->run, t->row, t->share, t->order);
	intern_release(&t->share_index);
	intern_release(&t->words);
	intern_release(&t->index);
}

/* Returns how many ns a thing took if nothing is missing in it. */
static double timings_length(const struct timings_item *i)
{
	return (double)(i->cut || i->most == INT64_MAX ? i->least : i->most);
}

/* Returns the smallest of n sorted lengths that is not below a share of them.
 */
static double timings_at(const double *sorted, size_t n, double share)
{
	double rank = ceil(share * (double)n - 1e-9);

	if (!n)
		return NAN;
	return sorted[rank < 1		 ? 0
		      : rank > (double)n ? n - 1
					 : (size_t)rank - 1];
}

/* Sums up the things of each block. own[] gets their number (measure RATE),
 * their ns (TOTAL, AVERAGE), or the number of proved ones longer than `above`;
 * all[] gets 1 for the time of the block (RATE, TOTAL), or the number of proved
 * ones. */
static void timings_fill_blocks(struct timings_part *p, enum timings_measure m,
				double above)
{
	double each =
		((double)p->run->to - (double)p->run->from) / (double)p->blocks;
	bool in_time = m == TIMINGS_RATE || m == TIMINGS_TOTAL;

	for (size_t k = 0; k < p->blocks; k++) {
		p->own[k] = 0;
		p->all[k] = in_time;
	}
	for (size_t i = 0; i < p->n; i++) {
		const struct timings_item *it = &p->item[i];
		double at = ((double)it->at - (double)p->run->from) / each;
		size_t k = !(at > 0)		    ? 0
			   : at < (double)p->blocks ? (size_t)at
						    : p->blocks - 1;

		if (!in_time && (!it->proved || it->cut))
			continue;
		if (!in_time)
			p->all[k]++;
		if (m == TIMINGS_RATE)
			p->own[k]++;
		else if (m == TIMINGS_TOTAL || m == TIMINGS_AVERAGE)
			p->own[k] += timings_length(it);
		else
			p->own[k] += (double)it->least > above;
	}
}

/* Returns the variance of the sum of own[], as its ratio to all[] varies
 * between blocks, but at least `counting`, the variance of a count. rest: the
 * expected ratio. *df: degrees of freedom. */
static double timings_vary(const struct timings_part *p, double rest,
			   double counting, double *df)
{
	struct diff_noise noise =
		diff_noise_in_blocks(p->own, p->all, p->blocks, rest, counting);

	*df = noise.df > 0 ? noise.df : (double)(p->blocks - 1) * 2 / 3;
	return counting * diff_larger(1, noise.times);
}

/* Stores a percentile, and its variance by how many things are beyond it. */
static void timings_percentile(struct timings_part *p, double share,
			       struct timings_value *v)
{
	double n = (double)p->n_length;

	v->is = timings_at(p->length, p->n_length, share);
	v->least = timings_at(p->least, p->n_bound, share);
	v->most = timings_at(p->most, p->n_bound, share);
	v->variance = NAN;
	if (!(v->is > 0))
		return;
	timings_fill_blocks(p, share > 0.5 ? TIMINGS_P99 : TIMINGS_P50, v->is);
	double off = sqrt(timings_vary(p, 1 - share, n * share * (1 - share),
				       &v->df)) /
		     n * TIMINGS_WIDE;

	if (!(share + off < 1) || !(share - off > 0))
		return;
	double more = timings_at(p->length, p->n_length, share + off) / v->is;
	double less = v->is / timings_at(p->length, p->n_length, share - off);
	double width = log(diff_larger(more, less)) / TIMINGS_WIDE;

	v->variance = width * width;
}

/* Stores one measure of a row in one run; NaN where it is not known. */
static void timings_value_of(struct timings_part *p, enum timings_measure m,
			     struct timings_value *v)
{
	double n = (double)p->n, seconds = p->seconds;
	double lost =
		p->run->lost == UINT64_MAX ? INFINITY : (double)p->run->lost;
	double mean, variance;

	*v = (struct timings_value){ NAN, NAN, NAN, NAN, 0, seconds };
	switch (m) {
	case TIMINGS_RATE:
		/* at most: an unproved one may be two, others lost both ends */
		v->is = n / seconds;
		v->least = v->is;
		v->most = (n + (double)p->unproved + lost / 2) / seconds;
		timings_fill_blocks(p, m, 0);
		variance = timings_vary(p, n / (double)p->blocks, n > 0 ? n : 1,
					&v->df);
		v->variance =
			n > 0 ? variance / n / n : variance / seconds / seconds;
		return;
	case TIMINGS_TOTAL:
		v->is = p->sum / seconds;
		v->least = p->sum_least / seconds;
		v->most = lost > 0 ? INFINITY : p->sum_most / seconds;
		if (!(p->sum > 0))
			return;
		timings_fill_blocks(p, m, 0);
		variance = timings_vary(p, p->sum / (double)p->blocks,
					p->squares, &v->df);
		v->variance = variance / p->sum / p->sum;
		return;
	case TIMINGS_AVERAGE:
		mean = p->known / (double)p->n_length;
		if (!(mean > 0))
			return;
		v->is = mean;
		v->least = v->most = 0;
		for (size_t i = 0; i < p->n_bound; i++) {
			v->least += p->least[i] / (double)p->n_bound;
			v->most += p->most[i] / (double)p->n_bound;
		}
		variance = 0;
		for (size_t i = 0; i < p->n_length; i++)
			variance +=
				(p->length[i] - mean) * (p->length[i] - mean);
		timings_fill_blocks(p, m, 0);
		if (p->n_length >= TIMINGS_FEW)
			v->variance = timings_vary(p, mean, variance, &v->df) /
				      p->known / p->known;
		return;
	case TIMINGS_P50:
		timings_percentile(p, 0.5, v);
		return;
	case TIMINGS_P99:
		timings_percentile(p, 0.99, v);
		return;
	case TIMINGS_MEASURES:
		break;
	}
}

/* Means of the logarithms of the runs of one side, and the variance of the
 * mean. */
struct timings_mean {
	double is, least, most, variance, df;
};

/* Returns whether the number is known, and above 0, in all runs. */
static bool timings_all(const struct timings_value *v, size_t n)
{
	return !any_where(n, i, !(v[i].is > 0));
}

/* Returns the variance of the mean of several runs' logarithms, as the runs
 * differ, and as each of them is known. */
static struct runs_varied timings_varied(const struct timings_value *v,
					 size_t n)
{
	struct runs_varied out = { .of_share = 1 / (double)n };
	double mean = 0;

	for (size_t i = 0; i < n; i++) {
		mean += log(v[i].is) / (double)n;
		if (!isnan(v[i].variance))
			out.counting += v[i].variance / (double)n / (double)n;
	}
	for (size_t i = 0; i < n; i++)
		out.variance += (log(v[i].is) - mean) * (log(v[i].is) - mean) /
				(double)n / (double)(n - 1);
	return out;
}

/* Returns the mean of n runs. usual: how numbers of this side vary. */
static struct timings_mean timings_mean_of(const struct timings_value *v,
					   size_t n,
					   const struct runs_usual *usual)
{
	struct timings_mean m = { .df = INFINITY };
	double df = (double)n - 1;

	for (size_t i = 0; i < n; i++) {
		m.is += log(v[i].is) / (double)n;
		m.least += log(v[i].least) / (double)n;
		m.most += log(v[i].most) / (double)n;
		m.variance += v[i].variance;
		m.df = diff_smaller(m.df, v[i].df);
	}
	if (n < 2)
		return m;
	struct runs_varied own = timings_varied(v, n);
	m.df = df + usual->df;
	m.variance = diff_larger(
		own.counting,
		(df * own.variance +
		 usual->df * (own.counting +
			      usual->times * usual->times * own.of_share)) /
			m.df);
	return m;
}

/* Returns the most that a side without any may have, with a probability of
 * TIMINGS_NONE for more: by Poisson's law, in bursts as large as those of the
 * other side. */
static struct timings_mean timings_none(const struct timings_value *v, size_t n,
					const struct timings_value *other,
					size_t n_other)
{
	double seconds = 0, burst = 1, lost = 0, most;

	for (size_t i = 0; i < n; i++) {
		seconds += v[i].seconds;
		lost += v[i].most * v[i].seconds;
	}
	for (size_t i = 0; i < n_other; i++)
		burst = diff_larger(burst, other[i].variance * other[i].is *
						   other[i].seconds);
	most = log((-log(TIMINGS_NONE) * burst + lost) / seconds);
	return (struct timings_mean){
		.is = most, .least = -INFINITY, .most = most, .df = INFINITY
	};
}

/* Returns the p-value of a change of one measure, and fills in *c. */
static double timings_test(const struct timings_value *v, const size_t runs[2],
			   const struct runs_usual usual[2], double between,
			   struct timings_change *c)
{
	const struct timings_value *w = v + runs[0];
	struct timings_mean a =
		!(v->is > 0) ? timings_none(v, runs[0], w, runs[1])
			     : timings_mean_of(v, runs[0], &usual[0]);
	struct timings_mean b =
		!(w->is > 0) ? timings_none(w, runs[1], v, runs[0])
			     : timings_mean_of(w, runs[1], &usual[1]);
	bool single = runs[0] == 1 && runs[1] == 1;
	bool alone = !single && (runs[0] == 1 || runs[1] == 1);

	if (alone) {
		/* it is taken to vary as the other side does */
		struct timings_mean *one = runs[0] == 1 ? &a : &b;
		const struct timings_mean *many = runs[0] == 1 ? &b : &a;

		one->variance = diff_larger(
			one->variance,
			many->variance *
				(double)(runs[0] == 1 ? runs[1] : runs[0]));
		one->df = 0;
	}
	/* for parts, the usual variation comes from other recordings */
	for (int i = 0; single && i < 2; i++) {
		struct timings_mean *m = i ? &b : &a;
		double times =
			between > 0 ? between : TIMINGS_ONE * usual[i].times;

		m->variance += times * times;
		if (!(between > 0))
			m->df = diff_smaller(m->df, usual[i].df);
	}
	double variance = a.variance + b.variance;
	double df = diff_freedom((double[2]){ a.df, b.df }, alone, a.variance,
				 b.variance);
	double more = b.least - a.most, less = b.most - a.least;
	double plain = b.is - a.is;
	double p = 1;

	c->low = c->high = NAN;
	if (isnan(variance) || isnan(plain))
		return 1;
	c->low = exp(more) / diff_factor(variance, df);
	c->high = exp(less) * diff_factor(variance, df);
	if (!(variance > 0))
		return 1;
	if (more > 0 || less < 0) {
		c->change = more > 0 ? 1 : -1;
		p = diff_p_student((more > 0 ? more : less) / sqrt(variance),
				   df);
	}
	c->hidden = diff_p_student(plain / sqrt(variance), df) <= DIFF_ALPHA &&
		    p > DIFF_ALPHA;
	return p;
}

/* Returns how much of a part is as good as none in a run. It depends on the
 * longest run of the side: otherwise runs without any would differ. */
static double timings_little(const struct timings *t, size_t run)
{
	double most = 0;

	for (size_t i = 0; i < t->n_run; i++) {
		const struct timings_run *r = &t->run[i];

		if ((i >= t->runs[0]) == (run >= t->runs[0]))
			raise_to(most, ((double)r->to - (double)r->from) /
					       (r->per ? (double)r->per : 1));
	}
	return TIMINGS_LITTLE * most;
}

/* Stores all measures of a row in run i. number: its n things. */
static void timings_measure_row(struct timings *t, size_t i, uint32_t row,
				const size_t *number, size_t n,
				struct timings_value *v)
{
	struct timings_row *r = &t->row[row];
	int side = i >= t->runs[0];
	struct timings_part *p = &(struct timings_part){
		.run = &t->run[i], .n = n, .blocks = diff_noise_blocks(n)
	};

	p->item = mem_new(n + 1, sizeof(*p->item));
	p->length = mem_new(n + 1, sizeof(*p->length));
	p->least = mem_new(n + 1, sizeof(*p->least));
	p->most = mem_new(n + 1, sizeof(*p->most));
	p->own = mem_new(p->blocks, sizeof(*p->own));
	p->all = mem_new(p->blocks, sizeof(*p->all));
	for (size_t k = 0; k < n; k++) {
		struct timings_item *it = &p->item[k];

		*it = timings_get(p->run, number[k], &row);
		double least = (double)it->least;
		double most =
			it->most == INT64_MAX ? INFINITY : (double)it->most;

		p->sum += timings_length(it);
		p->sum_least += least;
		p->sum_most += it->cut ? least : most;
		p->squares += timings_length(it) * timings_length(it);
		p->unproved += !it->proved;
		if (it->cut)
			continue;
		p->least[p->n_bound] = least;
		p->most[p->n_bound++] = most;
		if (!it->proved)
			continue;
		p->length[p->n_length++] = least;
		p->known += least;
	}
	sort_items(p->length, p->n_length, compare_double);
	sort_items(p->least, p->n_bound, compare_double);
	sort_items(p->most, p->n_bound, compare_double);
	p->seconds = p->run->per ? (double)p->run->per
		     : t->parts	 ? 1
		     : p->run->to > p->run->from
			     ? ((double)p->run->to - (double)p->run->from) / 1e9
			     : 0;
	for (enum timings_measure m = 0; m < TIMINGS_MEASURES; m++) {
		struct timings_value *of = &v[m * t->n_run + i];

		timings_value_of(p, m, of);
		r->of[m].size[side] += of->is / (double)t->runs[side];
		if (t->parts && m == TIMINGS_TOTAL) {
			double little = timings_little(t, i);

			of->most = p->sum_least / p->seconds;
			if (!t->parts[r->group].apart)
				of->most += p->run->loose / p->seconds;
			if (!(p->sum > 0)) {
				of->variance = 0;
				of->df = (double)(p->blocks - 1);
			}
			r->of[m].little |= of->is < little;
			raise_to(of->is, little);
			raise_to(of->least, little);
			raise_to(of->most, little);
		}
	}
	free_all(p->item, p->length, p->least, p->most, p->own, p->all);
}

/* Stores how much a share has in each run; row: how much all of it has. A CPU
 * that is slower in one run, next to others, is slower for all functions: so
 * the numbers are those which the share would have if the rest had the same in
 * each run; but in B no more than it has, as the rest may have become less.
 * Waiting for memory may take as long on any CPU: numbers that vary less within
 * each side without this correction are stored as they are. */
static void timings_measure_share(struct timings *t,
				  const struct timings_share *c,
				  const struct timings_value *row,
				  struct timings_value *own)
{
	size_t id = (size_t)(c - t->share);
	double rest_ns = 0, vary = 0;
	/* by side: means of the logarithms of the share, and of its ratio to
	 * the rest */
	double mean[2][2] = { { 0 } };
	bool plain = false;

	for (size_t i = 0; i < t->n_run; i++) {
		const struct timings_run *run = &t->run[i];
		double n = id < run->n_share ? (double)run->share[id] : 0;
		double all =
			c->all < run->n_share ? (double)run->share[c->all] : 0;
		int side = i >= t->runs[0];
		double little = timings_little(t, i);
		double is = row[i].is * n / diff_larger(all, 1), by;

		raise_to(is, diff_smaller(little, row[i].is));
		by = is / row[i].is;
		own[i] = row[i];
		own[i].is = is;
		own[i].least *= by;
		own[i].most += own[i].least - row[i].least;
		own[i].variance += 1 / diff_larger(n, TIMINGS_NO_SAMPLES);

		double rest = row[i].is - is;
		const double is_log[] = { log(is), log(is / rest) };

		plain |= rest < TIMINGS_FEW_SAMPLES * little;
		rest_ns += rest / (double)t->n_run;
		vary += is_log[0] * is_log[0] - is_log[1] * is_log[1];
		for (int k = 0; k < 2; k++)
			mean[side][k] += is_log[k] / (double)t->runs[side];
	}
	for (int side = 0; side < 2; side++)
		vary -= (mean[side][0] * mean[side][0] -
			 mean[side][1] * mean[side][1]) *
			(double)t->runs[side];
	plain |= t->n_run > 2 && vary < 0;

	double less = mean[1][0] - mean[0][0] - (mean[1][1] - mean[0][1]);

	for (size_t i = 0; i < t->n_run; i++) {
		int side = i >= t->runs[0];
		double by = rest_ns / (row[i].is - own[i].is);

		if (side && less < 0)
			by *= exp(less);
		if (!plain) {
			own[i].is *= by;
			own[i].least *= by;
			own[i].most *= by;
		}
		t->row[c->own].of[TIMINGS_TOTAL].size[side] +=
			own[i].is / (double)t->runs[side];
	}
}

/* Stores the measures of all rows in run i. */
static void timings_measure(struct timings *t, size_t i,
			    struct timings_value *v)
{
	size_t n = t->run[i].item.n;
	size_t *number OWNED = mem_new(n + 1, sizeof(*number));
	/* by row: the end of its things in number[] */
	size_t *end OWNED = mem_new(t->n + 1, sizeof(*end));
	uint32_t row;

	for (size_t k = 0; k < n; k++) {
		timings_get(&t->run[i], k, &row);
		end[row + 1]++;
	}
	for (size_t k = 0; k < t->n; k++)
		end[k + 1] += end[k];
	for (size_t k = 0; k < n; k++) {
		timings_get(&t->run[i], k, &row);
		number[end[row]++] = k;
	}
	for (uint32_t k = 0; k < t->n; k++) {
		size_t from = k ? end[k - 1] : 0;

		if (!t->row[k].share)
			timings_measure_row(
				t, i, k, number + from, end[k] - from,
				&v[k * TIMINGS_MEASURES * t->n_run]);
	}
}

/* Finds how each measure usually varies from run to run, by side. values: of
 * all rows. */
static void timings_find_usual(const struct timings *t,
			       const struct timings_value *values,
			       struct runs_usual usual[TIMINGS_MEASURES][2])
{
	struct runs_varied *varied = mem_new(t->n + 1, sizeof(*varied));

	for (size_t m = 0; m < TIMINGS_MEASURES; m++)
		for (int side = 0; side < 2; side++) {
			size_t n = 0;

			usual[m][side] = (struct runs_usual){ 0, 0 };
			for (size_t i = 0; t->runs[side] > 1 && i < t->n; i++) {
				const struct timings_value *v =
					&values[(i * TIMINGS_MEASURES + m) *
							t->n_run +
						(side ? t->runs[0] : 0)];

				if (t->row[i].n[side] >= TIMINGS_FEW &&
				    timings_all(v, t->runs[side]))
					varied[n++] = timings_varied(
						v, t->runs[side]);
			}
			if (n)
				usual[m][side] =
					runs_usual_of(varied, n, t->runs[side]);
		}
	free(varied);
}

static bool timings_changed(const struct timings_row *r)
{
	return any_where(TIMINGS_MEASURES, i, r->of[i].change);
}

static double timings_moved(const struct timings_row *r)
{
	const struct timings_change *c = &r->of[TIMINGS_TOTAL];

	return fabs(c->size[1] - c->size[0]);
}

COMPARE_FUNCTION_OF(
	timings_compare_rows, uint32_t, struct timings,
	compare_numbers(timings_changed(&of->row[*y]),
			timings_changed(&of->row[*x]))
		?: compare_numbers(of->row[*x].apart, of->row[*y].apart)
		?: compare_numbers(timings_moved(&of->row[*y]),
				   timings_moved(&of->row[*x]))
		?: compare_numbers(*x, *y));

/* Finds for each row which share explains most of its growth in B: it has most
 * of that, and least elsewhere in B, and is newest; of those as good as the
 * best, the outermost function. If some shares are proved to have more, it is
 * one of these, and stays a row of its own if the whole is not proved to have
 * more. */
static void timings_find_mostly(struct timings *t)
{
	struct found {
		const struct timings_share *at;
		double good;
		bool proved;
	} *found = mem_new(t->n + 1, sizeof(*found));
	double *in_b = mem_new(t->words.n + 1, sizeof(*in_b));
	size_t kept = 0;

	for (int turn = 0; turn < 3; turn++)
		for (size_t i = 0; i < t->n_share; i++) {
			const struct timings_share *c = &t->share[i];
			const uint64_t *n = t->share[c->all].n;
			const struct timings_change *row =
				&t->row[c->row].of[TIMINGS_TOTAL];
			const struct timings_change *own =
				&t->row[c->own].of[TIMINGS_TOTAL];
			struct found *f = &found[c->row];
			double all = row->size[1] - row->size[0];
			double ns = row->size[1] * (double)c->n[1] /
				    diff_larger((double)n[1], 1);
			double grew = ns - row->size[0] * (double)c->n[0] /
						   diff_larger((double)n[0], 1);
			bool proved = own != row && own->change > 0;

			if (!turn) {
				in_b[c->name] += ns;
				f->proved |= proved;
			}
			if (!turn || c->all == i ||
			    c->n[1] < TIMINGS_FEW_SAMPLES ||
			    (f->proved ? !proved
				       : !(all > 0) || !(grew > all / 2)))
				continue;
			/* harmonic mean of both parts */
			double good = 2 * grew * grew / in_b[c->name] /
				      (diff_larger(all, grew) + in_b[c->name]);
			if (turn == 1)
				raise_to(f->good, good);
			else if (good >= TIMINGS_AS_GOOD * f->good &&
				 (!f->at || c->n[1] > f->at->n[1]))
				f->at = c;
		}
	for (size_t i = 0; i < t->n; i++) {
		const struct timings_share *c = found[i].at;
		struct timings_row *r = &t->row[i];

		if (!r->share)
			r->mostly = c ? c->name : intern_add(&t->words, "");
		if (c && found[i].proved && r->of[TIMINGS_TOTAL].change <= 0)
			found[c->own].proved = true;
		if (!r->share || found[i].proved)
			t->row[kept++] = *r;
	}
	t->n = kept;
	free_all(found, in_b);
}

void timings_find_run(const struct timings *t, bool others,
		      struct timings_change *out)
{
	static const struct runs_usual none[2];
	struct timings_value *v = mem_new(t->n_run, sizeof(*v));

	*out = (struct timings_change){ .low = NAN, .high = NAN };
	for (size_t i = 0; i < t->n_run; i++) {
		int side = i >= t->runs[0];
		double ns = (double)t->run[i].to - (double)t->run[i].from;

		if (others)
			ns = t->run[i].others / diff_larger(ns, 1);
		v[i] = (struct timings_value){ .is = ns,
					       .least = ns,
					       .most = ns };
		out->size[side] += ns / (double)t->runs[side];
	}
	if (t->runs[0] + t->runs[1] > 2 && timings_all(v, t->n_run))
		timings_test(v, t->runs, none, 0, out);
	free(v);
}

/* Returns whether a measure of a part is judged: sums are, and for some groups
 * the number, if several runs show how it varies. */
static bool timings_judges(const struct timings *t, const struct timings_row *r,
			   enum timings_measure m)
{
	return m == TIMINGS_TOTAL ||
	       (m == TIMINGS_RATE && t->parts[r->group].number.df > 0 &&
		!r->share && t->runs[0] > 1 && t->runs[1] > 1);
}

void timings_judge(struct timings *t)
{
	struct runs_usual usual[TIMINGS_MEASURES][2];
	size_t used = 0, tests = 0;
	double all[2] = { 0 };
	/* by word: on which sides it is a first key */
	uint8_t *on = mem_new(t->words.n + 1, sizeof(*on));

	for (size_t i = 0; i < t->n; i++)
		on[t->row[i].key[0]] |= (uint8_t)((t->row[i].n[0] > 0) +
						  2 * (t->row[i].n[1] > 0));
	for (size_t i = 0; t->parts && i < t->n_share; i++) {
		struct timings_share *c = &t->share[i];
		struct timings_row r = t->row[c->row];
		const uint64_t *whole = t->share[c->all].n;

		c->own = c->row;
		if (c->all == i || t->parts[r.group].whole ||
		    c->n[0] + c->n[1] < TIMINGS_FEW ||
		    ((double)c->n[0] > TIMINGS_ALL * (double)whole[0] &&
		     (double)c->n[1] > TIMINGS_ALL * (double)whole[1]))
			continue;
		c->own = (uint32_t)t->n;
		r.share = true;
		r.mostly = c->name;
		r.longest[0] = r.longest[1] = 0;
		*mem_add(t->row, t->n, t->cap) = r;
	}
	struct diff_ranked *rank =
		mem_new(t->n * TIMINGS_MEASURES + 1, sizeof(*rank));
	struct timings_value *v =
		mem_new(t->n * TIMINGS_MEASURES * t->n_run + 1, sizeof(*v));

	for (size_t i = 0; i < t->n_run; i++) {
		packed_times_close(&t->run[i].item);
		timings_measure(t, i, v);
	}
	for (size_t i = 0; t->parts && i < t->n_share; i++) {
		const struct timings_share *c = &t->share[i];
		const size_t of = TIMINGS_TOTAL * t->n_run;

		if (c->own != c->row)
			timings_measure_share(
				t, c,
				&v[c->row * TIMINGS_MEASURES * t->n_run + of],
				&v[c->own * TIMINGS_MEASURES * t->n_run + of]);
	}
	if (!t->parts)
		timings_find_usual(t, v, usual);
	for (size_t i = 0; t->parts && i < t->n; i++)
		for (int side = 0; side < 2 && !t->row[i].share; side++)
			all[side] += t->row[i].of[TIMINGS_TOTAL].size[side];
	for (uint32_t i = 0; i < t->n; i++) {
		struct timings_row *r = &t->row[i];
		const double *total = r->of[TIMINGS_TOTAL].size;

		r->apart = !t->all_kinds && on[r->key[0]] != 3;
		for (size_t m = 0; m < TIMINGS_MEASURES; m++) {
			const struct timings_value *of =
				&v[(i * TIMINGS_MEASURES + m) * t->n_run];
			struct timings_change *c = &r->of[m];
			bool apart = t->parts && t->parts[r->group].apart;

			c->low = c->high = NAN;
			c->p = 1;
			if (r->apart ||
			    (r->n[0] + r->n[1] < TIMINGS_FEW && !apart) ||
			    (t->parts && (!timings_judges(t, r, m) ||
					  (total[0] < TIMINGS_PART * all[0] &&
					   total[1] < TIMINGS_PART * all[1]))))
				continue;
			/* if one side has none, only the number is judged */
			if (!timings_all(of, t->n_run) &&
			    (m != TIMINGS_RATE || (r->n[0] && r->n[1]) ||
			     !timings_all(of + (r->n[0] ? 0 : t->runs[0]),
					  t->runs[!r->n[0]])))
				continue;
			tests += !apart;
			for (int side = 0; t->parts && side < 2; side++)
				usual[m][side] =
					m == TIMINGS_RATE
						? t->parts[r->group].number
						: t->parts[r->group].usual;
			c->p = timings_test(of, t->runs, usual[m],
					    t->parts	       ? 0
					    : m == TIMINGS_P99 ? 2 * t->between
							       : t->between,
					    c);
			if (apart && c->p > DIFF_ALPHA)
				c->change = 0;
			if (c->change && !apart)
				rank[used++] = (struct diff_ranked){
					c->p, i * TIMINGS_MEASURES + m
				};
		}
	}
	diff_correct(rank, used, tests, 1);
	for (size_t i = 0; i < used; i++) {
		struct timings_change *c =
			&t->row[rank[i].at / TIMINGS_MEASURES]
				 .of[rank[i].at % TIMINGS_MEASURES];

		c->p = rank[i].p;
		if (c->p > DIFF_ALPHA)
			c->change = 0;
	}
	timings_find_mostly(t);
	t->order = mem_new(t->n + 1, sizeof(*t->order));
	for (uint32_t i = 0; i < t->n; i++)
		t->order[i] = i;
	sort_items_by(t->order, t->n, timings_compare_rows, t);
	free_all(rank, on, v);
}
