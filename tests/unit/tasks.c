/* tasks.c - tests of stitch/tasks/tasks.c: each life of an id is one row. */
#include "stitch/tasks/tasks.h"

#include "stitch/base/mem.h"

#include "tests/unit/run.h"
#include "tests/unit/tasks.h"

static uint32_t tasks_id_of(struct world *w, int32_t pid, int32_t tid)
{
	return tasks_thread_at(w->ts, tasks_thread(w->ts, 0, pid, tid))->id;
}

static void tasks_test_map(struct world *w, int32_t pid, int64_t t)
{
	struct region r = { .start = 0x1000, .end = 0x2000, .t0 = t };

	tasks_map(w->ts, tasks_process(w->ts, 0, pid), &r);
}

static const struct process *tasks_process_of(struct world *w, int32_t pid)
{
	return tasks_process_at(w->ts, tasks_process(w->ts, 0, pid));
}

START_TEST(a_thread_is_made_once)
{
	struct world w;

	world_start(&w);
	ck_assert_uint_eq(tasks_id_of(&w, 1, 1), 1);
	ck_assert_uint_eq(tasks_id_of(&w, 1, 2), 2);
	ck_assert_uint_eq(tasks_id_of(&w, 1, 1), 1);
	ck_assert_uint_eq(tasks_process_of(&w, 1)->id, 1);
	world_finish(&w);
	ck_assert_uint_eq(w.threads, 2);
	ck_assert_uint_eq(w.processes, 1);
	ck_assert_int_eq(w.thread[0].end, TIME_NONE);
}
END_TEST

START_TEST(sources_have_ids_of_their_own)
{
	struct world w;

	world_start(&w);
	ck_assert_uint_ne(tasks_thread(w.ts, 0, 1, 1),
			  tasks_thread(w.ts, 1, 1, 1));
	world_finish(&w);
	ck_assert_uint_eq(w.processes, 2);
}
END_TEST

START_TEST(a_dead_life_is_kept_until_it_is_retired)
{
	struct world w;
	uint32_t slot;

	world_start(&w);
	uint32_t id = tasks_id_of(&w, 1, 1);
	tasks_exit(w.ts, tasks_thread(w.ts, 0, 1, 1), 100);
	ck_assert(!tasks_retire(w.ts, 100, &slot));
	ck_assert_uint_eq(tasks_id_of(&w, 1, 1), id);
	world_retire(&w, 101);
	ck_assert_uint_eq(w.threads, 1);
	ck_assert_uint_eq(w.processes, 1);
	ck_assert_int_eq(w.process[0].end, 100);
	ck_assert_uint_ne(tasks_id_of(&w, 1, 1), id);
	world_finish(&w);
	ck_assert_uint_eq(w.threads, 2);
}
END_TEST

START_TEST(a_fork_of_a_living_id_is_another_life)
{
	struct world w;

	world_start(&w);
	uint32_t id = tasks_id_of(&w, 5, 5);
	uint32_t slot = tasks_fork(w.ts, 0, 5, 5, 1, 1, 50, false);
	ck_assert_uint_ne(tasks_thread_at(w.ts, slot)->id, id);
	ck_assert(tasks_thread_at(w.ts, slot)->reused_tid);
	ck_assert_uint_eq(tasks_thread(w.ts, 0, 5, 5), slot);
	world_finish(&w);
	ck_assert_uint_eq(w.threads, 2);
	ck_assert_uint_eq(w.processes, 3);
}
END_TEST

START_TEST(a_fork_told_of_afterwards_keeps_the_life)
{
	struct world w;

	world_start(&w);
	uint32_t slot = tasks_thread(w.ts, 0, 5, 5);
	ck_assert_uint_eq(tasks_fork(w.ts, 0, 5, 5, 1, 1, TIME_NONE, true),
			  slot);
	world_finish(&w);
	ck_assert_uint_eq(w.threads, 1);
}
END_TEST

START_TEST(a_child_process_starts_with_the_mappings_of_its_parent)
{
	struct world w;

	world_start(&w);
	tasks_thread(w.ts, 0, 1, 1);
	tasks_test_map(&w, 1, 5);
	tasks_fork(w.ts, 0, 2, 2, 1, 1, 10, false);
	ck_assert_uint_eq(space_count(&tasks_process_of(&w, 2)->space), 1);
	ck_assert_int_eq(tasks_process_of(&w, 2)->space.now.forked, 10);
	ck_assert_uint_eq(tasks_process_of(&w, 2)->parent,
			  tasks_process_of(&w, 1)->id);
	world_finish(&w);
	ck_assert_uint_eq(w.mappings, 2);
}
END_TEST

START_TEST(a_thread_shares_the_space_of_its_process)
{
	struct world w;

	world_start(&w);
	tasks_thread(w.ts, 0, 1, 1);
	tasks_fork(w.ts, 0, 1, 2, 1, 1, 10, false);
	world_finish(&w);
	ck_assert_uint_eq(w.processes, 1);
	ck_assert_uint_eq(w.threads, 2);
}
END_TEST

START_TEST(a_child_inherits_the_name)
{
	struct world w;

	world_start(&w);
	tasks_set_comm(w.ts, tasks_thread(w.ts, 0, 1, 1), "make", 5, false);
	uint32_t slot = tasks_fork(w.ts, 0, 2, 2, 1, 1, 10, false);
	ck_assert_str_eq(tasks_thread_at(w.ts, slot)->name, "make");
	world_finish(&w);
	ck_assert_uint_eq(w.comms, 2);
}
END_TEST

START_TEST(a_thread_without_a_name_is_called_by_its_id)
{
	struct world w;
	struct fact f;

	world_start(&w);
	uint32_t slot = tasks_thread(w.ts, 0, 7, 7);
	uint32_t comm = tasks_comm(w.ts, slot);
	ck_assert_uint_eq(tasks_comm(w.ts, slot), comm);
	ck_assert_int_eq(fact_queue_take(&w.q, &f), 1);
	ck_assert_str_eq(f.comm.name, ":7");
	slot = tasks_thread(w.ts, 0, -1, INT32_MIN);
	tasks_comm(w.ts, slot);
	ck_assert_int_eq(fact_queue_take(&w.q, &f), 1);
	ck_assert_str_eq(f.comm.name, ":-2147483648");
	world_finish(&w);
}
END_TEST

START_TEST(exec_ends_the_mappings)
{
	struct world w;

	world_start(&w);
	uint32_t slot = tasks_thread(w.ts, 0, 1, 1);
	tasks_test_map(&w, 1, 5);
	tasks_set_comm(w.ts, slot, "new", 20, true);
	ck_assert_uint_eq(space_count(&tasks_process_of(&w, 1)->space), 0);
	world_finish(&w);
	ck_assert_uint_eq(w.mappings, 1);
}
END_TEST

START_TEST(a_process_ends_with_its_last_thread)
{
	struct world w;

	world_start(&w);
	uint32_t a = tasks_thread(w.ts, 0, 1, 1);
	uint32_t b = tasks_thread(w.ts, 0, 1, 2);
	tasks_exit(w.ts, a, 10);
	world_retire(&w, 1000);
	ck_assert_uint_eq(w.processes, 0);
	tasks_exit(w.ts, b, 20);
	world_retire(&w, 1000);
	ck_assert_uint_eq(w.processes, 1);
	ck_assert_int_eq(w.process[0].end, 20);
	world_finish(&w);
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

START_TEST(a_new_thread_of_an_ended_process_goes_on_with_it)
{
	struct world w;

	world_start(&w);
	tasks_exit(w.ts, tasks_thread(w.ts, 0, 1, 1), 10);
	uint32_t process = tasks_process_of(&w, 1)->id;
	tasks_thread(w.ts, 0, 1, 2);
	world_retire(&w, 1000);
	ck_assert_uint_eq(w.processes, 0);
	ck_assert_uint_eq(tasks_process_of(&w, 1)->id, process);
	ck_assert(!tasks_process_of(&w, 1)->ended);
	world_finish(&w);
	ck_assert_int_eq(w.process[0].end, TIME_NONE);
}
END_TEST

START_TEST(a_tid_seen_in_another_process_is_another_life)
{
	struct world w;

	world_start(&w);
	uint32_t id = tasks_id_of(&w, 1, 7);
	ck_assert_uint_ne(tasks_id_of(&w, 2, 7), id);
	/* A dead task's pid is -1: that tells nothing. */
	ck_assert_uint_eq(tasks_id_of(&w, -1, 7), 2);
	world_finish(&w);
	ck_assert_uint_eq(w.threads, 2);
}
END_TEST

START_TEST(forgetting_a_life_makes_room_for_another)
{
	struct world w;

	world_start(&w);
	uint32_t slot = tasks_thread(w.ts, 0, 1, 1);
	uint32_t process = tasks_process_of(&w, 1)->id;
	tasks_test_map(&w, 1, 1);
	tasks_exit(w.ts, slot, 10);
	tasks_forget(w.ts, slot);
	ck_assert_uint_eq(tasks_id_of(&w, 1, 1), 2);
	ck_assert_uint_ne(tasks_process_of(&w, 1)->id, process);
	ck_assert_uint_eq(space_count(&tasks_process_of(&w, 1)->space), 0);
	world_finish(&w);
	ck_assert_uint_eq(w.processes, 2);
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

START_TEST(a_life_that_is_gone_is_not_found_again)
{
	static const int32_t tids[] = { 7, -1, -5 };
	struct world w;

	world_start(&w);
	for (size_t i = 0; i < 3; i++) {
		uint32_t slot = tasks_thread(w.ts, 0, 5, tids[i]);
		uint32_t id = tasks_thread_at(w.ts, slot)->id;

		ck_assert_uint_eq(tasks_thread(w.ts, 0, 5, tids[i]), slot);
		tasks_exit(w.ts, slot, 10);
		world_retire(&w, 11);
		slot = tasks_thread(w.ts, 0, 5, tids[i]);
		ck_assert_uint_ne(tasks_thread_at(w.ts, slot)->id, id);
		tasks_forget(w.ts, slot);
		id = tasks_thread_at(w.ts, slot)->id;
		slot = tasks_thread(w.ts, 0, 5, tids[i]);
		ck_assert_uint_ne(tasks_thread_at(w.ts, slot)->id, id);
		tasks_exit(w.ts, slot, 12);
		world_retire(&w, 13);
	}
	uint32_t dead = tasks_thread(w.ts, 0, 6, -1);
	uint32_t was = tasks_thread_at(w.ts, dead)->id;

	ck_assert_uint_eq(tasks_thread(w.ts, 0, 6, -5), dead);
	tasks_exit(w.ts, dead, 20);
	world_retire(&w, 21);
	dead = tasks_thread(w.ts, 0, 6, -5);
	ck_assert_uint_ne(tasks_thread_at(w.ts, dead)->id, was);
	world_finish(&w);
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
	rows += 1000 * 60000 - tasks_unlisted(w.ts);
	ck_assert_uint_gt(rows, 8 << 20);
	ck_assert_uint_lt(rows, 9 << 20);
	world_finish(&w);
	ck_assert_uint_eq(w.mappings, rows);
}
END_TEST

START_TEST(a_thread_gets_its_process_when_a_record_names_it)
{
	struct world w;

	world_start(&w);
	tasks_test_map(&w, 7, 1);
	ck_assert_uint_eq(tasks_id_of(&w, -1, 8), 1);
	tasks_set_comm(w.ts, tasks_thread(w.ts, 0, -1, 8), "late", 2, false);
	ck_assert_uint_eq(tasks_id_of(&w, 7, 8), 1);
	const struct thread *th =
		tasks_thread_at(w.ts, tasks_thread(w.ts, 0, -1, 8));

	ck_assert_str_eq(th->name, "late");
	ck_assert(!th->reused_tid);
	ck_assert_int_eq(tasks_process_at(w.ts, th->process)->pid, 7);
	/* from now on it is known: another one is another life */
	ck_assert_uint_eq(tasks_id_of(&w, 9, 8), 2);
	world_finish(&w);
	ck_assert_uint_eq(w.threads, 2);
}
END_TEST

START_TEST(a_child_of_an_unknown_process_is_in_that_of_its_parent)
{
	struct world w;

	world_start(&w);
	tasks_id_of(&w, 7, 8);
	uint32_t slot = tasks_fork(w.ts, 0, -1, 9, -1, 8, 2, false);

	ck_assert_int_eq(
		tasks_process_at(w.ts, tasks_thread_at(w.ts, slot)->process)
			->pid,
		7);
	/* a process of its own; whose child it is can be told */
	slot = tasks_fork(w.ts, 0, 10, 10, -1, 8, 3, false);
	ck_assert_uint_eq(
		tasks_process_at(w.ts, tasks_thread_at(w.ts, slot)->process)
			->parent,
		tasks_process_of(&w, 7)->id);
	/* nothing is known */
	slot = tasks_fork(w.ts, 0, -1, 11, -1, -1, 4, false);
	ck_assert_int_eq(
		tasks_process_at(w.ts, tasks_thread_at(w.ts, slot)->process)
			->pid,
		-1);
	world_finish(&w);
}
END_TEST

RUN("tasks", a_thread_gets_its_process_when_a_record_names_it,
    a_child_of_an_unknown_process_is_in_that_of_its_parent,
    a_thread_is_made_once, sources_have_ids_of_their_own,
    a_dead_life_is_kept_until_it_is_retired,
    a_fork_of_a_living_id_is_another_life,
    a_fork_told_of_afterwards_keeps_the_life,
    a_child_process_starts_with_the_mappings_of_its_parent,
    a_thread_shares_the_space_of_its_process, a_child_inherits_the_name,
    a_thread_without_a_name_is_called_by_its_id, exec_ends_the_mappings,
    a_process_ends_with_its_last_thread, unhashed_tasks_go_with_their_process,
    a_new_thread_of_an_ended_process_goes_on_with_it,
    a_tid_seen_in_another_process_is_another_life,
    forgetting_a_life_makes_room_for_another, slots_are_used_again,
    a_life_that_is_gone_is_not_found_again,
    processes_without_threads_do_not_pile_up,
    rows_of_inherited_mappings_are_limited)
