/* rules_sched.c - rules about switches, sleeps and wakeups: what they find,
 * and on which harmless things they are silent. */
#include "tests/unit/rules.h"

/* 11 is a thread of 10, which ends. */
#define LEADER_ENDED "4000 fork 10 1; 4010 fork 11 10 pid=10; 4020 exit 10; "
/* Both CPUs have a wakeup, of a thread that nothing else is told of. */
#define AWAKE(time) time " wakeup 0 2 99;" time " wakeup 1 4 99; "
/* 2 sleeps from 5010 on, and is there again at 5030; both CPUs are recorded
 * until 9000. */
#define SLEEPER(before, between)                                               \
	AWAKE("4500")                                                          \
	"5000 switch 0 1 2;" before "5010 sleep 0 2 1;" between                \
	"5030 switch 0 1 2; 9000 switch 1 4 4; 9000 switch 0 2 1; " AWAKE(     \
		"9000")

static const struct rules_row sched_rows[] = {
	/* ---- switch_broken */
	{
		"who_leaves_without_having_come_is_a_broken_switch",
		"5010 switch 0 2 3",
		.rule = "switch_broken",
		.since = 3930,
		.time = 5010,
		.loss = LOSS_NONE,
	},
	{
		"a_loss_on_the_same_cpu_explains_a_broken_switch",
		"5005 lost 0; 5010 switch 0 2 3",
		.rule = "switch_broken",
		.since = 3930,
		.time = 5010,
		.loss = LOSS_SOME,
	},
	{
		"a_loss_on_another_cpu_explains_no_broken_switch",
		"5005 lost 1; 5010 switch 0 2 3",
		.rule = "switch_broken",
		.since = 3930,
		.time = 5010,
		.loss = LOSS_NONE,
	},
	/* MMAP, FORK and EXIT are written by the thread on the CPU */
	{
		"who_maps_without_having_come_is_a_broken_switch",
		"5005 map 2 0x7000 cpu=0 by=2; 5010 switch 0 2 3",
		.rule = "switch_broken",
		.since = 3930,
		.time = 5005,
		.loss = LOSS_NONE,
	},
	{
		"who_forks_without_having_come_is_a_broken_switch",
		"5005 fork 9 2 cpu=0 by=2; 5010 switch 0 2 3",
		.rule = "switch_broken",
		.since = 3930,
		.time = 5005,
		.loss = LOSS_NONE,
	},
	{
		"who_came_may_map_fork_and_end",
		"5005 map 1 0x7000 cpu=0 by=1; 5006 fork 9 1 cpu=0 by=1;"
		"5007 exit 1 cpu=0 by=1; 5010 switch 0 1 3",
		.rule = NULL,
	},
	{
		"who_names_another_thread_is_who_is_on_the_cpu",
		"5005 name 2 cpu=0 by=1; 5010 switch 0 1 3",
		.rule = NULL,
	},
	{
		"what_the_recorder_wrote_is_of_no_cpu",
		"5005 map 2 0x7000 cpu=0; 5010 switch 0 1 3",
		.rule = NULL,
	},
	{
		"switches_in_a_row_are_no_finding",
		"",
		.rule = NULL,
	},
	/* 0 is the idle task. */
	{
		"who_never_leaves_anywhere_is_not_recorded_at_all",
		"5010 sleep 0 1 0; 5020 switch 0 2 7; 5030 switch 0 3 1",
		.rule = NULL,
	},
	{
		"who_never_leaves_is_silent_if_nothing_was_left_out",
		"options; 5010 switch 0 1 2; 5020 switch 0 2 7; 5030 switch 0 3 1",
		.rule = "switch_broken",
		.since = 5020,
		.time = 5030,
		.loss = LOSS_NONE,
	},
	{
		"the_idle_task_of_a_cpu_may_be_silent",
		"options; 5010 sleep 0 1 0; 5020 switch 0 2 3",
		.rule = "switch_broken",
		.since = 5010,
		.time = 5020,
	},
	{
		"perf_inject_leaves_records_out",
		"options; injected; 5010 sleep 0 1 0; 5020 switch 0 2 3",
		.rule = NULL,
	},
	{
		"an_export_leaves_records_out",
		"options; exported; 5010 sleep 0 1 0; 5020 switch 0 2 3",
		.rule = NULL,
	},
	{
		"an_event_that_is_not_hit_each_time_is_not_followed",
		"sampled; 5010 switch 0 2 3",
		.rule = NULL,
	},
	{
		"where_some_tasks_are_recorded_switches_are_not_followed",
		"per_task; 5010 switch 0 2 3",
		.rule = NULL,
	},
	{
		"where_a_filter_may_be_a_broken_switch_is_not_proved",
		"tasks_unknown; 5010 switch 0 2 3",
		.rule = "switch_gap",
		.since = 3930,
		.time = 5010,
		.loss = LOSS_NONE,
	},
	{
		"where_a_filter_may_be_a_loss_explains_a_broken_switch",
		"tasks_unknown; 5005 lost 0; 5010 switch 0 2 3",
		.rule = "switch_gap",
		.loss = LOSS_SOME,
	},
	{
		"where_a_filter_may_be_switches_in_a_row_are_no_finding",
		"tasks_unknown",
		.rule = NULL,
	},
	{
		"where_a_filter_may_be_sampled_switches_are_not_followed",
		"tasks_unknown; sampled; 5010 switch 0 2 3",
		.rule = NULL,
	},
	{
		"where_a_filter_may_be_a_missing_wakeup_is_no_finding",
		"tasks_unknown; options;" SLEEPER("", ""),
		.rule = NULL,
	},
	{
		"where_a_filter_may_be_exec_is_no_broken_switch",
		"tasks_unknown;" LEADER_ENDED
		" 5000 switch 0 1 11; 5010 switch 0 11 1 pid=10;"
		"5020 switch 0 1 11; 5040 switch 0 10 1; 5050 exec 10",
		.rule = NULL,
	},
	{
		"an_id_that_changes_by_exec_is_no_broken_switch",
		LEADER_ENDED
		" 5000 switch 0 1 11; 5010 switch 0 11 1 pid=10;"
		"5020 switch 0 1 11; 5040 switch 0 10 1; 5050 exec 10",
		.rule = NULL,
	},
	{
		"an_id_that_has_changed_by_exec_is_no_broken_switch",
		LEADER_ENDED
		" 5000 switch 0 1 11; 5010 switch 0 11 1 pid=10;"
		"5020 switch 0 1 11; 5030 exec 10; 5040 switch 0 10 1",
		.rule = NULL,
	},
	{
		"an_id_that_had_another_life_changes_by_exec_too",
		"3950 fork 11 1; 3960 switch 0 1 11; 3970 exit 11;"
		"3980 switch 0 11 1;" LEADER_ENDED
		" 5000 switch 0 1 11; 5010 switch 0 11 1 pid=10;"
		"5020 switch 0 1 11; 5040 switch 0 10 1; 5050 exec 10",
		.rule = NULL,
	},
	{
		"an_id_that_changes_by_exec_is_so_in_both_kinds_of_record",
		"3995 out 2 1;" LEADER_ENDED
		" 5000 switch 0 1 11; 5001 out 1 11;"
		"5010 switch 0 11 1 pid=10; 5011 out 11 1 pid=10;"
		"5020 switch 0 1 11; 5021 out 1 11;"
		"5030 switch 0 10 1; 5031 out 10 1; 5050 exec 10",
		.rule = NULL,
	},
	/* ---- wakeup_order, wakeup_lost */
	{
		"a_wakeup_before_its_sleep_is_a_finding",
		SLEEPER("5005 wakeup 1 4 2;", ""),
		.rule = "wakeup_order",
		.since = 5010,
		.time = 5030,
	},
	{
		"a_wakeup_between_is_no_finding",
		SLEEPER("", "5020 wakeup 1 4 2;"),
		.rule = NULL,
	},
	{
		"a_missing_wakeup_without_a_loss_is_no_finding",
		SLEEPER("", ""),
		.rule = NULL,
	},
	{
		"a_missing_wakeup_is_a_finding_if_nothing_was_left_out",
		"options;" SLEEPER("", ""),
		.rule = "wakeup_lost",
		.loss = LOSS_NONE,
	},
	{
		"perf_is_woken_unseen",
		"options; 4000 recorder 2;" SLEEPER("", ""),
		.rule = NULL,
	},
	{
		"threads_that_perf_made_are_woken_unseen",
		"options; 4000 recorder 3; 4010 fork 8 3; " AWAKE(
			"4500") "5000 switch 0 1 8; 5010 sleep 0 8 1; 5030 switch 0 1 8;"
				"9000 switch 1 4 4; 9000 switch 0 8 1; " AWAKE(
					"9000"),
		.rule = NULL,
	},
	{
		"what_perf_has_started_is_not_perf",
		"options; 4000 recorder 2; 4010 exec 2;" SLEEPER("", ""),
		.rule = "wakeup_lost",
	},
	{
		"a_wakeup_event_that_starts_later_may_miss_one",
		"options; 5000 switch 0 1 2; 5005 wakeup 0 2 99;"
		"5010 sleep 0 2 1; 5015 wakeup 1 4 99; 5030 switch 0 1 2;"
		"9000 switch 1 4 4; 9000 switch 0 2 1; " AWAKE("9000"),
		.rule = NULL,
	},
	{
		"a_wakeup_event_that_ends_before_may_miss_one",
		"options;" AWAKE(
			"4500") "5000 switch 0 1 2; 5010 sleep 0 2 1;"
				"5020 wakeup 0 2 99; 5030 switch 0 1 2; 9000 switch 1 4 4;"
				"9000 switch 0 2 1; 9000 wakeup 1 4 99",
		.rule = NULL,
	},
	{
		"a_missing_wakeup_after_a_loss_is_a_finding",
		SLEEPER("", "") "5020 lost 1",
		.rule = "wakeup_lost",
	},
	{
		"where_wakeups_are_missing_anyway_none_is_out_of_order",
		SLEEPER("5005 wakeup 1 4 2;",
			"") "6000 sleep 0 2 1; 6010 switch 0 1 2",
		.rule = NULL,
	},
	{
		"a_wakeup_may_be_missing_when_a_cpu_is_not_recorded_any_more",
		"5000 switch 0 1 2; 5005 wakeup 0 2 2; 5010 sleep 0 2 1;"
		"5030 switch 0 1 2",
		.rule = NULL,
	},
	{
		"ids_of_another_namespace_prove_nothing",
		SLEEPER("5005 wakeup 1 4 2;", "") "9100 switch 1 4 4 tid=77",
		.rule = NULL,
	},
	{
		"a_new_life_needs_no_wakeup",
		"4000 fork 8 1; 5000 switch 0 1 8; 5005 exit 8; 5010 sleep 0 8 1;"
		"5020 fork 8 1; 5030 switch 0 1 8; 9000 switch 1 4 4;"
		"9000 switch 0 8 1",
		.rule = NULL,
	},
};

/* A capture with all switches and wakeups of two CPUs, on which 1, 2 and 3
 * take turns often enough for the rates. Ends at 4000, 1 runs on CPU 0. */
static struct fake *rules_scheduler(void)
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
	for (uint64_t t = 0; t < 40; t++)
		for (int32_t i = 0; i < 4; i++) {
			int32_t tid = i + 1, next = i < 3 ? tid % 3 + 1 : 4;

			script_sched(f, 100 * t + 10 * (uint64_t)tid, i == 3,
				     tid,
				     (struct sched){ SCHED_SWITCH, tid, next,
						     false });
		}
	return f;
}

START_TEST(sched_row_holds)
{
	const struct rules_row *row = &sched_rows[_i];
	struct fake *f = rules_scheduler();

	script_play_on(f, row->records);
	rules_check(f, row);
}
END_TEST

/* Kernels that call tasks asleep that are runnable, or may. */
static const struct rules_release_row {
	const char *name, *release;
} release_rows[] = {
	{ "kernel_5_10_proves_nothing", "5.10.0-21-amd64" },
	{ "kernel_6_1_proves_nothing", "6.1.187" },
	{ "kernel_6_13_proves_nothing", "6.13.1" },
	{ "a_kernel_that_is_not_known_proves_nothing", NULL },
};

START_TEST(release_row_holds)
{
	struct fake *f = rules_scheduler();

	script_play_on(f, SLEEPER("5005 wakeup 1 4 2;", ""));
	f->src.info.release = release_rows[_i].release;
	rules_only(f, NULL);
}
END_TEST

START_TEST(a_filter_that_nothing_tells_of_shows_by_its_effect)
{
	struct fake *f = rules_scheduler();

	for (uint64_t t = 5010; t < 5210; t += 10) {
		script_sched(f, t, 0, 1,
			     (struct sched){ SCHED_SWITCH, 1, 2, false });
		script_sched(f, t + 5, 0, 3,
			     (struct sched){ SCHED_SWITCH, 3, 1, false });
	}
	rules_only(f, NULL);
}
END_TEST

/* Which of the last three records of a round are missing. A thread that came
 * and went unseen stands in the next record as well. */
static const struct rules_missing_row {
	const char *name;
	bool in_2, out_2, in_1;
	const char *rule; /* NULL: nothing is found */
} missing_rows[] = {
	{ "all_switch_records", 0, 0, 0, NULL },
	{ "switch_records_without_one_coming", 1, 0, 0, NULL },
	{ "switch_records_without_one_leaving", 0, 1, 0, "switch_broken" },
	{ "switch_records_without_a_whole_turn", 1, 1, 0, "switch_broken" },
	{ "switch_records_without_coming_back", 0, 0, 1, NULL },
	{ "switch_records_without_any_coming", 1, 0, 1, NULL },
	{ "switch_records_without_the_change_back", 0, 1, 1, "switch_broken" },
	{ "switch_records_without_the_last_three", 1, 1, 1, "switch_broken" },
};

START_TEST(missing_row_holds)
{
	const struct rules_missing_row *row = &missing_rows[_i];
	struct fake *f = fake_new();

	for (uint64_t t = 1; t < 40; t++) {
		bool last = t == 20;

		script_switch(f, 100 * t, 1, 2, true);
		if (!last || !row->in_2)
			script_switch(f, 100 * t + 1, 2, 1, false);
		if (!last || !row->out_2)
			script_switch(f, 100 * t + 50, 2, 1, true);
		if (!last || !row->in_1)
			script_switch(f, 100 * t + 51, 1, 2, false);
	}
	rules_only(f, row->rule);
}
END_TEST

START_TEST(records_of_one_instant_have_no_order)
{
	struct fake *f = fake_new();

	for (uint64_t t = 1; t < 40; t++) {
		int32_t odd = t & 1;

		script_switch(f, 100 * t, 1 + odd, 2 - odd, true);
		script_switch(f, 100 * t, 2 - odd, 1 + odd, false);
	}
	rules_only(f, NULL);
}
END_TEST

static const struct run_table tables[] = {
	RUN_TABLE(sched_row_holds, sched_rows),
	RUN_TABLE(release_row_holds, release_rows),
	RUN_TABLE(missing_row_holds, missing_rows),
};

RUN_TABLES("rules_sched", tables,
	   a_filter_that_nothing_tells_of_shows_by_its_effect,
	   records_of_one_instant_have_no_order)
