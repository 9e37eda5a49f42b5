/* shared_tasks.c - tests of stitch/tasks/shared_tasks.c: one life that several
 * captures know. */
#include "stitch/tasks/shared_tasks.h"
#include "stitch/audit/rules.h"
#include "stitch/tasks/tasks.h"
#include "stitch/unwinder.h"

#include "tests/unit/run.h"
#include "tests/unit/facts.h"
#include "tests/unit/rules.h"
#include "tests/unit/tasks.h"

#define MS 1000000ll
#define SEC 1000000000ll

/* Sources 0 and 1 are of one line, 2 is alone. */
static void start_line(struct world *w)
{
	world_start(w);
	tasks_together(w->ts, 0, 0);
	tasks_together(w->ts, 1, 0);
}

static uint32_t slot_at(struct world *w, int64_t t, uint16_t source,
			int32_t pid, int32_t tid)
{
	tasks_now(w->ts, t);
	return tasks_thread(w->ts, source, pid, tid);
}

static struct thread *twins_at(struct world *w, int64_t t, uint16_t source,
			       int32_t pid, int32_t tid)
{
	struct thread *th =
		tasks_thread_at(w->ts, slot_at(w, t, source, pid, tid));

	if (t > th->last)
		th->last = t;
	return th;
}

static uint32_t id_at(struct world *w, int64_t t, uint16_t source, int32_t pid,
		      int32_t tid)
{
	return twins_at(w, t, source, pid, tid)->id;
}

static struct process *process_at(struct world *w, int64_t t, uint16_t source,
				  int32_t pid)
{
	tasks_now(w->ts, t);
	return tasks_process_at(w->ts, tasks_process(w->ts, source, pid));
}

static void fork_at(struct world *w, int64_t t, uint16_t source, int32_t id)
{
	tasks_now(w->ts, t);
	tasks_fork(w->ts, source, id, id, 1, 1, t, false);
}

static void exit_at(struct world *w, int64_t t, uint16_t source, int32_t id)
{
	tasks_exit(w->ts, slot_at(w, t, source, id, id), t);
}

static void map_at(struct world *w, int64_t t, uint16_t source, int32_t pid,
		   uint64_t addr)
{
	struct region r = { .start = addr, .end = addr + 0x1000, .t0 = t };

	tasks_now(w->ts, t);
	tasks_map(w->ts, tasks_process(w->ts, source, pid), &r);
}

START_TEST(a_life_in_two_captures_is_one_row)
{
	struct world w;

	start_line(&w);
	ck_assert_uint_eq(id_at(&w, 5, 0, 1, 2), id_at(&w, 6, 1, 1, 2));
	ck_assert_uint_eq(process_at(&w, 7, 0, 1)->id,
			  process_at(&w, 7, 1, 1)->id);
	world_finish(&w);
	ck_assert_uint_eq(w.threads, 1);
	ck_assert_uint_eq(w.processes, 1);
	ck_assert_int_eq(w.process[0].source, 0);
}
END_TEST

START_TEST(a_capture_that_is_alone_shares_nothing)
{
	struct world w;

	start_line(&w);
	ck_assert_uint_ne(id_at(&w, 5, 0, 1, 1), id_at(&w, 6, 2, 1, 1));
	world_finish(&w);
	ck_assert_uint_eq(w.threads, 2);
	ck_assert_uint_eq(w.processes, 2);
}
END_TEST

START_TEST(a_row_has_the_first_start_and_the_last_end)
{
	struct world w;

	start_line(&w);
	fork_at(&w, 105, 1, 9);
	fork_at(&w, 107, 0, 9);
	exit_at(&w, 200, 1, 9);
	exit_at(&w, 207, 0, 9);
	world_finish(&w);
	ck_assert_uint_eq(w.thread[w.threads - 1].tid, 9);
	ck_assert_int_eq(w.thread[w.threads - 1].start, 105);
	ck_assert_int_eq(w.thread[w.threads - 1].end, 207);
	ck_assert_uint_eq(w.threads, 1);
	ck_assert_uint_eq(w.processes, 2); /* and the parent's */
}
END_TEST

START_TEST(who_saw_the_exit_knows_the_end)
{
	struct world w;

	start_line(&w);
	id_at(&w, 5, 0, 9, 9);
	id_at(&w, 6, 1, 9, 9);
	exit_at(&w, 200, 1, 9);
	/* the other capture learns of it when the id is another's */
	fork_at(&w, 5 * SEC, 0, 9);
	world_retire(&w, 6 * SEC);
	ck_assert_uint_eq(w.threads, 1);
	ck_assert_int_eq(w.thread[0].end, 200);
	world_finish(&w);
}
END_TEST

START_TEST(a_pid_that_differs_is_another_thread)
{
	struct world w;

	start_line(&w);
	ck_assert_uint_ne(id_at(&w, 5, 0, 1, 2), id_at(&w, 6, 1, 3, 2));
	world_finish(&w);
}
END_TEST

START_TEST(another_capture_tells_the_process_of_a_thread)
{
	struct world w;

	start_line(&w);
	uint32_t a = id_at(&w, 5, 0, 7, 8);
	struct thread *th = twins_at(&w, 6, 1, -1, 8);

	ck_assert_uint_eq(th->id, a);
	ck_assert_int_eq(tasks_process_at(w.ts, th->process)->pid, 7);
	/* the other way round */
	th = twins_at(&w, 7, 1, -1, 9);
	a = th->id;
	ck_assert_int_eq(tasks_process_at(w.ts, th->process)->pid, -1);
	ck_assert_uint_eq(id_at(&w, 8, 0, 7, 9), a);
	th = twins_at(&w, 9, 1, -1, 9);
	ck_assert_int_eq(tasks_process_at(w.ts, th->process)->pid, 7);
	world_finish(&w);
	ck_assert_uint_eq(w.threads, 2);
}
END_TEST

START_TEST(a_fork_that_one_capture_saw_is_a_new_life_for_all)
{
	struct world w;

	start_line(&w);
	uint32_t old = id_at(&w, 5, 1, 9, 9);

	ck_assert_uint_eq(id_at(&w, 6, 0, 9, 9), old);
	fork_at(&w, SEC, 0, 9);
	uint32_t later = id_at(&w, SEC + 1, 0, 9, 9);

	ck_assert_uint_ne(later, old);
	ck_assert_uint_eq(id_at(&w, SEC + 2, 1, 9, 9), later);
	ck_assert(twins_at(&w, SEC + 3, 1, 9, 9)->introduced);
	/* nothing is missing in the capture that did not see it */
	struct thread gone;

	ck_assert(tasks_replaced(w.ts, &gone));
	ck_assert_uint_eq(gone.source, 0);
	ck_assert(!tasks_replaced(w.ts, &gone));
	world_finish(&w);
	ck_assert_uint_eq(w.threads, 2);
	ck_assert_uint_eq(w.processes, 3);
}
END_TEST

START_TEST(a_fork_that_two_captures_saw_is_one_life)
{
	struct world w;

	start_line(&w);
	id_at(&w, 5, 0, 9, 9);
	id_at(&w, 5, 1, 9, 9);
	fork_at(&w, SEC, 0, 9);
	fork_at(&w, SEC + 1000, 1, 9);
	ck_assert_uint_eq(id_at(&w, 2 * SEC, 0, 9, 9),
			  id_at(&w, 2 * SEC, 1, 9, 9));
	world_finish(&w);
	ck_assert_uint_eq(w.threads, 2);
}
END_TEST

START_TEST(a_record_just_before_the_fork_by_another_clock_is_of_the_child)
{
	struct world w;

	start_line(&w);
	uint32_t id = id_at(&w, SEC - 1000, 1, 9, 9);

	fork_at(&w, SEC, 0, 9);
	ck_assert_uint_eq(id_at(&w, SEC + 1, 0, 9, 9), id);
	world_finish(&w);
	ck_assert_uint_eq(w.threads, 1);
}
END_TEST

/* A recorder that starts later tells of the tasks that it found, before all
 * records of any capture. */
START_TEST(a_task_found_by_a_later_recorder_is_the_one_forked_before)
{
	struct world w;

	start_line(&w);
	tasks_now(w.ts, TIME_NONE);
	uint32_t f = tasks_fork(w.ts, 1, 9, 9, 1, 1, TIME_NONE, true);
	uint32_t p = tasks_process(w.ts, 1, 9);
	fork_at(&w, SEC, 0, 9);
	uint32_t e = slot_at(&w, SEC + 1, 0, 9, 9);

	ck_assert_uint_eq(tasks_thread_at(w.ts, e)->id,
			  tasks_thread_at(w.ts, f)->id);
	ck_assert_uint_eq(slot_at(&w, 2 * SEC, 1, 9, 9), f);
	ck_assert_uint_eq(tasks_process(w.ts, 1, 9), p);
	world_finish(&w);
	ck_assert_uint_eq(w.threads, 1);
	ck_assert_int_eq(w.thread[0].start, SEC);
}
END_TEST

START_TEST(a_task_found_later_is_not_the_life_that_ended_before)
{
	for (int gone = 0; gone < 2; gone++) {
		struct world w;

		start_line(&w);
		uint32_t old = id_at(&w, TIME_NONE, 0, 9, 9);
		twins_at(&w, 4, 0, 9, 9);
		tasks_now(w.ts, TIME_NONE);
		tasks_fork(w.ts, 1, 9, 9, 1, 1, TIME_NONE, true);
		exit_at(&w, 5, 0, 9);
		world_retire(&w, gone ? 3 * SEC : 5);
		ck_assert_uint_eq(w.threads, 0); /* the other has it still */
		fork_at(&w, 4 * SEC, 0, 9);
		uint32_t later = id_at(&w, 4 * SEC + 1, 0, 9, 9);

		ck_assert_uint_ne(later, old);
		ck_assert_uint_eq(id_at(&w, 5 * SEC, 1, 9, 9), later);
		world_finish(&w);
		ck_assert_uint_eq(w.threads, 2);
		ck_assert_uint_eq(w.thread[0].id, old);
		ck_assert_int_eq(w.thread[0].end, 5);
		ck_assert_int_eq(w.thread[1].start, 4 * SEC);
		ck_assert_int_eq(w.thread[1].end, TIME_NONE);
	}
}
END_TEST

START_TEST(an_exit_that_one_capture_saw_is_the_end_for_all)
{
	struct world w;

	start_line(&w);
	uint32_t old = id_at(&w, 5, 1, 9, 9);

	id_at(&w, 6, 0, 9, 9);
	exit_at(&w, SEC, 0, 9);
	/* records of the kernel's work for it go on for a while */
	uint32_t slot = slot_at(&w, SEC + 5 * MS, 1, 9, 9);
	ck_assert_uint_eq(tasks_thread_at(w.ts, slot)->id, old);
	ck_assert(!shared_tasks_is_over(w.ts, slot));
	slot = slot_at(&w, SEC + 50 * MS, 1, 9, 9);
	ck_assert_uint_eq(tasks_thread_at(w.ts, slot)->id, old);
	ck_assert(shared_tasks_is_over(w.ts, slot));
	uint32_t process = process_at(&w, SEC + 50 * MS, 1, 9)->id;
	world_retire(&w, 3 * SEC);
	ck_assert_uint_ne(id_at(&w, 4 * SEC, 1, 9, 9), old);
	ck_assert_uint_ne(process_at(&w, 4 * SEC, 1, 9)->id, process);
	ck_assert_uint_eq(id_at(&w, 4 * SEC, 0, 9, 9),
			  id_at(&w, 4 * SEC, 1, 9, 9));
	world_finish(&w);
	ck_assert_uint_eq(w.threads, 2);
	ck_assert_uint_eq(w.processes, 2);
}
END_TEST

START_TEST(who_looks_ahead_ends_no_life)
{
	struct world w;

	start_line(&w);
	uint32_t slot = slot_at(&w, 5, 1, 9, 9);

	id_at(&w, 6, 0, 9, 9);
	exit_at(&w, SEC, 0, 9);
	ck_assert_uint_eq(tasks_peek(w.ts, 1, 9, 9), slot);
	ck_assert_uint_eq(tasks_peek(w.ts, 1, 8, 9), TASKS_NONE);
	ck_assert_uint_eq(tasks_peek(w.ts, 1, 9, 8), TASKS_NONE);
	world_retire(&w, 3 * SEC);
	tasks_now(w.ts, 4 * SEC);
	ck_assert_uint_eq(tasks_peek(w.ts, 1, 9, 9), TASKS_NONE);
	ck_assert(!tasks_thread_at(w.ts, slot)->ended);
	/* the record itself does */
	ck_assert_uint_ne(tasks_find(w.ts, 1, 9, 9), slot);
	ck_assert(tasks_thread_at(w.ts, slot)->ended);
	world_finish(&w);
	ck_assert_uint_eq(w.threads, 2);
}
END_TEST

START_TEST(the_end_of_a_thread_is_not_that_of_its_process)
{
	struct world w;

	start_line(&w);
	for (uint16_t i = 0; i < 2; i++) {
		id_at(&w, 5, i, 9, 9);
		id_at(&w, 5, i, 9, 10);
	}
	uint32_t process = process_at(&w, 6, 0, 9)->id;

	exit_at(&w, 7, 0, 9);
	slot_at(&w, 5 * SEC, 1, 9, 9); /* it was exec by the other one */
	ck_assert_uint_eq(process_at(&w, 5 * SEC, 1, 9)->id, process);
	world_finish(&w);
	ck_assert_uint_eq(w.processes, 1);
}
END_TEST

START_TEST(a_name_that_two_captures_tell_is_one_row)
{
	struct world w;

	start_line(&w);
	uint32_t a = slot_at(&w, 5, 0, 9, 9);
	uint32_t b = slot_at(&w, 5, 1, 9, 9);

	tasks_set_comm(w.ts, a, "sh", 10, false);
	tasks_set_comm(w.ts, b, "sh", 12, false);
	ck_assert_uint_eq(tasks_comm(w.ts, a), tasks_comm(w.ts, b));
	tasks_set_comm(w.ts, b, "ls", 20, true);
	tasks_set_comm(w.ts, a, "ls", 22, true);
	ck_assert_uint_eq(tasks_comm(w.ts, a), tasks_comm(w.ts, b));
	world_take(&w);
	ck_assert_uint_eq(w.comms, 2);
	/* another exec of a program of that name, and one of them misses one */
	tasks_set_comm(w.ts, a, "ls", 30, true);
	tasks_set_comm(w.ts, b, "ls", 31, true);
	tasks_set_comm(w.ts, b, "ls", 32, true);
	tasks_set_comm(w.ts, a, "ls", SEC, true);
	tasks_set_comm(w.ts, b, "ls", SEC + 1, true);
	world_finish(&w);
	ck_assert_uint_eq(w.comms, 5);
}
END_TEST

START_TEST(a_thread_without_a_name_has_that_of_its_twin)
{
	struct world w;

	start_line(&w);
	uint32_t a = slot_at(&w, 5, 0, 9, 9);
	uint32_t b = slot_at(&w, 5, 1, 9, 9);
	uint32_t none = tasks_comm(w.ts, a);

	ck_assert_uint_eq(tasks_comm(w.ts, b), none);
	tasks_set_comm(w.ts, a, "sh", 10, false);
	ck_assert_uint_ne(tasks_comm(w.ts, b), none);
	ck_assert_uint_eq(tasks_comm(w.ts, b), tasks_comm(w.ts, a));
	tasks_set_comm(w.ts, a, "ls", 20, true);
	ck_assert_uint_eq(tasks_comm(w.ts, b), tasks_comm(w.ts, a));
	world_finish(&w);
	ck_assert_uint_eq(w.comms, 3);
}
END_TEST

START_TEST(a_name_from_before_the_records_is_not_news)
{
	struct world w;

	start_line(&w);
	uint32_t a = slot_at(&w, 5, 0, 9, 9);
	uint32_t b = slot_at(&w, 5, 1, 9, 9);

	tasks_set_comm(w.ts, a, "sh", 10, false);
	tasks_set_comm(w.ts, a, "ls", 20, true);
	tasks_set_comm(w.ts, b, "sh", TIME_NONE, false);
	ck_assert_uint_eq(tasks_comm(w.ts, b), tasks_comm(w.ts, a));
	tasks_set_comm(w.ts, b, "ls", 21, true);
	ck_assert_uint_eq(tasks_comm(w.ts, b), tasks_comm(w.ts, a));
	world_finish(&w);
	ck_assert_uint_eq(w.comms, 2);
}
END_TEST

START_TEST(a_mapping_that_two_captures_tell_is_one_row)
{
	struct world w;

	start_line(&w);
	for (uint16_t i = 0; i < 2; i++) {
		id_at(&w, 1, i, 1, 1);
		map_at(&w, 5 + i, i, 1, 0x1000);
	}
	map_at(&w, 7, 1, 1, 0x5000);
	fork_at(&w, 10, 0, 9);
	fork_at(&w, 11, 1, 9); /* has one more */
	ck_assert_uint_eq(space_count(&process_at(&w, 12, 1, 9)->space), 2);
	world_finish(&w);
	ck_assert_uint_eq(w.mappings, 2 + 1 + 2);
	start_line(&w);
	for (uint16_t i = 0; i < 2; i++) {
		id_at(&w, 1, i, 1, 1);
		map_at(&w, 5 + i, i, 1, 0x1000);
	}
	fork_at(&w, 10, 0, 9);
	fork_at(&w, 11, 1, 9);
	world_finish(&w);
	ck_assert_uint_eq(w.mappings, 2);
}
END_TEST

/* ---- whole runs */

static const char *twins_path_of(const struct all_facts *all, uint32_t raw)
{
	const struct stack *s = frames_get_stack(
		all->frames, frames_get_raw(all->frames, raw)->stack);
	const struct frame *fr = frames_get_frame(all->frames, s->frame);

	return frames_get_image(all->frames, fr->image)->path;
}

static struct fake_rec *twins_hit(struct fake *f, uint64_t t, int32_t pid,
				  uint64_t addr)
{
	struct fake_rec *r = fake_sample(f, t, 9, 0);

	r->rec.pid = pid;
	r->rec.sample.user.n = 1;
	r->ip[0] = addr;
	return r;
}

static const char *event_path(const struct all_facts *all, size_t i)
{
	return twins_path_of(all, fact_at(all, FACT_EVENT, i)->event.uraw);
}

START_TEST(mappings_of_another_capture_are_those_of_the_time)
{
	struct fake *f[2] = { fake_new(), fake_new() };

	twins_hit(f[1], 5, -1, 0x1010);
	fake_comm(f[0], 9, 9, "a", true);
	fake_map(f[0], 10, 9, 0x1000, 0x1000, "/bin/a");
	twins_hit(f[1], 15, -1, 0x1010);
	twins_hit(f[1], 16, -1, 0x1010); /* by the cache */
	twins_hit(f[1], 17, -1, 0x8010);
	fake_map(f[0], 20, 9, 0x1000, 0x1000, "/bin/b");
	twins_hit(f[1], 25, -1, 0x1010);
	twins_hit(f[1], 26, -1, 0x1010);
	fake_comm(f[0], 30, 9, "new", true);
	fake_map(f[0], 31, 9, 0x8000, 0x1000, "/bin/c");
	twins_hit(f[1], 35, -1, 0x8010);
	twins_hit(f[1], 36, -1, 0x8010);
	/* its own are asked first */
	fake_map(f[1], 40, 9, 0x8000, 0x1000, "/bin/own");
	twins_hit(f[1], 45, 9, 0x8010);
	twins_hit(f[0], 46, 9, 0x8010);
	struct all_facts all = stitch_line(f, 2, true);
	static const char *const want[] = {
		"[unknown]", "/bin/a", "/bin/a", "[unknown]", "/bin/b",
		"/bin/b",    "/bin/c", "/bin/c", "/bin/own",  "/bin/c",
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		ck_assert_str_eq(event_path(&all, i), want[i]);
	facts_done(&all);
}
END_TEST

START_TEST(captures_that_are_not_together_know_nothing_of_each_other)
{
	struct fake *f[2] = { fake_new(), fake_new() };

	fake_map(f[0], 10, 9, 0x1000, 0x1000, "/bin/a");
	twins_hit(f[1], 15, 9, 0x1010);
	struct all_facts all = stitch_line(f, 2, false);

	ck_assert_str_eq(event_path(&all, 0), "[unknown]");
	facts_done(&all);
}
END_TEST

static struct unwind_job *twins_begin(struct unwinder *uw,
				      const struct unwind_in *in)
{
	(void)uw;
	(void)in;
	return NULL;
}

/* Thread 9 ends by what the second capture says. The first one has more of it,
 * with a dump, after a new thread. */
static struct all_facts late_dump(const struct unwinder_ops *ops)
{
	struct fake *f[2] = { fake_new(), fake_new() };
	struct unwinder uw = { ops };

	fake_sample(f[0], 5, 9, 0);
	fake_sample(f[1], 6, 9, 0);
	fake_exit(f[1], SEC, 9);
	for (uint64_t i = 0; i < 100; i++)
		fake_sample(f[0], 4 * SEC + i, 1, 0);
	fake_sample(f[0], 4 * SEC + 100, 20, 0);
	struct rec_sample *s =
		&fake_sample(f[0], 4 * SEC + 101, 9, 0)->rec.sample;

	s->stack = "dump";
	s->stack_len = 4;
	s->user_regs.abi = 2;
	return stitch_line_with(&uw, f, 2, true);
}

START_TEST(ids_are_the_same_for_who_looks_ahead)
{
	static const struct unwinder_ops alone = { .name = "alone" };
	static const struct unwinder_ops threads = { .name = "threads",
						     .begin = twins_begin };
	struct all_facts want = late_dump(&alone);
	struct all_facts all = late_dump(&threads);

	ck_assert_uint_eq(fact_count(&want, FACT_THREAD), 4);
	ck_assert_uint_eq(all.n, want.n);
	for (size_t i = 0; i < all.n; i++) {
		const struct fact *a = &all.fact[i];
		const struct fact *b = &want.fact[i];

		ck_assert_int_eq(a->kind, b->kind);
		if (a->kind == FACT_THREAD) {
			ck_assert_uint_eq(a->thread.id, b->thread.id);
			ck_assert_int_eq(a->thread.tid, b->thread.tid);
		}
		if (a->kind == FACT_EVENT)
			ck_assert_uint_eq(a->event.thread, b->event.thread);
	}
	facts_done(&want);
	facts_done(&all);
}
END_TEST

static void kernel_hit(struct fake *f, uint64_t t, uint64_t *addr)
{
	struct fake_rec *r = fake_sample(f, t, 9, 0);

	r->rec.flags = REC_F_KERNEL;
	r->rec.sample.kern = (struct addrs){ addr, 1, NULL };
}

static void kernel_map(struct fake *f, uint64_t start, uint64_t len,
		       uint64_t pgoff, const uint8_t *id)
{
	struct fake_rec *r = fake_map(f, UINT64_MAX, -1, start, len,
				      "[kernel.kallsyms]_text");

	r->rec.flags = REC_F_KERNEL | REC_F_UNTIMED;
	r->rec.map.pgoff = pgoff;
	r->rec.map.id = id;
	r->rec.map.id_len = id ? 20 : 0;
}

START_TEST(kernel_frames_count_from_where_one_capture_says_it_is)
{
	static const uint8_t id[20] = { 1 };
	struct fake *f[3] = { fake_new(), fake_new(), fake_new() };
	uint64_t addr[] = { 0x81000010, 0xc0000020 };

	kernel_map(f[0], 0, UINT64_MAX, 0, NULL);
	kernel_map(f[1], 0x81000000, 0x100000, 0x81000000, id);
	kernel_hit(f[0], 5, &addr[0]);
	kernel_hit(f[0], 6, &addr[1]);
	kernel_hit(f[1], 7, &addr[0]);
	kernel_hit(f[2], 8, &addr[0]);
	struct all_facts all = stitch_line(f, 3, true);
	static const uint64_t off[] = { 0x10, 0xc0000020, 0x10, 0x10 };

	for (size_t i = 0; i < 4; i++) {
		const struct fact_event *e =
			&fact_at(&all, FACT_EVENT, i)->event;
		const struct raw_chain *raw =
			frames_get_raw(all.frames, e->kraw);
		const struct stack *s =
			frames_get_stack(all.frames, raw->stack);

		ck_assert_uint_eq(frames_get_frame(all.frames, s->frame)->off,
				  off[i]);
	}
	facts_done(&all);
}
END_TEST

/* One kernel, two captures, each a little later than the other or not. */
#define TIDS 10

struct truth {
	struct fake *f[2];
	uint64_t seed, now;
	bool alive[TIDS + 1];
	size_t lives;
	uint64_t life[TIDS + 1]; /* number of it */
	uint64_t keep;		 /* of 100 records */
};

static uint64_t stamp(struct truth *tr)
{
	return tr->now + rnd_below(&tr->seed, 10000);
}

/* Is the record kept? Else it is lost. */
static bool twins_kept(struct truth *tr, size_t i)
{
	if (rnd_below(&tr->seed, 100) < tr->keep)
		return true;
	fake_lost(tr->f[i], stamp(tr), 0, 1);
	return false;
}

static void truth_record(struct truth *tr, size_t i, int32_t tid, uint64_t what)
{
	struct fake *f = tr->f[i];

	if (!twins_kept(tr, i))
		return;
	if (what < 2) {
		fake_map(f, stamp(tr), tid, 0x1000 * what, 0x1000, "/bin/a");
		return;
	}
	struct fake_rec *r = fake_sample(f, stamp(tr), tid, 0);

	r->rec.flags = REC_F_USER;
	r->rec.sample.weight = tr->life[tid];
	r->rec.sample.user.n = 1;
	r->ip[0] = 0x1000 * (what % 3);
}

static void truth_step(struct truth *tr)
{
	int32_t tid = 2 + (int32_t)rnd_below(&tr->seed, TIDS - 1);
	uint64_t what = rnd_below(&tr->seed, 10);

	tr->now += 200000;
	if (!tr->alive[tid]) {
		tr->now += 20 * MS; /* no id comes back sooner */
		tr->alive[tid] = true;
		tr->life[tid] = ++tr->lives;
		for (size_t i = 0; i < 2; i++)
			if (twins_kept(tr, i))
				fake_fork(tr->f[i], stamp(tr), tid, 1);
	} else if (what == 9) {
		tr->alive[tid] = false;
		for (size_t i = 0; i < 2; i++)
			if (twins_kept(tr, i))
				fake_exit(tr->f[i], stamp(tr), tid);
	} else {
		truth_record(tr, rnd_below(&tr->seed, 2), tid, what);
	}
}

static struct truth truth_run(uint64_t seed, uint64_t keep)
{
	struct truth tr = { .f = { fake_new(), fake_new() },
			    .seed = seed,
			    .keep = keep };

	for (int i = 0; i < 2; i++) {
		tr.f[i]->src.info.cpus_online = 1;
		fake_comm(tr.f[i], UINT64_MAX, 1, "init", false)->rec.flags =
			REC_F_UNTIMED;
	}
	for (int i = 0; i < 400; i++)
		truth_step(&tr);
	return tr;
}

START_TEST(two_complete_captures_have_one_row_for_each_life)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct truth tr = truth_run(seed, 100);
		uint32_t row[512] = { 0 };

		must(tr.lives < 512);
		struct all_facts all = stitch_line(tr.f, 2, true);

		must(fact_count(&all, FACT_THREAD) == tr.lives + 1);
		must(fact_count(&all, FACT_PROCESS) == tr.lives + 1);
		must(fact_count(&all, FACT_FINDING) == 0);
		for (size_t i = 0; i < all.n; i++) {
			const struct fact_event *e = &all.fact[i].event;

			if (all.fact[i].kind != FACT_EVENT)
				continue;
			must(!row[e->weight] || row[e->weight] == e->thread);
			row[e->weight] = e->thread;
		}
		facts_done(&all);
	}
}
END_TEST

static size_t findings(const struct all_facts *all, uint32_t rule,
		       uint16_t source)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		n += all->fact[i].kind == FACT_FINDING &&
		     all->fact[i].finding.rule == rule &&
		     all->fact[i].finding.source == source;
	return n;
}

/* Of lost mappings there is one for each hole of each process, and together
 * the captures know of more processes. */
START_TEST(what_is_shared_makes_no_finding)
{
	uint32_t maps = rules_index("map_lost");
	size_t n = 0;

	for (uint64_t seed = 1; seed <= 600; seed++) {
		uint64_t keep = 50 + seed % 50;
		struct truth one = truth_run(seed, keep);
		struct truth two = truth_run(seed, keep);
		struct all_facts apart = stitch_line(one.f, 2, false);
		struct all_facts all = stitch_line(two.f, 2, true);

		for (uint32_t rule = 0; rules[rule].name; rule++)
			for (uint16_t i = 0; rule != maps && i < 2; i++) {
				must(findings(&all, rule, i) <=
				     findings(&apart, rule, i));
				n += findings(&all, rule, i);
			}
		facts_done(&apart);
		facts_done(&all);
	}
	ck_assert_uint_gt(n, 1000);
}
END_TEST

RUN("shared_tasks", a_life_in_two_captures_is_one_row,
    a_capture_that_is_alone_shares_nothing,
    a_row_has_the_first_start_and_the_last_end, who_saw_the_exit_knows_the_end,
    a_pid_that_differs_is_another_thread,
    another_capture_tells_the_process_of_a_thread,
    a_fork_that_one_capture_saw_is_a_new_life_for_all,
    a_fork_that_two_captures_saw_is_one_life,
    a_record_just_before_the_fork_by_another_clock_is_of_the_child,
    a_task_found_by_a_later_recorder_is_the_one_forked_before,
    a_task_found_later_is_not_the_life_that_ended_before,
    an_exit_that_one_capture_saw_is_the_end_for_all,
    who_looks_ahead_ends_no_life,
    the_end_of_a_thread_is_not_that_of_its_process,
    a_name_that_two_captures_tell_is_one_row,
    a_thread_without_a_name_has_that_of_its_twin,
    a_name_from_before_the_records_is_not_news,
    a_mapping_that_two_captures_tell_is_one_row,
    mappings_of_another_capture_are_those_of_the_time,
    ids_are_the_same_for_who_looks_ahead,
    captures_that_are_not_together_know_nothing_of_each_other,
    kernel_frames_count_from_where_one_capture_says_it_is,
    two_complete_captures_have_one_row_for_each_life,
    what_is_shared_makes_no_finding)
