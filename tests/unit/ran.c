/* ran.c - tests of stitch/order/oncpu_match.c: who was on a CPU, asked of
 * another capture. */
#include "stitch/order/oncpu_match.h"

#include "stitch/order/clocks.h"
#include "tests/unit/run.h"

#define TURN 10000
#define TURNS 100

static const struct clock_map same;

/* Threads 100, 101, 102 have CPU 0 in turns, 200 and 201 have CPU 1. */
static void take_turns(struct ran *r)
{
	for (int i = 0; i < TURNS; i++) {
		uint64_t t = (uint64_t)(i + 1) * TURN;

		ran_switch(r, 0, 100 + (i + 2) % 3, 100 + i % 3, t);
		ran_switch(r, 1, 200 + (i + 1) % 2, 200 + i % 2, t + 3);
	}
	ran_end(r);
}

/* In the middle of each turn, by the thread that is late turns further. */
static void ran_test_hit(struct ran *r, int late, bool cpus)
{
	for (int i = 0; i < TURNS; i++)
		ran_hit(r, cpus ? 0 : -1, 100 + (i + late) % 3,
			(uint64_t)(i + 1) * TURN + TURN / 2);
}

START_TEST(samples_in_their_turns_agree)
{
	for (int cpus = 0; cpus < 2; cpus++) {
		struct ran a = { 0 }, b = { 0 };
		struct ran_said said;

		ran_test_hit(&a, 0, cpus);
		ran_end(&a);
		take_turns(&b);
		ran_compare(&a, &b, &same, 100, &said);
		/* the first and last turns have one end only */
		ck_assert_uint_ge(said.yes, TURNS - 6);
		ck_assert_uint_eq(said.no, 0);
		ran_release(&a);
		ran_release(&b);
	}
}
END_TEST

START_TEST(samples_of_others_do_not)
{
	struct ran a = { 0 }, b = { 0 };
	struct ran_said said;

	ran_test_hit(&a, 1, false);
	take_turns(&b);
	ran_compare(&a, &b, &same, 100, &said);
	ck_assert_uint_eq(said.yes, 0);
	ck_assert_uint_ge(said.no, TURNS - 6);
	ran_release(&a);
	ran_release(&b);
}
END_TEST

START_TEST(the_right_thread_on_another_cpu_is_wrong)
{
	struct ran a = { 0 }, b = { 0 };
	struct ran_said said;

	for (int i = 10; i < 20; i++)
		ran_hit(&a, 1, 100 + i % 3, (uint64_t)(i + 1) * TURN + 500);
	take_turns(&b);
	ran_compare(&a, &b, &same, 100, &said);
	ck_assert_uint_eq(said.yes, 0);
	ck_assert_uint_eq(said.no, 10);
	ran_release(&a);
	ran_release(&b);
}
END_TEST

START_TEST(a_clock_that_is_a_turn_away_is_found)
{
	const struct clock_map ahead = { .offset = TURN };
	struct ran a = { 0 }, b = { 0 };
	struct ran_said said;

	ran_test_hit(&a, 0, true);
	take_turns(&b);
	ran_compare(&a, &b, &ahead, 100, &said);
	ck_assert_uint_eq(said.yes, 0);
	ck_assert_uint_ge(said.no, TURNS - 6);
	ran_release(&a);
	ran_release(&b);
}
END_TEST

START_TEST(what_is_near_a_switch_says_nothing)
{
	struct ran a = { 0 }, b = { 0 };
	struct ran_said said;

	for (int i = 10; i < 20; i++)
		ran_hit(&a, 0, 100 + i % 3, (uint64_t)(i + 1) * TURN + 50);
	take_turns(&b);
	ran_compare(&a, &b, &same, 100, &said);
	ck_assert_uint_eq(said.yes + said.no, 0);
	ran_compare(&a, &b, &same, 49, &said);
	ck_assert_uint_eq(said.yes, 10);
	ran_release(&a);
	ran_release(&b);
}
END_TEST

/* A tracer that is told a thread id records when it leaves only. */
START_TEST(switches_of_one_kind_say_nothing)
{
	struct ran a = { 0 }, b = { 0 };
	struct ran_said said;

	ran_test_hit(&a, 0, true);
	for (int i = 0; i < TURNS; i++)
		ran_switch(&b, 0, 100 + i % 3, 0, (uint64_t)(i + 1) * TURN);
	ran_end(&b);
	ran_compare(&a, &b, &same, 100, &said);
	ck_assert_uint_eq(said.yes + said.no, 0);
	ran_release(&a);
	ran_release(&b);
}
END_TEST

START_TEST(unknown_threads_and_times_outside)
{
	struct ran a = { 0 }, b = { 0 };
	struct ran_said said;

	ran_hit(&a, -1, 0, 5 * TURN + 500);   /* idle */
	ran_hit(&a, -1, 999, 5 * TURN + 500); /* never seen */
	ran_hit(&a, -1, 100, 1);	      /* before */
	ran_hit(&a, -1, 100, UINT64_MAX);     /* after */
	take_turns(&b);
	ran_compare(&a, &b, &same, 100, &said);
	ck_assert_uint_eq(said.yes + said.no, 0);
	ck_assert_uint_eq(said.unknown, 1);
	ran_release(&a);
	ran_release(&b);
}
END_TEST

START_TEST(memory_is_bounded)
{
	struct ran a = { 0 };

	for (uint64_t i = 0; i < 1000000; i++) {
		ran_hit(&a, 0, 7, i);
		ran_switch(&a, 0, 7, 8, i);
	}
	ran_end(&a);
	ck_assert_uint_le(a.n_hit, 65536);
	ck_assert_uint_ge(a.n_hit, 16384);
	ck_assert_uint_le(a.n_edge, 262144);
	/* hits are of all the time, not of its beginning */
	ck_assert_uint_ge(a.hit[a.n_hit - 1].time, 900000);
	ran_release(&a);
}
END_TEST

RUN("ran", samples_in_their_turns_agree, samples_of_others_do_not,
    the_right_thread_on_another_cpu_is_wrong,
    a_clock_that_is_a_turn_away_is_found, what_is_near_a_switch_says_nothing,
    switches_of_one_kind_say_nothing, unknown_threads_and_times_outside,
    memory_is_bounded)
