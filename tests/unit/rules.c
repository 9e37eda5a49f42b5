/* rules.c - each rule finds what it is for, and is silent on the harmless
 * thing that looks most like it. */
#include "tests/unit/rules.h"

/* ---- tid_reused */

static struct fake *two_lives(bool told)
{
	struct fake *f = fake_new();

	fake_fork(f, 10, 5, 1);
	fake_sample(f, 20, 5, 0);
	if (told)
		fake_exit(f, 60, 5);
	return f;
}

START_TEST(a_second_fork_without_exit_between_is_a_reused_tid)
{
	struct fake *f = two_lives(false);

	fake_fork(f, 100, 5, 1);
	struct fact_finding one = only(f, "tid_reused");

	ck_assert_int_eq(one.since, 20);
	ck_assert_int_eq(one.time, 100);
	ck_assert_uint_eq(one.loss, 0);
	ck_assert_uint_eq(one.n, 1);
}
END_TEST

START_TEST(a_loss_between_explains_the_reused_tid)
{
	struct fake *f = two_lives(false);

	fake_lost(f, 60, 3, 7);
	fake_fork(f, 100, 5, 1);
	ck_assert_uint_ne(only(f, "tid_reused").loss, 0);
}
END_TEST

START_TEST(a_loss_before_or_after_explains_no_reused_tid)
{
	struct fake *f = fake_new();

	fake_sample(f, 5, 9, 0);
	fake_lost(f, 8, 0, 1);
	fake_fork(f, 10, 5, 1);
	fake_fork(f, 100, 5, 1);
	fake_lost(f, 200, 0, 1);
	ck_assert_uint_eq(only(f, "tid_reused").loss, 0);
}
END_TEST

START_TEST(a_tid_that_is_used_again_after_its_exit_is_no_finding)
{
	struct fake *f = two_lives(true);

	fake_fork(f, 100, 5, 1);
	silent(f);
}
END_TEST

START_TEST(a_fork_that_the_recorder_tells_of_too_is_no_finding)
{
	struct fake *f = fake_new();

	was_there(f, 5);
	fake_fork(f, 10, 5, 1);
	fake_sample(f, 20, 5, 0);
	silent(f);
}
END_TEST

START_TEST(a_thread_in_another_process_is_a_reused_tid)
{
	struct fake *f = fake_new();

	of_process(fake_sample(f, 10, 6, 0), 5);
	of_process(fake_sample(f, 20, 6, 0), 7);
	ck_assert_int_eq(only(f, "tid_reused").since, 10);
}
END_TEST

START_TEST(where_some_cpus_are_recorded_a_missing_exit_is_no_finding)
{
	struct fake *f = two_lives(false);

	f->src.info.system_wide = TRI_NO;
	f->src.info.whole_tasks = false;
	fake_fork(f, 100, 5, 1);
	silent(f);
}
END_TEST

START_TEST(where_recording_paused_only_a_loss_makes_a_reused_tid)
{
	struct fake *f = two_lives(false);

	f->src.info.paused = true;
	if (_i)
		fake_lost(f, 60, 3, 7);
	fake_fork(f, 100, 5, 1);
	only(f, _i ? "tid_reused" : NULL);
}
END_TEST

/* Process 5 has the thread 6, which calls exec after 5 has ended: it goes on
 * as 5, and 6 is free without an EXIT. long: 5 ended long ago. */
static struct fake *takeover(uint64_t late)
{
	struct fake *f = fake_new();

	fake_fork(f, 10, 5, 1);
	of_process(fake_fork(f, 20, 6, 5), 5);
	of_process(fake_sample(f, 30, 6, 0), 5);
	fake_exit(f, 40, 5);
	fake_sample(f, late - 10, 9, 0);
	fake_comm(f, late, 5, "new", true);
	fake_map(f, late + 10, 5, CODE, 0x1000, "/bin/new");
	user_hit(f, late + 20, 5, CODE);
	return f;
}

START_TEST(a_thread_that_becomes_the_first_by_exec_is_no_finding)
{
	struct fake *f = takeover(_i ? 50 : 5 * SECOND);

	fake_fork(f, 6 * SECOND, 6, 1);
	fake_sample(f, 6 * SECOND + 1, 6, 0);
	fake_exit(f, 7 * SECOND, 5);
	silent(f);
}
END_TEST

START_TEST(an_exit_that_comes_late_takes_the_finding_back)
{
	struct fake *f = two_lives(false);

	f->trusting = true;
	f->src.info.exact = false;
	fake_fork(f, 100, 5, 1);
	fake_exit(f, 60, 5);
	silent(f);
}
END_TEST

/* ---- map_lost */

/* A process that began under our eyes, and has one mapping. */
static struct fake *runs(void)
{
	struct fake *f = fake_new();

	fake_fork(f, 10, 5, 1);
	fake_comm(f, 20, 5, "app", true);
	fake_map(f, 30, 5, CODE, 0x1000, "/bin/app");
	user_hit(f, 40, 5, CODE + 8);
	return f;
}

START_TEST(code_that_nothing_maps_after_a_loss_is_a_lost_mapping)
{
	struct fake *f = runs();

	fake_lost(f, 50, 2, 3);
	fake_lost(f, 60, 0, 3);
	user_hit(f, 70, 5, NOWHERE);
	user_hit(f, 80, 5, NOWHERE + 0x5000);
	struct fact_finding one = only(f, "map_lost");

	ck_assert_int_eq(one.since, 20);
	ck_assert_int_eq(one.time, 70);
	ck_assert_uint_eq(one.n, 2);
	/* that of its own CPU, of the two */
	ck_assert_uint_eq(one.loss, 2);
	ck_assert_uint_eq(one.event, 2);
}
END_TEST

START_TEST(code_that_nothing_maps_without_a_loss_is_no_finding)
{
	struct fake *f = runs();

	user_hit(f, 70, 5, NOWHERE);
	fake_lost(f, 90, 0, 3);
	silent(f);
}
END_TEST

START_TEST(a_loss_before_exec_lost_no_mapping_of_the_new_program)
{
	struct fake *f = fake_new();

	fake_lost(f, 5, 0, 3);
	fake_fork(f, 10, 5, 1);
	fake_comm(f, 20, 5, "app", true);
	fake_map(f, 30, 5, CODE, 0x1000, "/bin/app");
	user_hit(f, 70, 5, NOWHERE);
	silent(f);
}
END_TEST

START_TEST(a_process_that_runs_unmapped_code_anyway_is_no_finding)
{
	struct fake *f = runs();

	user_hit(f, 45, 5, NOWHERE - 0x100000);
	fake_map(f, 46, 5, NOWHERE - 0x80000, 0x1000, "/lib/between");
	fake_lost(f, 60, 0, 3);
	user_hit(f, 70, 5, NOWHERE);
	silent(f);
}
END_TEST

START_TEST(vsyscall_and_the_first_page_are_no_lost_mappings)
{
	struct fake *f = runs();

	fake_lost(f, 60, 0, 3);
	user_hit(f, 70, 5, 0xffffffffff600400);
	user_hit(f, 80, 5, 0x10);
	silent(f);
}
END_TEST

START_TEST(a_process_without_any_mapping_is_no_lost_mapping)
{
	struct fake *f = fake_new();

	fake_sample(f, 10, 1, 0);
	fake_lost(f, 20, 0, 3);
	user_hit(f, 70, 5, NOWHERE);
	silent(f);
}
END_TEST

START_TEST(a_caller_that_nothing_maps_is_no_lost_mapping)
{
	struct fake *f = runs();

	fake_lost(f, 60, 0, 3);
	struct fake_rec *s = user_hit(f, 70, 5, CODE + 8);

	s->ip[1] = NOWHERE;
	s->rec.sample.user.n = 2;
	silent(f);
}
END_TEST

START_TEST(the_end_of_a_hole_that_was_split_is_the_same_lost_mapping)
{
	struct fake *f = runs();

	fake_lost(f, 60, 0, 3);
	user_hit(f, 70, 5, NOWHERE);
	fake_map(f, 80, 5, CODE + 0x10000, 0x1000, "/lib/one");
	user_hit(f, 90, 5, NOWHERE + 0x100);
	ck_assert_uint_eq(only(f, "map_lost").n, 2);
}
END_TEST

START_TEST(a_user_hit_whose_chain_comes_later_shows_a_lost_mapping)
{
	struct fake *f = runs();

	fake_lost(f, 60, 0, 3);
	struct fake_rec *s = fake_sample(f, 70, 5, 7);

	s->rec.flags = REC_F_USER;
	s->rec.sample.ip = NOWHERE;
	ck_assert_int_eq(only(f, "map_lost").time, 70);
}
END_TEST

START_TEST(the_first_address_of_a_chain_shows_a_lost_mapping)
{
	struct fake *f = runs();

	fake_lost(f, 60, 0, 3);
	fake_sample(f, 65, 5, 7);
	struct fake_rec *c = fake_chain(f, 70, 5, 7);

	c->ip[0] = _i ? CODE + 8 : NOWHERE;
	c->ip[1] = NOWHERE;
	only(f, _i ? NULL : "map_lost");
}
END_TEST

/* The leaf's frame of the i-th event. */
static const struct frame *leaf(const struct all_facts *all, size_t i)
{
	uint32_t raw = fact_at(all, FACT_EVENT, i)->event.uraw;
	uint32_t stack = frames_get_raw(all->frames, raw)->stack;

	return frames_get_frame(all->frames,
				frames_get_stack(all->frames, stack)->frame);
}

START_TEST(frames_are_uncertain_from_the_loss_on)
{
	struct fake *f = runs();

	user_hit(f, 50, 5, NOWHERE);
	user_hit(f, 55, 5, NOWHERE);
	fake_lost(f, 60, 0, 3);
	user_hit(f, 70, 5, NOWHERE);
	user_hit(f, 75, 5, NOWHERE);
	user_hit(f, 80, 5, CODE + 8);
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_uint_eq(leaf(&all, 1)->flags, 0);
	ck_assert_uint_eq(leaf(&all, 2)->flags, 0);
	ck_assert_uint_eq(leaf(&all, 3)->flags, FRAME_UNCERTAIN);
	ck_assert_uint_eq(leaf(&all, 4)->flags, FRAME_UNCERTAIN);
	ck_assert_uint_eq(leaf(&all, 5)->flags, 0);
	facts_done(&all);
}
END_TEST

/* ---- fork_lost */

/* One CPU; thread 1 was there, 100 is forked. */
static struct fake *forks(void)
{
	struct fake *f = fake_new();

	f->src.info.cpus_online = 1;
	was_there(f, 1);
	fake_sample(f, 10, 1, 0);
	fake_fork(f, 20, 100, 1);
	return f;
}

START_TEST(a_younger_thread_after_a_loss_has_lost_its_fork)
{
	struct fake *f = forks();

	fake_fork(f, 25, 101, 1);
	fake_lost(f, 40, 0, 3);
	fake_fork(f, 45, 103, 1);
	fake_sample(f, 50, 102, 0);
	fake_sample(f, 60, 102, 0);
	struct fact_finding one = only(f, "fork_lost");

	ck_assert_int_eq(one.since, 25);
	ck_assert_int_eq(one.time, 50);
	ck_assert_uint_ne(one.loss, 0);
}
END_TEST

START_TEST(a_thread_from_nowhere_without_a_loss_is_no_finding)
{
	struct fake *f = forks();

	fake_sample(f, 50, 102, 0);
	/* nor is another one: its parent may not be recorded at all */
	fake_lost(f, 60, 0, 3);
	fake_sample(f, 70, 104, 0);
	silent(f);
}
END_TEST

START_TEST(threads_that_were_told_of_are_no_finding)
{
	struct fake *f = forks();

	was_there(f, 300);
	fake_lost(f, 40, 0, 3);
	fake_fork(f, 45, 102, 1);
	fake_sample(f, 50, 102, 0);
	fake_sample(f, 60, 300, 0);
	silent(f);
}
END_TEST

START_TEST(an_older_thread_may_have_been_missed_at_the_start)
{
	struct fake *f = forks();

	fake_lost(f, 40, 0, 3);
	fake_sample(f, 50, 99, 0);
	silent(f);
}
END_TEST

START_TEST(before_all_cpus_are_recorded_a_fork_may_be_missing)
{
	struct fake *f = forks();

	f->src.info.cpus_online = 2;
	fake_lost(f, 40, 0, 3);
	fake_sample(f, 50, 102, 0);
	silent(f);
}
END_TEST

START_TEST(where_some_tasks_are_recorded_a_fork_may_be_missing)
{
	struct fake *f = forks();

	f->src.info.system_wide = TRI_NO;
	fake_lost(f, 40, 0, 3);
	fake_sample(f, 50, 102, 0);
	silent(f);
}
END_TEST

/* ---- after_exit */

static struct fake *ended(void)
{
	struct fake *f = fake_new();

	fake_fork(f, 10, 5, 1);
	fake_map(f, 15, 5, CODE, 0x1000, "/bin/app");
	user_hit(f, 20, 5, CODE);
	fake_exit(f, 50, 5);
	return f;
}

static void goes_on(struct fake *f, int how, uint64_t time)
{
	if (how == 0)
		user_hit(f, time, 5, CODE);
	else if (how == 1)
		fake_map(f, time, 5, CODE, 0x1000, "/bin/app");
	else if (how == 2)
		fake_comm(f, time, 5, "more", false);
	else
		fake_fork(f, time, (int32_t)time, 5);
}

START_TEST(a_thread_that_goes_on_after_its_exit_is_a_finding)
{
	struct fake *f = ended();

	if (_i & 4)
		fake_lost(f, 55, 0, 1);
	goes_on(f, _i & 3, 60);
	goes_on(f, _i & 3, 70);
	struct fact_finding one = only(f, "after_exit");

	ck_assert_int_eq(one.since, 50);
	ck_assert_int_eq(one.time, 60);
	ck_assert_int_eq(one.loss != 0, (_i & 4) != 0);
}
END_TEST

START_TEST(what_comes_after_the_exit_is_of_another_life)
{
	struct fake *f = ended();

	user_hit(f, 60, 5, CODE);
	struct all_facts all = stitch_all(&f, 1);
	const struct fact_event *was = &fact_at(&all, FACT_EVENT, 0)->event;
	const struct fact_event *is = &fact_at(&all, FACT_EVENT, 1)->event;

	ck_assert_uint_ne(was->thread, is->thread);
	/* nor does it have the mappings of the former one */
	ck_assert_uint_eq(leaf(&all, 1)->flags, 0);
	ck_assert_uint_ne(leaf(&all, 0)->image, leaf(&all, 1)->image);
	facts_done(&all);
}
END_TEST

START_TEST(the_way_out_after_the_exit_record_is_no_finding)
{
	struct fake *f = ended();

	fake_sample(f, 52, 5, 0)->rec.flags = REC_F_KERNEL;
	fake_chain(f, 54, 5, 7);
	fake_add(f, REC_SWITCH, CLASS_SWITCH_OUT, 56, 5)->rec.flags = REC_F_OUT;
	fake_fork(f, 60, 5, 1);
	user_hit(f, 70, 5, CODE);
	silent(f);
}
END_TEST

START_TEST(a_name_for_the_first_thread_from_the_others_is_no_finding)
{
	struct fake *f = fake_new();

	fake_fork(f, 10, 5, 1);
	of_process(fake_fork(f, 20, 6, 5), 5);
	fake_exit(f, 40, 5);
	fake_comm(f, 50, 5, "named", false);
	of_process(user_hit(f, 60, 6, CODE), 5);
	silent(f);
}
END_TEST

START_TEST(a_record_that_comes_late_is_of_the_life_that_was)
{
	struct fake *f = ended();

	f->trusting = true;
	f->src.info.exact = false;
	user_hit(f, 45, 5, CODE);
	silent(f);
}
END_TEST

START_TEST(an_exit_is_remembered_for_longer_than_the_life)
{
	struct fake *f = ended();

	fake_sample(f, 10 * SECOND, 1, 0);
	if (_i)
		fake_fork(f, 11 * SECOND, 5, 1);
	user_hit(f, 12 * SECOND, 5, CODE);
	if (_i)
		silent(f);
	else
		ck_assert_int_eq(only(f, "after_exit").since, 50);
}
END_TEST

/* ---- duplicate, clock_step, and all of them */

START_TEST(a_record_that_stands_there_twice_is_a_duplicate)
{
	struct fake *f = fake_new();

	fake_fork(f, 10, 5, 1)->twin = 1;
	fake_fork(f, 10, 5, 1)->twin = 1;
	fake_sample(f, 20, 5, 0);
	fake_sample(f, 20, 5, 0);
	ck_assert_int_eq(only(f, "duplicate").time, 10);
	ck_assert(!rules[rule_index("duplicate")].breaks);
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

/* Every 100 ms a record; from the 30th on the clock is `back` behind. */
static struct fake *stepping(uint64_t back)
{
	struct fake *f = fake_new();

	f->event[1].type = 1;
	for (uint64_t i = 0; i < 80; i++) {
		uint64_t t = 5 * SECOND + i * SECOND / 10;
		struct fake_rec *s =
			fake_sample(f, i < 30 ? t : t - back, 5, 0);

		s->rec.sample.event = 1;
		s = fake_sample(f, t, 6, 0);
		s->rec.cpu = 1;
		s->rec.sample.event = 1;
	}
	return f;
}

START_TEST(a_clock_that_is_set_back_is_a_finding)
{
	struct fact_finding one = only(stepping(2500000000), "clock_step");

	ck_assert_int_eq(one.cpu, 0);
	ck_assert_uint_gt(one.n, 1);
}
END_TEST

START_TEST(records_a_little_out_of_order_are_no_clock_step)
{
	silent(stepping(900000000));
}
END_TEST

START_TEST(where_files_are_not_in_order_of_time_no_clock_steps)
{
	struct fake *f = stepping(2500000000);

	if (_i == 0)
		f->src.info.overwrite = true;
	else if (_i == 1)
		f->src.info.dir = true;
	else if (_i == 2)
		f->src.info.system_wide = TRI_NO;
	else
		f->event[1].type = 4; /* the processor may hold it back */
	silent(f);
}
END_TEST

START_TEST(a_pipe_shows_a_clock_step_by_what_comes_late)
{
	struct fake *f = stepping(_i ? 900000000 : 2500000000);

	f->trusting = true;
	f->src.info.exact = false;
	only(f, _i ? NULL : "clock_step");
}
END_TEST

START_TEST(captures_without_times_have_no_findings)
{
	struct fake *f = fake_new();

	f->src.info.has_time = false;
	fake_fork(f, UINT64_MAX, 5, 1);
	user_hit(f, UINT64_MAX, 5, CODE);
	fake_fork(f, UINT64_MAX, 5, 1);
	fake_exit(f, UINT64_MAX, 5);
	user_hit(f, UINT64_MAX, 5, CODE);
	silent(f);
}
END_TEST

START_TEST(every_rule_has_a_name_a_view_and_a_sentence)
{
	size_t n = 0;

	for (; rules[n].name; n++) {
		ck_assert(rules[n].proves && rules[n].proves[0]);
		ck_assert(!strncmp(rules[n].view, "rule_", 5));
		ck_assert_str_eq(rules[n].view + 5, rules[n].name);
	}
	ck_assert_uint_eq(n, 9);
}
END_TEST

static void add_lives(TCase *t)
{
	tcase_add_test(t, a_second_fork_without_exit_between_is_a_reused_tid);
	tcase_add_test(t, a_loss_between_explains_the_reused_tid);
	tcase_add_test(t, a_loss_before_or_after_explains_no_reused_tid);
	tcase_add_test(t,
		       a_tid_that_is_used_again_after_its_exit_is_no_finding);
	tcase_add_test(t, a_fork_that_the_recorder_tells_of_too_is_no_finding);
	tcase_add_test(t, a_thread_in_another_process_is_a_reused_tid);
	tcase_add_test(
		t, where_some_cpus_are_recorded_a_missing_exit_is_no_finding);
	tcase_add_loop_test(
		t, where_recording_paused_only_a_loss_makes_a_reused_tid, 0, 2);
	tcase_add_loop_test(
		t, a_thread_that_becomes_the_first_by_exec_is_no_finding, 0, 2);
	tcase_add_test(t, an_exit_that_comes_late_takes_the_finding_back);
	tcase_add_test(t, a_younger_thread_after_a_loss_has_lost_its_fork);
	tcase_add_test(t, a_thread_from_nowhere_without_a_loss_is_no_finding);
	tcase_add_test(t, threads_that_were_told_of_are_no_finding);
	tcase_add_test(t, an_older_thread_may_have_been_missed_at_the_start);
	tcase_add_test(t, before_all_cpus_are_recorded_a_fork_may_be_missing);
	tcase_add_test(t, where_some_tasks_are_recorded_a_fork_may_be_missing);
	tcase_add_loop_test(
		t, a_thread_that_goes_on_after_its_exit_is_a_finding, 0, 8);
	tcase_add_test(t, what_comes_after_the_exit_is_of_another_life);
	tcase_add_test(t, the_way_out_after_the_exit_record_is_no_finding);
	tcase_add_test(
		t, a_name_for_the_first_thread_from_the_others_is_no_finding);
	tcase_add_test(t, a_record_that_comes_late_is_of_the_life_that_was);
	tcase_add_loop_test(t, an_exit_is_remembered_for_longer_than_the_life,
			    0, 2);
}

static void add_maps(TCase *t)
{
	tcase_add_test(t,
		       code_that_nothing_maps_after_a_loss_is_a_lost_mapping);
	tcase_add_test(t, code_that_nothing_maps_without_a_loss_is_no_finding);
	tcase_add_test(t,
		       a_loss_before_exec_lost_no_mapping_of_the_new_program);
	tcase_add_test(t,
		       a_process_that_runs_unmapped_code_anyway_is_no_finding);
	tcase_add_test(t, vsyscall_and_the_first_page_are_no_lost_mappings);
	tcase_add_test(t, a_process_without_any_mapping_is_no_lost_mapping);
	tcase_add_test(t, a_caller_that_nothing_maps_is_no_lost_mapping);
	tcase_add_test(
		t, the_end_of_a_hole_that_was_split_is_the_same_lost_mapping);
	tcase_add_test(t,
		       a_user_hit_whose_chain_comes_later_shows_a_lost_mapping);
	tcase_add_loop_test(
		t, the_first_address_of_a_chain_shows_a_lost_mapping, 0, 2);
	tcase_add_test(t, frames_are_uncertain_from_the_loss_on);
}

static void add_rest(TCase *t)
{
	tcase_add_test(t, a_record_that_stands_there_twice_is_a_duplicate);
	tcase_add_test(t, findings_beyond_the_limit_are_counted);
	tcase_add_test(t, a_clock_that_is_set_back_is_a_finding);
	tcase_add_test(t, records_a_little_out_of_order_are_no_clock_step);
	tcase_add_loop_test(
		t, where_files_are_not_in_order_of_time_no_clock_steps, 0, 4);
	tcase_add_loop_test(t, a_pipe_shows_a_clock_step_by_what_comes_late, 0,
			    2);
	tcase_add_test(t, captures_without_times_have_no_findings);
	tcase_add_test(t, every_rule_has_a_name_a_view_and_a_sentence);
}

static void add_all(TCase *t)
{
	add_lives(t);
	add_maps(t);
	add_rest(t);
}

int main(void)
{
	return run_rules("rules", add_all);
}
