/* rules_sched.c - rules about switches, sleeps and wakeups: what they find,
 * and on which harmless things they are silent. */
#include "tests/unit/rules.h"

/* ---- switch_broken */

static void sched_event(struct fake *f, uint64_t time, int32_t cpu,
			struct sched s)
{
	struct fake_rec *r = fake_sample(f, time, s.tid, 0);

	r->rec.cpu = cpu;
	r->rec.sample.event = s.kind == SCHED_SWITCH ? 1 : 0;
	r->rec.sample.sched = s;
}

static void goes(struct fake *f, uint64_t time, int32_t cpu, int32_t tid,
		 int32_t next, bool sleeps)
{
	sched_event(f, time, cpu,
		    (struct sched){ SCHED_SWITCH, tid, next, sleeps });
}

static void wakes(struct fake *f, uint64_t time, int32_t cpu, int32_t who,
		  int32_t tid)
{
	sched_event(f, time, cpu, (struct sched){ SCHED_WAKEUP, tid, -1, 0 });
	f->rec[f->n - 1].rec.tid = f->rec[f->n - 1].rec.pid = who;
}

/* A capture with all switches and wakeups of two CPUs, on which 1, 2 and 3
 * take turns often enough for the rates. Ends at 4000, 1 runs on CPU 0. */
static struct fake *scheduler(void)
{
	struct fake *f = fake_new();

	f->src.info.cpus_online = 2;
	f->src.info.release = "6.18.2";
	for (int i = 0; i < 2; i++) {
		f->event[i].defer = false;
		f->event[i].type = 2;
		f->event[i].every = true;
	}
	f->event[0].sched = SCHED_WAKEUP;
	f->event[1].sched = SCHED_SWITCH;
	for (uint64_t t = 0; t < 40; t++) {
		goes(f, 100 * t + 10, 0, 1, 2, false);
		goes(f, 100 * t + 20, 0, 2, 3, false);
		goes(f, 100 * t + 30, 0, 3, 1, false);
		goes(f, 100 * t + 40, 1, 4, 4, false);
	}
	return f;
}

START_TEST(who_leaves_without_having_come_is_a_broken_switch)
{
	struct fake *f = scheduler();

	if (_i == 1)
		fake_lost(f, 5005, 0, 1);
	if (_i == 2) /* of another ring */
		fake_lost(f, 5005, 1, 1);
	goes(f, 5010, 0, 2, 3, false);
	struct fact_finding one = only(f, "switch_broken");

	ck_assert_int_eq(one.since, 3930);
	ck_assert_int_eq(one.time, 5010);
	ck_assert_int_eq(one.cpu, 0);
	ck_assert_int_eq(one.loss != 0, _i == 1);
}
END_TEST

START_TEST(switches_in_a_row_are_no_finding)
{
	silent(scheduler());
}
END_TEST

START_TEST(who_never_leaves_anywhere_is_not_recorded_at_all)
{
	struct fake *f = scheduler();

	goes(f, 5010, 0, 1, 0, true); /* idle */
	goes(f, 5020, 0, 2, 7, false);
	goes(f, 5030, 0, 3, 1, false);
	silent(f);
}
END_TEST

START_TEST(a_filter_that_nothing_tells_of_shows_by_its_effect)
{
	struct fake *f = scheduler();

	for (uint64_t t = 0; t < 20; t++) {
		goes(f, 5010 + 10 * t, 0, 1, 2, false);
		goes(f, 5015 + 10 * t, 0, 3, 1, false);
	}
	silent(f);
}
END_TEST

START_TEST(an_event_that_is_not_hit_each_time_is_not_followed)
{
	struct fake *f = scheduler();

	f->event[1].every = false;
	goes(f, 5010, 0, 2, 3, false);
	silent(f);
}
END_TEST

START_TEST(where_some_tasks_are_recorded_switches_are_not_followed)
{
	struct fake *f = scheduler();

	f->src.info.system_wide = TRI_NO;
	goes(f, 5010, 0, 2, 3, false);
	silent(f);
}
END_TEST

START_TEST(an_id_that_changes_by_exec_is_no_broken_switch)
{
	struct fake *f = scheduler();

	/* 11 is a thread of 10, which ends */
	fake_fork(f, 4000, 10, 1);
	of_process(fake_fork(f, 4010, 11, 10), 10);
	fake_exit(f, 4020, 10);
	goes(f, 5000, 0, 1, 11, false);
	goes(f, 5010, 0, 11, 1, false);
	of_process(&f->rec[f->n - 1], 10);
	goes(f, 5020, 0, 1, 11, false);
	if (_i)
		fake_comm(f, 5030, 10, "new", true);
	goes(f, 5040, 0, 10, 1, false);
	if (!_i)
		fake_comm(f, 5050, 10, "new", true);
	silent(f);
}
END_TEST

static void switch_record(struct fake *f, uint64_t time, int32_t tid,
			  int32_t other, bool out)
{
	struct fake_rec *r =
		fake_add(f, REC_SWITCH,
			 out ? CLASS_SWITCH_OUT : CLASS_SWITCH_IN, time, tid);

	r->rec.sw.other_pid = r->rec.sw.other_tid = other;
	r->rec.flags = out ? REC_F_OUT : 0;
}

/* _i: which of the four records of the last round are missing. */
START_TEST(switch_records_are_followed_too)
{
	struct fake *f = fake_new();

	for (uint64_t t = 1; t < 40; t++) {
		bool last = t == 20;

		switch_record(f, 100 * t, 1, 2, true);
		if (!last || !(_i & 1))
			switch_record(f, 100 * t + 1, 2, 1, false);
		if (!last || !(_i & 2))
			switch_record(f, 100 * t + 50, 2, 1, true);
		if (!last || !(_i & 4))
			switch_record(f, 100 * t + 51, 1, 2, false);
	}
	/* who came and went unseen stands in the next record as well */
	only(f,
	     _i == 2 || _i == 3 || _i == 6 || _i == 7 ? "switch_broken" : NULL);
}
END_TEST

START_TEST(an_id_that_changes_by_exec_is_so_in_both_kinds_of_record)
{
	struct fake *f = scheduler();

	switch_record(f, 3995, 2, 1, true);
	fake_fork(f, 4000, 10, 1);
	of_process(fake_fork(f, 4010, 11, 10), 10);
	fake_exit(f, 4020, 10);
	goes(f, 5000, 0, 1, 11, false);
	switch_record(f, 5001, 1, 11, true);
	goes(f, 5010, 0, 11, 1, false);
	of_process(&f->rec[f->n - 1], 10);
	switch_record(f, 5011, 11, 1, true);
	of_process(&f->rec[f->n - 1], 10);
	goes(f, 5020, 0, 1, 11, false);
	switch_record(f, 5021, 1, 11, true);
	goes(f, 5030, 0, 10, 1, false);
	switch_record(f, 5031, 10, 1, true);
	fake_comm(f, 5050, 10, "new", true);
	silent(f);
}
END_TEST

START_TEST(records_of_one_instant_have_no_order)
{
	struct fake *f = fake_new();

	for (uint64_t t = 1; t < 40; t++) {
		switch_record(f, 100 * t, 1 + (t & 1), 2 - (t & 1), true);
		switch_record(f, 100 * t, 2 - (t & 1), 1 + (t & 1), false);
	}
	silent(f);
}
END_TEST

/* ---- wakeup_order, wakeup_lost */

/* 2 sleeps from 5010 on, and is there again at 5030. */
static struct fake *sleeper(uint64_t woken)
{
	struct fake *f = scheduler();

	goes(f, 5000, 0, 1, 2, false);
	if (woken && woken < 5010)
		wakes(f, woken, 1, 4, 2);
	goes(f, 5010, 0, 2, 1, true);
	if (woken > 5010)
		wakes(f, woken, 1, 4, 2);
	goes(f, 5030, 0, 1, 2, false);
	/* both CPUs are still recorded */
	goes(f, 9000, 1, 4, 4, false);
	goes(f, 9000, 0, 2, 1, false);
	return f;
}

START_TEST(a_wakeup_before_its_sleep_is_a_finding)
{
	struct fact_finding one = only(sleeper(5005), "wakeup_order");

	ck_assert_int_eq(one.since, 5010);
	ck_assert_int_eq(one.time, 5030);
}
END_TEST

START_TEST(a_wakeup_between_is_no_finding)
{
	silent(sleeper(5020));
}
END_TEST

START_TEST(a_missing_wakeup_is_a_finding_only_with_a_loss)
{
	struct fake *f = sleeper(0);

	if (_i)
		fake_lost(f, 5020, 1, 1);
	only(f, _i ? "wakeup_lost" : NULL);
}
END_TEST

START_TEST(where_wakeups_are_missing_anyway_none_is_out_of_order)
{
	struct fake *f = sleeper(5005);

	goes(f, 6000, 0, 2, 1, true);
	goes(f, 6010, 0, 1, 2, false);
	silent(f);
}
END_TEST

START_TEST(kernels_that_call_runnable_tasks_asleep_prove_nothing)
{
	static const char *const release[] = { "5.10.0-21-amd64", "6.1.187",
					       "6.13.1", NULL };
	struct fake *f = sleeper(5005);

	f->src.info.release = release[_i];
	silent(f);
}
END_TEST

START_TEST(a_wakeup_may_be_missing_when_a_cpu_is_not_recorded_any_more)
{
	struct fake *f = scheduler();

	goes(f, 5000, 0, 1, 2, false);
	wakes(f, 5005, 0, 2, 2);
	goes(f, 5010, 0, 2, 1, true);
	goes(f, 5030, 0, 1, 2, false);
	silent(f);
}
END_TEST

START_TEST(ids_of_another_namespace_prove_nothing)
{
	struct fake *f = sleeper(5005);

	goes(f, 9100, 1, 4, 4, false);
	f->rec[f->n - 1].rec.tid = 77;
	silent(f);
}
END_TEST

START_TEST(a_new_life_needs_no_wakeup)
{
	struct fake *f = scheduler();

	fake_fork(f, 4000, 8, 1);
	goes(f, 5000, 0, 1, 8, false);
	fake_exit(f, 5005, 8);
	goes(f, 5010, 0, 8, 1, true);
	fake_fork(f, 5020, 8, 1);
	goes(f, 5030, 0, 1, 8, false);
	goes(f, 9000, 1, 4, 4, false);
	goes(f, 9000, 0, 8, 1, false);
	silent(f);
}
END_TEST

static void add_sched(TCase *t)
{
	tcase_add_loop_test(
		t, who_leaves_without_having_come_is_a_broken_switch, 0, 3);
	tcase_add_test(t, switches_in_a_row_are_no_finding);
	tcase_add_test(t, who_never_leaves_anywhere_is_not_recorded_at_all);
	tcase_add_test(t, a_filter_that_nothing_tells_of_shows_by_its_effect);
	tcase_add_test(t, an_event_that_is_not_hit_each_time_is_not_followed);
	tcase_add_test(t,
		       where_some_tasks_are_recorded_switches_are_not_followed);
	tcase_add_loop_test(t, an_id_that_changes_by_exec_is_no_broken_switch,
			    0, 2);
	tcase_add_loop_test(t, switch_records_are_followed_too, 0, 8);
	tcase_add_test(
		t, an_id_that_changes_by_exec_is_so_in_both_kinds_of_record);
	tcase_add_test(t, records_of_one_instant_have_no_order);
	tcase_add_test(t, a_wakeup_before_its_sleep_is_a_finding);
	tcase_add_test(t, a_wakeup_between_is_no_finding);
	tcase_add_loop_test(t, a_missing_wakeup_is_a_finding_only_with_a_loss,
			    0, 2);
	tcase_add_test(t,
		       where_wakeups_are_missing_anyway_none_is_out_of_order);
	tcase_add_loop_test(
		t, kernels_that_call_runnable_tasks_asleep_prove_nothing, 0, 4);
	tcase_add_test(
		t, a_wakeup_may_be_missing_when_a_cpu_is_not_recorded_any_more);
	tcase_add_test(t, ids_of_another_namespace_prove_nothing);
	tcase_add_test(t, a_new_life_needs_no_wakeup);
}

int main(void)
{
	return run_rules("rules_sched", add_sched);
}
