/* unwind_ahead.c - tests of stitch/unwind_ahead.c: which stack dumps are begun
 * early enough, by an unwinder whose thread has always time. */
#include "stitch/unwind_ahead.h"

#include <stdlib.h>

#include "stitch/unwinder.h"
#include "tests/unit/run.h"
#include "tests/unit/facts.h"

#define PROCESSES 100
#define DUMPS 60 /* of a process */

/* Counts; a job is nothing but the address of its dump. */
struct counting_unwinder {
	struct unwinder uw;
	unsigned int late, begun, soon, dropped;
};

static struct counting_unwinder *counting(struct unwinder *uw)
{
	return (struct counting_unwinder *)uw;
}

static void counting_fill(struct unwind_out *out)
{
	out->n = out->max > 0;
	if (out->n)
		out->ip[0] = 0x401000;
	out->guessed = UINT32_MAX;
	out->end = UNWIND_OUTERMOST;
}

static void counting_unwind(struct unwinder *uw, const struct unwind_in *in,
			    struct unwind_out *out)
{
	(void)in;
	counting(uw)->late++;
	counting_fill(out);
}

static struct unwind_job *counting_begin(struct unwinder *uw,
					 const struct unwind_in *in, bool soon)
{
	struct unwind_map map;

	/* the mappings of its program are known, not only those before exec */
	must(in->find(in->arg, 0x401000, &map) && map.image);
	counting(uw)->begun++;
	counting(uw)->soon += soon;
	return (struct unwind_job *)(uintptr_t)in->stack;
}

static bool counting_finish(struct unwinder *uw, struct unwind_job *job,
			    struct unwind_out *out, bool *dated)
{
	must(job);
	counting(uw)->dropped += !out->max;
	*dated = false;
	counting_fill(out);
	return true;
}

static enum unwind_caller counting_caller(struct unwinder *uw,
					  const struct unwind_in *in,
					  const uint64_t *ip, uint32_t n,
					  bool infer, uint64_t *caller)
{
	(void)uw;
	(void)in;
	(void)ip;
	(void)n;
	(void)infer;
	(void)caller;
	return CALLER_KNOWN;
}

static void counting_free(struct unwinder *uw)
{
	(void)uw;
}

static const struct unwinder_ops counting_ops = {
	.unwind = counting_unwind,
	.caller = counting_caller,
	.begin = counting_begin,
	.finish = counting_finish,
	.free = counting_free,
};

static void add_dump(struct fake *f, uint64_t time, int32_t tid)
{
	static const uint64_t reg[] = { 0x7000, 0x6000, 0x401000 };
	static const char stack[64];
	struct fake_rec *fr = fake_sample(f, time, tid, 0);
	struct rec_sample *s = &fr->rec.sample;

	fr->rec.flags = REC_F_USER;
	s->event = 1;
	s->has_dump = true;
	s->stack = stack;
	s->stack_len = sizeof(stack);
	/* bp, sp and ip of x86-64 */
	s->user_regs =
		(struct regs){ .v = reg, .mask = 7u << 6, .n = 3, .abi = 2 };
}

/* As a shell starts compilers: two at a time, each with fork, exec, a program,
 * a library, its dumps and mappings of data between them. */
static struct fake *many_programs(void)
{
	struct fake *f = fake_new();
	uint64_t t = 10;

	f->src.info.arch = "x86_64";
	fake_comm(f, 1, 1, "sh", true);
	fake_map(f, 2, 1, 0x700000, 0x1000, "/bin/sh");
	for (int32_t i = 0; i < PROCESSES; i += 2) {
		for (int32_t pid = 100 + i; pid < 102 + i; pid++) {
			fake_fork(f, t++, pid, 1);
			fake_comm(f, t++, pid, "cc1", true);
			fake_map(f, t++, pid, 0x400000, 0x10000, "/bin/cc1");
			fake_map(f, t++, pid, 0x800000, 0x10000, "/lib/libc");
		}
		for (int k = 0; k < DUMPS; k++) {
			for (int32_t pid = 100 + i; pid < 102 + i; pid++)
				add_dump(f, t++, pid);
			if (k % 4 == 0)
				fake_map(f, t++, 100 + i,
					 0x1000000 + (uint64_t)k * 0x1000,
					 0x1000, "//anon")
					->rec.flags = REC_F_DATA;
		}
		fake_exit(f, t++, 100 + i);
		fake_exit(f, t++, 101 + i);
	}
	return f;
}

/* What the main thread unwinds itself are the first dumps behind a change. */
START_TEST(dumps_of_new_processes_are_begun_before_they_are_due)
{
	struct counting_unwinder u = { .uw = { &counting_ops } };
	struct fake *f = many_programs();
	struct all_facts all = stitch_line_with(&u.uw, &f, 1, false);

	ck_assert_uint_eq(fact_count(&all, FACT_EVENT), PROCESSES * DUMPS);
	ck_assert_uint_eq(u.late + u.begun - u.dropped, PROCESSES * DUMPS);
	ck_assert_uint_lt(u.late, PROCESSES * DUMPS / 10);
	ck_assert_uint_lt(u.dropped, PROCESSES * DUMPS / 100);
	facts_done(&all);
}
END_TEST

/* A thread that is behind does first what is due first: not what was begun
 * first, which of a program that has just started is begun late. */
START_TEST(dumps_of_new_processes_overtake_others)
{
	struct counting_unwinder u = { .uw = { &counting_ops } };
	struct fake *f = many_programs();
	struct all_facts all = stitch_line_with(&u.uw, &f, 1, false);

	ck_assert_uint_gt(u.soon, u.begun / 2);
	facts_done(&all);
	u.soon = u.begun = 0;
	f = fake_new();
	f->src.info.arch = "x86_64";
	fake_comm(f, 1, 1, "cc1", true);
	fake_map(f, 2, 1, 0x400000, 0x10000, "/bin/cc1");
	for (uint64_t t = 3; t < 2000; t++)
		add_dump(f, t, 1);
	all = stitch_line_with(&u.uw, &f, 1, false);
	ck_assert_uint_gt(u.begun, 1900);
	/* but for those that were looked at with the mapping */
	ck_assert_uint_lt(u.soon, 10);
	facts_done(&all);
}
END_TEST

/* Nothing tells of their process but they themselves. */
START_TEST(dumps_of_a_process_that_nothing_announced_do_not_hold_others_up)
{
	struct counting_unwinder u = { .uw = { &counting_ops } };
	struct fake *f = many_programs();
	uint64_t t = 1000000;

	for (int32_t i = 0; i < 2000; i++) {
		/* so many that no two are of one process */
		add_dump(f, t++, 100000 + i);
		if (!i)
			fake_map(f, t++, 50, 0x400000, 0x10000, "/bin/b");
		add_dump(f, t++, 50);
	}
	struct all_facts all = stitch_line_with(&u.uw, &f, 1, false);

	ck_assert_uint_lt(u.late, PROCESSES * DUMPS / 10 + 2200);
	facts_done(&all);
}
END_TEST

RUN("ahead", dumps_of_new_processes_are_begun_before_they_are_due,
    dumps_of_new_processes_overtake_others,
    dumps_of_a_process_that_nothing_announced_do_not_hold_others_up)
