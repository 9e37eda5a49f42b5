/* perf_trace.c - fields and text of tracepoints, from their recorded format. */
#include "tests/ftrace_write.h"
#include "tests/unit/perf_build.h"
#include "tests/unit/run.h"

static const char format[] =
	"name: my_event\n"
	"ID: 321\n"
	"format:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\n"
	"\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield:short prio;\toffset:16;\tsize:2;\tsigned:1;\n"
	"\tfield:u16 mode;\toffset:18;\tsize:2;\tsigned:0;\n"
	"\tfield:__data_loc char[] path;\toffset:20;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned char mac[6];\toffset:24;\tsize:6;\tsigned:0;\n"
	"\tfield:u64 far;\toffset:4096;\tsize:8;\tsigned:0;\n"
	"\n"
	"print fmt: \"comm=%s mode=%x path=%s\", REC->comm, REC->mode, "
	"__get_str(path)\n";

static void perf_trace_tracing_data(struct pb *b, const char *system,
				    const char *text)
{
	const char *const one[] = { system, text, NULL }, *none = NULL;
	const char *const *const systems[] = { one, NULL };
	struct fb_form form = { .page = 4096,
				.formats = &none,
				.systems = systems,
				.printk = "0x81000010 : \"first \\\"one\\\"\"\n"
					  "0x81000020 : \"second\"\n" };

	fb_head(b, &form, "0.6");
	for (size_t i = 0; i < FB_PARTS; i++)
		fb_part(b, &form, fb_parts[i]);
}

static void payload(struct pb *b, uint32_t where)
{
	pb_u16(b, 321);
	pb_u16(b, 0);
	pb_u32(b, 77);
	pb_raw(b, "task\0\0\0\0", 8);
	pb_u16(b, (uint16_t)-5);
	pb_u16(b, 0x8001);
	pb_u32(b, where);
	pb_raw(b, "\1\2\3\4\5\6\0\0", 8);
	pb_raw(b, "/tmp/x\0\0", 8);
}

static void perf_trace_begin(struct pb *b, bool big)
{
	struct pb_event ev = {
		.attr_size = PB_ATTR,
		.type = 2,
		.config = 321,
		.sample_type = PS_IP | PS_TIME | PS_RAW,
	};

	pb_begin(b, big, &ev, 1);
	pb_rec(b, PR_SAMPLE, 1);
	pb_u64(b, 0x10);
	pb_u64(b, 100);
}

/* Ends the sample and the records; then the format of its event. */
static struct source *perf_trace_finish(struct pb *b, const char *system,
					const char *text)
{
	pb_end(b);
	/* HOSTNAME, bit 3, tells how a big-endian bitmap is laid out */
	size_t entry = pb_sections(b, b->big ? 2 | 8 : 2), start = b->n;

	perf_trace_tracing_data(b, system, text);
	pb_section_end(b, entry, start);
	return pb_open(b, NULL);
}

static struct source *traced(struct pb *b, bool big, uint32_t where)
{
	perf_trace_begin(b, big);
	pb_u32(b, 44); /* with the padding, as the kernel does */
	payload(b, where);
	pb_raw(b, "\0\0\0\0", 4);
	return perf_trace_finish(b, "mine", format);
}

static uint32_t perf_trace_field_at(const struct source *src, const char *name)
{
	for (uint32_t i = 0; i < src->events[0].n_fields; i++)
		if (!strcmp(src->events[0].fields[i].name, name))
			return i;
	ck_abort_msg("no field '%s'", name);
	return 0;
}

#define PATH_AT (32 | 7 << 16)

START_TEST(fields_have_their_values_in_both_byte_orders)
{
	struct field f[16];
	struct record rec;
	struct ref ref;
	struct pb b;
	struct source *src = traced(&b, _i, PATH_AT);

	ck_assert_str_eq(src->events[0].name, "mine:my_event");
	ck_assert_uint_eq(src->events[0].n_fields, 8);
	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(src->ops->fields(src, &rec.sample, f, NULL), 0);
	ck_assert_int_eq(f[perf_trace_field_at(src, "common_pid")].num, 77);
	ck_assert_str_eq(f[perf_trace_field_at(src, "comm")].text, "task");
	ck_assert_int_eq(f[perf_trace_field_at(src, "prio")].num, -5);
	ck_assert_int_eq(f[perf_trace_field_at(src, "mode")].num, 0x8001);
	ck_assert_str_eq(f[perf_trace_field_at(src, "path")].text, "/tmp/x");
	ck_assert_uint_eq(f[perf_trace_field_at(src, "mac")].len, 6);
	ck_assert(!memcmp(f[perf_trace_field_at(src, "mac")].blob,
			  "\1\2\3\4\5\6", 6));
	/* its offset is beyond the payload */
	ck_assert(!f[perf_trace_field_at(src, "far")].present);
	ck_assert(src->events[0]
			  .fields[perf_trace_field_at(src, "path")]
			  .is_text);
	ck_assert(
		src->events[0].fields[perf_trace_field_at(src, "mac")].is_blob);
	pb_close(src, &b);
}
END_TEST

START_TEST(text_is_printed_as_the_format_says)
{
	struct record rec;
	struct ref ref;
	struct pb b;
	char text[256];
	struct source *src = traced(&b, _i, PATH_AT);

	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(src->ops->print(src, &rec.sample, text, sizeof(text)),
			 0);
	ck_assert_str_eq(text, "comm=task mode=8001 path=/tmp/x");
	pb_close(src, &b);
}
END_TEST

/* As rcu_utilization: the tracing data have the strings behind the formats. */
START_TEST(strings_of_the_kernel_are_printed)
{
	static const char with_string[] =
		"name: my_event\nID: 321\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;"
		"\tsigned:0;\n"
		"\tfield:const char * s;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\nprint fmt: \"[%s]\", REC->s\n";
	static const struct {
		uint64_t addr;
		const char *want;
	} row[] = { { 0x81000010, "[first \"one\"]" },
		    { 0x81000020, "[second]" },
		    { 0x81000030, "[0x81000030]" },
		    { 0, "[(null)]" } };
	struct record rec;
	struct ref ref;
	struct pb b;
	char text[64];

	perf_trace_begin(&b, false);
	pb_u32(&b, 20);
	pb_u16(&b, 321);
	pb_raw(&b, "\0\0\0\0\0\0", 6);
	pb_u64(&b, row[_i].addr);
	pb_u32(&b, 0);
	struct source *src = perf_trace_finish(&b, "mine", with_string);

	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(src->ops->print(src, &rec.sample, text, sizeof(text)),
			 0);
	ck_assert_str_eq(text, row[_i].want);
	/* the database prints by the format alone */
	ck_assert_ptr_nonnull(strstr(src->events[0].format, "\"second\""));
	pb_close(src, &b);
}
END_TEST

START_TEST(a_dynamic_field_that_leads_outside_is_absent)
{
	static const uint32_t where[] = { 37 | 8 << 16, 0xffff | 1 << 16,
					  0xffffffff };
	struct field f[16];
	struct record rec;
	struct ref ref;
	struct pb b;
	char text[256];
	struct source *src = traced(&b, false, where[_i]);

	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(src->ops->fields(src, &rec.sample, f, NULL), 0);
	ck_assert(!f[perf_trace_field_at(src, "path")].present);
	ck_assert_str_eq(f[perf_trace_field_at(src, "comm")].text, "task");
	src->ops->print(src, &rec.sample, text, sizeof(text));
	pb_close(src, &b);
}
END_TEST

#define SCHED_HEAD                                                             \
	"ID: 321\n"                                                            \
	"format:\n"                                                            \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char switch_format[] =
	"name: sched_switch\n" SCHED_HEAD
	"\tfield:pid_t prev_pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:16;\tsize:8;\tsigned:1;\n"
	"\tfield:pid_t next_pid;\toffset:12;\tsize:4;\tsigned:1;\n";

static struct sched perf_trace_sched_of(struct pb *b, const char *system,
					const char *text)
{
	struct source *src = perf_trace_finish(b, system, text);
	struct record rec;
	struct ref ref;

	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(src->events[0].sched != SCHED_NONE,
			 rec.sample.sched.kind != SCHED_NONE);
	source_close(src);
	return rec.sample.sched;
}

/* _i: byte order, and four states: runnable, preempted, asleep, dead. */
START_TEST(a_switch_says_who_leaves_and_who_comes)
{
	static const uint64_t state[] = { 0, 0x100, 2, 0x80 };
	struct pb b;

	perf_trace_begin(&b, _i & 1);
	pb_u32(&b, 28);
	pb_u64(&b, 0);
	pb_u32(&b, 77);
	pb_u32(&b, 0);
	pb_u64(&b, state[_i / 2]);
	pb_u32(&b, 0);
	struct sched s = perf_trace_sched_of(&b, "sched", switch_format);

	ck_assert_int_eq(s.kind, SCHED_SWITCH);
	ck_assert_int_eq(s.tid, 77);
	ck_assert_int_eq(s.next_tid, 0);
	ck_assert_int_eq(s.sleeps, _i / 2 >= 2);
	pb_release(&b);
}
END_TEST

START_TEST(a_wakeup_says_who_is_woken)
{
	static const char head[] = "name: sched_wakeup";
	static const char fields[] = SCHED_HEAD
		"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n";
	char text[512];
	struct pb b;

	snprintf(text, sizeof(text), "%s%s\n%s", head, _i & 2 ? "_new" : "",
		 fields);
	perf_trace_begin(&b, _i & 1);
	pb_u32(&b, 12);
	pb_u64(&b, 0);
	pb_u32(&b, 78);
	struct sched s = perf_trace_sched_of(&b, "sched", text);

	ck_assert_int_eq(s.kind, _i & 2 ? SCHED_NEW : SCHED_WAKEUP);
	ck_assert_int_eq(s.tid, 78);
	ck_assert(!s.sleeps);
	pb_release(&b);
}
END_TEST

START_TEST(a_wakeup_of_old_kernels_may_have_failed)
{
	static const char text[] =
		"name: sched_wakeup\n" SCHED_HEAD
		"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:int success;\toffset:12;\tsize:4;\tsigned:1;\n";
	struct pb b;

	perf_trace_begin(&b, false);
	pb_u32(&b, 20);
	pb_u64(&b, 0);
	pb_u32(&b, 78);
	pb_u32(&b, (uint32_t)_i);
	pb_u32(&b, 0);
	struct source *src = perf_trace_finish(&b, "sched", text);
	struct record rec;
	struct ref ref;

	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(rec.sample.sched.kind, _i ? SCHED_WAKEUP : SCHED_NONE);
	pb_close(src, &b);
}
END_TEST

/* Of another system, without the fields, or with them outside the payload. */
START_TEST(what_only_looks_like_a_switch_says_nothing)
{
	static const char bare[] = "name: sched_switch\n" SCHED_HEAD;
	static const char far[] =
		"name: sched_switch\n" SCHED_HEAD
		"\tfield:pid_t prev_pid;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:long prev_state;\toffset:4294967288;\tsize:8;"
		"\tsigned:1;\n"
		"\tfield:pid_t next_pid;\toffset:12;\tsize:4;\tsigned:1;\n";
	struct pb b;

	perf_trace_begin(&b, false);
	pb_u32(&b, _i == 3 ? 12 : 28);
	for (int i = 0; i < (_i == 3 ? 3 : 7); i++)
		pb_u32(&b, 1);
	struct source *src = perf_trace_finish(&b, _i ? "sched" : "mine",
					       _i == 1	 ? bare
					       : _i == 2 ? far
							 : switch_format);
	struct record rec;
	struct ref ref;

	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(rec.sample.sched.kind, SCHED_NONE);
	pb_close(src, &b);
}
END_TEST

/* A FEATURE record with the command line. */
static void command_line(struct pb *b, const char *const *word, uint32_t n)
{
	pb_rec(b, PR_FEATURE, 0);
	pb_u64(b, 11);
	pb_u32(b, n);
	for (uint32_t i = 0; i < n; i++)
		pb_text(b, word[i], 8);
	pb_end(b);
}

START_TEST(the_command_line_says_what_was_left_out)
{
	static const struct {
		const char *word[5];
		bool filtered, paused, unpaused, pieces;
	} line[] = {
		{ { "perf", "record", "-a", "-e", "sched:*" }, 0, 0, 1, 0 },
		{ { "perf", "record", "-a", "--filter", "pid==1" },
		  1,
		  0,
		  1,
		  0 },
		{ { "perf", "record", "-a", "--exclude-perf", "-g" },
		  1,
		  0,
		  1,
		  0 },
		{ { "simpleperf", "record", "-a", "--tp-filter", "pid==1" },
		  1,
		  0,
		  1,
		  0 },
		{ { "perf", "record", "-aG", "box", "-g" }, 1, 0, 1, 0 },
		{ { "perf", "record", "-u", "1000", "-g" }, 1, 0, 1, 0 },
		{ { "perf", "record", "-a", "sort", "-u" }, 0, 0, 1, 0 },
		{ { "perf", "record", "-g", "gcc", "-DX" }, 0, 0, 1, 0 },
		{ { "perf", "record", "-gF", "99", "-D1" }, 0, 1, 0, 0 },
		{ { "perf", "record", "-g", "dwarf", "-D1" }, 0, 1, 0, 0 },
		{ { "perf", "record", "--freq", "99", "-u0" }, 1, 0, 1, 0 },
		{ { "perf", "record", "--uid=1000", "-g", "x" }, 1, 0, 1, 0 },
		{ { "perf", "record", "-a", "--user-regs=ip", "-g" },
		  0,
		  0,
		  1,
		  0 },
		{ { "perf", "record", "-e", "{a,b}", "-g" }, 1, 0, 1, 0 },
		{ { "perf", "record", "-a", "-D", "100" }, 0, 1, 0, 0 },
		{ { "perf", "record", "-a", "--control=fd:3", "-g" },
		  0,
		  1,
		  0,
		  0 },
		{ { "perf", "record", "--", "x", "-GD" }, 0, 0, 1, 0 },
		{ { "perf", "record", "-a", "--overwrite", "-g" }, 0, 0, 0, 0 },
		{ { "perf", "record", "-a", "-S", "-g" }, 0, 0, 0, 0 },
		{ { "perf", "record", "-a", "--switch-output", "x" },
		  0,
		  0,
		  0,
		  1 },
		{ { "perf", "record", "-a", "--switch-events", "x" },
		  0,
		  0,
		  1,
		  0 },
		{ { "perf", "record", "x", "y", "z" }, 0, 0, 0, 0 },
	};
	struct pb_event ev = {
		.attr_size = PB_ATTR,
		.type = 2,
		.period = 1,
		.sample_type = PS_IP | PS_TIME,
	};
	struct pb b;

	pb_begin(&b, false, &ev, 1);
	command_line(&b, line[_i].word, 5);
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	ck_assert_int_eq(src->info.filtered, line[_i].filtered);
	ck_assert_int_eq(src->info.paused, line[_i].paused);
	ck_assert_int_eq(src->info.unpaused, line[_i].unpaused);
	ck_assert_int_eq(src->info.pieces, line[_i].pieces);
	ck_assert_int_eq(src->events[0].every, !line[_i].filtered);
	pb_close(src, &b);
}
END_TEST

START_TEST(an_event_with_a_period_is_not_hit_each_time)
{
	static const struct {
		uint32_t type;
		uint64_t period, flags;
	} e[] = { { 2, 2, 0 },
		  { 2, 1, PA_FREQ },
		  { 2, 1, PA_EXCLUDE_KERNEL },
		  { 1, 1, 0 } };
	struct pb_event ev = {
		.attr_size = PB_ATTR,
		.type = e[_i].type,
		.period = e[_i].period,
		.flags = e[_i].flags,
		.sample_type = PS_IP | PS_TIME,
	};
	struct pb b;

	pb_begin(&b, false, &ev, 1);
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	ck_assert(!src->events[0].every);
	pb_close(src, &b);
}
END_TEST

static const struct run_table loops[] = {
	RUN_TIMES(strings_of_the_kernel_are_printed, 4),
	RUN_TIMES(fields_have_their_values_in_both_byte_orders, 2),
	RUN_TIMES(text_is_printed_as_the_format_says, 2),
	RUN_TIMES(a_dynamic_field_that_leads_outside_is_absent, 3),
	RUN_TIMES(a_switch_says_who_leaves_and_who_comes, 8),
	RUN_TIMES(a_wakeup_says_who_is_woken, 4),
	RUN_TIMES(a_wakeup_of_old_kernels_may_have_failed, 2),
	RUN_TIMES(what_only_looks_like_a_switch_says_nothing, 4),
	RUN_TIMES(the_command_line_says_what_was_left_out, 22),
	RUN_TIMES(an_event_with_a_period_is_not_hit_each_time, 4)
};

RUN_TABLES("perf_trace", loops)
