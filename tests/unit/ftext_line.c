/* ftext_line.c - tests of the grammar of ftrace's texts: each form of a line
 * by itself. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/ftext/line.h"
#include "tests/unit/run.h"

static struct scan str(const char *s)
{
	return scan_of(s, strlen(s));
}

#define S(x) (int)(x).n, (x).p

static char ftext_line_context(uint8_t flags)
{
	return flags & 0x40 ? 'z' : flags & 8 ? 'h' : flags & 16 ? 's' : '-';
}

/* "buffer|comm|pid/tgid@cpu|time clock context|name|text" */
static const char *ftext_line_event(const char *s, bool bare)
{
	static char out[512];
	static const char *const clock[] = { "ns", "ticks", "rel", "none" };
	struct line l;

	line_parse(str(s), bare, &l);
	if (l.kind != LINE_EVENT)
		return l.kind == LINE_REFUSED ? "refused" : "no event";
	snprintf(out, sizeof(out),
		 "%.*s|%.*s|%d/%d@%d|%" PRIu64 " %s %c|%.*s|%.*s", S(l.buffer),
		 S(l.comm), l.pid, l.tgid, l.cpu, l.time, clock[l.clock],
		 ftext_line_context(l.flags), S(l.name), S(l.text));
	return out;
}

#define EVENT(line, want) ck_assert_str_eq(ftext_line_event(line, false), want)

static enum line_kind ftext_line_kind(const char *s)
{
	struct line l;

	line_parse(str(s), false, &l);
	return l.kind;
}

START_TEST(tables_of_the_kernel)
{
	EVENT(" record-ftrace-t-30073   [001] .....  1551.884625: sys_enter: "
	      "NR 33 (b, 1)",
	      "|record-ftrace-t|30073/-1@1|1551884625000 ns -|sys_enter|NR 33 "
	      "(b, 1)");
	EVENT("          <idle>-0       [000] d.h2.    12.000001: x: y",
	      "|<idle>|0/-1@0|12000001000 ns h|x|y");
	EVENT("          work-0-30236   [000] DBZff  1552.702218: lvl2: (0x5) "
	      "k=0xf1",
	      "|work-0|30236/-1@0|1552702218000 ns z|lvl2|(0x5) k=0xf1");
	/* before migrate-disable was shown */
	EVENT("            bash-1     [000] d.s1  1.000002: x: y",
	      "|bash|1/-1@0|1000002000 ns s|x|y");
}
END_TEST

START_TEST(groups_of_threads_have_a_column)
{
	EVENT("  qemu-12876   (  12868) [000] d.H..  1.056980: a: b",
	      "|qemu|12876/12868@0|1056980000 ns h|a|b");
	EVENT("           <...>-12     (-------) [012] .....  1.0: a: b",
	      "|<...>|12/-1@12|1000000000 ns -|a|b");
}
END_TEST

START_TEST(remotes_have_no_task)
{
	EVENT("[003]\t   55.000123: hyp_enter reason=smc vcpu=0",
	      "||-1/-1@3|55000123000 ns -|hyp_enter|reason=smc vcpu=0");
	EVENT("[000]\t   55.000130: hyp_exit",
	      "||-1/-1@0|55000130000 ns -|hyp_exit|");
	EVENT("[000]\t   55.000130:", "no event");
	EVENT("[000]\t   55: hyp_exit", "no event");
}
END_TEST

START_TEST(flags_may_be_left_out)
{
	EVENT("            bash-9       [003]     1.055715: sys_exit: NR 1 = 2",
	      "|bash|9/-1@3|1055715000 ns -|sys_exit|NR 1 = 2");
}
END_TEST

START_TEST(names_of_tasks_hold_anything)
{
	EVENT("     kworker/u8:1-29     [001] .....  1.000000: a: b",
	      "|kworker/u8:1|29/-1@1|1000000000 ns -|a|b");
	EVENT("     my prog-1 x-7       [001] .....  1.000000: a: b",
	      "|my prog-1 x|7/-1@1|1000000000 ns -|a|b");
	EVENT("         a-1 [0]-7       [001] .....  1.000000: a: b",
	      "|a-1 [0]|7/-1@1|1000000000 ns -|a|b");
	EVENT("           x: y-7        [001] .....  1.000000: a: [2] 1.0: b",
	      "|x: y|7/-1@1|1000000000 ns -|a|[2] 1.0: b");
	EVENT("  x-1 [0] 2.0: p-7       [001] .....  1.000000: a: b",
	      "|x-1 [0] 2.0: p|7/-1@1|1000000000 ns -|a|b");
	EVENT("  x-1 [0] 2.0: p-7       (      6) [001] .....  1.000000: a: b",
	      "|x-1 [0] 2.0: p|7/6@1|1000000000 ns -|a|b");
	EVENT("  x-1 [0] 2.0: p       7   1 0 00000001 000001b4 [1da6c55c] "
	      "32.001ms (+0.022ms): a: b",
	      "|x-1 [0] 2.0: p|7/-1@1|497468764000 ns -|a|b");
	EVENT(" x-1 [0]-7         1..... 14us : a: c=x-1 [0] 2.0: p",
	      "|x-1 [0]|7/-1@1|14000 rel -|a|c=x-1 [0] 2.0: p");
}
END_TEST

/* prctl(PR_SET_NAME, "") */
START_TEST(names_of_tasks_may_be_empty)
{
	EVENT("                -7       [001] .....  1.000000: a: b",
	      "||7/-1@1|1000000000 ns -|a|b");
	EVENT("        -7         1..... 14us : a: b",
	      "||7/-1@1|14000 rel -|a|b");
	EVENT("                       7   1 0 00000001 000001b4 [1da6c55c] "
	      "32.001ms (+0.022ms): a: b",
	      "||7/-1@1|497468764000 ns -|a|b");
	ck_assert_int_eq(ftext_line_kind("-7 [001] .....  1.000000: a: b"),
			 LINE_OTHER);
}
END_TEST

START_TEST(clocks_without_a_unit)
{
	EVENT("            bash-145     [002] d..2.            6: a: b",
	      "|bash|145/-1@2|6 ticks -|a|b");
	/* trace-cmd, where the number has many digits */
	EVENT("         sysload-26054 [000]3737262508474: a: b",
	      "|sysload|26054/-1@0|3737262508474 ticks -|a|b");
	EVENT("         sysload-26054 [000] d.s2.3737262508474: a: b",
	      "|sysload|26054/-1@0|3737262508474 ticks s|a|b");
	EVENT(" sysload-26054   0dNh4.3737262546349: a: b",
	      "|sysload|26054/-1@0|3737262546349 ticks h|a|b");
	EVENT("            bash-1       [000] .....  99999999999999999999: a: b",
	      "no event");
}
END_TEST

START_TEST(reports_print_ns_too)
{
	EVENT("           <...>-9602  [000]  2231.243808: (+17)    a:         b",
	      "|<...>|9602/-1@0|2231243808000 ns -|a|b");
	EVENT("            prog-279   [002] .....    27.529405369: a:     b c",
	      "|prog|279/-1@2|27529405369 ns -|a|b c");
}
END_TEST

START_TEST(reports_of_several_buffers_have_a_prefix)
{
	EVENT("two:               wl-1362  [002] .....   170.240910: a: b",
	      "two|wl|1362/-1@2|170240910000 ns -|a|b");
	EVENT(" sys:       my sysload-26132 [000]  1441.874054: a: b",
	      "sys|my sysload|26132/-1@0|1441874054000 ns -|a|b");
	EVENT("               <idle>-0     [001] d..2.   170.242059: a: b",
	      "|<idle>|0/-1@1|170242059000 ns -|a|b");
	EVENT(" sys: trace-cm-26130   1.....  1441.874113910: a: b",
	      "sys|trace-cm|26130/-1@1|1441874113910 ns -|a|b");
}
END_TEST

START_TEST(raw_reports_print_fields)
{
	EVENT("    sh-30780 [001]  1584.121970906: sys_exit:    id=59 ret=0",
	      "|sh|30780/-1@1|1584121970906 ns -|sys_exit|id=59 ret=0");
	EVENT("two:               wl-1362  [002]-0x0   170.240910367: x: y=1",
	      "two|wl|1362/-1@2|170240910367 ns -|x|y=1");
	EVENT("     kworker/0:0-9     [000]-0x19   272.5: print:  ip=f buf=a b=1",
	      "|kworker/0:0|9/-1@0|272500000000 ns h|print|a b=1");
	EVENT("     a-9     [000]-0x50   272.5: x: y",
	      "|a|9/-1@0|272500000000 ns z|x|y");
	EVENT("     a-9     [000]-0x   272.5: x: y", "no event");
}
END_TEST

START_TEST(latency_tables)
{
	EVENT("record-f-30073     1..s.. 18694us+: sys_exit: NR 1 = 2",
	      "|record-f|30073/-1@1|18694000 rel s|sys_exit|NR 1 = 2");
}
END_TEST

START_TEST(verbose_tables)
{
	EVENT(" record-ftrace-t   30073   1 8 00000000 00000000 [5c733b63] "
	      "18.694ms (+0.025ms): a: b",
	      "|record-ftrace-t|30073/-1@1|1551055715000 ns h|a|b");
	EVENT("       my <idle>       0   3 1 00000002 100000006 [025aee51] "
	      "51.918ms (+0.005ms): a: b",
	      "|my <idle>|0/-1@3|39513681000 ns -|a|b");
	EVENT("         timeout   30095   0 37 00000002 00000008 "
	      "[000004a33d2b0858] 58766166 (+275870): a: b",
	      "|timeout|30095/-1@0|5099152410712 ticks -|a|b");
}
END_TEST

/* Returns common_flags of the line; -1: it shows none. */
static int ftext_line_flags(const char *column)
{
	char text[128];
	struct line l;

	snprintf(text, sizeof(text), "x-7 [001]%s 1.000001: e: t", column);
	line_parse(str(text), false, &l);
	ck_assert_int_eq(l.kind, LINE_EVENT);
	return l.has_flags ? l.flags : -1;
}

/* trace_print_lat_fmt() of Linux 6.13. */
START_TEST(letters_of_the_flags_are_the_bits_of_the_entry)
{
	static const struct {
		const char *column;
		int flags;
	} row[] = {
		{ " ....1", 0 },    { " d..2.", 0x01 }, { " b....", 0x80 },
		{ " D....", 0x81 }, { " .l...", 0x02 }, { " .n...", 0x04 },
		{ " .p...", 0x20 }, { " .N...", 0x24 }, { " .L...", 0x22 },
		{ " .b...", 0x06 }, { " .B...", 0x26 }, { " ..s1.", 0x10 },
		{ " ..h1.", 0x08 }, { " ..H1.", 0x18 }, { " ..z1.", 0x40 },
		{ " ..Z1.", 0x48 }, { " dNh2.", 0x2d }, { "", -1 },
		{ " ....#", 0 },    { " ?...1", 0 },	{ "-0x19.....", 0x19 },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		ck_assert_int_eq(ftext_line_flags(row[i].column), row[i].flags);
}
END_TEST

START_TEST(tables_without_context)
{
	ck_assert_str_eq(ftext_line_event("sys_exit: NR 1 = 2", true),
			 "||-1/-1@-1|0 none -|sys_exit|NR 1 = 2");
	ck_assert_str_eq(ftext_line_event("sys_exit: NR 1 = 2", false),
			 "no event");
}
END_TEST

START_TEST(builtin_tracers_print_no_name)
{
	EVENT("  a-1 [0] ..... 1.0: vfs_read <-ksys_read",
	      "|a|1/-1@0|1000000000 ns -||vfs_read <-ksys_read");
	EVENT("  a-1 [0] ..... 1.0: sys_read(fd: 6, buf: 0x7f)",
	      "|a|1/-1@0|1000000000 ns -||sys_read(fd: 6, buf: 0x7f)");
}
END_TEST

static int ftext_line_lost(const char *s, uint64_t *n, struct scan *buffer)
{
	struct line l;

	line_parse(str(s), false, &l);
	*n = l.n_lost;
	*buffer = l.buffer;
	return l.kind == LINE_LOST ? l.cpu : -1;
}

START_TEST(markers_have_a_function_as_their_name)
{
	EVENT("  a-1 [0] ..... 1.0: tracing_mark_write: x=1",
	      "|a|1/-1@0|1000000000 ns -|tracing_mark_write|x=1");
	EVENT("  a-1 [0] ..... 1.0: tracing_mark_write+0x1a/0x30 <ffffffff81>: "
	      "x=1",
	      "|a|1/-1@0|1000000000 ns -|tracing_mark_write|x=1");
	EVENT("  a-1 [0] 1.0: print:           tracing_mark_write: x=1",
	      "|a|1/-1@0|1000000000 ns -|print|x=1");
}
END_TEST

START_TEST(marks_of_lost_events)
{
	struct scan b;
	uint64_t n;

	ck_assert_int_eq(ftext_line_lost("CPU:3 [LOST 338 EVENTS]", &n, &b), 3);
	ck_assert_uint_eq(n, 338);
	ck_assert_int_eq(ftext_line_lost("CPU:12 [LOST EVENTS]", &n, &b), 12);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(ftext_line_lost("CPU:1 [2145 EVENTS DROPPED]", &n, &b),
			 1);
	ck_assert_uint_eq(n, 2145);
	ck_assert_int_eq(ftext_line_lost("two: CPU:1 [EVENTS DROPPED]", &n, &b),
			 1);
	ck_assert_uint_eq(n, 0);
	ck_assert(scan_is(b, "two"));
	ck_assert_int_eq(ftext_line_lost("CPU:1 [LOST 3 EVENTS", &n, &b), -1);
	ck_assert_int_eq(ftext_line_lost("CPU:1 [DROPPED]", &n, &b), -1);
}
END_TEST

START_TEST(lines_that_are_no_events)
{
	ck_assert_int_eq(ftext_line_kind("# tracer: nop"), LINE_HEAD);
	ck_assert_int_eq(ftext_line_kind("cpus=4"), LINE_HEAD);
	ck_assert_int_eq(ftext_line_kind("CPU 3 is empty"), LINE_HEAD);
	ck_assert_int_eq(ftext_line_kind("version = 6"), LINE_HEAD);
	ck_assert_int_eq(ftext_line_kind("CPU:1 [SUBBUFFER START] [5:0x1000]"),
			 LINE_HEAD);
	ck_assert_int_eq(ftext_line_kind("RT task timings:"), LINE_HEAD);
	ck_assert_int_eq(
		ftext_line_kind("Average wakeup latency: 1653.133 usecs"),
		LINE_HEAD);
	ck_assert_int_eq(ftext_line_kind("##### CPU 1 buffer started ####"),
			 LINE_STARTED);
	ck_assert_int_eq(ftext_line_kind(""), LINE_BLANK);
	ck_assert_int_eq(ftext_line_kind("\r"), LINE_BLANK);
	ck_assert_int_eq(ftext_line_kind("             cat-"), LINE_OTHER);
	ck_assert_int_eq(ftext_line_kind("some text"), LINE_OTHER);
}
END_TEST

START_TEST(raw_forms_are_refused)
{
	ck_assert_int_eq(ftext_line_kind("30073 1 1551055714627 type: 442"),
			 LINE_REFUSED);
	ck_assert_int_eq(
		ftext_line_kind("00007579 00000001 00000169221ff943 type: 442"),
		LINE_REFUSED);
}
END_TEST

static bool ftext_line_is_raw(const char *s)
{
	struct line l;

	line_parse(str(s), false, &l);
	ck_assert_int_eq(l.kind, LINE_EVENT);
	return l.raw;
}

START_TEST(fields_of_raw_reports_are_told_from_those_of_the_kernel)
{
	ck_assert(ftext_line_is_raw("  a-1 [002]-0x0    27.5: x: id=4"));
	ck_assert(ftext_line_is_raw("  a-1 [002]  27.5: sys_exit: id=4 ret=1"));
	ck_assert(ftext_line_is_raw(
		"  a-1 [001]  14.987: kernel_stack: size=8 caller=ARRAY[2c]"));
	ck_assert(ftext_line_is_raw(
		"  a-1 [001]  14.987: sched_switch: prev_comm=a prev_pid=1 "
		"prev_prio=120 prev_state=0 next_comm=b next_pid=2 "
		"next_prio=120"));
	ck_assert(!ftext_line_is_raw("  a-1 [001]  1.0: sched_switch: "
				     "prev_comm=a prev_pid=0x1 (1) "
				     "next_comm=b"));
	/* a line feed in the name of a task */
	ck_assert(!ftext_line_is_raw("  a-1 [001]  1.0: sched_switch: "
				     "prev_comm=a"));
}
END_TEST

static enum line_stack ftext_line_stack(const char *s)
{
	struct line l;

	line_parse(str(s), false, &l);
	return line_stack(&l);
}

START_TEST(stacks_have_a_first_line)
{
	ck_assert_int_eq(ftext_line_stack("  a-1 [0] ..... 1.0: <stack trace>"),
			 STACK_KERNEL);
	ck_assert_int_eq(
		ftext_line_stack("  a-1 [0] ..... 1.0: kernel_stack:         "
				 "<stack trace >"),
		STACK_KERNEL);
	ck_assert_int_eq(
		ftext_line_stack("  a-1 [0] ..... 1.0: <user stack trace>"),
		STACK_USER);
	ck_assert_int_eq(
		ftext_line_stack("  a-1 [0] ..... 1.0: user_stack:           "
				 "\t=> 0x7feaa1271350"),
		STACK_USER);
	ck_assert_int_eq(
		ftext_line_stack("  a-1 [0] ..... 1.0: <user stack unwind>"),
		STACK_UNWIND);
	ck_assert_int_eq(
		ftext_line_stack("  a-1 [0] ..... 1.0: x: <stack trace>"),
		STACK_NONE);
}
END_TEST

/* "path|symbol+off/size|addr" */
static const char *ftext_line_frame(const char *s, bool kernel)
{
	static char out[256];
	struct line_frame f;

	if (!line_frame(str(s), kernel, &f))
		return "no frame";
	snprintf(out, sizeof(out), "%.*s|%.*s+%" PRIx64 "/%" PRIx64 "|%" PRIx64,
		 S(f.path), S(f.symbol), f.off, f.size, f.addr);
	return out;
}

#define KERN(line, want) ck_assert_str_eq(ftext_line_frame(line, true), want)
#define USER(line, want) ck_assert_str_eq(ftext_line_frame(line, false), want)

START_TEST(kernel_frames)
{
	KERN(" => do_syscall_64", "|do_syscall_64+0/0|0");
	KERN(" => do_syscall_64+0x71/0x280", "|do_syscall_64+71/280|0");
	KERN(" => do_syscall_64+0x71/0x280 <ffffffff821ef691>",
	     "|do_syscall_64+71/280|ffffffff821ef691");
	KERN(" => do_syscall_64 <ffffffff821ef691>",
	     "|do_syscall_64+0/0|ffffffff821ef691");
	KERN(" => ext4_map+0x1/0x2 [ext4] <ffffffffc0000001>",
	     "[ext4]|ext4_map+1/2|ffffffffc0000001");
	KERN(" => ext4_map [ext4]", "[ext4]|ext4_map+0/0|0");
	KERN(" => [FTRACE TRAMPOLINE]", "|[FTRACE TRAMPOLINE]+0/0|7fffffff");
	KERN(" => 0", "|+0/0|0");
	KERN("=> path_openat (ffffffffab6261b6)",
	     "|path_openat+0/0|ffffffffab6261b6");
	KERN("=> 7fffffff", "|[FTRACE TRAMPOLINE]+0/0|7fffffff");
	/* of a synthetic event's field */
	KERN("=> __schedule+0x8fc", "|__schedule+8fc/0|0");
	KERN(" => two words", "no frame");
	KERN(" => f+0x1/", "no frame");
	KERN("-> f", "no frame");
}
END_TEST

START_TEST(user_frames)
{
	USER(" => /usr/bin/bash[+0x7a3ce]", "/usr/bin/bash|+7a3ce/0|0");
	USER(" => /usr/bin/bash[+0x7a3ce] <0000559458d973ce>",
	     "/usr/bin/bash|+7a3ce/0|559458d973ce");
	USER(" => /a b (deleted)[+0x1]", "/a b (deleted)|+1/0|0");
	USER(" => /x[+0x5]y[+0x1]", "/x[+0x5]y|+1/0|0");
	USER(" =>  <00007f4a91923350>", "|+0/0|7f4a91923350");
	USER(" => ", "|+0/0|0");
	USER(" => ??", "|+0/0|0");
	USER("\t=> 0x7feaa1271350", "|+0/0|7feaa1271350");
	USER(" => /usr/bin/bash", "no frame");
	USER(" => /x[+0x1", "no frame");
	/* an offset above 2^63: another mapping was found */
	USER(" => /x[+0xffffffffffff7000]", "/x|+ffffffffffff7000/0|0");
}
END_TEST

START_TEST(deferred_frames_have_an_inode)
{
	struct line_frame f;

	ck_assert(line_frame(str(" =>  <00000000001001ca> : 1340007 : 254:3"),
			     false, &f));
	ck_assert_uint_eq(f.addr, 0x1001ca);
	ck_assert(f.has_ino);
	ck_assert_uint_eq(f.ino, 1340007);
	ck_assert_uint_eq(f.maj, 254);
	ck_assert_uint_eq(f.min, 3);
	USER(" =>  <00007f4a91923350> : -1 : 0:0", "|+0/0|7f4a91923350");
}
END_TEST

START_TEST(function_graph)
{
	EVENT(" 0)               |  sys_open() {",
	      "||-1/-1@0|0 none -|funcgraph_entry||  sys_open() {");
	EVENT(" 3)   1.382 us    |      __might_sleep();",
	      "||-1/-1@3|0 none -|funcgraph_entry|1.382 us    |      "
	      "__might_sleep();");
	EVENT(" 3) + 54.321 us   |  } /* do_sys_open */",
	      "||-1/-1@3|0 none -|funcgraph_exit|+ 54.321 us   |  } /* "
	      "do_sys_open */");
	EVENT("  360.774522 |   1)  sh-4802      |  d.h1. |   0.541 us    |  }",
	      "|sh|4802/-1@1|360774522000 ns h|funcgraph_exit|0.541 us    |  "
	      "}");
	EVENT(" 0)    sh-4802     | ! 478.000 us  |  f() { /* <-g */",
	      "|sh|4802/-1@0|0 none -|funcgraph_entry|! 478.000 us  |  f() { "
	      "/* <-g */");
	EVENT(" 1)   ==========> |",
	      "||-1/-1@1|0 none -|funcgraph_irq_entry|==========>");
	EVENT(" 1)   <========== |",
	      "||-1/-1@1|0 none -|funcgraph_irq_exit|<==========");
	EVENT(" 1)               |  /* sched_waking: comm=a-1 pid=5 */",
	      "||-1/-1@1|0 none -|sched_waking|comm=a-1 pid=5");
	ck_assert_int_eq(ftext_line_kind(" 0)   bash-1234    =>    cat-77"),
			 LINE_TASK);
	ck_assert_int_eq(ftext_line_kind(" ----------------------------"),
			 LINE_HEAD);
}
END_TEST

START_TEST(no_line_is_read_past_its_end)
{
	static const char whole[] =
		"two: my prog-1362 ( 77) [002] d.h2.   170.240910: a: <b 1>";
	struct line l;

	for (size_t n = 0; n < sizeof(whole); n++) {
		/* a copy of its own size: tools see a byte too many */
		char *copy = malloc(n + 1);

		memcpy(copy, whole, n);
		char *tight = realloc(copy, n ? n : 1);

		line_parse(scan_of(tight, n), n & 1, &l);
		ck_assert(l.kind != LINE_EVENT || !l.text.n ||
			  (l.text.p >= tight &&
			   l.text.p + l.text.n <= tight + n));
		free(tight);
	}
}
END_TEST

RUN("ftext_line", tables_of_the_kernel, groups_of_threads_have_a_column,
    remotes_have_no_task, flags_may_be_left_out, names_of_tasks_hold_anything,
    names_of_tasks_may_be_empty, clocks_without_a_unit, reports_print_ns_too,
    reports_of_several_buffers_have_a_prefix, raw_reports_print_fields,
    latency_tables, verbose_tables,
    letters_of_the_flags_are_the_bits_of_the_entry, tables_without_context,
    builtin_tracers_print_no_name, markers_have_a_function_as_their_name,
    marks_of_lost_events, lines_that_are_no_events, raw_forms_are_refused,
    fields_of_raw_reports_are_told_from_those_of_the_kernel,
    stacks_have_a_first_line, kernel_frames, user_frames,
    deferred_frames_have_an_inode, function_graph, no_line_is_read_past_its_end)
