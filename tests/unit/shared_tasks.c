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

static const struct world_row shared_rows[] = {
	{
		"a_life_in_two_captures_is_one_row",
		"5 thread 1/2 = a; 6 thread 1:1/2 = a; 7 process 1 = p;"
		"7 process 1:1 = p",
		.rows = "2=a -; process 0:1 -",
	},
	{
		"a_capture_that_is_alone_shares_nothing",
		"5 thread 1 = a; 6 thread 2:1 = b",
		.rows = "1=a -; 1=b -; process 0:1 -; process 2:1 -",
	},
	{
		"a_row_has_the_first_start_and_the_last_end",
		"105 fork 1:9; 107 fork 9; 200 exit 1:9; 207 exit 9",
		.rows = "9 105-207; process 0:9 105-207; process 0:1 -",
	},
	/* The other capture learns of it when the id is another's. */
	{
		"who_saw_the_exit_knows_the_end",
		"5 thread 9 = a; 6 thread 1:9; 200 exit 1:9; 5s fork 9;"
		"6s retire; 6s threads = 1",
		.rows = "9=a -200; 9 5s-; process 0:9 -200; process 0:1 -; "
			"process 0:9 5s-",
	},
	{
		"a_pid_that_differs_is_another_thread",
		"5 thread 1/2 = a; 6 thread 1:3/2 = b",
		.rows = "2=a -; 2=b -; process 0:1 -; process 1:3 -",
	},
	{
		"another_capture_tells_the_process_of_a_thread",
		"5 thread 7/8 = a; 6 thread 1:-1/8 = a; 6 pid 1:-1/8 = 7;"
		"7 thread 1:-1/9 = b; 7 pid 1:-1/9 = -1; 8 thread 7/9 = b;"
		"9 pid 1:-1/9 = 7",
		.rows = "8=a -; 9=b -; process 0:7 -; process 1:-1 -",
	},
	/* Nothing is missing in the capture that did not see it. */
	{
		"a_fork_that_one_capture_saw_is_a_new_life_for_all",
		"5 thread 1:9 = a; 6 thread 9 = a; 1s fork 9;"
		"1s+1 thread 9 = b; 1s+2 thread 1:9 = b;"
		"1s+3 introduced 1:9 = 1; 1s+3 gone = 0; 1s+3 gone = -1",
		.rows = "9=a -1s; 9=b 1s-; process 0:9 -1s; process 0:1 -; "
			"process 0:9 1s-",
	},
	{
		"a_fork_that_two_captures_saw_is_one_life",
		"5 thread 9; 5 thread 1:9; 1s fork 9; 1s+1000 fork 1:9;"
		"2s thread 9 = a; 2s thread 1:9 = a",
		.rows = "9 -1s+1000; 9=a 1s-; process 0:9 -1s+1000; "
			"process 0:1 -; process 0:9 1s-",
	},
	{
		"a_record_just_before_the_fork_by_another_clock_is_of_the_child",
		"999999000 thread 1:9 = a; 1s fork 9; 1s+1 thread 9 = a",
		.rows = "9=a 1s-; process 0:1 -; process 0:9 1s-",
	},
	/* A recorder that starts later tells of the tasks that it found,
	 * before all records of any capture. */
	{
		"a_task_found_by_a_later_recorder_is_the_one_forked_before",
		"- found 1:9 = a; - slot 1:9 = s; - process_slot 1:9 = p;"
		"1s fork 9; 1s+1 thread 9 = a; 2s slot 1:9 = s;"
		"2s process_slot 1:9 = p",
		.rows = "9=a 1s-; process 0:1 -; process 0:9 1s-",
	},
	/* The other has it still. */
	{
		"a_task_found_later_is_not_the_life_that_ended_before",
		"- thread 9 = a; 4 thread 9; - found 1:9; 5 exit 9; 5 retire;"
		"5 threads = 0; 4s fork 9; 4s+1 thread 9 = b;"
		"5s thread 1:9 = b",
		.rows = "9=a -5; 9=b 4s-; process 0:9 -5; process 0:1 -; "
			"process 0:9 4s-",
	},
	{
		"a_task_found_later_is_not_the_life_that_was_retired_before",
		"- thread 9 = a; 4 thread 9; - found 1:9; 5 exit 9; 3s retire;"
		"3s threads = 0; 4s fork 9; 4s+1 thread 9 = b;"
		"5s thread 1:9 = b",
		.rows = "9=a -5; 9=b 4s-; process 0:9 -5; process 0:1 -; "
			"process 0:9 4s-",
	},
	/* Records of the kernel's work for it go on for a while. */
	{
		"an_exit_that_one_capture_saw_is_the_end_for_all",
		"5 thread 1:9 = a; 6 thread 9 = a; 1s exit 9;"
		"1s+5000000 slot 1:9 = s; 1s+5000000 over s = 0;"
		"1s+50000000 slot 1:9 = s; 1s+50000000 over s = 1;"
		"1s+50000000 thread 1:9 = a; 1s+50000000 process 1:9 = p;"
		"3s retire; 4s thread 1:9 = b; 4s process 1:9 = q;"
		"4s thread 9 = b",
		.rows = "9=a -1s; 9=b -; process 0:9 -1s; process 0:9 -",
	},
	/* The record itself does. */
	{
		"who_looks_ahead_ends_no_life",
		"5 slot 1:9 = s; 6 thread 9; 1s exit 9; 1s peek 1:9 = s;"
		"1s peek 1:8/9 = -1; 1s peek 1:9/8 = -1; 3s retire;"
		"4s peek 1:9 = -1; 4s ended s = 0; 4s find 1:9 = t;"
		"4s ended s = 1",
		.rows = "9 -1s; 9 -; process 0:9 -1s; process 1:9 -",
	},
	/* It was exec by the other one. */
	{
		"the_end_of_a_thread_is_not_that_of_its_process",
		"5 thread 9; 5 thread 9/10; 5 thread 1:9; 5 thread 1:9/10;"
		"6 process 9 = p; 7 exit 9; 5s slot 1:9; 5s process 1:9 = p",
		.rows = "9 -7; 10 -; 9 -; process 0:9 -",
	},
	/* Another exec of a program of that name, and one of them misses
	 * one. */
	{
		"a_name_that_two_captures_tell_is_one_row",
		"5 thread 9; 5 thread 1:9; 10 comm 9 sh; 12 comm 1:9 sh;"
		"12 name 9 = a; 12 name 1:9 = a; 20 exec 1:9 ls; 22 exec 9 ls;"
		"22 name 9 = b; 22 name 1:9 = b; 22 comms = 2; 30 exec 9 ls;"
		"31 exec 1:9 ls; 32 exec 1:9 ls; 1s exec 9 ls;"
		"1s+1 exec 1:9 ls",
		.rows = "9 -; process 0:9 -; names sh ls ls ls ls",
	},
	{
		"a_thread_without_a_name_has_that_of_its_twin",
		"5 thread 9; 5 thread 1:9; 5 name 9 = n; 5 name 1:9 = n;"
		"10 comm 9 sh; 10 name 1:9 = a; 10 name 9 = a; 20 exec 9 ls;"
		"20 name 1:9 = b; 20 name 9 = b",
		.rows = "9 -; process 0:9 -; names :9 sh ls",
	},
	{
		"a_name_from_before_the_records_is_not_news",
		"5 thread 9; 5 thread 1:9; 10 comm 9 sh; 20 exec 9 ls;"
		"- comm 1:9 sh; 20 name 9 = a; 20 name 1:9 = a; 21 exec 1:9 ls;"
		"21 name 1:9 = a; 21 name 9 = a",
		.rows = "9 -; process 0:9 -; names sh ls",
	},
	{
		"a_mapping_that_two_captures_tell_is_one_row",
		"1 thread 1; 5 map 1 0x1000; 1 thread 1:1; 6 map 1:1 0x1000;"
		"10 fork 9; 11 fork 1:9",
		.rows = "1 -; 9 10-; process 0:1 -; process 0:9 10-; "
			"2 mappings",
	},
	/* The fork of the second has one more. */
	{
		"a_mapping_that_one_capture_tells_is_inherited",
		"1 thread 1; 5 map 1 0x1000; 1 thread 1:1; 6 map 1:1 0x1000;"
		"7 map 1:1 0x5000; 10 fork 9; 11 fork 1:9; 12 maps 1:9 = 2",
		.rows = "1 -; 9 10-; process 0:1 -; process 0:9 10-; "
			"5 mappings",
	},
};

START_TEST(shared_row_holds)
{
	world_row_holds(&shared_rows[_i]);
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
				      const struct unwind_in *in, bool soon)
{
	(void)uw;
	(void)in;
	(void)soon;
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
	static const struct unwinder_ops alone = { 0 };
	static const struct unwinder_ops threads = { .begin = twins_begin };
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
	r->rec.sample.kern = (struct addrs){ .ip = addr, .n = 1 };
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
	for (uint64_t seed = 1; seed <= 400 / RUN_FEWER; seed++) {
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

	for (uint64_t seed = 1; seed <= 800 / RUN_FEWER; seed++) {
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
	ck_assert_uint_gt(n, 1200 / RUN_FEWER);
}
END_TEST

static const struct run_table tables[] = { RUN_TABLE(shared_row_holds,
						     shared_rows) };

RUN_TABLES("shared_tasks", tables,
	   mappings_of_another_capture_are_those_of_the_time,
	   ids_are_the_same_for_who_looks_ahead,
	   captures_that_are_not_together_know_nothing_of_each_other,
	   kernel_frames_count_from_where_one_capture_says_it_is,
	   two_complete_captures_have_one_row_for_each_life,
	   what_is_shared_makes_no_finding)
