/* tp_call.c - events of system calls. */
#include "formats/tracepoint/tracepoint.h"
#include "tests/unit/perf_build.h"
#include "tests/unit/run.h"

#define COMMON                                                                 \
	"format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\t"   \
	"signed:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define NR "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
#define ARG(name, off)                                                         \
	"\tfield:unsigned long " name ";\toffset:" off ";\tsize:8;"            \
	"\tsigned:0;\n"

static const char enter_mmap[] =
	"name: sys_enter_mmap\nID: 1\n" COMMON NR ARG("addr", "16")
		ARG("len", "24") ARG("prot", "32") ARG("flags", "40")
			ARG("fd", "48") ARG("off", "56");
static const char exit_munmap[] =
	"name: sys_exit_munmap\nID: 2\n" COMMON NR
	"\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n";
static const char enter_openat[] = "name: sys_enter_openat\nID: 3\n" COMMON NR
	ARG("dfd", "16") ARG("filename", "24") ARG("flags", "32") ARG(
		"mode",
		"40") "\tfield:__data_loc char[] __filename_val;\toffset:48;\tsize:4;"
		      "\tsigned:0;\n";
static const char raw_enter[] =
	"name: sys_enter\nID: 4\n" COMMON
	"\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n";

/* LTTng's have contexts before the arguments. */
static const char lttng_mmap[] =
	"name: syscall_entry_mmap\nID: 5\nformat:\n" ARG("ctx_ip", "0")
		ARG("addr", "16") ARG("len", "24") ARG("prot", "32")
			ARG("flags_type", "40") ARG("fd", "48")
				ARG("offset", "56");
static const char lttng_openat[] =
	"name: syscall_entry_openat\nID: 6\nformat:\n" ARG(
		"dfd",
		"16") "\tfield:__data_loc char[] filename;\toffset:48;\tsize:4;"
		      "\tsigned:0;\n";
static const char lttng_ends[] = "name: syscall_exit_mremap\nID: 7\nformat:\n"
				 "\tfield:s64 ret;\toffset:16;\tsize:8;"
				 "\tsigned:1;\n";
static const char lttng_other[] =
	"name: syscall_entry_mmapped\nID: 8\nformat:\n" ARG("addr", "16");

/* Parses the format and reads a payload whose words from 16 on are 1, 2, ...;
 * the number of the call is nr. len: bytes of it. */
static struct call tp_call_call_of(const char *system, const char *text,
				   int32_t nr, size_t len, char path[32])
{
	struct arena arena = { 0 };
	struct tp tp = { 0 };
	struct tp_format fmt;
	struct bytes b;
	struct pb p = { 0 };
	struct call c;

	bytes_init(&b, text, strlen(text), "f", 0, false);
	ck_assert(tp_format_parse(&arena, system, &b, &fmt));
	pb_u64(&p, 0);
	pb_u64(&p, (uint64_t)nr);
	for (uint64_t i = 1; i < 7; i++)
		pb_u64(&p, i);
	if (fmt.call.path) {
		pb_patch(&p, 48, 7 << 16 | 64, 4);
		pb_raw(&p, "/lib/a", 7);
	}
	tp.swap = bytes_must_swap(p.big);
	bytes_init(&b, p.d, len < p.n ? len : p.n, "f", 0, tp.swap);
	tp_call_take(&tp, &fmt, &b, &c);
	snprintf(path, 32, "%s", c.path ? c.path : "none");
	tp_format_release(&fmt);
	tp_release(&tp);
	arena_release(&arena);
	free(p.d);
	return c;
}

START_TEST(arguments_are_the_fields_behind_the_number)
{
	char path[32];
	struct call c = tp_call_call_of("syscalls", enter_mmap, 9, 999, path);

	ck_assert_int_eq(c.what, CALL_MMAP);
	ck_assert(!c.exit);
	ck_assert_int_eq(c.nr, 9);
	for (uint64_t i = 0; i < CALL_ARGS; i++)
		ck_assert_uint_eq(c.arg[i], i + 1);
	ck_assert_str_eq(path, "none");
}
END_TEST

START_TEST(the_end_of_a_call_has_a_result)
{
	char path[32];
	struct call c = tp_call_call_of("syscalls", exit_munmap, 11, 999, path);

	ck_assert_int_eq(c.what, CALL_MUNMAP);
	ck_assert(c.exit);
	ck_assert_int_eq(c.ret, 1);
	c = tp_call_call_of("syscalls", exit_munmap, 11, 20, path);
	ck_assert_int_eq(c.what, CALL_NONE);
}
END_TEST

START_TEST(an_open_may_say_its_path)
{
	char path[32];
	struct call c =
		tp_call_call_of("syscalls", enter_openat, 257, 999, path);

	ck_assert_int_eq(c.what, CALL_OPENAT);
	ck_assert_uint_eq(c.arg[2], 3);
	ck_assert_uint_eq(c.arg[4], 0); /* the path's place is no argument */
	ck_assert_str_eq(path, "/lib/a");
}
END_TEST

START_TEST(raw_events_have_any_call)
{
	char path[32];
	struct call c =
		tp_call_call_of("raw_syscalls", raw_enter, 11, 999, path);

	ck_assert_int_eq(c.what, CALL_RAW);
	ck_assert_int_eq(c.nr, 11);
	ck_assert_uint_eq(c.arg[0], 1);
	ck_assert_uint_eq(c.arg[5], 6);
	c = tp_call_call_of("raw_syscalls", raw_enter, 11, 40, path);
	ck_assert_int_eq(c.what, CALL_NONE);
	c = tp_call_call_of("mine", raw_enter, 11, 999, path);
	ck_assert_int_eq(c.what, CALL_NONE);
}
END_TEST

START_TEST(lttng_has_arguments_by_name)
{
	char path[32];
	struct call c = tp_call_call_of("", lttng_mmap, 0, 999, path);

	ck_assert_int_eq(c.what, CALL_MMAP);
	ck_assert_int_eq(c.nr, -1);
	ck_assert_uint_eq(c.arg[0], 1);
	ck_assert_uint_eq(c.arg[2], 3);
	ck_assert_uint_eq(c.arg[3], 0); /* flags of a kind not known */
	ck_assert_uint_eq(c.arg[4], 5);
	ck_assert_uint_eq(c.arg[5], 6);
	c = tp_call_call_of("", lttng_openat, 0, 999, path);
	ck_assert_int_eq(c.what, CALL_OPENAT);
	ck_assert_str_eq(path, "/lib/a");
	c = tp_call_call_of("", lttng_ends, 0, 999, path);
	ck_assert_int_eq(c.what, CALL_MREMAP);
	ck_assert(c.exit);
	ck_assert_int_eq(c.ret, 1);
	c = tp_call_call_of("", lttng_other, 0, 999, path);
	ck_assert_int_eq(c.what, CALL_NONE);
}
END_TEST

RUN("tp_call", arguments_are_the_fields_behind_the_number,
    the_end_of_a_call_has_a_result, an_open_may_say_its_path,
    raw_events_have_any_call, lttng_has_arguments_by_name)
