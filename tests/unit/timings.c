/* timings.c - of what a thread computes, the function that has more is found,
 * by its samples. */
#include <stdint.h>
#include <string.h>

#include "analyze/diffs/timings.h"
#include "tests/unit/run.h"

#define ITEMS 100
#define RUN_NS 3000000000

static const struct timings_group timings_groups[] = { { { 0.2, 3 }, false },
						       { { 1.0, 3 }, true } };

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

RUN("timings", a_function_has_more_though_its_thread_is_not_proved_to,
    equal_functions_are_no_rows, what_others_do_is_judged_as_a_whole,
    a_new_function_is_not_named_by_what_calls_it)
