/* oncpu_match.c - tests of oncpu_match in fingerprints.c: who was on a CPU,
 * asked of another capture. */
#include "stitch/order/fingerprints.h"

#include "stitch/order/clocks.h"
#include "tests/unit/run.h"

#define TURN 10000
#define TURNS 100

static const struct clock_map same;

/* Threads 100, 101, 102 have CPU 0 in turns, 200 and 201 have CPU 1. */
static void take_turns(struct oncpu_match *r)
{
	for (int i = 0; i < TURNS; i++) {
		uint64_t t = (uint64_t)(i + 1) * TURN;

		oncpu_match_add_switch(r, 0, 100 + (i + 2) % 3, 100 + i % 3, t);
		oncpu_match_add_switch(r, 1, 200 + (i + 1) % 2, 200 + i % 2,
				       t + 3);
	}
	oncpu_match_end(r);
}

/* In the middle of each turn, by the thread that is late turns further. */
static void hit(struct oncpu_match *r, int late, bool cpus)
{
	for (int i = 0; i < TURNS; i++)
		oncpu_match_add_hit(r, cpus ? 0 : -1, 100 + (i + late) % 3,
				    (uint64_t)(i + 1) * TURN + TURN / 2);
}

START_TEST(samples_in_their_turns_agree)
{
	for (int cpus = 0; cpus < 2; cpus++) {
		struct oncpu_match a = { 0 }, b = { 0 };
		struct oncpu_result said;

		hit(&a, 0, cpus);
		oncpu_match_end(&a);
		take_turns(&b);
		oncpu_match_compare(&a, &b, &same, 100, &said);
		/* the first and last turns have one end only */
		ck_assert_uint_ge(said.yes, TURNS - 6);
		ck_assert_uint_eq(said.no, 0);
		oncpu_match_release(&a);
		oncpu_match_release(&b);
	}
}
END_TEST

START_TEST(samples_of_a_CPU_without_switches_say_nothing)
{
	struct oncpu_match a = { 0 }, b = { 0 };
	struct oncpu_result said;

	for (int i = 0; i < TURNS; i++)
		oncpu_match_add_hit(&a, 5, i % 2 ? 100 : 900,
				    (uint64_t)(i + 1) * TURN + TURN / 2);
	take_turns(&b);
	oncpu_match_compare(&a, &b, &same, 100, &said);
	ck_assert_uint_eq(said.yes + said.no + said.unknown, 0);
	oncpu_match_release(&a);
	oncpu_match_release(&b);
}
END_TEST

START_TEST(samples_of_others_do_not)
{
	struct oncpu_match a = { 0 }, b = { 0 };
	struct oncpu_result said;

	hit(&a, 1, false);
	take_turns(&b);
	oncpu_match_compare(&a, &b, &same, 100, &said);
	ck_assert_uint_eq(said.yes, 0);
	ck_assert_uint_ge(said.no, TURNS - 6);
	oncpu_match_release(&a);
	oncpu_match_release(&b);
}
END_TEST

START_TEST(the_right_thread_on_another_cpu_is_wrong)
{
	struct oncpu_match a = { 0 }, b = { 0 };
	struct oncpu_result said;

	for (int i = 10; i < 20; i++)
		oncpu_match_add_hit(&a, 1, 100 + i % 3,
				    (uint64_t)(i + 1) * TURN + 500);
	take_turns(&b);
	oncpu_match_compare(&a, &b, &same, 100, &said);
	ck_assert_uint_eq(said.yes, 0);
	ck_assert_uint_eq(said.no, 10);
	oncpu_match_release(&a);
	oncpu_match_release(&b);
}
END_TEST

START_TEST(a_clock_that_is_a_turn_away_is_found)
{
	const struct clock_map ahead = { .offset = TURN };
	struct oncpu_match a = { 0 }, b = { 0 };
	struct oncpu_result said;

	hit(&a, 0, true);
	take_turns(&b);
	oncpu_match_compare(&a, &b, &ahead, 100, &said);
	ck_assert_uint_eq(said.yes, 0);
	ck_assert_uint_ge(said.no, TURNS - 6);
	oncpu_match_release(&a);
	oncpu_match_release(&b);
}
END_TEST

START_TEST(what_is_near_a_switch_says_nothing)
{
	struct oncpu_match a = { 0 }, b = { 0 };
	struct oncpu_result said;

	for (int i = 10; i < 20; i++)
		oncpu_match_add_hit(&a, 0, 100 + i % 3,
				    (uint64_t)(i + 1) * TURN + 50);
	take_turns(&b);
	oncpu_match_compare(&a, &b, &same, 100, &said);
	ck_assert_uint_eq(said.yes + said.no, 0);
	oncpu_match_compare(&a, &b, &same, 49, &said);
	ck_assert_uint_eq(said.yes, 10);
	oncpu_match_release(&a);
	oncpu_match_release(&b);
}
END_TEST

/* A tracer that is told a thread id records when it leaves only. */
START_TEST(switches_of_one_kind_say_nothing)
{
	struct oncpu_match a = { 0 }, b = { 0 };
	struct oncpu_result said;

	hit(&a, 0, true);
	for (int i = 0; i < TURNS; i++)
		oncpu_match_add_switch(&b, 0, 100 + i % 3, 0,
				       (uint64_t)(i + 1) * TURN);
	oncpu_match_end(&b);
	oncpu_match_compare(&a, &b, &same, 100, &said);
	ck_assert_uint_eq(said.yes + said.no, 0);
	oncpu_match_release(&a);
	oncpu_match_release(&b);
}
END_TEST

START_TEST(unknown_threads_and_times_outside)
{
	struct oncpu_match a = { 0 }, b = { 0 };
	struct oncpu_result said;

	oncpu_match_add_hit(&a, -1, 0, 5 * TURN + 500);	  /* idle */
	oncpu_match_add_hit(&a, -1, 999, 5 * TURN + 500); /* never seen */
	oncpu_match_add_hit(&a, -1, 100, 1);		  /* before */
	oncpu_match_add_hit(&a, -1, 100, UINT64_MAX);	  /* after */
	take_turns(&b);
	oncpu_match_compare(&a, &b, &same, 100, &said);
	ck_assert_uint_eq(said.yes + said.no, 0);
	ck_assert_uint_eq(said.unknown, 1);
	oncpu_match_release(&a);
	oncpu_match_release(&b);
}
END_TEST

START_TEST(memory_is_bounded)
{
	struct oncpu_match a = { 0 };

	for (uint64_t i = 0; i < 1000000; i++) {
		oncpu_match_add_hit(&a, 0, 7, i);
		oncpu_match_add_switch(&a, 0, 7, 8, i);
	}
	oncpu_match_end(&a);
	ck_assert_uint_le(a.n_hit, 65536);
	ck_assert_uint_ge(a.n_hit, 16384);
	ck_assert_uint_le(a.n_edge, 262144);
	/* hits are of all the time, not of its beginning */
	ck_assert_uint_ge(a.hit[a.n_hit - 1].time, 900000);
	oncpu_match_release(&a);
}
END_TEST

RUN("oncpu_match", samples_in_their_turns_agree,
    samples_of_a_CPU_without_switches_say_nothing, samples_of_others_do_not,
    the_right_thread_on_another_cpu_is_wrong,
    a_clock_that_is_a_turn_away_is_found, what_is_near_a_switch_says_nothing,
    switches_of_one_kind_say_nothing, unknown_threads_and_times_outside,
    memory_is_bounded)
