/* diff_stats.c - what is called a change is one, and what is none is not. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diffs/diff_chance.h"
#include "analyze/diffs/diff_stats.h"
#include "tests/unit/run.h"

static void near(double got, double want)
{
	ck_assert_msg(fabs(got - want) <= want * 1e-9, "%.17g is not %.17g",
		      got, want);
}

/* Known values: twice the smaller tail, computed in exact fractions. */
START_TEST(shares_have_the_p_of_fisher)
{
	near(diff_p_shares(1, 10, 9, 12), 0.007008471404756234);
	near(diff_p_shares(0, 100, 8, 100), 0.00675467457524821);
	near(diff_p_shares(30, 1000, 60, 1000), 0.0016206190187386927);
	near(diff_p_shares(5, 50, 5, 50), 1);
	near(diff_p_shares(0, 5, 0, 7), 1);
	near(diff_p_shares(200, 200, 100, 100), 1);
	near(diff_p_shares(3, 0, 4, 10), 1);
}
END_TEST

START_TEST(rates_have_the_p_of_a_coin)
{
	near(diff_p_rates(0, 10, 0.5), 2.0 / 1024);
	near(diff_p_rates(10, 0, 0.5), 2.0 / 1024);
	near(diff_p_rates(1, 9, 0.5), 2 * 11.0 / 1024);
	near(diff_p_rates(5, 5, 0.5), 1);
	near(diff_p_rates(0, 3, 0.25), 2.0 / 64);
	near(diff_p_rates(4, 4, 0), 1);
}
END_TEST

START_TEST(huge_counts_are_quick_and_sane)
{
	ck_assert(diff_p_shares(1000000, 100000000, 1003000, 100000000) < 0.05);
	ck_assert(diff_p_shares(1000000, 100000000, 1003000, 100000000) > 0.02);
	ck_assert(diff_p_shares(UINT64_MAX / 4, UINT64_MAX / 2, 7,
				UINT64_MAX / 2) <= 1);
	ck_assert(diff_p_rates(UINT64_MAX, UINT64_MAX, 0.5) <= 1);
}
END_TEST

static struct diff_whole sum(const struct diff_place *p, size_t n)
{
	struct diff_whole w = { .unit_a = 1, .unit_b = 1 };

	for (size_t i = 0; i < n; i++) {
		w.a += p[i].a;
		w.b += p[i].b;
	}
	return w;
}

START_TEST(one_place_that_grew_is_the_only_change)
{
	/* all others have a smaller share then, and did not change */
	struct diff_place p[] = {
		{ .a = 200, .b = 200 }, { .a = 210, .b = 195 },
		{ .a = 190, .b = 600 }, { .a = 205, .b = 211 },
		{ .a = 3, .b = 5 },
	};
	struct diff_whole w = sum(p, 5);
	struct diff_whole left;

	diff_judge(p, NULL, 5, &w, &left);
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(p[i].change, i == 2);
	ck_assert(p[2].p < 1e-20);
	ck_assert_uint_eq(left.a, 618);
	ck_assert_uint_eq(left.b, 611);
}
END_TEST

START_TEST(three_samples_are_no_reference)
{
	/* all else is under a function that changed */
	static const struct diff_count under[][2] = {
		{ { .n = 20 }, { .n = 680 } },
		{ { .n = 1635 }, { .n = 1325 } },
	};
	struct diff_place p[] = {
		{ .a = 20, .b = 680, .under = under[0] },
		{ .a = 1635, .b = 1325, .under = under[1] },
		{ .a = 2, .b = 1 },
	};
	struct diff_whole w = sum(p, 3);
	struct diff_whole left;

	diff_judge(p, NULL, 3, &w, &left);
	ck_assert(!left.part);
	ck_assert_uint_eq(left.a, w.a);
	ck_assert_int_eq(p[0].change, 1);
	ck_assert_int_eq(p[1].change, -1);
	ck_assert(p[0].kept && p[1].kept && p[2].kept);
}
END_TEST

/* 5e-3 by itself, in one of eight places */
START_TEST(p_allows_for_all_places_that_are_tested)
{
	struct diff_place p[] = {
		{ .a = 100, .b = 145 },	  { .a = 1000, .b = 1000 },
		{ .a = 1000, .b = 1000 }, { .a = 1000, .b = 1000 },
		{ .a = 1000, .b = 1000 }, { .a = 1000, .b = 1000 },
		{ .a = 1000, .b = 1000 }, { .a = 1000, .b = 1000 },
	};
	struct diff_whole w = sum(p, 8);
	struct diff_place total[8];
	struct diff_whole left;
	double alone = diff_p_shares(100, w.a, 145, w.b);

	ck_assert(alone < 0.011);
	diff_judge(p, NULL, 8, &w, &left);
	ck_assert_int_eq(p[0].change, 0);
	near(p[0].p, 8 * alone);
	/* self and total are one family of tests, where they are not the same
	 */
	memcpy(total, p, sizeof(p));
	diff_judge(p, total, 8, &w, &left);
	near(total[0].p, 8 * alone);
	total[1].a += 100;
	total[2].b += 100;
	diff_judge(p, total, 8, &w, &left);
	near(total[0].p, 10 * alone);
}
END_TEST

/* 1e-3 by itself: one of two that are suspect, or of the six that are not */
START_TEST(suspect_places_are_a_family_of_their_own)
{
	struct diff_place p[] = {
		{ .a = 100, .b = 155 },	  { .a = 1000, .b = 1000 },
		{ .a = 1000, .b = 1000 }, { .a = 1000, .b = 1000 },
		{ .a = 1000, .b = 1000 }, { .a = 1000, .b = 1000 },
		{ .a = 1000, .b = 1000 }, { .a = 1000, .b = 1000 },
	};
	struct diff_whole w = sum(p, 8);
	struct diff_whole left;
	double alone = diff_p_shares(100, w.a, 155, w.b);

	p[7].suspect = true;
	diff_judge(p, NULL, 8, &w, &left);
	ck_assert_int_eq(p[0].change, 0);
	near(p[0].p, 2 * 7 * alone);
	p[0].suspect = true;
	diff_judge(p, NULL, 8, &w, &left);
	ck_assert_int_eq(p[0].change, 1);
	ck_assert(p[0].p <= 2 * 2 * alone * 1.5);
}
END_TEST

START_TEST(of_two_places_the_one_whose_numbers_changed_did)
{
	struct diff_place p[] = { { .a = 200, .b = 800 },
				  { .a = 800, .b = 790 } };
	struct diff_whole w = sum(p, 2);
	struct diff_whole left;

	diff_judge(p, NULL, 2, &w, &left);
	ck_assert_int_eq(p[0].change, 1);
	ck_assert_int_eq(p[1].change, 0);
}
END_TEST

/* Counting alone would call 5 % more a change; runs of one program differ as
 * much. Several runs show it, see diff_runs.c. */
START_TEST(of_one_run_a_side_a_change_is_more_than_runs_differ)
{
	static const struct {
		uint64_t b;
		double between;
		int change;
	} cases[] = {
		{ 9450, 0, 1 },	    { 9450, 0.03, 0 },	{ 8550, 0.03, 0 },
		{ 10800, 0.03, 1 }, { 7500, 0.03, -1 }, { 10800, 0.1, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct diff_place p[] = { { .a = 9000, .b = cases[i].b },
					  { .a = 50000, .b = 50000 },
					  { .a = 41000, .b = 41000 } };
		struct diff_whole w = sum(p, 3);
		struct diff_whole left;

		w.between = cases[i].between;
		diff_judge(p, NULL, 3, &w, &left);
		for (int k = 0; k < 3; k++)
			ck_assert_int_eq(p[k].change, k ? 0 : cases[i].change);
		w.absolute = true;
		diff_judge(p, NULL, 3, &w, &left);
		ck_assert_int_eq(p[0].change, cases[i].change);
	}
}
END_TEST

START_TEST(a_place_that_went_is_less)
{
	struct diff_place p[] = { { .a = 50, .b = 0 },
				  { .a = 500, .b = 510 },
				  { .a = 0, .b = 2 } };
	struct diff_whole w = sum(p, 3);
	struct diff_whole left;

	diff_judge(p, NULL, 3, &w, &left);
	ck_assert_int_eq(p[0].change, -1);
	ck_assert_int_eq(p[1].change, 0);
	ck_assert_int_eq(p[2].change, 0);
}
END_TEST

START_TEST(what_loss_could_explain_is_no_change)
{
	struct diff_place p[] = { { .a = 20, .b = 80 },
				  { .a = 480, .b = 420 } };
	struct diff_whole w = sum(p, 2);
	struct diff_whole left;

	diff_judge(p, NULL, 2, &w, &left);
	ck_assert_int_eq(p[0].change, 1);
	/* 50 samples of A have no user half */
	p[0].may_a = 50;
	diff_judge(p, NULL, 2, &w, &left);
	ck_assert_int_eq(p[0].change, 0);
	/* of B it does not matter: it would be more still */
	p[0].may_a = 0;
	p[0].may_b = 50;
	diff_judge(p, NULL, 2, &w, &left);
	ck_assert_int_eq(p[0].change, 1);
	/* 2000 records were lost while B was recorded: its share may be less */
	p[0].may_b = 0;
	w.lost_b = 2000;
	diff_judge(p, NULL, 2, &w, &left);
	ck_assert_int_eq(p[0].change, 0);
}
END_TEST

START_TEST(a_longer_recording_is_no_change_of_shares)
{
	struct diff_place p[] = { { .a = 100, .b = 1000 },
				  { .a = 200, .b = 2000 } };
	struct diff_whole w = sum(p, 2);
	struct diff_whole left;

	diff_judge(p, NULL, 2, &w, &left);
	ck_assert_int_eq(p[0].change, 0);
	ck_assert_int_eq(p[1].change, 0);
	w.absolute = true;
	diff_judge(p, NULL, 2, &w, &left);
	ck_assert_int_eq(p[0].change, 1);
	ck_assert_int_eq(p[1].change, 1);
	/* unless B took ten samples where A took one */
	w.unit_a = 10;
	diff_judge(p, NULL, 2, &w, &left);
	ck_assert_int_eq(p[0].change, 0);
	ck_assert_int_eq(p[1].change, 0);
}
END_TEST

START_TEST(callers_of_what_changed_changed_too)
{
	/* places: main (all), f in it, g in it */
	struct diff_place own[] = { { .a = 500, .b = 500 },
				    { .a = 100, .b = 300 },
				    { .a = 500, .b = 510 } };
	struct diff_place all[] = { { .a = 1100, .b = 1310 },
				    { .a = 100, .b = 300 },
				    { .a = 500, .b = 510 } };
	struct diff_whole w = sum(own, 3);
	struct diff_whole left;

	diff_judge(own, all, 3, &w, &left);
	ck_assert_uint_eq(left.a, 1000);
	ck_assert(own[0].kept && !own[1].kept && own[2].kept);
	ck_assert_int_eq(all[0].change, 1);
	ck_assert_int_eq(all[1].change, 1);
	ck_assert_int_eq(all[2].change, 0);
}
END_TEST

/* One place went from 12.5 to 22.2 % in twenty small ones that it calls; a
 * large one only has a smaller share. */
START_TEST(what_is_spread_over_callees_is_no_change_of_a_large_place)
{
	struct diff_place own[30], all[30];
	struct diff_whole w, left;

	memset(own, 0, sizeof(own));
	own[0] = (struct diff_place){ .a = 6000, .b = 6030 };
	for (int i = 1; i < 9; i++)
		own[i] = (struct diff_place){ .a = 350, .b = 352 };
	for (int i = 9; i < 29; i++)
		own[i] = (struct diff_place){ .a = 62, .b = 124 };
	memcpy(all, own, sizeof(own));
	/* the one in which they are called */
	own[29] = (struct diff_place){ .a = 10, .b = 10 };
	all[29] = (struct diff_place){ .a = 1250, .b = 2490 };
	w = sum(own, 30);
	w.between = 0.03;
	diff_judge(own, all, 30, &w, &left);
	for (int i = 0; i < 9; i++) {
		ck_assert_int_eq(own[i].change, 0);
		ck_assert_int_eq(all[i].change, 0);
		ck_assert(own[i].kept);
	}
	ck_assert_int_eq(all[29].change, 1);
	ck_assert(all[29].p < 1e-12);
	ck_assert(left.part && left.kept_p > 0.1);
}
END_TEST

START_TEST(chi_squared_has_its_p)
{
	/* of 2 degrees of freedom exp(-x / 2) */
	for (double x = 0.5; x < 20; x *= 2)
		ck_assert(fabs(diff_p_chi(x, 2) - exp(-x / 2)) < 0.01);
	ck_assert(diff_p_chi(5, 0) >= 1);
}
END_TEST

/* A generator of our own, so that the test is the same everywhere. */
static uint32_t state;

static uint32_t diff_stats_draw(uint32_t n)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % n;
}

/* Two draws from one mix of 300 places, 400 times: at most one in a hundred
 * may show anything, so more than 12 would be a chance of 1 in 1000. */
START_TEST(draws_from_one_mix_hardly_ever_differ)
{
	struct diff_place p[300];
	unsigned int wrong = 0;

	state = 7;
	for (int round = 0; round < 400; round++) {
		struct diff_whole w, left;

		memset(p, 0, sizeof(p));
		for (int i = 0; i < 2000; i++) {
			uint32_t at = diff_stats_draw(300);

			at = diff_stats_draw(at +
					     1); /* small places are rare */
			if (diff_stats_draw(3))
				p[at].a++;
			else
				p[at].b++;
		}
		w = sum(p, 300);
		diff_judge(p, NULL, 300, &w, &left);
		for (int i = 0; i < 300; i++) {
			if (p[i].change) {
				wrong++;
				break;
			}
		}
	}
	ck_assert_msg(wrong <= 12, "%u of 400", wrong);
}
END_TEST

START_TEST(nothing_to_judge_is_fine)
{
	struct diff_place p = { .a = 100, .b = 0, .skip = true };
	struct diff_whole w = { .a = 100, .b = 100 };
	struct diff_whole left;

	diff_judge(NULL, NULL, 0, &w, &left);
	diff_judge(&p, NULL, 1, &w, &left);
	ck_assert_int_eq(p.change, 0);
	w.b = 0;
	p.skip = false;
	diff_judge(&p, NULL, 1, &w, &left);
	ck_assert_int_eq(p.change, 0);
}
END_TEST

RUN("diff_stats", shares_have_the_p_of_fisher, rates_have_the_p_of_a_coin,
    huge_counts_are_quick_and_sane, one_place_that_grew_is_the_only_change,
    three_samples_are_no_reference, p_allows_for_all_places_that_are_tested,
    suspect_places_are_a_family_of_their_own,
    of_two_places_the_one_whose_numbers_changed_did,
    of_one_run_a_side_a_change_is_more_than_runs_differ,
    a_place_that_went_is_less, what_loss_could_explain_is_no_change,
    a_longer_recording_is_no_change_of_shares,
    callers_of_what_changed_changed_too,
    what_is_spread_over_callees_is_no_change_of_a_large_place,
    chi_squared_has_its_p, draws_from_one_mix_hardly_ever_differ,
    nothing_to_judge_is_fine)
