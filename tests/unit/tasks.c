/* tasks.c - tests of stitch/tasks/tasks.c: each life of an id is one row. */
#include "stitch/tasks/tasks.h"

#include "stitch/base/mem.h"

#include "tests/unit/run.h"
#include "tests/unit/tasks.h"

static void tasks_test_map(struct world *w, int32_t pid, int64_t t)
{
	struct region r = { .start = 0x1000, .end = 0x2000, .t0 = t };

	tasks_map(w->ts, tasks_process(w->ts, 0, pid), &r);
}

static const struct world_row life_rows[] = {
	{
		"a_thread_is_made_once",
		"1 thread 1 = 1; 2 thread 1/2 = 2; 3 thread 1 = 1;"
		"3 process 1 = 1",
		.rows = "1 -; 2 -; process 0:1 -",
	},
	{
		"captures_have_ids_of_their_own",
		"1 slot 1 = s; 1 slot 2:1 = t",
		.rows = "1 -; 1 -; process 0:1 -; process 2:1 -",
	},
	{
		"a_dead_life_is_kept_until_it_is_retired",
		"1 thread 1 = a; 100 exit 1; 100 retire; 100 threads = 0;"
		"100 thread 1 = a; 101 retire; 101 threads = 1;"
		"101 processes = 1; 102 thread 1 = b",
		.rows = "1=a -100; 1=b -; process 0:1 -100; process 0:1 -",
	},
	{
		"a_fork_of_a_living_id_is_another_life",
		"1 thread 5 = a; 50 fork 5 = b; 50 reused 5 = 1;"
		"50 thread 5 = b",
		.rows = "5=a -50; 5=b 50-; process 0:5 -50; process 0:1 -; "
			"process 0:5 50-",
	},
	{
		"one_that_was_only_listed_is_no_other_life",
		"1 thread 1; 5 map 1 0x1000; - found 5 = a; - map 5 0x2000;"
		"50 fork 5 = a; 50 reused 5 = 0; 50 maps 5 = 1; 60 slot 5",
		.rows = "1 -; 5=a 50-; process 0:1 -; process 0:5 50-; "
			"3 mappings",
	},
	{
		"a_fork_told_of_afterwards_keeps_the_life",
		"1 thread 5 = a; 1 slot 5 = s; - found 5 = a; 1 slot 5 = s",
		.rows = "5=a -; process 0:5 -",
	},
	{
		"a_child_process_starts_with_the_mappings_of_its_parent",
		"1 thread 1; 5 map 1 0x1000; 10 fork 2; 10 maps 2 = 1;"
		"10 forked 2 = 10; 10 process 1 = p; 10 parent 2 = p",
		.rows = "1 -; 2 10-; process 0:1 -; process 0:2 10-; "
			"2 mappings",
	},
	{
		"a_thread_shares_the_space_of_its_process",
		"1 thread 1; 10 fork 1/2",
		.rows = "1 -; 2 10-; process 0:1 -",
	},
	{
		"a_child_inherits_the_name",
		"1 thread 1; 5 comm 1 make; 10 fork 2; 10 called 2 make = 1",
		.rows = "1 -; 2 10-; process 0:1 -; process 0:2 10-; "
			"names make make",
	},
	{
		"a_thread_without_a_name_is_called_by_its_id",
		"1 name 7 = a; 1 name 7 = a; 1 name -1/-2147483648 = b",
		.rows = "7 -; -2147483648 -; process 0:7 -; process 0:-1 -; "
			"names :7 :-2147483648",
	},
	{
		"exec_ends_the_mappings",
		"1 thread 1; 5 map 1 0x1000; 20 exec 1 new; 20 maps 1 = 0",
		.rows = "1 -; process 0:1 -; names new; 1 mappings",
	},
	{
		"a_process_ends_with_its_last_thread",
		"1 thread 1; 1 thread 1/2; 10 exit 1; 1000 retire;"
		"1000 processes = 0; 1020 exit 1/2; 2000 retire;"
		"2000 processes = 1",
		.rows = "1 -10; 2 -1020; process 0:1 -1020",
	},
	{
		"a_new_thread_of_an_ended_process_goes_on_with_it",
		"1 thread 1; 10 exit 1; 10 process 1 = p; 11 thread 1/2;"
		"1000 retire; 1000 processes = 0; 1000 process 1 = p;"
		"1000 process_ended 1 = 0",
		.rows = "1 -10; 2 -; process 0:1 -",
	},
	/* A dead task's pid is -1: that tells nothing. */
	{
		"a_tid_seen_in_another_process_is_another_life",
		"1 thread 1/7 = 1; 2 thread 2/7 = 2; 3 thread -1/7 = 2",
		.rows = "7 -; 7 -; process 0:1 -; process 0:2 -",
	},
	{
		"forgetting_a_life_makes_room_for_another",
		"1 thread 1 = 1; 1 process 1 = p; 1 map 1 0x1000; 10 exit 1;"
		"10 forget 1; 11 thread 1 = 2; 11 process 1 = q; 11 maps 1 = 0",
		.rows = "1 -10; 1 -; process 0:1 -10; process 0:1 -; "
			"1 mappings",
	},
	{
		"a_life_that_is_gone_is_not_found_again",
		"1 thread 5/7 = a; 1 slot 5/7 = s; 1 slot 5/7 = s; 10 exit 5/7;"
		"11 retire; 11 thread 5/7 = b; 11 forget 5/7;"
		"11 thread 5/7 = c; 12 exit 5/7; 13 retire",
		.rows = "7=a -10; 7=b -; 7=c -12; process 0:5 -10; "
			"process 0:5 -; process 0:5 -12",
	},
	{
		"an_unhashed_life_that_is_gone_is_not_found_again",
		"1 thread 5/-1 = a; 1 slot 5/-1 = s; 1 slot 5/-1 = s;"
		"10 exit 5/-1; 11 retire; 11 thread 5/-1 = b; 11 forget 5/-1;"
		"11 thread 5/-1 = c; 12 exit 5/-1; 13 retire",
		.rows = "-1=a -10; -1=b -; -1=c -12; process 0:5 -",
	},
	{
		"a_life_of_another_negative_id_that_is_gone_is_not_found_again",
		"1 thread 5/-5 = a; 1 slot 5/-5 = s; 1 slot 5/-5 = s;"
		"10 exit 5/-5; 11 retire; 11 thread 5/-5 = b; 11 forget 5/-5;"
		"11 thread 5/-5 = c; 12 exit 5/-5; 13 retire",
		.rows = "-5=a -10; -5=b -; -5=c -12; process 0:5 -",
	},
	{
		"unhashed_ids_are_one_life_that_is_not_found_again",
		"1 thread 6/-1 = a; 1 slot 6/-1 = s; 1 slot 6/-5 = s;"
		"20 exit s; 21 retire; 21 thread 6/-5 = b",
		.rows = "-1=a -20; -5=b -; process 0:6 -",
	},
	/* From then on it is known: another one is another life. */
	{
		"a_thread_gets_its_process_when_a_record_names_it",
		"1 map 7 0x1000; 1 thread -1/8 = 1; 2 comm -1/8 late;"
		"3 thread 7/8 = 1; 3 called -1/8 late = 1; 3 reused -1/8 = 0;"
		"3 pid -1/8 = 7; 4 thread 9/8 = 2",
		.rows = "8 -; 8 -; process 0:7 -; process 0:-1 -; "
			"process 0:9 -; names late; 1 mappings",
	},
	/* A process of its own; whose child it is can be told. Of the last,
	 * nothing is known. */
	{
		"a_child_of_an_unknown_process_is_in_that_of_its_parent",
		"1 thread 7/8; 2 fork -1/9 -1/8; 2 pid -1/9 = 7;"
		"3 fork 10 -1/8; 3 process 7 = p; 3 parent 10 = p;"
		"4 fork -1/11 -1; 4 pid -1/11 = -1",
		.rows = "8 -; 9 2-; 10 3-; 11 4-; process 0:7 -; "
			"process 0:10 3-; process 0:-1 -",
	},
};

START_TEST(life_row_holds)
{
	world_row_holds(&life_rows[_i]);
}
END_TEST

START_TEST(unhashed_tasks_go_with_their_process)
{
	struct world w;

	world_start(&w);
	for (int32_t pid = 1; pid <= 50; pid++) {
		tasks_thread(w.ts, 0, pid, pid);
		if (pid % 2) /* said before the EXIT, or after */
			tasks_thread(w.ts, 0, pid, -1);
		tasks_exit(w.ts, tasks_thread(w.ts, 0, pid, pid), pid);
		tasks_thread(w.ts, 0, pid, -1);
	}
	world_retire(&w, 1000);
	ck_assert_uint_eq(w.threads, 100);
	ck_assert_uint_eq(w.processes, 50);
	ck_assert_int_eq(w.process[9].end, 10);
	world_finish(&w);
}
END_TEST

/* Memory holds the living and those that died a moment ago. */
START_TEST(slots_are_used_again)
{
	struct world w;
	uint32_t most = 0;

	world_start(&w);
	tasks_thread(w.ts, 0, 1, 1);
	for (int64_t t = 1; t <= 50000; t++) {
		int32_t pid = 2 + (int32_t)t;
		uint32_t slot = tasks_fork(w.ts, 0, pid, pid, 1, 1, t, false);

		if (slot > most)
			most = slot;
		tasks_test_map(&w, pid, t);
		tasks_exit(w.ts, slot, t);
		world_retire(&w, t - 10);
	}
	ck_assert_uint_lt(most, 20);
	world_finish(&w);
	ck_assert_uint_eq(w.threads, 50001);
	ck_assert_uint_eq(w.processes, 50001);
	ck_assert_uint_eq(w.mappings, 50000);
}
END_TEST

START_TEST(processes_without_threads_do_not_pile_up)
{
	struct world w;

	world_start(&w);
	for (int64_t t = 1; t <= 1000; t++) {
		/* A mapping for a pid, then the fork that makes it. */
		tasks_test_map(&w, 5, t);
		tasks_fork(w.ts, 0, 5, 6, 1, 1, t, false);
		tasks_exit(w.ts, tasks_thread(w.ts, 0, 5, 6), t);
		world_retire(&w, t + 1);
	}
	ck_assert_uint_eq(w.processes, 2000);
	world_finish(&w);
}
END_TEST

/* 1000 forks of a process with 60000 mappings: as rows they are 60 million.
 * What is left out is counted, and the children know their mappings. */
START_TEST(rows_of_inherited_mappings_are_limited)
{
	struct world w;
	uint32_t slot = 0;
	uint64_t rows = 60000;

	if (RUN_ELSEWHERE)
		return;
	world_start(&w);
	for (uint64_t i = 0; i < 60000; i++) {
		struct region r = { .start = i << 13,
				    .end = (i << 13) + 0x1000,
				    .image = 1,
				    .t0 = 1 };

		tasks_map(w.ts, tasks_process(w.ts, 0, 1), &r);
	}
	for (int32_t i = 0; i < 1000; i++) {
		slot = tasks_fork(w.ts, 0, 100 + i, 100 + i, 1, 1, 2 + i,
				  false);
		if (i < 999)
			tasks_exit(w.ts, slot, 2 + i);
		world_retire(&w, 3 + i);
	}
	ck_assert_ptr_nonnull(space_find(
		&tasks_process_at(w.ts, tasks_thread_at(w.ts, slot)->process)
			 ->space,
		59999 << 13, TIME_NONE));
	rows += 1000 * 60000 - w.ts->unlisted;
	ck_assert_uint_gt(rows, 1 << 20);
	ck_assert_uint_lt(rows, (1 << 20) + 1000 * 128 + 60000);
	world_finish(&w);
	ck_assert_uint_eq(w.mappings, rows);
}
END_TEST

/* An exec with other rights writes an EXIT, and the thread goes on. */
START_TEST(a_thread_that_went_on_after_its_exec_goes_by_its_exit)
{
	struct world w;

	world_start(&w);
	const uint32_t slot = tasks_thread(w.ts, 0, 5, 5);

	tasks_live(w.ts, slot, true);
	tasks_exit(w.ts, slot, 10);
	tasks_live(w.ts, slot, false);
	tasks_exit(w.ts, slot, 100);
	world_retire(&w, 50);
	ck_assert_uint_eq(w.threads, 0);
	world_retire(&w, 101);
	ck_assert_uint_eq(w.threads, 1);
	world_finish(&w);
}
END_TEST

static const struct run_table tables[] = { RUN_TABLE(life_row_holds,
						     life_rows) };

RUN_TABLES("tasks", tables, unhashed_tasks_go_with_their_process,
	   slots_are_used_again, processes_without_threads_do_not_pile_up,
	   rows_of_inherited_mappings_are_limited,
	   a_thread_that_went_on_after_its_exec_goes_by_its_exit)
