/* ftext_call.c - lines of system calls in texts of ftrace. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/ftext/ftext.h"
#include "tests/unit/run.h"

/* "WHAT nr(a,b,...) path" or "WHAT nr=result". */
static const char *ftext_call_call(const char *key, const char *text)
{
	static const char *const words[] = { "none",   "mmap",	 "munmap",
					     "mremap", "openat", "close",
					     "dup",    "execve", "raw" };
	static char out[512];
	struct ftext *ft = mem_new(1, sizeof(*ft));
	struct ftext_event e = { .call = CALL_NONE };
	struct call c;
	/* a copy of its own size: tools see a byte too many */
	char *tight = mem_new(strlen(text) + !*text, 1);

	memcpy(tight, text, strlen(text));
	ftext_call_find(key, &e);
	int n = snprintf(out, sizeof(out), "%s", words[e.call]);

	if (!ftext_call_parse(ft, &e, scan_of(tight, strlen(text)), &c))
		snprintf(out + n, sizeof(out) - (size_t)n, " not understood");
	else if (c.exit)
		snprintf(out + n, sizeof(out) - (size_t)n, " %d=%" PRId64, c.nr,
			 c.ret);
	else
		snprintf(out + n, sizeof(out) - (size_t)n,
			 " %d(%" PRIx64 ",%" PRIx64 ",%" PRIx64 ",%" PRIx64
			 ",%" PRIx64 ",%" PRIx64 ") %s",
			 c.nr, c.arg[0], c.arg[1], c.arg[2], c.arg[3], c.arg[4],
			 c.arg[5], c.path ? c.path : "-");
	free(tight);
	free(ft->path);
	free(ft);
	return out;
}

START_TEST(the_kernel_and_trace_cmd_say_the_same)
{
	static const char want[] = "mmap -1(0,2000,3,22,ffffffff,1000) -";

	ck_assert_str_eq(
		ftext_call_call("sys_enter_mmap",
				"sys_mmap(addr: 0, len: 2000, prot: 3, flags: "
				"22, fd: ffffffff, off: 1000)"),
		want);
	ck_assert_str_eq(
		ftext_call_call(
			"sys_enter_mmap",
			"addr: 0x00000000, len: 0x00002000, prot: "
			"0x00000003, flags: 0x00000022, fd: 0xffffffff, "
			"off: 0x00001000"),
		want);
	ck_assert_str_eq(ftext_call_call("sys_exit_mmap", "sys_mmap -> 0x7f00"),
			 "mmap -1=32512");
	ck_assert_str_eq(
		ftext_call_call("sys_exit_munmap", "0xffffffffffffffea"),
		"munmap -1=-22");
}
END_TEST

START_TEST(calls_without_a_name_have_a_number)
{
	ck_assert_str_eq(
		ftext_call_call("sys_enter", "NR 11 (7f00, 1000, 3, 40, 5, 6)"),
		"raw 11(7f00,1000,3,40,5,6) -");
	ck_assert_str_eq(ftext_call_call("sys_exit", "NR 11 = -22"),
			 "raw 11=-22");
	ck_assert_str_eq(ftext_call_call("sys_exit", "NR 9 = 139959"),
			 "raw 9=139959");
}
END_TEST

START_TEST(paths_are_in_quotes)
{
	ck_assert_str_eq(
		ftext_call_call("sys_enter_openat",
				"dfd: 0xffffff9c, filename: 0x7f4b "
				"\"/a \"b\", c\", flags: O_RDONLY|O_CLOEXEC, "
				"mode: 0x0"),
		"openat -1(ffffff9c,7f4b,0,0,0,0) /a \"b");
	ck_assert_str_eq(
		ftext_call_call("sys_enter_openat",
				"sys_openat(dfd: ffffff9c, filename: 7f4b "
				"\"/etc/my a\", flags: 80000, mode: 0)"),
		"openat -1(ffffff9c,7f4b,80000,0,0,0) /etc/my a");
}
END_TEST

START_TEST(what_is_not_understood_is_no_call)
{
	static const char line[] = "sys_mmap(addr: 0, len: 2000, prot: 3)";
	char cut[sizeof(line)];

	ck_assert_str_eq(ftext_call_call("sys_enter_read", "sys_read(fd: 3)"),
			 "none -1(3,0,0,0,0,0) -");
	ck_assert_str_eq(ftext_call_call("sys_exit_mmap", "sys_mmap"),
			 "mmap not understood");
	ck_assert_str_eq(
		ftext_call_call("sys_enter_mmap", "sys_mmap(addr: me, len: 3)"),
		"mmap not understood");
	ck_assert_str_eq(ftext_call_call("sys_enter", "NR x"),
			 "raw not understood");
	for (size_t n = 0; n < sizeof(line); n++) {
		snprintf(cut, n + 1, "%s", line);
		ftext_call_call("sys_enter_mmap", cut);
		ftext_call_call("sys_exit_mmap", cut);
		ftext_call_call("sys_enter", cut);
	}
}
END_TEST

RUN("ftext_call", the_kernel_and_trace_cmd_say_the_same,
    calls_without_a_name_have_a_number, paths_are_in_quotes,
    what_is_not_understood_is_no_call)
