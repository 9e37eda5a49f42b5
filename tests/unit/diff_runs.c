/* diff_runs.c - of several runs of each side, what differs between the runs of
 * one side too is no change. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diffs/diff_chance.h"
#include "analyze/diffs/diff_runs.h"
#include "analyze/diffs/diff_stats.h"
#include "tests/unit/run.h"

#define PLACES 60
#define RUNS 20
#define SAMPLES 1000

static void diff_runs_near(double got, double want)
{
	ck_assert_msg(fabs(got - want) <= want * 1e-9, "%.17g is not %.17g",
		      got, want);
}

/* Of 1, 2 and 4 degrees of freedom the probability has a closed form. */
START_TEST(t_has_the_p_of_student)
{
	for (double t = 0.25; t < 40; t *= 2) {
		double c = 4 / (4 + t * t);

		diff_runs_near(diff_p_student(t, 1), 1 - 2 / M_PI * atan(t));
		diff_runs_near(diff_p_student(-t, 2), 1 - t / sqrt(2 + t * t));
		diff_runs_near(diff_p_student(t, 4),
			       1 - sqrt(1 - c) * (1 + c / 2));
	}
	diff_runs_near(diff_p_student(0, 7), 1);
	ck_assert(diff_p_student(1e9, 5) < 1e-40);
	/* many degrees: the normal distribution */
	ck_assert(fabs(diff_p_student(1.959963985, 1e7) - 0.05) < 1e-6);
	/* printed tables of t for 95 %: 12.706, 2.776, 2.228 */
	ck_assert(fabs(log(diff_factor(1, 1)) - 12.7062) < 1e-4);
	ck_assert(fabs(log(diff_factor(1, 4)) - 2.77645) < 1e-5);
	ck_assert(fabs(log(diff_factor(4, 10)) - 2 * 2.22814) < 2e-5);
}
END_TEST

/* ---- runs that are drawn */

struct drawn {
	struct diff_count count[PLACES][RUNS];
	struct diff_place place[PLACES];
	struct diff_run run[RUNS];
	struct diff_whole w;
};

static struct drawn dr;
static uint64_t diff_runs_state;
static size_t diff_runs_samples = SAMPLES; /* of a run */
/* By how much the spreads of places differ, and what each third of them varies
 * by together: standard deviations of logarithms. */
static double diff_runs_differ, diff_runs_together;
static double diff_runs_spread[PLACES]; /* of this program, times the usual */

static double diff_runs_draw(void)
{
	diff_runs_state =
		diff_runs_state * 6364136223846793005u + 1442695040888963407u;
	return (double)(diff_runs_state >> 11) / 9007199254740992.0;
}

static double diff_runs_normal(void)
{
	double u = diff_runs_draw();

	return sqrt(-2 * log(1 - u)) * cos(2 * M_PI * diff_runs_draw());
}

/* Draws a run of a program whose places have shares that vary by about
 * `spread`; the first one has `times` as much. */
static void diff_runs_run(size_t run, double spread, double times)
{
	double up_to[PLACES], together[3] = { 0 };
	double sum = 0;

	for (int i = 0; i < 3 && diff_runs_together > 0; i++)
		together[i] = diff_runs_together * diff_runs_normal();
	for (int i = 0; i < PLACES; i++) {
		double share = 1.0 / (i + 3);

		if (!i)
			share *= times;
		sum += share *
		       exp(spread * diff_runs_spread[i] * diff_runs_normal() +
			   together[i % 3]);
		up_to[i] = sum;
	}
	/* many samples: the counts are as good as normal */
	for (int k = 0; k < PLACES && diff_runs_samples > SAMPLES; k++) {
		double n = (up_to[k] - (k ? up_to[k - 1] : 0)) / sum *
			   (double)diff_runs_samples;

		n += sqrt(n) * diff_runs_normal();
		dr.count[k][run].n = n > 0 ? (uint64_t)n : 0;
	}
	for (size_t i = 0; i < SAMPLES && diff_runs_samples == SAMPLES; i++) {
		double at = diff_runs_draw() * sum;
		int k = 0;

		while (k < PLACES - 1 && up_to[k] < at)
			k++;
		dr.count[k][run].n++;
	}
	dr.run[run] = (struct diff_run){ diff_runs_samples, 0, 1 };
}

/* Judges a runs against b, in the second of which the first place has `times`
 * as much. Returns how many others are called a change. */
static int diff_runs_judge(size_t a, size_t b, const double spread[2],
			   double times)
{
	struct diff_whole left;
	int wrong = 0;

	memset(&dr, 0, sizeof(dr));
	for (int i = 0; i < PLACES; i++)
		diff_runs_spread[i] =
			diff_runs_differ > 0
				? exp(diff_runs_differ * diff_runs_normal())
				: 1;
	for (size_t i = 0; i < a + b; i++)
		diff_runs_run(i, spread[i >= a], i >= a ? times : 1);
	for (int i = 0; i < PLACES; i++)
		diff_place_add_up(&dr.place[i], dr.count[i], a + b, a);
	dr.w = (struct diff_whole){
		.a = a * diff_runs_samples,
		.b = b * diff_runs_samples,
		.unit_a = 1,
		.unit_b = 1,
		.run = dr.run,
		.runs_a = a,
		.runs_b = b,
	};
	diff_judge(dr.place, NULL, PLACES, &dr.w, &left);
	free(left.run);
	for (int i = 1; i < PLACES; i++)
		wrong += dr.place[i].change != 0;
	return wrong + (times > 1 ? 0 : dr.place[0].change != 0);
}

static const struct {
	size_t a, b;
	double spread[2];
} diff_runs_cases[] = {
	{ 3, 3, { 0, 0 } },	{ 5, 5, { 0.2, 0.2 } }, { 3, 3, { 0.3, 0.3 } },
	{ 2, 6, { 0.2, 0.2 } }, { 1, 5, { 0.2, 0.2 } }, { 6, 6, { 0, 0.4 } },
	{ 2, 2, { 0.3, 0.3 } }, { 4, 8, { 0.4, 0.1 } },
};

/* The probability that a picture of 60 places shows any false change is to be
 * 1 in 100: more than 10 of 400 would be a chance of 1 in 300. */
START_TEST(runs_of_one_program_hardly_ever_differ)
{
	int wrong = 0;

	if ((RUN_ELSEWHERE && _i % 4) || !turn_is((uint64_t)_i, 4))
		return;
	diff_runs_state = (uint64_t)_i + 1;
	for (int i = 0; i < 400; i++)
		wrong += diff_runs_judge(diff_runs_cases[_i].a,
					 diff_runs_cases[_i].b,
					 diff_runs_cases[_i].spread, 1) > 0;
	printf("# %zu against %zu runs, spread %.1f and %.1f: %d of 400\n",
	       diff_runs_cases[_i].a, diff_runs_cases[_i].b,
	       diff_runs_cases[_i].spread[0], diff_runs_cases[_i].spread[1],
	       wrong);
	ck_assert_msg(wrong <= 10, "%d of 400", wrong);
}
END_TEST

static const struct {
	size_t n;
	double spread[2], differ, together, times;
	int least; /* of 200 in which it is found */
} diff_runs_usual[] = {
	{ 4, { 0.1, 0.1 }, 0.7, 0, 1, 0 },
	{ 3, { 0.1, 0.1 }, 0.7, 0, 1, 0 },
	{ 4, { 0.1, 0.1 }, 0.7, 0.2, 1, 0 },
	{ 4, { 0.1, 0.3 }, 0.4, 0, 1, 0 },
	{ 4, { 0.1, 0.1 }, 1.2, 0, 1, 0 },
	/* by the variance of each place alone 24, 9 and 15 */
	{ 4, { 0.1, 0.1 }, 0.7, 0.1, 2, 110 },
	{ 3, { 0.1, 0.1 }, 0.7, 0.1, 2, 50 },
	{ 4, { 0.05, 0.05 }, 0.5, 0.05, 1.5, 110 },
};

/* Places vary by a tenth of themselves, each by its own, or some together. What
 * is usual makes a change clear, and what is none stays none. */
START_TEST(what_is_usual_tells_of_few_runs)
{
	bool equal = diff_runs_usual[_i].times <= 1;
	int runs = equal ? 400 : 200;
	int found = 0;
	int wrong = 0;

	if ((RUN_ELSEWHERE && _i % 4) || !turn_is((uint64_t)_i, 4))
		return;
	diff_runs_state = (uint64_t)_i + 3000;
	diff_runs_samples = 2000;
	diff_runs_differ = diff_runs_usual[_i].differ;
	diff_runs_together = diff_runs_usual[_i].together;
	for (int i = 0; i < runs; i++) {
		wrong += diff_runs_judge(diff_runs_usual[_i].n,
					 diff_runs_usual[_i].n,
					 diff_runs_usual[_i].spread,
					 diff_runs_usual[_i].times) > 0;
		found += dr.place[0].change > 0;
	}
	printf("# %zu runs a side, %.2f times as much: found %d of %d, another "
	       "one in %d\n",
	       diff_runs_usual[_i].n, diff_runs_usual[_i].times,
	       equal ? 0 : found, runs, wrong);
	/* as above: 1 in 100 is expected at most */
	ck_assert_msg(wrong <= (equal ? 10 : 7), "%d of %d", wrong, runs);
	ck_assert_msg(equal || found >= diff_runs_usual[_i].least, "%d of %d",
		      found, runs);
}
END_TEST

/* Without the runs, what varies would be called a change almost always. */
START_TEST(one_count_of_all_runs_would_be_wrong)
{
	const double spread[2] = { 0.3, 0.3 };
	int wrong = 0;

	diff_runs_state = 99;
	for (int i = 0; i < 100; i++) {
		struct diff_whole left;
		bool any = false;

		diff_runs_judge(5, 5, spread, 1);
		dr.w.run = NULL;
		diff_judge(dr.place, NULL, PLACES, &dr.w, &left);
		for (int k = 0; k < PLACES; k++)
			any |= dr.place[k].change != 0;
		wrong += any;
	}
	ck_assert_msg(wrong > 50, "%d of 100", wrong);
}
END_TEST

/* A place of 9 % that takes longer. */
START_TEST(a_real_difference_is_found)
{
	static const struct {
		size_t n;
		double spread, times;
		int least;
		size_t samples;
	} cases[] = {
		{ 5, 0.1, 2, 110, SAMPLES },  { 10, 0.1, 1.5, 110, SAMPLES },
		{ 10, 0.1, 2, 110, SAMPLES }, { 4, 0.05, 2, 110, SAMPLES },
		{ 3, 0.05, 3, 110, SAMPLES }, { 10, 0.01, 1.05, 110, 50000 },
	};
	const double spread[2] = { cases[_i].spread, cases[_i].spread };
	int found = 0;
	int wrong = 0;

	/* other tests have more runs a side under sanitizers */
	if ((RUN_ELSEWHERE && _i != 4) || !turn_is((uint64_t)_i, 3))
		return;
	diff_runs_state = (uint64_t)_i + 1000;
	diff_runs_samples = cases[_i].samples;
	for (int i = 0; i < 200; i++) {
		wrong += diff_runs_judge(cases[_i].n, cases[_i].n, spread,
					 cases[_i].times) > 0;
		found += dr.place[0].change > 0;
	}
	printf("# %zu against %zu runs, spread %.2f, %.2f times as much: found "
	       "%d of 200, another one in %d\n",
	       cases[_i].n, cases[_i].n, spread[0], cases[_i].times, found,
	       wrong);
	ck_assert_msg(found >= cases[_i].least, "%d of 200", found);
	ck_assert_msg(wrong <= 7, "%d of 200", wrong);
}
END_TEST

START_TEST(what_loss_of_one_run_could_explain_is_no_change)
{
	const double spread[2] = { 0.02, 0.02 };
	struct diff_whole left;

	diff_runs_state = 5;
	diff_runs_judge(8, 8, spread, 2);
	ck_assert_int_eq(dr.place[0].change, 1);
	for (int i = 0; i < 8; i++)
		dr.count[0][i].may = 120;
	diff_judge(dr.place, NULL, PLACES, &dr.w, &left);
	free(left.run);
	ck_assert_int_eq(dr.place[0].change, 0);
}
END_TEST

/* Judges one place of these runs, those of A first, beside the rest of them. */
static struct diff_place diff_runs_one(const struct diff_count *count,
				       struct diff_run *run, size_t a, size_t b,
				       bool absolute)
{
	struct diff_place p[2] = { { .a = 0 }, { .a = 0 } };
	struct diff_count rest[6];
	struct diff_whole w = { .absolute = absolute,
				.unit_a = 1,
				.unit_b = 1,
				.run = run,
				.runs_a = a,
				.runs_b = b };
	struct diff_whole left;

	for (size_t i = 0; i < a + b; i++) {
		*(i < a ? &w.a : &w.b) += run[i].n;
		*(i < a ? &w.lost_a : &w.lost_b) += run[i].lost;
		rest[i] = (struct diff_count){ .n = run[i].n - count[i].n };
	}
	diff_place_add_up(&p[0], count, a + b, a);
	diff_place_add_up(&p[1], rest, a + b, a);
	p[1].skip = absolute;
	diff_judge(p, NULL, 2, &w, &left);
	free(left.run);
	return p[0];
}

START_TEST(loss_that_makes_runs_alike_proves_nothing)
{
	/* 400 samples in the first run, and all six are hardly apart */
	struct diff_count count[6] = { { .n = 600 },  { .n = 1000 },
				       { .n = 1000 }, { .n = 1400 },
				       { .n = 1400 }, { .n = 1400 } };
	struct diff_run run[6];
	struct diff_place p;

	for (int i = 0; i < 6; i++)
		run[i] = (struct diff_run){ 100000, 0, 1 };
	p = diff_runs_one(count, run, 3, 3, false);
	ck_assert_int_eq(p.change, 0);
	/* 0.05, of two tests */
	ck_assert(p.p > 0.08 && p.p < 0.12);
	count[0].may = 400;
	run[0].lost = 400;
	ck_assert_int_eq(diff_runs_one(count, run, 3, 3, false).change, 0);
	ck_assert(diff_runs_one(count, run, 3, 3, false).p >= p.p);
	ck_assert_int_eq(diff_runs_one(count, run, 3, 3, true).change, 0);
}
END_TEST

static uint64_t diff_runs_below(uint64_t n)
{
	return (uint64_t)(diff_runs_draw() * (double)n);
}

struct lossy {
	struct diff_count
		count[6]; /* may: samples of elsewhere and lost ones */
	struct diff_run run[6];
	size_t a, b;
	bool absolute;
};

static void diff_runs_lossy(struct lossy *l)
{
	uint64_t most = 1 + diff_runs_below(400);
	double spread = diff_runs_draw() * 0.15;
	double times = 1.2 + diff_runs_draw() * 2;
	bool up = diff_runs_draw() < 0.5;

	memset(l, 0, sizeof(*l));
	l->absolute = diff_runs_draw() < 0.3;
	l->a = 1 + diff_runs_below(4);
	l->b = 6 - l->a;
	for (size_t i = 0; i < l->a + l->b; i++) {
		double n = 1000 * exp(spread * diff_runs_normal());
		/* most runs lost nothing */
		bool lost = diff_runs_draw() < 0.4;

		l->run[i] = (struct diff_run){ 8000 + diff_runs_below(9000),
					       lost ? diff_runs_below(most) : 0,
					       1 };
		l->count[i].n = (uint64_t)((i >= l->a) == up ? n * times : n);
		l->count[i].may = l->run[i].lost;
		if (diff_runs_draw() < 0.4)
			l->count[i].may += diff_runs_below(most);
	}
}

/* Returns what is judged if the lost records of each run are samples of the
 * place (0), of others (1) or none (2), and so are those without a half. */
static struct diff_place diff_runs_way(const struct lossy *l, const int *way)
{
	struct lossy is = *l;

	for (size_t i = 0; i < l->a + l->b; i++) {
		uint64_t lost = l->run[i].lost;

		is.run[i].lost = 0;
		is.run[i].n += way[i] % 3 == 2 ? 0 : lost;
		is.count[i].n += way[i] % 3 ? 0 : lost;
		is.count[i].n += way[i] / 3 ? 0 : l->count[i].may - lost;
		is.count[i].may = 0;
	}
	return diff_runs_one(is.count, is.run, l->a, l->b, l->absolute);
}

/* Whatever the lost samples were, none of it takes back a change. */
START_TEST(a_change_holds_for_every_way_the_lost_samples_went)
{
	int changed = 0;
	int same = 0;

	diff_runs_state = 2024;
	for (int trial = 0; trial < 1500; trial++) {
		struct lossy l;
		struct diff_place p;
		int way[6];

		diff_runs_lossy(&l);
		p = diff_runs_one(l.count, l.run, l.a, l.b, l.absolute);
		changed += p.change != 0;
		same += !p.change;
		int ways = p.change && turn_is((uint64_t)trial, 4) ? 400 : 0;

		for (int k = 0; k < ways / RUN_FEWER; k++) {
			struct diff_place q;

			for (int i = 0; i < 6; i++)
				way[i] = (int)diff_runs_below(6);
			q = diff_runs_way(&l, way);
			ck_assert_msg(q.change == p.change &&
					      q.p <= p.p * (1 + 1e-9),
				      "trial %d: %d (p %g), but %d (p %g)",
				      trial, p.change, p.p, q.change, q.p);
		}
	}
	printf("# lossy runs: %d changes, %d times none\n", changed, same);
	ck_assert_msg(changed > 200 && same > 200, "%d and %d", changed, same);
}
END_TEST

/* Half of the last run is in code of another tier: its side is judged by the
 * three others, unless fewer than two are left. */
START_TEST(a_run_of_another_tier_does_not_count)
{
	struct diff_count count[8];
	struct diff_run run[8];

	for (int i = 0; i < 8; i++) {
		count[i] = (struct diff_count){
			.n = (uint64_t)(i == 7	? 6000
					: i < 4 ? 1000 + i
						: 1600 + i)
		};
		run[i] = (struct diff_run){ 100000, 0, 1 };
	}
	for (int other = 0; other < 2; other++) {
		struct diff_place p[2] = { { .a = 0 }, { .a = 0 } };
		struct diff_count rest[8];
		struct diff_whole w = { .a = 400000,
					.b = 400000,
					.run = run,
					.runs_a = 4,
					.runs_b = 4,
					.unit_a = 1,
					.unit_b = 1 };
		struct diff_whole left;

		count[7].other = other;
		for (int i = 0; i < 8; i++)
			rest[i] =
				(struct diff_count){ .n = run[i].n - count[i].n,
						     .other = count[i].other };
		diff_place_add_up(&p[0], count, 8, 4);
		diff_place_add_up(&p[1], rest, 8, 4);
		diff_judge(p, NULL, 2, &w, &left);
		free(left.run);
		ck_assert_int_eq(p[0].change, other);
	}
	count[5].other = count[6].other = true;
	struct diff_place one = { .run = count };
	struct diff_whole w = { .run = run, .runs_a = 4, .runs_b = 4 };
	struct runs_test all = runs_compare(&one, &w, false, false, false);

	count[5].other = count[6].other = count[7].other = false;
	ck_assert(fabs(all.t - runs_compare(&one, &w, false, false, false).t) <
		  1e-9);
}
END_TEST

START_TEST(equal_runs_have_the_variance_of_counting)
{
	/* 1 of 100 against 3 of 100 samples, four times */
	struct diff_count count[2][8];
	struct diff_place p[2];
	struct diff_run run[8];
	struct diff_whole w = { .a = 400,
				.b = 400,
				.run = run,
				.runs_a = 4,
				.runs_b = 4,
				.unit_a = 1,
				.unit_b = 1 };
	struct diff_whole left;

	memset(p, 0, sizeof(p));
	for (int i = 0; i < 8; i++) {
		count[0][i] = (struct diff_count){ .n = i < 4 ? 1 : 3 };
		count[1][i] = (struct diff_count){ .n = i < 4 ? 99 : 97 };
		run[i] = (struct diff_run){ 100, 0, 1 };
	}
	for (int i = 0; i < 2; i++)
		diff_place_add_up(&p[i], count[i], 8, 4);
	diff_judge(p, NULL, 2, &w, &left);
	free(left.run);
	ck_assert_int_eq(p[0].change, 0);
	ck_assert_int_eq(p[1].change, 0);
}
END_TEST

START_TEST(numbers_are_those_of_a_run)
{
	/* as many samples each; those of B weigh twice as much */
	struct diff_count count[6];
	struct diff_place p = { .a = 0 };
	struct diff_run run[6];
	struct diff_whole w = { .a = 2000,
				.b = 4000,
				.run = run,
				.runs_a = 2,
				.runs_b = 4,
				.unit_a = 1,
				.unit_b = 2,
				.absolute = true };
	struct diff_whole left;
	double mean, deviation;

	for (int i = 0; i < 6; i++) {
		count[i] = (struct diff_count){ .n = i % 2 ? 1010 : 990 };
		run[i] = (struct diff_run){ 1000, 0, i < 2 ? 1 : 2 };
	}
	diff_place_add_up(&p, count, 6, 2);
	diff_spread(&p, &w, 1, &mean, &deviation);
	diff_runs_near(mean, 2000);
	diff_runs_near(deviation, sqrt(1600.0 / 3));
	diff_judge(&p, NULL, 1, &w, &left);
	ck_assert_int_eq(p.change, 1);
	diff_runs_near(diff_scale(&left), 2);
	free(left.run);
}
END_TEST

/* By how much a place has more, beside all others: 19 of 20 intervals have it
 * in them. 400 draws may have 366 to 394 by chance. */
START_TEST(the_interval_has_what_was_drawn)
{
	const double spread[2] = { 0.2, 0.1 };
	int in = 0;

	diff_runs_state = 11;
	for (int i = 0; i < 400; i++) {
		double mean[2], deviation, times;
		struct diff_whole left;

		diff_runs_judge(4, 5, spread, 1.5);
		left = dr.w;
		for (int k = 0; k < 9; k++)
			dr.run[k].n -= dr.count[0][k].n;
		for (int k = 0; k < 2; k++)
			diff_spread(&dr.place[0], &left, k, &mean[k],
				    &deviation);
		times = mean[1] / mean[0] / 1.5;
		in += fabs(log(times)) <
		      log(diff_runs_factor(&dr.place[0], &left));
	}
	ck_assert_msg(in >= 366 && in <= 394, "%d of 400", in);
	/* one run a side tells nothing */
	dr.w.runs_a = dr.w.runs_b = 1;
	ck_assert(isnan(diff_runs_factor(&dr.place[0], &dr.w)));
}
END_TEST

static const struct run_table loops[] = {
	RUN_TIMES(runs_of_one_program_hardly_ever_differ, 8),
	RUN_TIMES(a_real_difference_is_found, 6),
	RUN_TIMES(what_is_usual_tells_of_few_runs, 8)
};

RUN_TABLES("diff_runs", loops, t_has_the_p_of_student,
	   one_count_of_all_runs_would_be_wrong,
	   what_loss_of_one_run_could_explain_is_no_change,
	   loss_that_makes_runs_alike_proves_nothing,
	   a_change_holds_for_every_way_the_lost_samples_went,
	   a_run_of_another_tier_does_not_count,
	   equal_runs_have_the_variance_of_counting,
	   the_interval_has_what_was_drawn, numbers_are_those_of_a_run)
