/* counters.c - tests of stitch/audit/counters.c. */
#include "stitch/join/sessions.h"
#include "stitch/audit/counters.h"

#include <string.h>

#include "stitch/fact_queue.h"
#include "stitch/base/losses.h"
#include "stitch/source.h"
#include "stitch/fact.h"
#include "tests/unit/run.h"

/* One capture of all CPUs with times; its facts after counters_test_end(). */
struct set {
	struct fact_queue q;
	struct losses *losses;
	struct counters *cs;
	struct source_info info;
	struct fact fact[4096];
	size_t n;
	int64_t since; /* of the sights to come */
};

static struct set s;

static void counters_begin(unsigned int layout)
{
	memset(&s, 0, sizeof(s));
	s.info.has_time = true;
	s.info.system_wide = TRI_YES;
	s.info.cpus_avail = 8;
	s.since = TIME_NONE;
	s.losses = losses_new();
	s.cs = counters_new(&s.q, s.losses, layout);
	counters_source(s.cs, 0, &s.info, 0);
}

static void end_with(const struct cookie_totals *end)
{
	counters_end(s.cs, 0, end);
	while (s.n < 4096 && fact_queue_take(&s.q, &s.fact[s.n]))
		s.n++;
}

static void counters_test_end(void)
{
	const struct cookie_totals none = { 0 };

	end_with(&none);
}

static void counters_done(void)
{
	counters_free(s.cs);
	losses_free(s.losses);
	fact_queue_release(&s.q);
}

static uint64_t counters_cookie(int32_t cpu, uint32_t count)
{
	return (uint64_t)count << 32 | (uint32_t)(cpu + 1);
}

static bool counters_test_see(uint64_t c, int32_t cpu, int64_t time,
			      bool is_sample)
{
	const struct counters_sight one = {
		.cookie = c,
		.cpu = cpu,
		.time = time,
		.since = s.since,
		.is_sample = is_sample,
	};

	return counters_see(s.cs, &one) & COUNTER_FIRST_LOST;
}

/* A sample of CPU 0's counter on that CPU. */
static bool here(uint32_t count, int64_t time)
{
	return counters_test_see(counters_cookie(0, count), 0, time, true);
}

static bool counters_chain(uint32_t count, int64_t time)
{
	return counters_test_see(counters_cookie(0, count), 0, time, false);
}

static void counters_lose(uint32_t id, int32_t cpu, int64_t t0, int64_t t1)
{
	const struct loss l = { id, cpu, t0, t1 };

	losses_add(s.losses, 0, &l);
}

static const struct fact *fact(enum fact_kind kind, size_t i)
{
	for (size_t k = 0; k < s.n; k++)
		if (s.fact[k].kind == kind && !i--)
			return &s.fact[k];
	return NULL;
}

static void expect_gap(size_t i, uint64_t first, uint64_t n, int64_t t0,
		       int64_t t1, enum gap_verdict v, uint32_t loss)
{
	const struct fact *f = fact(FACT_GAP, i);

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(f->gap.first, first);
	ck_assert_uint_eq(f->gap.n, n);
	ck_assert_int_eq(f->gap.t0, t0);
	ck_assert_int_eq(f->gap.t1, t1);
	ck_assert_int_eq(f->gap.verdict, v);
	ck_assert_uint_eq(f->gap.loss, loss);
}

static void expect_cpu(size_t i, int32_t cpu, uint64_t first, uint64_t last,
		       uint64_t seen, uint64_t missing)
{
	const struct fact *f = fact(FACT_COUNTER, i);

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(f->counter.cpu, cpu);
	ck_assert_uint_eq(f->counter.first, first);
	ck_assert_uint_eq(f->counter.last, last);
	ck_assert_uint_eq(f->counter.seen, seen);
	ck_assert_uint_eq(f->counter.missing, missing);
}

static void expect_session(const char *layout, const char *reason,
			   uint64_t missing)
{
	const struct fact *f = fact(FACT_SESSION, 0);

	ck_assert_ptr_nonnull(f);
	ck_assert_str_eq(f->session.layout, layout);
	ck_assert_pstr_eq(f->session.reason, reason);
	ck_assert_uint_eq(f->session.missing, missing);
}

START_TEST(counters_without_holes_have_no_gaps)
{
	counters_begin(LAYOUT_AUTO);
	for (uint32_t i = 0; i < 1000; i++) {
		ck_assert(!here(543 + 2 * i, 10 * i));
		ck_assert(!counters_chain(543 + 2 * i, 10 * i + 5));
		ck_assert(!counters_test_see(counters_cookie(3, 7 + 2 * i), 3,
					     10 * i + 6, true));
	}
	counters_test_end();
	ck_assert_ptr_null(fact(FACT_GAP, 0));
	expect_cpu(0, 0, 543, 2541, 1000, 0);
	expect_cpu(1, 3, 7, 2005, 1000, 0);
	expect_session("kernel", NULL, 0);
	counters_done();
}
END_TEST

START_TEST(capture_without_cookies_has_nothing_to_say)
{
	counters_begin(LAYOUT_AUTO);
	counters_test_end();
	ck_assert_uint_eq(s.n, 0);
	counters_done();
}
END_TEST

START_TEST(gap_inside_a_loss_of_its_cpu_is_lost)
{
	counters_begin(LAYOUT_AUTO);
	here(3, 10);
	counters_lose(7, 0, 12, 50);
	here(11, 50);
	counters_test_end();
	expect_gap(0, 5, 3, 10, 50, GAP_LOST, 7);
	expect_cpu(0, 0, 3, 11, 2, 3);
	ck_assert_uint_eq(fact(FACT_COUNTER, 0)->counter.gaps, 1);
	expect_session("kernel", NULL, 3);
	counters_done();
}
END_TEST

START_TEST(loss_that_is_known_later_explains_too)
{
	counters_begin(LAYOUT_AUTO);
	here(3, 10);
	here(11, 50);
	counters_lose(7, -1, 0, TIME_NONE);
	counters_test_end();
	expect_gap(0, 5, 3, 10, 50, GAP_LOST, 7);
	counters_done();
}
END_TEST

START_TEST(gap_without_any_loss_is_uncounted)
{
	counters_begin(LAYOUT_AUTO);
	counters_lose(7, 0, 0, 5);
	counters_lose(8, 1, 12, 50);
	s.since = 6;
	here(3, 10);
	here(11, 50);
	counters_test_end();
	expect_gap(0, 5, 3, 10, 50, GAP_UNCOUNTED, 0);
	counters_done();
}
END_TEST

START_TEST(late_sight_takes_a_counter_out_of_its_gap)
{
	counters_begin(LAYOUT_AUTO);
	here(3, 10);
	here(21, 50);
	ck_assert(here(11, 60));
	ck_assert(!counters_chain(11, 61));
	counters_test_end();
	expect_gap(0, 5, 3, 10, 50, GAP_UNCOUNTED, 0);
	expect_gap(1, 13, 4, 10, 50, GAP_UNCOUNTED, 0);
	expect_cpu(0, 0, 3, 21, 3, 7);
	ck_assert_uint_eq(fact(FACT_COUNTER, 0)->counter.late, 1);
	counters_done();
}
END_TEST

START_TEST(late_sights_fill_a_gap_from_both_ends)
{
	counters_begin(LAYOUT_AUTO);
	here(3, 10);
	here(11, 50);
	ck_assert(here(5, 51));
	ck_assert(here(9, 52));
	ck_assert(!here(9, 53));
	counters_test_end();
	expect_gap(0, 7, 1, 10, 50, GAP_UNCOUNTED, 0);
	counters_done();
}
END_TEST

START_TEST(gap_that_was_filled_is_none)
{
	counters_begin(LAYOUT_AUTO);
	here(3, 10);
	here(7, 50);
	ck_assert(!counters_chain(5, 51));
	counters_test_end();
	ck_assert_ptr_null(fact(FACT_GAP, 0));
	expect_cpu(0, 0, 3, 7, 3, 0);
	ck_assert_uint_eq(fact(FACT_COUNTER, 0)->counter.late, 1);
	counters_done();
}
END_TEST

START_TEST(sample_first_seen_elsewhere_tells_of_a_lost_one)
{
	counters_begin(LAYOUT_AUTO);
	ck_assert(!here(3, 10));
	ck_assert(counters_test_see(counters_cookie(0, 5), 2, 20, true));
	ck_assert(!counters_test_see(counters_cookie(0, 5), 3, 30, true));
	/* a chain may be written anywhere */
	ck_assert(!counters_test_see(counters_cookie(0, 7), 2, 40, false));
	counters_test_end();
	ck_assert_uint_eq(fact(FACT_COUNTER, 0)->counter.elsewhere, 1);
	ck_assert_uint_eq(fact(FACT_COUNTER, 0)->counter.late, 0);
	counters_done();
}
END_TEST

START_TEST(gap_begins_at_the_last_cookie_that_was_made_when_seen)
{
	counters_begin(LAYOUT_AUTO);
	here(3, 10);
	counters_test_see(counters_cookie(0, 5), 2, 20, true);
	counters_test_see(counters_cookie(0, 7), 0, 30, false);
	here(11, 50);
	counters_test_end();
	expect_gap(0, 9, 1, 10, 50, GAP_UNCOUNTED, 0);
	counters_done();
}
END_TEST

START_TEST(first_sight_after_a_loss_may_be_of_an_old_cookie)
{
	counters_begin(LAYOUT_AUTO);
	here(3, 10);
	counters_lose(7, 0, 12, 50);
	/* made in the loss, or now: nobody knows */
	here(5, 50);
	here(9, 60);
	counters_test_end();
	expect_gap(0, 7, 1, 10, 60, GAP_LOST, 7);
	counters_done();
}
END_TEST

START_TEST(thread_seen_after_a_loss_makes_a_young_cookie)
{
	counters_begin(LAYOUT_AUTO);
	here(3, 10);
	counters_lose(7, 0, 12, 50);
	s.since = 55;
	here(5, 60);
	here(9, 70);
	counters_test_end();
	expect_gap(0, 7, 1, 60, 70, GAP_UNCOUNTED, 0);
	counters_done();
}
END_TEST

START_TEST(gap_below_the_first_sight_may_be_older_than_the_capture)
{
	counters_begin(LAYOUT_AUTO);
	here(101, 10);
	/* asleep since before */
	counters_chain(3, 20);
	counters_test_end();
	expect_gap(0, 5, 48, TIME_NONE, 10, GAP_FOREIGN, 0);
	expect_cpu(0, 0, 3, 101, 2, 48);
	counters_done();
}
END_TEST

START_TEST(counter_that_wraps_goes_on)
{
	counters_begin(LAYOUT_AUTO);
	here(0xfffffffd, 10);
	here(0xffffffff, 20);
	here(1, 30);
	here(3, 40);
	counters_test_end();
	ck_assert_ptr_null(fact(FACT_GAP, 0));
	expect_cpu(0, 0, 0xfffffffd, 3, 4, 0);
	ck_assert_uint_eq(fact(FACT_COUNTER, 0)->counter.wraps, 1);
	counters_done();
}
END_TEST

START_TEST(gap_may_lie_across_the_wrap)
{
	counters_begin(LAYOUT_AUTO);
	here(0xfffffffb, 10);
	here(5, 20);
	ck_assert(here(0xffffffff, 30));
	counters_test_end();
	expect_gap(0, 0xfffffffd, 1, 10, 20, GAP_UNCOUNTED, 0);
	expect_gap(1, 1, 2, 10, 20, GAP_UNCOUNTED, 0);
	counters_done();
}
END_TEST

START_TEST(late_sight_from_before_the_wrap_is_no_new_round)
{
	counters_begin(LAYOUT_AUTO);
	here(1, 10);
	ck_assert(here(0xffffffff, 20));
	counters_test_end();
	ck_assert_ptr_null(fact(FACT_GAP, 0));
	expect_cpu(0, 0, 0xffffffff, 1, 2, 0);
	counters_done();
}
END_TEST

static void check_reason(const char *reason, uint64_t foreign)
{
	static const bool on_cpu_0[] = { true };
	const struct cookie_totals e = { .no_chain = 4,
					 .no_sample = 5,
					 .foreign = foreign,
					 .foreign_cpu = on_cpu_0,
					 .n_foreign_cpu = foreign != 0 };

	counters_source(s.cs, 0, &s.info, 0);
	here(3, 10);
	counters_lose(7, 0, 12, 50);
	here(7, 50);
	here(11, 60);
	end_with(&e);
	ck_assert_int_eq(fact(FACT_GAP, 0)->gap.verdict, GAP_FOREIGN);
	ck_assert_uint_eq(fact(FACT_GAP, 0)->gap.loss, 7);
	ck_assert_int_eq(fact(FACT_GAP, 1)->gap.verdict, GAP_FOREIGN);
	expect_session("kernel", reason, 2);
	ck_assert_uint_eq(fact(FACT_SESSION, 0)->session.no_chain, 4);
	ck_assert_uint_eq(fact(FACT_SESSION, 0)->session.no_sample, 5);
	counters_done();
}

START_TEST(gaps_of_some_tasks_prove_nothing)
{
	counters_begin(LAYOUT_AUTO);
	s.info.system_wide = TRI_NO;
	check_reason("only some tasks or CPUs were recorded", 0);
}
END_TEST

START_TEST(gaps_of_who_knows_which_tasks_prove_nothing)
{
	counters_begin(LAYOUT_AUTO);
	s.info.system_wide = TRI_UNKNOWN;
	check_reason("it is not known whether all tasks were recorded", 0);
}
END_TEST

START_TEST(gaps_beside_another_session_prove_nothing)
{
	counters_begin(LAYOUT_AUTO);
	check_reason("another session asked for stacks too", 1);
}
END_TEST

START_TEST(gaps_beside_the_cpus_of_another_session_are_proved)
{
	static const bool on_cpu_1[] = { false, true };
	const struct cookie_totals e = { .no_sample = 1,
					 .foreign = 1,
					 .foreign_cpu = on_cpu_1,
					 .n_foreign_cpu = 2 };

	counters_begin(LAYOUT_AUTO);
	here(3, 10);
	here(7, 50);
	counters_test_see(counters_cookie(1, 3), 1, 10, true);
	counters_test_see(counters_cookie(1, 7), 1, 50, true);
	end_with(&e);
	expect_gap(0, 5, 1, 10, 50, GAP_UNCOUNTED, 0);
	expect_gap(1, 5, 1, 10, 50, GAP_FOREIGN, 0);
	expect_session("kernel", "another session asked for stacks too", 2);
	counters_done();
}
END_TEST

START_TEST(an_uncounted_gap_is_a_finding)
{
	counters_begin(LAYOUT_AUTO);
	here(3, 10);
	here(11, 50);
	counters_test_end();
	const struct fact *f = fact(FACT_FINDING, 0);

	ck_assert_uint_eq(f->finding.rule, RULE_UNCOUNTED);
	ck_assert_int_eq(f->finding.cpu, 0);
	ck_assert_int_eq(f->finding.since, 10);
	ck_assert_int_eq(f->finding.time, 50);
	ck_assert_uint_eq(f->finding.n, 3);
	ck_assert_ptr_null(fact(FACT_FINDING, 1));
	counters_done();
}
END_TEST

START_TEST(gaps_in_a_ring_that_overwrites_prove_nothing)
{
	counters_begin(LAYOUT_AUTO);
	s.info.overwrite = true;
	check_reason("the ring was overwritten", 0);
}
END_TEST

START_TEST(gaps_without_times_prove_nothing_and_no_sight_is_late)
{
	counters_begin(LAYOUT_AUTO);
	s.info.has_time = false;
	here(3, TIME_NONE);
	here(9, TIME_NONE);
	ck_assert(!here(5, TIME_NONE));
	ck_assert(
		!counters_test_see(counters_cookie(0, 11), 4, TIME_NONE, true));
	counters_test_end();
	expect_gap(0, 7, 1, TIME_NONE, TIME_NONE, GAP_FOREIGN, 0);
	expect_session("kernel", "records have no times", 1);
	ck_assert_uint_eq(fact(FACT_COUNTER, 0)->counter.late, 0);
	ck_assert_uint_eq(fact(FACT_COUNTER, 0)->counter.elsewhere, 0);
	counters_done();
}
END_TEST

static void check_opaque(uint64_t odd)
{
	here(103, 10);
	here(107, 20);
	ck_assert(!counters_test_see(odd, 1, 30, true));
	ck_assert(!here(105, 40));
	ck_assert_int_eq(counters_cpu(s.cs, 0, counters_cookie(0, 103)), -1);
	counters_test_end();
	ck_assert_uint_eq(s.n, 1);
	expect_session("opaque", "the layout of the cookies is not known", 0);
	counters_done();
}

START_TEST(even_counter_is_not_the_kernels)
{
	counters_begin(LAYOUT_AUTO);
	check_opaque(counters_cookie(1, 104));
}
END_TEST

START_TEST(cpu_that_cannot_be_is_not_the_kernels)
{
	counters_begin(LAYOUT_AUTO);
	check_opaque(counters_cookie(8, 105));
}
END_TEST

START_TEST(cookie_without_a_cpu_is_not_the_kernels)
{
	counters_begin(LAYOUT_AUTO);
	check_opaque(counters_cookie(-1, 105));
}
END_TEST

START_TEST(cpu_numbers_with_holes_are_known_from_the_records)
{
	counters_begin(LAYOUT_AUTO);
	counters_test_see(counters_cookie(32, 3), 32, 10, true);
	counters_test_see(counters_cookie(0, 3), 0, 20, true);
	counters_test_end();
	expect_session("kernel", NULL, 0);
	counters_done();
}
END_TEST

START_TEST(cpu_of_a_cookie_is_known_once_the_layout_is)
{
	counters_begin(LAYOUT_AUTO);
	ck_assert_int_eq(counters_cpu(s.cs, 0, counters_cookie(5, 3)), -1);
	ck_assert_int_eq(counters_cpu(s.cs, 9, counters_cookie(5, 3)), -1);
	here(3, 10);
	ck_assert_int_eq(counters_cpu(s.cs, 0, counters_cookie(5, 3)), 5);
	counters_done();
}
END_TEST

static uint64_t swapped(int32_t cpu, uint32_t count)
{
	return (uint64_t)(uint32_t)(cpu + 1) << 32 | count;
}

START_TEST(halves_of_a_big_endian_machine_are_swapped)
{
	counters_begin(LAYOUT_AUTO);
	s.info.big_endian = true;
	counters_test_see(swapped(2, 3), 2, 10, true);
	counters_test_see(swapped(2, 5), 2, 20, true);
	counters_test_see(swapped(2, 901), 2, 30, true);
	counters_test_end();
	expect_cpu(0, 2, 3, 901, 3, 447);
	counters_done();
}
END_TEST

START_TEST(halves_that_were_not_swapped_show_at_a_cookie_that_fits_one_way)
{
	counters_begin(LAYOUT_AUTO);
	s.info.big_endian = true;
	/* CPU 2 both ways */
	counters_test_see(counters_cookie(2, 3), 2, 10, true);
	counters_test_see(counters_cookie(2, 5), 2, 20, true);
	counters_test_see(counters_cookie(2, 901), 2, 30, true);
	ck_assert_int_eq(counters_cpu(s.cs, 0, counters_cookie(2, 5)), 2);
	counters_test_end();
	expect_cpu(0, 2, 3, 901, 3, 447);
	ck_assert_uint_eq(s.n, 4);
	counters_done();
}
END_TEST

START_TEST(halves_are_told_by_where_the_first_was_seen)
{
	counters_begin(LAYOUT_AUTO);
	s.info.cpus_avail = -1;
	counters_test_see(swapped(4, 3), 4, 10, true);
	ck_assert_int_eq(counters_cpu(s.cs, 0, swapped(4, 3)), 4);
	counters_done();
}
END_TEST

START_TEST(cpu_in_the_top_bits_when_named)
{
	counters_begin(LAYOUT_CPU48);
	counters_test_see((uint64_t)3 << 48 | 10, 3, 10, true);
	counters_test_see((uint64_t)3 << 48 | 12, 3, 20, true);
	counters_test_end();
	expect_gap(0, 11, 1, 10, 20, GAP_UNCOUNTED, 0);
	expect_session("cpu48", NULL, 1);
	counters_done();
}
END_TEST

START_TEST(counter_that_carries_into_the_cpu_is_of_its_cpu)
{
	const uint64_t top = ((uint64_t)1 << 48) - 2;

	counters_begin(LAYOUT_CPU48);
	for (uint64_t i = 0; i < 5; i++) {
		counters_test_see(((uint64_t)3 << 48) + top + i, 3,
				  10 + 10 * (int64_t)i, true);
		counters_test_see(((uint64_t)4 << 48) + 1000000000000 + i, 4,
				  11 + 10 * (int64_t)i, true);
	}
	ck_assert_int_eq(counters_cpu(s.cs, 0, ((uint64_t)4 << 48) + 2), 3);
	counters_test_end();
	ck_assert_ptr_null(fact(FACT_GAP, 0));
	expect_cpu(0, 3, top, 2, 5, 0);
	expect_cpu(1, 4, 1000000000000, 1000000000004, 5, 0);
	counters_done();
}
END_TEST

START_TEST(cpu_in_the_low_bits_when_named)
{
	counters_begin(LAYOUT_LOWCPU);
	counters_test_see(10 << 12 | 3, 3, 10, true);
	counters_test_see(12 << 12 | 3, 3, 20, true);
	counters_test_end();
	expect_gap(0, 11, 1, 10, 20, GAP_UNCOUNTED, 0);
	expect_session("lowcpu", NULL, 1);
	counters_done();
}
END_TEST

START_TEST(cpu_in_the_low_half_when_named)
{
	counters_begin(LAYOUT_PAIR);
	counters_test_see((uint64_t)10 << 32, 0, 10, true);
	counters_test_see((uint64_t)12 << 32, 0, 20, true);
	counters_test_end();
	expect_gap(0, 11, 1, 10, 20, GAP_UNCOUNTED, 0);
	expect_session("pair", NULL, 1);
	counters_done();
}
END_TEST

START_TEST(opaque_is_opaque_when_named)
{
	counters_begin(LAYOUT_OPAQUE);
	ck_assert(!here(3, 10));
	ck_assert(!counters_test_see(counters_cookie(0, 9), 3, 20, true));
	counters_test_end();
	ck_assert_uint_eq(s.n, 1);
	expect_session("opaque", "the layout of the cookies is not known", 0);
	counters_done();
}
END_TEST

START_TEST(many_gaps_are_given_out_early_and_add_up)
{
	uint64_t n = 0;

	counters_begin(LAYOUT_AUTO);
	for (uint32_t i = 0; i < 3000; i++)
		here(3 + 4 * i, 10 + i);
	counters_test_end();
	expect_cpu(0, 0, 3, 11999, 3000, 2999);
	ck_assert_uint_eq(fact(FACT_COUNTER, 0)->counter.gaps, 2999);
	for (size_t i = 0; fact(FACT_GAP, i); i++)
		n += fact(FACT_GAP, i)->gap.n;
	ck_assert_uint_eq(n, 2999);
	/* what may still be explained accuses nobody yet */
	ck_assert_int_eq(fact(FACT_GAP, 0)->gap.verdict, GAP_FOREIGN);
	counters_done();
}
END_TEST

START_TEST(captures_are_counted_apart)
{
	counters_begin(LAYOUT_AUTO);
	counters_source(s.cs, 2, &s.info, 2);
	const struct counters_sight other = {
		.source = 2,
		.cookie = counters_cookie(0, 99),
		.time = 5,
		.since = TIME_NONE,
		.is_sample = true,
	};

	here(3, 10);
	ck_assert(!counters_see(s.cs, &other));
	counters_test_end();
	expect_cpu(0, 0, 3, 3, 1, 0);
	ck_assert_uint_eq(s.n, 2);
	counters_done();
}
END_TEST

/* Any counters in any order: every one between the first and the last is
 * seen or in exactly one gap. */
START_TEST(seen_and_missing_add_up_whatever_comes)
{
	uint64_t seed = 1;

	for (int round = 0; round < 300; round++) {
		static bool seen[512];
		uint64_t n = 0;
		uint64_t lo = 512;
		uint64_t hi = 0;

		counters_begin(LAYOUT_AUTO);
		memset(seen, 0, sizeof(seen));
		for (int i = 0; i < 200; i++) {
			uint64_t k = rnd_below(&seed, 512);

			n += !seen[k];
			seen[k] = true;
			lo = k < lo ? k : lo;
			hi = k > hi ? k : hi;
			/* around the wrap */
			here((uint32_t)(0xffffff01 + 2 * k), 10 + i);
		}
		counters_test_end();
		const struct fact *f = fact(FACT_COUNTER, 0);

		must(f->counter.seen == n);
		must(f->counter.missing == hi - lo + 1 - n);
		for (size_t i = 0; (f = fact(FACT_GAP, i)); i++)
			for (uint64_t k = 0; k < f->gap.n; k++) {
				uint32_t c = (uint32_t)(f->gap.first + 2 * k);
				uint32_t at = (c - 0xffffff01) / 2;

				must(at > lo && at < hi && !seen[at]);
				seen[at] = true;
			}
		for (uint64_t k = lo; k <= hi; k++)
			must(seen[k]);
		counters_done();
	}
}
END_TEST

START_TEST(wild_cookies_have_gaps_or_a_reason)
{
	uint64_t seed = 7;

	for (unsigned int layout = 0; cookie_layout_name(layout); layout++) {
		counters_begin((enum cookie_layout)layout);
		s.info.cpus_avail = -1;
		for (int i = 0; i < 20000; i++)
			counters_test_see(rnd(&seed), (int32_t)rnd(&seed),
					  (int64_t)rnd(&seed), rnd(&seed) & 1);
		counters_test_end();
		/* the session comes last, behind all gaps */
		struct fact last = s.fact[s.n - 1];

		while (fact_queue_take(&s.q, &last))
			;
		ck_assert_int_eq(last.kind, FACT_SESSION);
		if (!strcmp(last.session.layout, "opaque"))
			ck_assert_ptr_nonnull(last.session.reason);
		else
			ck_assert_uint_gt(last.session.missing, 0);
		counters_done();
	}
}
END_TEST

/* 64 bits are enough for 48 some thousand times. */
START_TEST(counters_that_only_jump_are_given_up)
{
	counters_begin(LAYOUT_CPU48);
	for (uint64_t i = 0; i < 100000; i++) {
		counters_test_see(i * 0x700000000001 & 0xffffffffffff, 0, 10,
				  true);
		while (fact_queue_take(&s.q, &s.fact[0]))
			must(s.fact[0].kind == FACT_GAP);
	}
	counters_test_end();
	ck_assert_uint_eq(s.n, 1);
	expect_session("opaque", "the layout of the cookies is not known", 0);
	counters_done();
}
END_TEST

RUN("counters", counters_without_holes_have_no_gaps,
    capture_without_cookies_has_nothing_to_say,
    gap_inside_a_loss_of_its_cpu_is_lost, loss_that_is_known_later_explains_too,
    gap_without_any_loss_is_uncounted,
    late_sight_takes_a_counter_out_of_its_gap,
    late_sights_fill_a_gap_from_both_ends, gap_that_was_filled_is_none,
    sample_first_seen_elsewhere_tells_of_a_lost_one,
    gap_begins_at_the_last_cookie_that_was_made_when_seen,
    first_sight_after_a_loss_may_be_of_an_old_cookie,
    thread_seen_after_a_loss_makes_a_young_cookie,
    gap_below_the_first_sight_may_be_older_than_the_capture,
    counter_that_wraps_goes_on, gap_may_lie_across_the_wrap,
    late_sight_from_before_the_wrap_is_no_new_round,
    gaps_of_some_tasks_prove_nothing,
    gaps_of_who_knows_which_tasks_prove_nothing,
    gaps_beside_another_session_prove_nothing,
    gaps_beside_the_cpus_of_another_session_are_proved,
    an_uncounted_gap_is_a_finding, gaps_in_a_ring_that_overwrites_prove_nothing,
    gaps_without_times_prove_nothing_and_no_sight_is_late,
    even_counter_is_not_the_kernels, cpu_that_cannot_be_is_not_the_kernels,
    cookie_without_a_cpu_is_not_the_kernels,
    cpu_numbers_with_holes_are_known_from_the_records,
    cpu_of_a_cookie_is_known_once_the_layout_is,
    halves_of_a_big_endian_machine_are_swapped,
    halves_that_were_not_swapped_show_at_a_cookie_that_fits_one_way,
    halves_are_told_by_where_the_first_was_seen, cpu_in_the_top_bits_when_named,
    counter_that_carries_into_the_cpu_is_of_its_cpu,
    cpu_in_the_low_bits_when_named, cpu_in_the_low_half_when_named,
    opaque_is_opaque_when_named, many_gaps_are_given_out_early_and_add_up,
    captures_are_counted_apart, seen_and_missing_add_up_whatever_comes,
    wild_cookies_have_gaps_or_a_reason, counters_that_only_jump_are_given_up)
