/* align.c - tests of stitch/order/clocks.c, stitch/order/fingerprints.c,
 * stitch/order/align.c: captures made of switches, whose clocks
 * are known. */
#include "stitch/order/align.h"
#include "stitch/order/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/order/fingerprints.h"
#include "stitch/record.h"
#include "tests/unit/run.h"

#define SECOND 1000000000ll
#define START ((uint64_t)1000 * SECOND)

/* How a capture is made of the same run of a machine. */
struct recipe {
	uint64_t seed; /* of the run */
	int64_t offset;
	double drift;	   /* 1e-6: one ppm */
	uint64_t from, to; /* which switches; to 0: all */
	uint64_t jitter;   /* ns */
	uint64_t without;  /* each so many-th is lost; 0: none */
	const char *comm;  /* of all threads */
	int32_t only;	   /* of this thread alone; 0: all */
	int32_t cpu;	   /* of this CPU + 1 alone; 0: all */
	uint64_t code;	   /* address of a mapping; 0: none */
	uint64_t hit;	   /* address of a sample; 0: none */
};

struct made {
	struct source_info info;
	struct fingerprints *fingerprints;
};

#define SWITCHES 400

static void align_take_comm(struct fingerprints *p, int32_t tid,
			    const char *name)
{
	const struct record rec = {
		.kind = REC_COMM,
		.flags = REC_F_UNTIMED,
		.tid = tid,
		.comm = { name },
	};

	fingerprints_take(p, &rec);
}

/* The kernel's mapping as perf writes it, some MiB further up; -1: without an
 * address. */
static void align_take_kernel(struct fingerprints *p, const char *path, int mib)
{
	const struct record rec = {
		.kind = REC_MAP,
		.flags = REC_F_UNTIMED | REC_F_KERNEL,
		.pid = -1,
		.map = { .len = 0x1000000,
			 .pgoff = mib < 0 ? 0
					  : 0xffffffff81000000 +
						    ((uint64_t)mib << 20),
			 .path = path },
	};

	p->kernel = 0;
	fingerprints_take(p, &rec);
}

/* A mapping at addr, and a sample at hit; 0: none. */
static void align_take_code(struct fingerprints *p, uint64_t addr, uint64_t hit)
{
	const struct record map = {
		.kind = REC_MAP,
		.flags = REC_F_UNTIMED,
		.pid = 70,
		.map = { .start = addr, .len = 0x1000, .path = "/bin/x" },
	};
	struct record rec = {
		.kind = REC_SAMPLE, .pid = 70, .tid = 71, .time = p->last
	};

	if (hit)
		rec.sample.user = (struct addrs){ .ip = &hit, .n = 1 };
	fingerprints_take(p, hit ? &rec : &map);
}

/* Two CPUs, of which each always runs somebody: a short-lived thread, or one
 * of a few that come again and again. */
static struct made align_make(const struct recipe *r)
{
	struct made m = { .fingerprints = fingerprints_new() };
	uint64_t seed = r->seed;
	uint64_t noise = r->seed + (uint64_t)r->offset;
	int32_t on[2] = { 0, 0 };
	uint64_t t = START;

	for (uint64_t i = 0; i < SWITCHES; i++) {
		int32_t cpu = (int32_t)(rnd(&seed) % 2);
		int32_t next = rnd(&seed) % 3
				       ? (int32_t)(1000 + r->seed * 7 + i)
				       : (int32_t)(rnd(&seed) % 5);
		struct record rec = {
			.kind = REC_SAMPLE,
			.cpu = cpu,
			.tid = on[cpu],
		};

		t += 20000 + rnd(&seed) % 100000;
		rec.sample.sched.kind = SCHED_SWITCH;
		rec.sample.sched.tid = on[cpu];
		rec.sample.sched.next_tid = next;
		on[cpu] = next;
		rec.time = t + (uint64_t)r->offset +
			   (uint64_t)((double)(t - START) * r->drift);
		if (r->jitter)
			rec.time += rnd(&noise) % r->jitter;
		if (i < r->from || (r->to && i >= r->to) ||
		    (r->without && i % r->without == 0) ||
		    (r->cpu && cpu != r->cpu - 1) ||
		    (r->only && rec.sample.sched.tid != r->only &&
		     next != r->only))
			continue;
		fingerprints_take(m.fingerprints, &rec);
		if (r->comm)
			align_take_comm(m.fingerprints, next, r->comm);
	}
	if (r->code)
		align_take_code(m.fingerprints, r->code, r->hit);
	fingerprints_end(m.fingerprints);
	m.info.has_time = true;
	m.info.clock = "perf";
	m.info.clock_id = CLOCK_ID_PERF;
	return m;
}

static struct align_in input(const struct made *m)
{
	return (struct align_in){
		.path = "x",
		.info = &m->info,
		.fingerprints = m->fingerprints,
		.host = SIZE_MAX,
	};
}

/* Aligns b to a; 0, or -1. */
static int align2(const struct made *a, const struct made *b,
		  struct align_out out[2], struct err *err)
{
	const struct align_in in[2] = { input(a), input(b) };
	const struct align_report said = { 0 };

	return align_captures(in, 2, &said, out, err);
}

static void align_end(struct made *a, struct made *b)
{
	fingerprints_free(a->fingerprints);
	fingerprints_free(b->fingerprints);
}

/* ---- maps */

START_TEST(a_clock_has_one_id_whoever_names_it)
{
	ck_assert_int_eq(clock_id_of("mono"), CLOCK_ID_MONO);
	ck_assert_int_eq(clock_id_of("monotonic"), CLOCK_ID_MONO);
	ck_assert_int_eq(clock_id_of("local"), CLOCK_ID_SCHED);
	ck_assert_int_eq(clock_id_of("counter"), CLOCK_ID_NONE);
	ck_assert_int_eq(clock_id_of("uptime"), CLOCK_ID_NONE);
	ck_assert_int_eq(clock_id_of(NULL), CLOCK_ID_NONE);
}
END_TEST

START_TEST(two_maps_are_one)
{
	const struct clock_map a = { .offset = -500,
				     .drift = DRIFT_ONE / 20000,
				     .at = 7000000 };
	const struct clock_map b = { .offset = 900,
				     .drift = -DRIFT_ONE / 100000,
				     .at = 90000000 };
	struct clock_map c = clock_map_then(&a, &b);

	for (uint64_t t = 1000; t < 1000000000000; t = t * 3 + 7) {
		uint64_t two = clock_map_time(&b, clock_map_time(&a, t));
		uint64_t one = clock_map_time(&c, t);

		must(one - two + 2 <= 4);
	}
}
END_TEST

START_TEST(cycles_become_ns_first)
{
	const struct clock_map m = { .tsc = { 5000, 1u << 30, 31 },
				     .offset = 3 };

	ck_assert_uint_eq(clock_map_time(&m, 4000), 7003);
}
END_TEST

/* ---- equal events */

START_TEST(equal_switches_give_the_offset)
{
	struct made a = align_make(&(struct recipe){ .seed = 1 });
	struct made b = align_make(&(struct recipe){
		.seed = 1, .offset = 30099500, .jitter = 2000 });
	struct align_out out[2];

	b.info.clock_id = CLOCK_ID_SCHED;
	ck_assert_int_eq(align2(&a, &b, out, NULL), 0);
	ck_assert_int_eq(out[1].method, ALIGN_EVENTS);
	int64_t off = out[1].map.offset + 30099500;

	ck_assert_int_lt(llabs(off), out[1].error);
	ck_assert_int_lt(out[1].error, 4000);
	ck_assert_uint_gt(out[1].pairs, 300);
	ck_assert_int_eq(out[1].line, 0);
	align_end(&a, &b);
}
END_TEST

START_TEST(a_drift_is_found_from_beginning_to_end)
{
	struct made a = align_make(&(struct recipe){ .seed = 2 });
	struct made b = align_make(&(struct recipe){
		.seed = 2, .offset = 7 * SECOND, .drift = 400e-6 });
	struct align_out out[2];

	b.info.clock_id = CLOCK_ID_MONO_RAW;
	ck_assert_int_eq(align2(&a, &b, out, NULL), 0);
	double ppm = (double)out[1].map.drift * 1e6 / (double)DRIFT_ONE;

	ck_assert(ppm > -410 && ppm < -390);
	for (uint64_t t = 0; t < 20000000; t += 1000000) {
		uint64_t there =
			START + t + 7 * SECOND + (uint64_t)((double)t * 400e-6);
		int64_t miss = (int64_t)(clock_map_time(&out[1].map, there) -
					 (START + t));

		must(llabs(miss) <= out[1].error);
	}
	align_end(&a, &b);
}
END_TEST

START_TEST(lost_switches_and_a_part_of_the_run_are_enough)
{
	struct made a = align_make(&(struct recipe){ .seed = 3, .to = 300 });
	struct made b = align_make(&(struct recipe){
		.seed = 3, .offset = -99999, .from = 200, .without = 5 });
	struct align_out out[2];

	b.info.clock_id = CLOCK_ID_SCHED;
	ck_assert_int_eq(align2(&a, &b, out, NULL), 0);
	ck_assert_int_eq(out[1].map.offset, 99999);
	align_end(&a, &b);
}
END_TEST

START_TEST(another_run_is_refused)
{
	struct made a = align_make(&(struct recipe){ .seed = 4 });
	struct made b = align_make(&(struct recipe){ .seed = 5 });
	struct align_out out[2];
	struct err err;

	b.info.clock_id = CLOCK_ID_SCHED;
	b.info.clock = "local";
	ck_assert_int_eq(align2(&a, &b, out, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.msg, "--clock-offset 2=NS"));
	ck_assert_ptr_nonnull(strstr(err.msg, "'perf' and 'local'"));
	align_end(&a, &b);
}
END_TEST

/* ---- the same clock */

START_TEST(the_same_clock_is_the_same)
{
	struct made a = align_make(&(struct recipe){ .seed = 6 });
	struct made b =
		align_make(&(struct recipe){ .seed = 6, .jitter = 700 });
	struct align_out out[2];

	ck_assert_int_eq(align2(&a, &b, out, NULL), 0);
	ck_assert_int_eq(out[1].method, ALIGN_SAME);
	ck_assert_int_eq(out[1].map.offset, 0);
	ck_assert_int_eq(out[1].line, 0);
	align_end(&a, &b);
}
END_TEST

START_TEST(equal_events_at_other_times_refute_it)
{
	struct made a = align_make(&(struct recipe){ .seed = 7 });
	struct made b =
		align_make(&(struct recipe){ .seed = 7, .offset = 2000000 });
	struct align_out out[2];
	struct err err;

	ck_assert_int_eq(align2(&a, &b, out, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.msg, "2.000 ms apart"));
	align_end(&a, &b);
}
END_TEST

START_TEST(switches_that_the_other_does_not_have_refute_it)
{
	struct made a = align_make(&(struct recipe){ .seed = 8 });
	struct made b = align_make(&(struct recipe){ .seed = 9 });
	struct align_out out[2];
	struct err err;

	ck_assert_int_eq(align2(&a, &b, out, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.msg, "switches"));
	align_end(&a, &b);
}
END_TEST

START_TEST(those_of_one_thread_alone_refute_nothing)
{
	struct made a = align_make(&(struct recipe){ .seed = 10, .only = 1 });
	struct made b = align_make(&(struct recipe){ .seed = 10, .only = 2 });
	struct align_out out[2];

	ck_assert_int_eq(align2(&a, &b, out, NULL), 0);
	ck_assert_int_eq(out[1].method, ALIGN_SAME);
	align_end(&a, &b);
}
END_TEST

/* Samples only, each of the thread that runs on CPU 0 in align_make()'s seed
 * 11, or of one whose id is so much larger. */
static struct made sampled(int32_t further)
{
	struct made m = { .fingerprints = fingerprints_new() };
	struct made run = align_make(&(struct recipe){ .seed = 11 });
	const struct oncpu_match *r = &run.fingerprints->oncpu;

	for (size_t i = 0; i < r->n_edge; i++) {
		const struct oncpu_edge *e = &r->edge[i];
		const struct record rec = {
			.kind = REC_SAMPLE,
			.cpu = e->cpu,
			.tid = e->tid + further,
			.time = e->time + 10000,
		};

		if (e->comes)
			fingerprints_take(m.fingerprints, &rec);
	}
	fingerprints_end(m.fingerprints);
	fingerprints_free(run.fingerprints);
	m.info = run.info;
	return m;
}

START_TEST(samples_where_their_threads_ran_prove_one_kernel)
{
	struct made a = align_make(&(struct recipe){ .seed = 11 });
	struct made b = sampled(0);
	struct align_out out[2];

	ck_assert_int_eq(align2(&a, &b, out, NULL), 0);
	ck_assert_int_eq(out[1].method, ALIGN_SAME);
	ck_assert_int_eq(out[1].line, 0);
	align_end(&a, &b);
}
END_TEST

START_TEST(ids_of_another_namespace_are_other_threads)
{
	struct made a = align_make(&(struct recipe){ .seed = 11 });
	struct made b = sampled(1);
	struct align_out out[2];

	a.info.has_boot_id = b.info.has_boot_id = true;
	ck_assert_int_eq(align2(&a, &b, out, NULL), 0);
	ck_assert_int_eq(out[1].method, ALIGN_SAME);
	ck_assert_int_eq(out[1].line, 1);
	align_end(&a, &b);
}
END_TEST

START_TEST(captures_that_do_not_overlap_are_refused)
{
	struct made a = align_make(&(struct recipe){ .seed = 11, .to = 100 });
	struct made b = align_make(&(struct recipe){ .seed = 11, .from = 200 });
	struct align_out out[2];
	struct err err;

	ck_assert_int_eq(align2(&a, &b, out, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.msg, "not of one timeline"));
	ck_assert_ptr_nonnull(strstr(err.msg, "lie between them"));
	a.info.has_boot_id = b.info.has_boot_id = true;
	ck_assert_int_eq(align2(&a, &b, out, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.msg, "of one boot, but not of one "
					      "time: "));
	align_end(&a, &b);
}
END_TEST

/* perf record --switch-output, and one recorder after another */
START_TEST(recordings_of_one_boot_may_have_a_gap_between_them)
{
	static const struct {
		uint64_t code[2], hit[2];
		bool other_command, proved;
	} row[] = {
		{ .code = { 0x5630ae9b8000, 0x5630ae9b8000 }, .proved = true },
		/* its last piece has samples alone */
		{ { 0x5630ae9b8000, 1 },
		  { 0, 0x5630ae9b8123 },
		  .proved = true },
		{ .code = { 0xaaab0e9b8000, 0xaaab0e9b8000 }, .proved = true },
		/* another boot, or no randomization: such addresses are all
		 * alike */
		{ .code = { 0x5630ae9b8000, 0x5631ae9b8000 } },
		{ .code = { 0x555555554000, 0x555555554000 } },
		{ .code = { 0x7ffff7dd5000, 0x7ffff7dd5000 } },
		{ .code = { 0xaaaaaaaaa000, 0xaaaaaaaaa000 } },
		{ .code = { 0x400000, 0x400000 } },
		{ .code = { 0x5630ae9b8000, 0x5630ae9b8000 },
		  .other_command = true,
		  .proved = true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct made a = align_make(&(struct recipe){
			.seed = 11,
			.to = 100,
			.code = row[i].code[0],
			.hit = row[i].hit[0],
		});
		struct made b = align_make(&(struct recipe){
			.seed = 11,
			.from = 200,
			.code = row[i].code[1],
			.hit = row[i].hit[1],
		});
		struct align_out out[2];
		struct err err;

		a.info.cmdline = b.info.cmdline = "perf record --switch-output";
		if (row[i].other_command)
			b.info.cmdline = "perf record -a --switch-output";
		a.info.pieces = b.info.pieces = true;
		ck_assert_int_eq(align2(&a, &b, out, &err),
				 row[i].proved ? 0 : -1);
		if (row[i].proved) {
			ck_assert_int_eq(out[1].method, ALIGN_SAME);
			ck_assert_int_eq(out[1].line, 0);
		}
		b.info.pieces = false;
		ck_assert_int_eq(align2(&a, &b, out, &err),
				 row[i].proved ? 0 : -1);
		/* in between, the machine slept, or time was set */
		a.info.clock_id = b.info.clock_id = CLOCK_ID_MONO;
		a.info.wall_ns = 5000 * SECOND;
		b.info.wall_ns = 9000 * SECOND;
		a.info.wall_clock_ns = b.info.wall_clock_ns = 10;
		ck_assert_int_eq(align2(&a, &b, out, &err),
				 row[i].proved ? 0 : -1);
		align_end(&a, &b);
	}
}
END_TEST

/* perf record -C 0 and -C 1 */
START_TEST(recorders_of_different_CPUs_have_no_switch_in_common)
{
	struct made a = align_make(&(struct recipe){ .seed = 11, .cpu = 1 });
	struct made b = align_make(&(struct recipe){ .seed = 11, .cpu = 2 });
	struct made c = align_make(&(struct recipe){ .seed = 99, .cpu = 1 });
	struct align_out out[2];
	struct err err;

	ck_assert_int_eq(align2(&a, &b, out, &err), 0);
	ck_assert_int_eq(out[1].method, ALIGN_SAME);
	/* of one CPU they would have the same ones */
	ck_assert_int_eq(align2(&a, &c, out, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.msg, "thread switches of one"));
	align_end(&a, &b);
	fingerprints_free(c.fingerprints);
}
END_TEST

/* nothing was sampled during it */
START_TEST(a_capture_without_times_is_on_the_clock_of_its_boot)
{
	static const struct {
		uint64_t code;
		bool other_clock, fits;
	} row[] = {
		{ .code = 0x5630ae9b8000, .fits = true },
		{ .code = 0x5631ae9b8000 },
		{ .code = 0x5630ae9b8000, .other_clock = true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct made a = align_make(
			&(struct recipe){ .seed = 11, .code = 0x5630ae9b8000 });
		struct made b = align_make(&(struct recipe){
			.seed = 11, .from = SWITCHES, .code = row[i].code });
		const int want = row[i].fits ? 0 : -1;
		struct align_out out[2];
		struct err err;

		if (row[i].other_clock) {
			b.info.clock = "mono";
			b.info.clock_id = CLOCK_ID_MONO;
		}
		ck_assert_int_eq(align2(&b, &a, out, &err), want);
		ck_assert_int_eq(align2(&a, &b, out, &err), want);
		if (row[i].fits)
			ck_assert_int_eq(out[1].method, ALIGN_SAME);
		else
			ck_assert_ptr_nonnull(strstr(err.msg, "no times"));
		align_end(&a, &b);
	}
}
END_TEST

START_TEST(other_hosts_kernels_and_boots_are_refused)
{
	struct made a = align_make(&(struct recipe){ .seed = 12 });
	struct made b = align_make(&(struct recipe){ .seed = 12 });
	struct align_out out[2];
	struct err err;

	a.info.host = a.info.release = "one";
	b.info.host = "two";
	ck_assert_int_eq(align2(&a, &b, out, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.msg, "hosts 'one' and 'two'"));
	b.info.host = NULL;
	b.info.release = "7.2";
	ck_assert_int_eq(align2(&a, &b, out, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.msg, "kernels"));
	b.info.release = NULL;
	a.info.has_boot_id = b.info.has_boot_id = true;
	ck_assert_int_eq(align2(&a, &b, out, &err), 0);
	/* a container of the host, or a host that was renamed */
	b.info.host = "two";
	ck_assert_int_eq(align2(&a, &b, out, &err), 0);
	b.info.boot_id[3] = 1;
	ck_assert_int_eq(align2(&a, &b, out, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.msg, "two boots"));
	b.info.boot_id[3] = 0;
	align_take_kernel(a.fingerprints, "[kernel.kallsyms]_text", 0);
	align_take_kernel(b.fingerprints, "[kernel.kallsyms]_text", 1);
	ck_assert_int_eq(align2(&a, &b, out, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.msg, "two boots"));
	/* another symbol is elsewhere; unprivileged users see no address */
	align_take_kernel(a.fingerprints, "[kernel.kallsyms]_stext", 0);
	ck_assert_int_eq(align2(&a, &b, out, &err), 0);
	b.fingerprints->kernel = 0;
	align_take_kernel(b.fingerprints, "[kernel.kallsyms]_stext", -1);
	ck_assert_int_eq(align2(&a, &b, out, &err), 0);
	align_end(&a, &b);
}
END_TEST

START_TEST(a_clock_that_started_at_another_time_is_refused)
{
	struct made a = align_make(&(struct recipe){ .seed = 13, .only = 1 });
	struct made b = align_make(&(struct recipe){ .seed = 13, .only = 2 });
	struct align_out out[2];
	struct err err;

	a.info.clock_id = b.info.clock_id = CLOCK_ID_MONO;
	a.info.wall_ns = 5000 * SECOND;
	b.info.wall_ns = 9000 * SECOND;
	a.info.wall_clock_ns = b.info.wall_clock_ns = 10;
	ck_assert_int_eq(align2(&a, &b, out, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.msg, "4000 s apart: two boots, or "));
	/* one boot, in which time was set, or the machine slept */
	a.info.has_boot_id = b.info.has_boot_id = true;
	ck_assert_int_eq(align2(&a, &b, out, &err), 0);
	align_end(&a, &b);
}
END_TEST

START_TEST(names_that_differ_are_of_other_threads)
{
	struct made a =
		align_make(&(struct recipe){ .seed = 14, .comm = "one" });
	struct made b =
		align_make(&(struct recipe){ .seed = 14, .comm = "two" });
	struct align_out out[2];

	ck_assert_int_eq(align2(&a, &b, out, NULL), 0);
	ck_assert_int_eq(out[1].line, 1);
	align_end(&a, &b);
}
END_TEST

/* ---- other ways */

START_TEST(wall_time_leads_from_boottime_to_monotonic)
{
	struct made a = align_make(&(struct recipe){ .seed = 15, .only = 1 });
	struct made b = align_make(&(struct recipe){
		.seed = 15, .only = 2, .offset = 5 * SECOND });
	struct align_out out[2];

	a.info.clock_id = CLOCK_ID_MONO;
	b.info.clock_id = CLOCK_ID_BOOT;
	a.info.wall_ns = b.info.wall_ns = 1700000000 * SECOND;
	a.info.wall_clock_ns = START;
	b.info.wall_clock_ns = START + 5 * SECOND + 40;
	ck_assert_int_eq(align2(&a, &b, out, NULL), 0);
	ck_assert_int_eq(out[1].method, ALIGN_WALL);
	ck_assert_int_eq(out[1].map.offset, -5 * SECOND - 40);
	ck_assert_int_ge(out[1].error, 100000);
	align_end(&a, &b);
}
END_TEST

START_TEST(what_the_user_says_counts)
{
	struct made a = align_make(&(struct recipe){ .seed = 16 });
	struct made b = align_make(&(struct recipe){ .seed = 17 });
	struct align_in in[2] = { input(&a), input(&b) };
	struct align_report said = { .has_sched = true, .sched = -30100334 };
	struct align_out out[2];

	a.info.host = "one";
	b.info.host = "two";
	in[1].given = true;
	in[1].offset = 12345;
	ck_assert_int_eq(align_captures(in, 2, &said, out, NULL), 0);
	ck_assert_int_eq(out[1].method, ALIGN_GIVEN);
	ck_assert_int_eq(out[1].map.offset, 12345);
	ck_assert_int_eq(out[1].error, ALIGN_UNKNOWN);
	ck_assert_int_eq(out[1].line, 1);
	align_end(&a, &b);

	a = align_make(&(struct recipe){ .seed = 18, .only = 1 });
	b = align_make(&(struct recipe){ .seed = 18, .only = 2 });
	b.info.clock_id = CLOCK_ID_SCHED;
	in[0] = input(&a);
	in[1] = input(&b);
	said.sched = -100;
	ck_assert_int_eq(align_captures(in, 2, &said, out, NULL), 0);
	ck_assert_int_eq(out[1].method, ALIGN_SCHED);
	ck_assert_int_eq(out[1].map.offset, -100);
	align_end(&a, &b);
}
END_TEST

START_TEST(a_detour_adds_its_errors)
{
	struct made m[3] = {
		align_make(&(struct recipe){ .seed = 19, .only = 1 }),
		align_make(&(struct recipe){ .seed = 19, .offset = 1000000 }),
		align_make(&(struct recipe){ .seed = 19 }),
	};
	struct align_in in[3] = { input(&m[0]), input(&m[1]), input(&m[2]) };
	const struct align_report said = { 0 };
	struct align_out out[3];

	/* mono without switches; local and mono with */
	m[0].info.clock_id = m[2].info.clock_id = CLOCK_ID_MONO;
	m[1].info.clock_id = CLOCK_ID_SCHED;
	fingerprints_free(m[0].fingerprints);
	m[0].fingerprints = fingerprints_new();
	fingerprints_take(
		m[0].fingerprints,
		&(struct record){ .kind = REC_MARK, .time = START + 1000000 });
	fingerprints_take(
		m[0].fingerprints,
		&(struct record){ .kind = REC_MARK, .time = START + 9000000 });
	fingerprints_end(m[0].fingerprints);
	in[0] = input(&m[0]);
	ck_assert_int_eq(align_captures(in, 3, &said, out, NULL), 0);
	ck_assert_int_eq(out[2].method, ALIGN_SAME);
	ck_assert_int_eq(out[1].method, ALIGN_EVENTS);
	ck_assert_int_eq(out[1].map.offset, -1000000);
	ck_assert_int_gt(out[1].error, out[2].error);
	ck_assert_int_eq(out[0].line, 0);
	ck_assert_int_eq(out[2].line, 1);
	for (int i = 0; i < 3; i++)
		fingerprints_free(m[i].fingerprints);
}
END_TEST

START_TEST(too_many_prints_are_thinned_alike)
{
	struct fingerprints *p[2] = { fingerprints_new(), fingerprints_new() };
	struct made a, b;
	struct align_out out[2];

	for (int k = 0; k < 2; k++)
		for (uint64_t i = 0; i < 600000; i++) {
			struct record rec = {
				.kind = REC_FORK,
				.time = START + i * 1000 + (uint64_t)k * 777,
				.tid = (int32_t)i,
			};

			if (!k || i % 3)
				fingerprints_take(p[k], &rec);
		}
	fingerprints_end(p[0]);
	fingerprints_end(p[1]);
	ck_assert_uint_le(p[0]->list[FINGERPRINT_FORK].n, 1 << 18);
	a = (struct made){ .fingerprints = p[0] };
	b = (struct made){ .fingerprints = p[1] };
	a.info.has_time = b.info.has_time = true;
	a.info.clock_id = CLOCK_ID_MONO;
	b.info.clock_id = CLOCK_ID_PERF;
	ck_assert_int_eq(align2(&a, &b, out, NULL), 0);
	ck_assert_int_eq(out[1].map.offset, -777);
	ck_assert_int_eq(out[1].line, 0);
	align_end(&a, &b);
}
END_TEST

RUN("align", a_clock_has_one_id_whoever_names_it, two_maps_are_one,
    cycles_become_ns_first, equal_switches_give_the_offset,
    a_drift_is_found_from_beginning_to_end,
    lost_switches_and_a_part_of_the_run_are_enough, another_run_is_refused,
    the_same_clock_is_the_same, equal_events_at_other_times_refute_it,
    switches_that_the_other_does_not_have_refute_it,
    those_of_one_thread_alone_refute_nothing,
    samples_where_their_threads_ran_prove_one_kernel,
    ids_of_another_namespace_are_other_threads,
    captures_that_do_not_overlap_are_refused,
    recordings_of_one_boot_may_have_a_gap_between_them,
    recorders_of_different_CPUs_have_no_switch_in_common,
    a_capture_without_times_is_on_the_clock_of_its_boot,
    other_hosts_kernels_and_boots_are_refused,
    a_clock_that_started_at_another_time_is_refused,
    names_that_differ_are_of_other_threads,
    wall_time_leads_from_boottime_to_monotonic, what_the_user_says_counts,
    a_detour_adds_its_errors, too_many_prints_are_thinned_alike)
