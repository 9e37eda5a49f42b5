/* timings.c - of what a thread computes, the function that has more is found,
 * by its samples. */
#include <stdint.h>
#include <string.h>

#include "analyze/diffs/timings.h"
#include "tests/unit/run.h"

#define ITEMS 100
#define RUN_NS 3000000000

static const struct timings_group timings_groups[] = {
	{ .usual = { 0.2, 3 } },
	{ .usual = { 1.0, 3 }, .whole = true },
	{ .usual = { 0.3, 2 }, .number = { 0.15, 3 } },
	{ .usual = { 0.45, 1.5 }, .apart = true },
};

struct timings_seen {
	const char *name;
	uint64_t n;
};

/* Adds a run in which a worker computed so many ms, and its samples. */
static void timings_compute(struct timings *t, int side, int64_t ms,
			    uint8_t group, const struct timings_seen *seen)
{
	static const char *const key[TIMINGS_KEYS] = { "computing", "worker" };
	struct timings_run *run;
	uint32_t row = 0;

	timings_add_run(t, side);
	run = &t->run[t->n_run - 1];
	run->from = 0;
	run->to = RUN_NS;
	for (int64_t i = 0; i < ITEMS; i++) {
		int64_t ns = ms * 1000000 / ITEMS;

		row = timings_add(
			t, key,
			(struct timings_item){ .at = RUN_NS / ITEMS * (i + 1),
					       .least = ns,
					       .most = ns,
					       .group = group,
					       .proved = true });
	}
	for (; seen->name; seen++)
		timings_add_share(t, row, seen->name, seen->n);
}

/* Three runs a side, which differ as runs do. */
static void timings_fill(struct timings *t, uint8_t group, const int64_t ms[6],
			 const struct timings_seen *a,
			 const struct timings_seen *b)
{
	t->parts = timings_groups;
	for (int i = 0; i < 6; i++)
		timings_compute(t, i > 2, ms[i], group, i > 2 ? b : a);
	timings_judge(t);
}

static const struct timings_row *timings_row_of(const struct timings *t,
						bool share)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->row[i].share == share)
			return &t->row[i];
	return NULL;
}

static const int64_t timings_loaded[] = { 1400, 1100, 1900, 1300, 2000, 1500 };
static const struct timings_seen timings_before[] = {
	{ "", 1000 }, { "work_for", 990 }, { "parse", 50 }, { "toil", 300 }, {}
};
static const struct timings_seen timings_after[] = {
	{ "", 1000 }, { "work_for", 990 }, { "parse", 350 }, { "toil", 600 }, {}
};

START_TEST(a_function_has_more_though_its_thread_is_not_proved_to)
{
	struct timings t = { 0 };
	const struct timings_row *r;

	timings_fill(&t, 0, timings_loaded, timings_before, timings_after);
	ck_assert_int_eq(timings_row_of(&t, false)->of[TIMINGS_TOTAL].change,
			 0);
	r = timings_row_of(&t, true);
	ck_assert_ptr_nonnull(r);
	ck_assert_str_eq(intern_get(&t.words, r->mostly), "parse");
	ck_assert_int_eq(r->of[TIMINGS_TOTAL].change, 1);
	ck_assert(r->of[TIMINGS_TOTAL].low > 2);
	timings_release(&t);
}
END_TEST

START_TEST(equal_functions_are_no_rows)
{
	struct timings t = { 0 };

	timings_fill(&t, 0, timings_loaded, timings_before, timings_before);
	ck_assert_uint_eq(t.n, 1);
	timings_release(&t);
}
END_TEST

START_TEST(what_others_do_is_judged_as_a_whole)
{
	struct timings t = { 0 };

	timings_fill(&t, 1, timings_loaded, timings_before, timings_after);
	ck_assert_uint_eq(t.n, 1);
	timings_release(&t);
}
END_TEST

START_TEST(a_new_function_is_not_named_by_what_calls_it)
{
	static const int64_t ms[] = { 100, 90, 110, 1400, 1300, 1500 };
	static const struct timings_seen a[] = { { "", 100 },
						 { "work_for", 100 },
						 {} };
	static const struct timings_seen b[] = { { "", 1400 },
						 { "work_for", 1400 },
						 { "use_new", 1300 },
						 { "touch", 1000 },
						 {} };
	struct timings t = { 0 };
	const struct timings_row *r;

	timings_fill(&t, 0, ms, a, b);
	ck_assert_uint_eq(t.n, 1);
	r = timings_row_of(&t, false);
	ck_assert_int_eq(r->of[TIMINGS_TOTAL].change, 1);
	ck_assert_str_eq(intern_get(&t.words, r->mostly), "use_new");
	timings_release(&t);
}
END_TEST

START_TEST(a_share_that_is_all_of_its_row_is_no_further_test)
{
	static const struct timings_seen a[] = { { "", 1000 },
						 { "parse", 50 },
						 {} };
	static const struct timings_seen b[] = { { "", 1000 },
						 { "parse", 350 },
						 {} };
	static const struct timings_seen more_a[] = {
		{ "", 1000 }, { "work_for", 990 }, { "parse", 50 }, {}
	};
	static const struct timings_seen more_b[] = {
		{ "", 1000 }, { "work_for", 990 }, { "parse", 350 }, {}
	};
	struct timings t = { 0 }, more = { 0 };

	timings_fill(&t, 0, timings_loaded, a, b);
	timings_fill(&more, 0, timings_loaded, more_a, more_b);
	ck_assert_double_eq(timings_row_of(&t, true)->of[TIMINGS_TOTAL].p,
			    timings_row_of(&more, true)->of[TIMINGS_TOTAL].p);
	timings_release(&t);
	timings_release(&more);
}
END_TEST

START_TEST(what_takes_as_long_on_each_cpu_is_not_compared_with_the_rest)
{
	static const int64_t ms[] = { 900, 300, 1400, 1400, 1200, 1800 };
	struct timings t = { .parts = timings_groups };

	for (int i = 0; i < 6; i++) {
		const uint64_t walk = i > 2 ? 500 : 80;
		const struct timings_seen seen[] = { { "", (uint64_t)ms[i] },
						     { "walk", walk },
						     { "toil",
						       (uint64_t)ms[i] - walk },
						     {} };

		timings_compute(&t, i > 2, ms[i], 0, seen);
	}
	timings_judge(&t);
	ck_assert_int_eq(timings_row_of(&t, false)->of[TIMINGS_TOTAL].change,
			 0);
	ck_assert_ptr_nonnull(timings_row_of(&t, true));
	ck_assert_str_eq(intern_get(&t.words, timings_row_of(&t, true)->mostly),
			 "walk");
	timings_release(&t);
}
END_TEST

/* Adds runs with n waits each, of so many ms in all, and judges them. Returns
 * the change of a measure. */
static int timings_of_waits(uint8_t group, size_t runs, const int64_t *ms,
			    const int64_t *n, enum timings_measure m)
{
	static const char *const key[TIMINGS_KEYS] = { "waiting", "worker" };
	struct timings t = { .parts = timings_groups };

	for (size_t i = 0; i < runs; i++) {
		timings_add_run(&t, i >= runs / 2);
		t.run[i].from = 0;
		t.run[i].to = RUN_NS;
		/* what is not proved of others, in A */
		t.run[i].loose = i < runs / 2 ? 1e9 : 0;
		for (int64_t k = 0; k < n[i]; k++) {
			int64_t ns = ms[i] * 1000000 / n[i];

			timings_add(&t, key,
				    (struct timings_item){ .at = RUN_NS / n[i] *
								 (k + 1),
							   .least = ns,
							   .most = ns,
							   .group = group,
							   .proved = true });
		}
	}
	timings_judge(&t);

	int change = t.row[0].of[m].change;

	timings_release(&t);
	return change;
}

START_TEST(how_many_there_are_is_judged_where_that_is_usually_the_same)
{
	static const int64_t ms[] = { 100, 400, 200, 500, 1500, 700 };
	static const int64_t n[] = { 590, 600, 580, 9500, 9700, 9600 };
	static const int64_t one[] = { 590, 9500 };
	static const int64_t same[] = { 590, 600, 580, 585, 610, 595 };

	ck_assert_int_eq(timings_of_waits(2, 6, ms, n, TIMINGS_TOTAL), 0);
	ck_assert_int_eq(timings_of_waits(2, 6, ms, n, TIMINGS_RATE), 1);
	ck_assert_int_eq(timings_of_waits(2, 6, ms, same, TIMINGS_RATE), 0);
	ck_assert_int_eq(timings_of_waits(0, 6, ms, n, TIMINGS_RATE), 0);
	/* nothing shows how runs differ */
	ck_assert_int_eq(timings_of_waits(2, 2, ms, one, TIMINGS_RATE), 0);
}
END_TEST

START_TEST(of_a_counter_few_are_enough_and_others_are_no_part_of_it)
{
	static const int64_t ms[] = { 10, 12, 900, 800 };
	static const int64_t n[] = { 1, 1, 1, 1 };

	ck_assert_int_eq(timings_of_waits(3, 4, ms, n, TIMINGS_TOTAL), 1);
	ck_assert_int_eq(timings_of_waits(0, 4, ms, n, TIMINGS_TOTAL), 0);
}
END_TEST

RUN("timings", a_function_has_more_though_its_thread_is_not_proved_to,
    equal_functions_are_no_rows, what_others_do_is_judged_as_a_whole,
    a_new_function_is_not_named_by_what_calls_it,
    a_share_that_is_all_of_its_row_is_no_further_test,
    what_takes_as_long_on_each_cpu_is_not_compared_with_the_rest,
    how_many_there_are_is_judged_where_that_is_usually_the_same,
    of_a_counter_few_are_enough_and_others_are_no_part_of_it)
