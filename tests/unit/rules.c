/* rules.c - each rule finds what it is for, and is silent on the harmless
 * thing that looks most like it. */
#include "tests/unit/rules.h"

/* A thread that begins, is seen, and ends, if at all, as a row says. */
#define TWO_LIVES "10 fork 5 1; 20 sample 5; "
/* Process 5 has the thread 6, which calls exec after 5 has ended: 6 goes on as
 * 5, and its number is free without an EXIT. */
#define TAKEOVER                                                               \
	"10 fork 5 1; 20 fork 6 5 pid=5; 30 sample 6 pid=5; 40 exit 5; "
/* A process whose start was recorded, with one mapping. */
#define RUNS "10 fork 5 1; 20 exec 5; 30 map 5 code; 40 hit 5 code+8; "
/* One CPU; thread 1 was there before, 100 is forked. */
#define FORKS "cpus=1; - name 1; 10 sample 1; 20 fork 100 1; "
#define ENDED "10 fork 5 1; 15 map 5 code; 20 hit 5 code; 50 exit 5; "
static const struct rules_row rules_rows[] = {
	/* ---- tid_reused */
	{
		"a_second_fork_without_exit_between_is_a_reused_tid",
		TWO_LIVES "100 fork 5 1",
		.rule = "tid_reused",
		.since = 20,
		.time = 100,
		.loss = LOSS_NONE,
		.n = 1,
	},
	{
		"a_loss_between_explains_the_reused_tid",
		TWO_LIVES "60 lost 3; 100 fork 5 1",
		.rule = "tid_reused",
		.loss = LOSS_SOME,
	},
	{
		"a_loss_before_or_after_explains_no_reused_tid",
		"5 sample 9; 8 lost 0; 10 fork 5 1; 100 fork 5 1; 200 lost 0",
		.rule = "tid_reused",
		.loss = LOSS_NONE,
	},
	{
		"a_tid_that_is_used_again_after_its_exit_is_no_finding",
		TWO_LIVES "60 exit 5; 100 fork 5 1",
		.rule = NULL,
	},
	{
		"a_fork_that_the_recorder_tells_of_too_is_no_finding",
		"- name 5; 10 fork 5 1; 20 sample 5",
		.rule = NULL,
	},
	{
		"a_thread_in_another_process_is_a_reused_tid",
		"10 sample 6 pid=5; 20 sample 6 pid=7",
		.rule = "tid_reused",
		.since = 10,
	},
	{
		"where_some_cpus_are_recorded_a_missing_exit_is_no_finding",
		"some_cpus; " TWO_LIVES "100 fork 5 1",
		.rule = NULL,
	},
	{
		"where_recording_paused_a_missing_exit_is_no_finding",
		"paused; " TWO_LIVES "100 fork 5 1",
		.rule = NULL,
	},
	{
		"where_recording_paused_a_loss_makes_a_reused_tid",
		"paused; " TWO_LIVES "60 lost 3; 100 fork 5 1",
		.rule = "tid_reused",
	},
	{
		"a_thread_that_becomes_the_first_by_exec_is_no_finding",
		TAKEOVER "40 sample 9; 50 exec 5; 60 map 5 code; 70 hit 5 code;"
			 "6s fork 6 1; 6s+1 sample 6; 7s exit 5",
		.rule = NULL,
	},
	{
		"a_thread_that_becomes_the_first_long_after_its_exit_is_none",
		TAKEOVER
		"4999999990 sample 9; 5s exec 5; 5s+10 map 5 code;"
		"5s+20 hit 5 code; 6s fork 6 1; 6s+1 sample 6; 7s exit 5",
		.rule = NULL,
	},
	{
		"an_exit_that_comes_late_takes_the_finding_back",
		"trusting; " TWO_LIVES "100 fork 5 1; 60 exit 5",
		.rule = NULL,
	},
	/* ---- map_lost */
	/* Of the two losses, the one on the CPU of the hit. */
	{
		"code_that_nothing_maps_after_a_loss_is_a_lost_mapping",
		RUNS
		"50 lost 2; 60 lost 0; 70 hit 5 nowhere; 80 hit 5 nowhere+0x5000",
		.rule = "map_lost",
		.since = 20,
		.time = 70,
		.n = 2,
		.loss_id = 2,
		.event = 2,
	},
	{
		"code_that_nothing_maps_without_a_loss_is_a_missing_mapping",
		RUNS "70 hit 5 nowhere; 80 hit 5 nowhere; 90 lost 0",
		.rule = "unmapped",
		.since = 20,
		.time = 70,
		.loss = LOSS_NONE,
		.n = 2,
	},
	{
		"a_loss_before_exec_lost_no_mapping_of_the_new_program",
		"5 lost 0; 10 fork 5 1; 20 exec 5; 30 map 5 code; 70 hit 5 nowhere",
		.rule = "unmapped",
	},
	{
		"a_process_that_runs_unmapped_code_anyway_lost_none_later",
		RUNS "45 hit 5 0x600000; 46 map 5 0x680000; 60 lost 0;"
		     "70 hit 5 nowhere",
		.rule = "unmapped",
	},
	{
		"a_program_that_runs_without_any_mapping_misses_them",
		"10 fork 5 1; 20 exec 5; 70 hit 5 nowhere",
		.rule = "unmapped",
	},
	{
		"anonymous_code_may_have_moved_without_a_record",
		RUNS
		"50 map 5 0x600000 anon; 60 hit 5 0x600000; 70 hit 5 nowhere",
		.rule = NULL,
	},
	{
		"anonymous_memory_that_nothing_may_read_is_no_code",
		RUNS
		"50 map 5 0x600000 anon none; 60 hit 5 code; 70 hit 5 nowhere",
		.rule = "unmapped",
	},
	{
		"another_program_is_judged_again",
		RUNS "50 map 5 0x600000 anon; 60 exec 5; 65 map 5 code;"
		     "70 hit 5 nowhere",
		.rule = "unmapped",
		.since = 60,
	},
	{
		"a_process_that_did_not_call_exec_misses_no_mapping",
		"10 fork 5 1; 30 map 5 code; 40 hit 5 code; 70 hit 5 nowhere",
		.rule = NULL,
	},
	{
		"a_user_hit_whose_chain_never_comes_shows_a_missing_mapping",
		RUNS "70 sample 5/7 user ip=nowhere",
		.rule = "unmapped",
	},
	{
		"a_child_that_may_share_the_space_may_have_mapped_the_code",
		RUNS "50 fork 6 5; 55 map 6 nowhere; 60 exit 6;"
		     "70 hit 5 nowhere",
		.rule = NULL,
	},
	{
		"and_so_may_a_parent",
		RUNS "50 fork 6 5; 55 map 5 nowhere; 70 hit 6 nowhere",
		.rule = NULL,
	},
	{
		"what_a_child_maps_after_exec_is_its_own",
		RUNS "50 fork 6 5; 52 exec 6; 55 map 6 nowhere;"
		     "70 hit 5 nowhere",
		.rule = "unmapped",
	},
	{
		"a_child_shares_no_code_that_it_did_not_map",
		RUNS "50 fork 6 5; 55 map 6 0x680000; 70 hit 5 nowhere",
		.rule = "unmapped",
	},
	{
		"what_a_parent_mapped_before_is_not_shared",
		"10 fork 5 1; 20 exec 5; 25 map 5 nowhere; 26 exec 5;"
		"30 map 5 code; 40 hit 5 code; 50 fork 6 5; 70 hit 5 nowhere",
		.rule = "unmapped",
	},
	{
		"vsyscall_and_the_first_page_are_no_lost_mappings",
		RUNS "60 lost 0; 70 hit 5 0xffffffffff600400; 80 hit 5 0x10",
		.rule = NULL,
	},
	{
		"a_process_without_any_mapping_is_no_lost_mapping",
		"10 sample 1; 20 lost 0; 70 hit 5 nowhere",
		.rule = NULL,
	},
	{
		"a_caller_that_nothing_maps_is_no_lost_mapping",
		RUNS "60 lost 0; 70 hit 5 code+8 ip1=nowhere n=2",
		.rule = NULL,
	},
	{
		"the_end_of_a_hole_that_was_split_is_the_same_lost_mapping",
		RUNS "60 lost 0; 70 hit 5 nowhere; 80 map 5 code+0x10000;"
		     "90 hit 5 nowhere+0x100",
		.rule = "map_lost",
		.n = 2,
	},
	{
		"a_user_hit_whose_chain_comes_later_shows_a_lost_mapping",
		RUNS "60 lost 0; 70 sample 5/7 user ip=nowhere",
		.rule = "map_lost",
		.time = 70,
	},
	{
		"the_first_address_of_a_chain_shows_a_lost_mapping",
		RUNS
		"60 lost 0; 65 sample 5/7; 70 chain 5/7 ip=nowhere ip1=nowhere",
		.rule = "map_lost",
	},
	{
		"a_later_address_of_a_chain_shows_no_lost_mapping",
		RUNS
		"60 lost 0; 65 sample 5/7; 70 chain 5/7 ip=code+8 ip1=nowhere",
		.rule = NULL,
	},
	/* ---- fork_lost */
	{
		"a_younger_thread_after_a_loss_has_lost_its_fork",
		FORKS "25 fork 101 1; 40 lost 0; 45 fork 103 1; 50 sample 102;"
		      "60 sample 102",
		.rule = "fork_lost",
		.since = 25,
		.time = 50,
		.loss = LOSS_SOME,
	},
	{
		"a_sample_without_a_cpu_shows_a_lost_fork",
		FORKS "25 fork 101 1; 40 lost 0; 45 fork 103 1;"
		      "50 sample 102 cpu=-1; 60 sample 102 cpu=-1",
		.rule = "fork_lost",
		.since = 25,
		.time = 50,
		.loss = LOSS_SOME,
	},
	/* Nor is thread 104: its parent may not be recorded at all. */
	{
		"a_thread_from_nowhere_without_a_loss_is_no_finding",
		FORKS "50 sample 102; 60 lost 0; 70 sample 104",
		.rule = NULL,
	},
	{
		"threads_that_were_told_of_are_no_finding",
		FORKS "- name 300; 40 lost 0; 45 fork 102 1; 50 sample 102;"
		      "60 sample 300",
		.rule = NULL,
	},
	{
		"an_older_thread_may_have_been_missed_at_the_start",
		FORKS "40 lost 0; 50 sample 99",
		.rule = NULL,
	},
	{
		"before_all_cpus_are_recorded_a_fork_may_be_missing",
		FORKS "cpus=2; 40 lost 0; 50 sample 102",
		.rule = NULL,
	},
	{
		"where_some_tasks_are_recorded_a_fork_may_be_missing",
		FORKS "per_task; 40 lost 0; 50 sample 102",
		.rule = NULL,
	},
	/* ---- after_exit */
	{
		"a_hit_after_the_exit_is_a_finding",
		ENDED "60 hit 5 code; 70 hit 5 code",
		.rule = "after_exit",
		.since = 50,
		.time = 60,
		.loss = LOSS_NONE,
	},
	{
		"a_hit_after_the_exit_may_follow_a_loss",
		ENDED "55 lost 0; 60 hit 5 code; 70 hit 5 code",
		.rule = "after_exit",
		.since = 50,
		.time = 60,
		.loss = LOSS_SOME,
	},
	{
		"a_hit_without_a_cpu_after_the_exit_is_a_finding",
		ENDED "60 hit 5 code cpu=-1; 70 hit 5 code cpu=-1",
		.rule = "after_exit",
		.since = 50,
		.time = 60,
		.loss = LOSS_NONE,
	},
	{
		"a_mapping_after_the_exit_is_a_finding",
		ENDED "60 map 5 code; 70 map 5 code",
		.rule = "after_exit",
		.since = 50,
		.time = 60,
		.loss = LOSS_NONE,
	},
	{
		"a_mapping_after_the_exit_may_follow_a_loss",
		ENDED "55 lost 0; 60 map 5 code; 70 map 5 code",
		.rule = "after_exit",
		.since = 50,
		.time = 60,
		.loss = LOSS_SOME,
	},
	{
		"a_new_name_after_the_exit_is_a_finding",
		ENDED "60 name 5; 70 name 5",
		.rule = "after_exit",
		.since = 50,
		.time = 60,
		.loss = LOSS_NONE,
	},
	{
		"a_new_name_after_the_exit_may_follow_a_loss",
		ENDED "55 lost 0; 60 name 5; 70 name 5",
		.rule = "after_exit",
		.since = 50,
		.time = 60,
		.loss = LOSS_SOME,
	},
	{
		"a_fork_after_the_exit_is_a_finding",
		ENDED "60 fork 60 5; 70 fork 70 5",
		.rule = "after_exit",
		.since = 50,
		.time = 60,
		.loss = LOSS_NONE,
	},
	{
		"a_fork_after_the_exit_may_follow_a_loss",
		ENDED "55 lost 0; 60 fork 60 5; 70 fork 70 5",
		.rule = "after_exit",
		.since = 50,
		.time = 60,
		.loss = LOSS_SOME,
	},
	{
		"the_way_out_after_the_exit_record_is_no_finding",
		ENDED
		"52 sample 5 kernel; 54 chain 5/7; 56 out 5 0; 60 fork 5 1;"
		"70 hit 5 code",
		.rule = NULL,
	},
	{
		"a_name_for_the_first_thread_from_the_others_is_no_finding",
		"10 fork 5 1; 20 fork 6 5 pid=5; 40 exit 5; 50 name 5;"
		"60 hit 6 code pid=5",
		.rule = NULL,
	},
	{
		"a_record_that_comes_late_is_of_the_life_that_was",
		"trusting; " ENDED "45 hit 5 code",
		.rule = NULL,
	},
	{
		"a_life_without_fork_may_begin_in_the_kernel",
		ENDED "5s sample 5 kernel; 5s+10 hit 5 code; 5s+20 hit 5 code",
		.rule = "after_exit",
		.since = 50,
		.time = 5000000010,
		.loss = LOSS_NONE,
		.n = 1,
	},
	{
		"a_life_without_fork_or_cpu_may_begin_in_the_kernel",
		ENDED "5s sample 5 kernel cpu=-1; 5s+10 hit 5 code cpu=-1;"
		      "5s+20 hit 5 code cpu=-1",
		.rule = "after_exit",
		.since = 50,
		.time = 5000000010,
		.loss = LOSS_NONE,
		.n = 1,
	},
	{
		"a_life_without_fork_may_begin_with_a_cookie",
		ENDED "5s sample 5/7 kernel; 5s+10 chain 5/7; 5s+20 hit 5 code",
		.rule = "after_exit",
		.since = 50,
		.time = 5000000000,
		.loss = LOSS_NONE,
		.n = 1,
	},
	{
		"the_way_out_may_last_long",
		ENDED "5s sample 5 kernel; 5s+10 sample 5 kernel",
		.rule = NULL,
	},
	/* ---- contradictions among cookies */
	{
		"two_stacks_of_one_cookie_are_a_conflict",
		"10 sample 1/5; 30 chain 1/5; 31 chain 1/5 ip1=0x2001",
		.rule = "cookie_conflict",
		.since = 30,
		.time = 31,
		.loss = LOSS_NONE,
		.n = 1,
	},
	{
		"the_same_stack_twice_is_no_conflict",
		"10 sample 1/5; 30 chain 1/5; 31 chain 1/5",
		.rule = NULL,
	},
	{
		"two_threads_with_one_cookie_are_a_finding",
		"10 sample 1/5; 20 chain 1/5; 30 sample 2/5; 40 chain 2/5",
		.rule = "cookie_shared",
		.since = 20,
		.time = 30,
		.loss = LOSS_NONE,
		.n = 1,
	},
	{
		"two_threads_with_one_cookie_after_the_counter_wrapped_are_none",
		"10 sample 1/5; 20 chain 1/5; 2000s sample 2/5;"
		"2000s+10 chain 2/5",
		.rule = NULL,
	},
	{
		"a_thread_that_changed_its_id_by_exec_keeps_its_cookie",
		"1 fork 5 1; 2 fork 6 5 pid=5; 10 sample 6/5 pid=5;"
		"20 exit 5; 30 exec 5; 40 chain 5/5 n=0",
		.rule = NULL,
	},
	{
		"a_cookie_that_comes_back_after_a_newer_one_is_a_finding",
		"10 sample 1/5; 11 chain 1/5; 20 sample 1/6; 21 chain 1/6;"
		"30 sample 1/5; 31 chain 1/5 ip1=0x2001",
		.rule = "cookie_reused",
		.since = 20,
		.time = 30,
		.loss = LOSS_NONE,
		.n = 1,
	},
	{
		"a_clock_that_differs_a_little_brings_no_cookie_back",
		"10 sample 1/5; 11 chain 1/5; 20 sample 1/6; 21 chain 1/6;"
		"30 sample 1/5 cpu=1",
		.rule = NULL,
	},
	{
		"a_record_that_comes_late_brings_no_cookie_back",
		"trusting; 10 sample 1/5; 12 chain 1/5; 20 sample 1/6;"
		"21 chain 1/6; 11 sample 1/5",
		.rule = NULL,
	},
	{
		"a_cookie_that_comes_back_much_later_is_a_finding",
		"10 sample 1/1@0; 11 chain 1/1@0; 20 sample 1/3@0;"
		"21 chain 1/3@0; 22 sample 1/5@0; 23 chain 1/5@0;"
		"24 sample 1/7@0; 25 chain 1/7@0; 26 sample 1/9@0;"
		"27 chain 1/9@0; 28 sample 2/11@0; 29 chain 2/11@0;"
		"30 sample 2/1@0; 31 chain 2/1@0",
		.rule = "cookie_reused",
		.since = TIME_NONE,
		.time = 30,
		.loss = LOSS_NONE,
		.n = 1,
	},
	{
		"a_stack_before_its_nonce_is_a_finding",
		"10 chain 1/5 nonce; 20 sample 1/5 nonce",
		.rule = "nonce_early",
		.since = 10,
		.time = 20,
		.loss = LOSS_NONE,
		.n = 1,
	},
	{
		"clocks_of_two_cpus_may_put_a_stack_before_its_nonce",
		"10 chain 1/5 nonce cpu=0; 20 sample 1/5 nonce cpu=1",
		.rule = NULL,
	},
	{
		"but_not_by_so_much",
		"10 chain 1/5 nonce cpu=0; 1s sample 1/5 nonce cpu=1",
		.rule = "nonce_early",
	},
	{
		"a_stack_after_its_nonce_is_no_finding",
		"10 sample 1/5 nonce; 20 chain 1/5 nonce",
		.rule = NULL,
	},
	{
		"an_exit_is_remembered_for_longer_than_the_life",
		ENDED "10s sample 1; 12s hit 5 code",
		.rule = "after_exit",
		.since = 50,
	},
	{
		"an_exit_is_forgotten_with_the_next_life",
		ENDED "10s sample 1; 11s fork 5 1; 12s hit 5 code",
		.rule = NULL,
	},
	/* ---- all of them */
	{
		"captures_without_times_have_no_findings",
		"no_times; - fork 5 1; - hit 5 code; - fork 5 1; - exit 5; - hit 5 code",
		.rule = NULL,
	},
};

START_TEST(rules_row_holds)
{
	struct fake *f = fake_new();

	script_play_on(f, rules_rows[_i].records);
	rules_check(f, &rules_rows[_i]);
}
END_TEST

/* The leaf's frame of the i-th event. */
static const struct frame *rules_leaf(const struct all_facts *all, size_t i)
{
	uint32_t raw = fact_at(all, FACT_EVENT, i)->event.uraw;
	uint32_t stack = frames_get_raw(all->frames, raw)->stack;

	return frames_get_frame(all->frames,
				frames_get_stack(all->frames, stack)->frame);
}

START_TEST(frames_are_uncertain_from_the_loss_on)
{
	struct fake *f = fake_new();

	script_play_on(f, RUNS "50 hit 5 nowhere; 55 hit 5 nowhere; 60 lost 0;"
			       "70 hit 5 nowhere; 75 hit 5 nowhere;"
			       "80 hit 5 code+8");
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_uint_eq(rules_leaf(&all, 1)->flags, 0);
	ck_assert_uint_eq(rules_leaf(&all, 2)->flags, 0);
	ck_assert_uint_eq(rules_leaf(&all, 3)->flags,
			  FRAME_UNCERTAIN | FRAME_PARTIAL);
	ck_assert_uint_eq(rules_leaf(&all, 4)->flags,
			  FRAME_UNCERTAIN | FRAME_PARTIAL);
	ck_assert_uint_eq(rules_leaf(&all, 5)->flags, 0);
	facts_done(&all);
}
END_TEST

/* The flags of a caller in code that the records do not map. */
static uint8_t rules_caller_flags(const char *records)
{
	struct fake *f = fake_new();

	script_play_on(f, records);
	struct all_facts all = stitch_all(&f, 1);
	size_t n = fact_count(&all, FACT_EVENT);
	uint32_t raw = fact_at(&all, FACT_EVENT, n - 1)->event.uraw;
	const struct stack *s = frames_get_stack(
		all.frames, frames_get_raw(all.frames, raw)->stack);

	while (s->parent)
		s = frames_get_stack(all.frames, s->parent);
	uint8_t flags = frames_get_frame(all.frames, s->frame)->flags;

	facts_done(&all);
	return flags;
}

START_TEST(callers_that_a_child_may_have_mapped_are_not_judged)
{
	ck_assert_uint_eq(rules_caller_flags(RUNS
					     "50 fork 6 5; 55 map 6 nowhere;"
					     "70 hit 5 code+8 ip1=nowhere n=2"),
			  FRAME_PARTIAL);
	ck_assert_uint_eq(rules_caller_flags(RUNS
					     "50 fork 6 5; 55 map 6 0x680000;"
					     "70 hit 5 code+8 ip1=nowhere n=2"),
			  0);
}
END_TEST

START_TEST(what_comes_after_the_exit_is_of_another_life)
{
	struct fake *f = fake_new();

	script_play_on(f, ENDED "60 hit 5 code");
	struct all_facts all = stitch_all(&f, 1);
	const struct fact_event *was = &fact_at(&all, FACT_EVENT, 0)->event;
	const struct fact_event *is = &fact_at(&all, FACT_EVENT, 1)->event;

	ck_assert_uint_ne(was->thread, is->thread);
	/* nor does it have the mappings of the former one, and nothing says
	 * what it has */
	ck_assert_uint_eq(rules_leaf(&all, 1)->flags, FRAME_PARTIAL);
	ck_assert_uint_ne(rules_leaf(&all, 0)->image,
			  rules_leaf(&all, 1)->image);
	facts_done(&all);
}
END_TEST

START_TEST(a_record_that_stands_there_twice_is_a_duplicate)
{
	struct fake *f = fake_new();

	script_play_on(f, "10 fork 5 1 twin=1; 10 fork 5 1 twin=1;"
			  "20 sample 5; 20 sample 5");
	ck_assert_int_eq(rules_only(f, "duplicate").time, 10);
	ck_assert(rules[rules_index("duplicate")].harmless);
}
END_TEST

START_TEST(findings_beyond_the_limit_are_counted)
{
	struct fake *f = fake_new();
	uint64_t rows = 0, n = 0;

	for (uint64_t t = 1; t <= 40000; t++) {
		fake_sample(f, t, 5, 0)->twin = (uint32_t)t;
		fake_sample(f, t, 5, 0)->twin = (uint32_t)t;
	}
	struct all_facts all = stitch_all(&f, 1);

	for (size_t i = 0; i < all.n; i++)
		if (all.fact[i].kind == FACT_FINDING) {
			rows++;
			n += all.fact[i].finding.n;
		}
	ck_assert_uint_eq(n, 40000);
	ck_assert_uint_lt(rows, 40000);
	facts_done(&all);
}
END_TEST

START_TEST(every_rule_has_a_name_and_a_sentence)
{
	size_t n = 0;

	for (; rules[n].name; n++) {
		ck_assert(rules[n].proves && rules[n].proves[0]);
	}
	ck_assert_uint_eq(n, RULES);
}
END_TEST

static const struct run_table tables[] = {
	RUN_TABLE(rules_row_holds, rules_rows),
};

RUN_TABLES("rules", tables, frames_are_uncertain_from_the_loss_on,
	   what_comes_after_the_exit_is_of_another_life,
	   callers_that_a_child_may_have_mapped_are_not_judged,
	   a_record_that_stands_there_twice_is_a_duplicate,
	   findings_beyond_the_limit_are_counted,
	   every_rule_has_a_name_and_a_sentence)
