/* ftext.c - tests of the reader of ftrace's texts: stacks and their events,
 * losses, names, order, fields; a file and a pipe give the same. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/formats.h"
#include "formats/ftext/ftext.h"
#include "formats/tracepoint/tracepoint.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "tests/unit/run.h"

static char out[1 << 20];
static struct ledger *lg;

static void put_addrs(const struct addrs *a, const char *what)
{
	size_t n = strlen(out);

	n += (size_t)snprintf(out + n, sizeof(out) - n, " %s", what);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct place *p = a->place ? a->place[i] : NULL;

		n += (size_t)snprintf(out + n, sizeof(out) - n,
				      "%s%s%s%s+%" PRIx64 "@%" PRIx64,
				      i ? "," : "", p && p->path ? p->path : "",
				      p && p->symbol ? ":" : "",
				      p && p->symbol ? p->symbol : "",
				      p ? p->off : 0, a->ip[i]);
	}
}

/* One line for each record; times in us. */
static void ftext_put(struct source *src, const struct record *rec)
{
	const struct rec_sample *s = &rec->sample;
	size_t n = strlen(out);
	size_t left = sizeof(out) - n;
	unsigned int us = (unsigned int)(rec->time / 1000);

	if (rec->kind == REC_SAMPLE) {
		snprintf(out + n, left, "%u %s@%d/%d ", us,
			 src->events[s->event].name, rec->tid, rec->cpu);
		n = strlen(out);
		src->ops->print(src, s, out + n, sizeof(out) - n);
		if (s->kern.n)
			put_addrs(&s->kern, "K ");
		if (s->user.n)
			put_addrs(&s->user, "U ");
		if (s->n_held)
			put_addrs(&s->held[0], "H ");
		if (s->defer == DEFER_COOKIE)
			snprintf(out + strlen(out), 64, " C %" PRIx64,
				 s->cookie);
		if (s->sched.kind)
			snprintf(out + strlen(out), 64, " [%d>%d%s]",
				 s->sched.tid, s->sched.next_tid,
				 s->sched.sleeps ? " sleeps" : "");
	} else if (rec->kind == REC_CHAIN) {
		snprintf(out + n, left, "%u chain %" PRIx64 "@%d", us,
			 rec->chain.cookie, rec->tid);
		put_addrs(&rec->chain.user, "U ");
	} else if (rec->kind == REC_LOST) {
		snprintf(out + n, left, "%u lost %d/%d", us, (int)rec->lost.n,
			 rec->cpu);
	} else if (rec->kind == REC_LOST_TOTAL) {
		snprintf(out + n, left, "total %d", (int)rec->lost.n);
	} else if (rec->kind == REC_COMM) {
		snprintf(out + n, left, "%s %s@%d",
			 rec->flags & REC_F_EXEC    ? "exec"
			 : rec->flags & REC_F_SYNTH ? "seen"
						    : "comm",
			 rec->comm.name, rec->tid);
	} else if (rec->kind == REC_FORK) {
		snprintf(out + n, left, "fork %d:%d of %d", rec->pid, rec->tid,
			 rec->fork.ptid);
	} else if (rec->kind == REC_EXIT) {
		snprintf(out + n, left, "exit %d", rec->tid);
	}
	snprintf(out + strlen(out), 2, "\n");
}

static void ftext_read_all(struct source *src)
{
	struct record rec;
	struct err err;
	struct ref ref;
	uint64_t floor = 0;

	while (src->ops->next(src, &ref, &err) > 0) {
		ck_assert_uint_ge(ref.key, floor);
		ck_assert_uint_ge(src->floor, floor);
		floor = src->floor;
		ck_assert_int_eq(src->ops->decode(src, &ref, &rec, &err), 0);
		ftext_put(src, &rec);
		src->ops->release(src, &ref);
	}
	ck_assert_uint_eq(src->floor, UINT64_MAX);
}

static struct source *open_text(const char *text, size_t n, struct err *err)
{
	char path[64];
	int fd = memfd_create("trace", 0);

	ck_assert_int_eq(write(fd, text, n), (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	struct source *src = formats_open(path, NULL, lg, err);

	close(fd);
	return src;
}

/* Through a pipe on standard input. */
static struct source *ftext_open_pipe(const char *text, size_t n,
				      struct err *err)
{
	int fd[2];

	ck_assert_int_eq(pipe(fd), 0);
	ck_assert_int_ge(fcntl(fd[1], F_SETPIPE_SZ, 1 << 20), 0);
	ck_assert_int_eq(write(fd[1], text, n), (ssize_t)n);
	close(fd[1]);
	ck_assert_int_eq(dup2(fd[0], 0), 0);
	close(fd[0]);
	return formats_open("-", NULL, lg, err);
}

/* All records, the same from a file and from a pipe. */
static const char *records_n(const char *text, size_t n)
{
	static char first[sizeof(out)];
	struct err err = { 0 };

	for (int pipe = 0; pipe < 2; pipe++) {
		lg = ledger_new();
		struct source *src = pipe ? ftext_open_pipe(text, n, &err)
					  : open_text(text, n, &err);

		ck_assert_msg(src != NULL, "%s", err.msg);
		ck_assert_str_eq(src->ops->name, "ftext");
		out[0] = '\0';
		ftext_read_all(src);
		source_close(src);
		ledger_end(lg);
		if (pipe)
			ck_assert_str_eq(first, out);
		else
			memcpy(first, out, sizeof(out));
		if (!pipe)
			ledger_free(lg);
	}
	return out;
}

static const char *ftext_records(const char *text)
{
	return records_n(text, strlen(text));
}

static void no_damage(void)
{
	ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), 0);
	ledger_free(lg);
}

static void ftext_test_damage(uint64_t n)
{
	ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), n);
	ledger_free(lg);
}

#define HEAD "# tracer: nop\n#\n#           TASK-PID     CPU#\n"

START_TEST(stacks_belong_to_the_event_before_them)
{
	ck_assert_str_eq(
		ftext_records(HEAD
			      "  a-1 [0] ..... 1.000001: x: 1\n"
			      "  b-2 [1] ..... 1.000001: y: 1\n"
			      "  a-1 [0] d.h.. 1.000002: irq: 1\n"
			      "  a-1 [0] d.h.. 1.000003: <stack trace>\n"
			      " => irq_f\n"
			      "  a-1 [0] ..... 1.000004: <stack trace>\n"
			      " => f+0x1/0x2\n => g [m] <ffffffff81000000>\n"
			      "  a-1 [0] ..... 1.000004: <user stack trace>\n"
			      " => /bin/a[+0x10]\n =>  <000000000000beef>\n"
			      "  a-1 [0] ..... 1.000005: x: 2\n"),
		"seen a@1\n"
		"1000001 x@1/0 1 K :f+1@0,[m]:g+0@ffffffff81000000"
		" U /bin/a+10@0,+0@beef\n"
		"seen b@2\n"
		"1000001 y@2/1 1\n"
		"1000002 irq@1/0 1 K :irq_f+0@0\n"
		"1000005 x@1/0 2\n");
	no_damage();
}
END_TEST

START_TEST(stacks_never_cross_a_loss)
{
	ck_assert_str_eq(
		ftext_records("  a-1 [0] ..... 1.000001: x: 1\n"
			      "  a-1 [1] ..... 1.000001: z: 1\n"
			      "CPU:0 [LOST 5 EVENTS]\n"
			      "  a-1 [0] ..... 1.000004: <stack trace>\n"
			      " => f\n"
			      "  a-1 [1] ..... 1.000004: <stack trace>\n"
			      " => g\n"
			      "CPU:1 [LOST EVENTS]\n"),
		"seen a@1\n"
		"1000001 x@1/0 1\n"
		"1000001 z@1/1 1 K :g+0@0\n"
		"1000004 lost 5/0\n"
		"1000004 ftrace:kernel_stack@1/0 <stack trace> K "
		":f+0@0\n"
		"1000004 lost 0/1\n");
	no_damage();
}
END_TEST

START_TEST(deferred_stacks_have_cookies)
{
	ck_assert_str_eq(
		ftext_records("  a-1 [0] ..... 1.000001: inode_cache: inode=13 "
			      "dev=[254:3] path=/bin/my a\n"
			      "  a-1 [0] ..... 1.000002: sys_enter: NR 1 (2)\n"
			      "  a-1 [0] ..... 1.000002: user_unwind_cookie: "
			      "cookie=300000008\n"
			      "  b-2 [0] ..... 1.000003: sys_enter: NR 1 (2)\n"
			      "  b-2 [0] ..... 1.000003: user_unwind_cookie: "
			      "cookie=0\n"
			      "  a-1 [0] ..... 1.000004: <user stack unwind>\n"
			      "cookie=300000008\n"
			      " =>  <00000000001001ca> : 13 : 254:3\n"
			      " =>  <00000000001001cb> : 14 : 254:3\n"
			      " =>  <00007f4a91923350> : -1 : 0:0\n"),
		"seen a@1\n"
		"1000001 inode_cache:inode_cache@1/0 inode=13 dev=[254:3] path=/bin/my a\n"
		"1000002 raw_syscalls:sys_enter@1/0 NR 1 (2) C 300000008\n"
		"seen b@2\n"
		"1000003 raw_syscalls:sys_enter@2/0 NR 1 (2)\n"
		"1000004 chain 300000008@1 U /bin/my a+1001ca@0,+1001cb@0,"
		"+0@7f4a91923350\n");
	no_damage();
}
END_TEST

START_TEST(reports_end_stacks_with_zeros)
{
	ck_assert_str_eq(
		ftext_records(
			"cpus=2\n"
			"  a-1 [0]  1.000001: sys_exit:             NR 1 = 2\n"
			"  a-1 [0]  1.000002: user_stack:           \t=> 0x7f\n"
			"\t=> 0x8f\n\t=> 0x0\n\t=> 0x0\n"
			"  a-1 [0]  1.000003: sys_exit:             NR 1 = 3\n"
			"  a-1 [0]  1.000004: user_stack:           \t=> 0x0\n"
			"\t=> 0x0\n"),
		"seen a@1\n"
		"1000001 raw_syscalls:sys_exit@1/0 NR 1 = 2 U +0@7f,+0@8f\n"
		"1000003 raw_syscalls:sys_exit@1/0 NR 1 = 3\n");
	no_damage();
}
END_TEST

START_TEST(a_field_may_be_a_stack)
{
	ck_assert_str_eq(
		ftext_records(
			"cpus=2\n"
			"  a-1 [0]  1.000001: blocked:   d=1 stack=\n"
			"=> f+0x8\n=> g+0x9\n"
			"  a-1 [0]  1.000002: blocked:   d=2 stack=\n"
			"=> f+0x8\n"
			"  a-1 [0]  1.000003: kernel_stack:   <stack trace >\n"
			"=> h (ffffffff81000000)\n"
			"  a-1 [0]  1.000004: blocked: d=3 stack=STACK:\n"
			"=> f+0x8/0x10\n=> g+0x9/0x20 [m]\n"
			"other=5\n"),
		"seen a@1\n"
		"1000001 blocked@1/0 d=1 stack= => f+0x8 => g+0x9"
		" K :f+8@0,:g+9@0 H :f+8@0,:g+9@0\n"
		"1000002 blocked@1/0 d=2 stack= => f+0x8"
		" K :h+0@ffffffff81000000 H :f+8@0\n"
		"1000004 blocked@1/0 d=3 stack=STACK: => f+0x8/0x10"
		" => g+0x9/0x20 [m] other=5 K :f+8@0,[m]:g+9@0"
		" H :f+8@0,[m]:g+9@0\n");
	no_damage();
}
END_TEST

START_TEST(the_order_of_the_text_is_kept)
{
	ck_assert_str_eq(ftext_records("  a-1 [0] ..... 1.000005: x: 1\n"
				       "  a-1 [0] ..... 1.000003: x: 2\n"
				       "  a-1 [0] ..... 1.000004: x: 3\n"
				       "  a-1 [0] ..... 1.000004: x: 4\n"),
			 "seen a@1\n"
			 "1000005 x@1/0 1\n1000003 x@1/0 2\n"
			 "1000004 x@1/0 3\n1000004 x@1/0 4\n");
	ck_assert_uint_eq(ledger_count(lg, LEDGER_ORDER), 1);
	no_damage();
}
END_TEST

START_TEST(switches_in_both_words)
{
	ck_assert_str_eq(
		ftext_records(
			"  <idle>-0 [0] ..... 1.000001: sched_switch: "
			"prev_comm=swapper/0 prev_pid=0 prev_prio=120 "
			"prev_state=R ==> next_comm=my prog =x next_pid=7 "
			"next_prio=120\n"
			"  <...>-7 [0] ..... 1.000002: sched_switch: my prog "
			"=x:7 [120] S ==> swapper/0:0 [120]\n"
			"  a-1 [1] ..... 1.000003: sched_wakeup: my prog =x:7 "
			"[120] CPU:000\n"
			"  a-1 [1] ..... 1.000003: sched_wakeup: comm=b c "
			"pid=8 prio=120 target_cpu=001\n"),
		"comm my prog =x@7\n"
		"1000001 sched:sched_switch@0/0 prev_comm=swapper/0 prev_pid=0 "
		"prev_prio=120 prev_state=R ==> next_comm=my prog =x next_pid=7"
		" next_prio=120 [0>7]\n"
		"1000002 sched:sched_switch@7/0 my prog =x:7 [120] S ==> "
		"swapper/0:0 [120] [7>0 sleeps]\n"
		"seen a@1\n"
		"1000003 sched:sched_wakeup@1/1 my prog =x:7 [120] CPU:000 "
		"[7>-1]\n"
		"comm b c@8\n"
		"1000003 sched:sched_wakeup@1/1 comm=b c pid=8 prio=120 "
		"target_cpu=001 [8>-1]\n");
	no_damage();
}
END_TEST

START_TEST(plugins_print_success_of_old_kernels)
{
	ck_assert_str_eq(
		ftext_records("  a-1 [1] 1.000003: sched_wakeup: b c:7 [120] "
			      "success=1 CPU:000\n"
			      "  a-1 [1] 1.000004: sched_wakeup: b c:7 [120] "
			      "success=0 CPU:000\n"),
		"comm b c@7\n"
		"seen a@1\n"
		"1000003 sched:sched_wakeup@1/1 b c:7 [120] success=1 CPU:000 "
		"[7>-1]\n"
		"1000004 sched:sched_wakeup@1/1 b c:7 [120] success=0 "
		"CPU:000\n");
	no_damage();
}
END_TEST

START_TEST(names_end_where_the_kernel_prints_the_next_key)
{
	ck_assert_str_eq(
		ftext_records(
			"  <idle>-0 [0] ..... 1.000001: sched_switch: "
			"prev_comm=swapper/0 prev_pid=0 prev_prio=120 "
			"prev_state=R ==> next_comm=a ==> b next_pid=7 "
			"next_prio=120\n"
			"  x-1 [0] ..... 1.000002: sched_wakeup: "
			"comm=comm=x pid=5 pid=8 prio=120 target_cpu=001\n"
			"  x-1 [0] ..... 1.000003: sched_wakeup: "
			"a ==> c:9 [120] CPU:000\n"
			"  x-1 [0] ..... 1.000004: sched_switch: "
			"a ==> c:9 [120] S ==> b:10 [120]\n"
			"  x-1 [0] ..... 1.000005: task_rename: pid=7 "
			"oldcomm=a ==> b newcomm= oom_score_adj=0\n"),
		"comm a ==> b@7\n"
		"1000001 sched:sched_switch@0/0 prev_comm=swapper/0 prev_pid=0 "
		"prev_prio=120 prev_state=R ==> next_comm=a ==> b next_pid=7"
		" next_prio=120 [0>7]\n"
		"comm comm=x pid=5@8\nseen x@1\n"
		"1000002 sched:sched_wakeup@1/0 comm=comm=x pid=5 pid=8 "
		"prio=120 target_cpu=001 [8>-1]\n"
		"comm a ==> c@9\n"
		"1000003 sched:sched_wakeup@1/0 a ==> c:9 [120] CPU:000 "
		"[9>-1]\n"
		"comm b@10\n"
		"1000004 sched:sched_switch@1/0 a ==> c:9 [120] S ==> b:10 "
		"[120] [9>10 sleeps]\n"
		"comm @7\n"
		"1000005 task:task_rename@1/0 pid=7 oldcomm=a ==> b newcomm= "
		"oom_score_adj=0\n");
	no_damage();
}
END_TEST

START_TEST(raw_data_has_its_name)
{
	ck_assert_str_eq(ftext_records("  x-1 [0] ..... 1.000001: # 101 buf: "
				       "03 00 ef\n"),
			 "seen x@1\n"
			 "1000001 ftrace:raw_data@1/0 # 101 buf: 03 00 ef\n");
	no_damage();
}
END_TEST

START_TEST(lives_of_tasks)
{
	ck_assert_str_eq(
		ftext_records(
			"  a-1 [0] ..... 1.000001: task_newtask: pid=5 comm=a "
			"clone_flags=1200000 oom_score_adj=0\n"
			"  a-1 [0] ..... 1.000002: sched_process_fork: comm=a "
			"pid=1 child_comm=a child_pid=5\n"
			"  a-1 [0] ..... 1.000003: sched_process_fork: comm=a "
			"pid=1 child_comm=a child_pid=6\n"
			"  x-5 [0] ..... 1.000004: sched_process_exec: "
			"filename=/bin/my ls pid=5 old_pid=5\n"
			"  x-5 [0] ..... 1.000005: task_rename: pid=5 "
			"oldcomm=my ls newcomm=n oom_score_adj=0\n"
			"  x-5 [0] ..... 1.000006: sched_process_exit: comm=n "
			"pid=5 prio=120\n"),
		"fork 5:5 of 1\ncomm a@5\nseen a@1\n"
		"1000001 task:task_newtask@1/0 pid=5 comm=a clone_flags=1200000"
		" oom_score_adj=0\n"
		"1000002 sched:sched_process_fork@1/0 comm=a pid=1 child_comm=a"
		" child_pid=5\n"
		"fork -1:6 of -1\ncomm a@6\n"
		"1000003 sched:sched_process_fork@1/0 comm=a pid=1 child_comm=a"
		" child_pid=6\n"
		"exec my ls@5\n"
		"1000004 sched:sched_process_exec@5/0 filename=/bin/my ls pid=5"
		" old_pid=5\n"
		"comm n@5\n"
		"1000005 task:task_rename@5/0 pid=5 oldcomm=my ls newcomm=n "
		"oom_score_adj=0\n"
		"1000006 sched:sched_process_exit@5/0 comm=n pid=5 prio=120\n"
		"exit 5\n");
	no_damage();
}
END_TEST

START_TEST(markers_may_have_several_lines)
{
	ck_assert_str_eq(
		ftext_records(
			"  a-1 [0] ...1. 1.000001: tracing_mark_write: one\n"
			"two=2\n\n"
			"  a-1 [0] ..... 1.000002: x: 1\nthree\n"),
		"seen a@1\n1000001 ftrace:print@1/0 one\ntwo=2\n"
		"1000002 x@1/0 1\n");
	ftext_test_damage(1);
}
END_TEST

START_TEST(strings_and_names_may_have_several_lines)
{
	ck_assert_str_eq(
		ftext_records("  a-1 [0] ..... 1.000001: take: s=\"x\n"
			      "y\" n=1\n"
			      "  a-1 [0] ..... 1.000002: sched_wakeup: comm=b\n"
			      "c pid=8 prio=120 target_cpu=001\n"),
		"seen a@1\n"
		"1000001 take@1/0 s=\"x\ny\" n=1\n"
		"comm b\nc@8\n"
		"1000002 sched:sched_wakeup@1/0 comm=b\nc pid=8 prio=120 "
		"target_cpu=001 [8>-1]\n");
	no_damage();
	/* nothing goes on behind these */
	ftext_records("  a-1 [0] ..... 1.000001: take: s=\"x\" n=1\n"
		      "y\n"
		      "  a-1 [0] ..... 1.000002: sched_wakeup: comm=b pid=8\n"
		      "c\n");
	ftext_test_damage(2);
}
END_TEST

START_TEST(a_character_of_an_event_may_be_zero)
{
	static const char text[] =
		"# tracer: nop\n"
		"  a-1 [0] ..... 1.000001: take: ch='\0' n=1\n";

	records_n(text, sizeof(text) - 1);
	ck_assert_ptr_nonnull(strstr(out, "1000001 take@1/0 ch='"));
	no_damage();
}
END_TEST

START_TEST(overwritten_entries_are_a_sum)
{
	ck_assert_str_eq(
		ftext_records("# tracer: nop\n#\n"
			      "# entries-in-buffer/entries-written: 1/21   "
			      "#P:2\n"
			      "##### CPU 1 buffer started ####\n"
			      "  a-1 [1] ..... 1.000001: x: 1\n"),
		"seen a@1\n1000001 x@1/1 1\ntotal 20\n");
	no_damage();
}
END_TEST

START_TEST(a_cut_last_line_is_damage)
{
	ck_assert_str_eq(ftext_records("  a-1 [1] ..... 1.000001: x: 1\n"
				       "  a-1 [1] ..... 1.000002: x: 1"),
			 "seen a@1\n1000001 x@1/1 1\n");
	ftext_test_damage(1);
}
END_TEST

START_TEST(lines_that_are_too_long_are_damage)
{
	size_t n = 3 * FTEXT_LINE;
	char *text = mem_new(n + 200, 1);
	static const char one[] = "  a-1 [1] ..... 1.000001: x: 1\n";

	memcpy(text, one, sizeof(one) - 1);
	memset(text + sizeof(one) - 1, 'a', n);
	memcpy(text + sizeof(one) - 1 + n, "\n", 1);
	memcpy(text + sizeof(one) + n, one, sizeof(one) - 1);
	ck_assert_str_eq(records_n(text, n + 2 * sizeof(one) - 1),
			 "seen a@1\n1000001 x@1/1 1\n1000001 x@1/1 1\n");
	ck_assert_uint_ge(ledger_count(lg, LEDGER_DAMAGE), 1);
	ledger_free(lg);
	free(text);
}
END_TEST

/* How many it is does not matter: what is held is bounded. */
START_TEST(stacks_that_never_end_are_cut)
{
	static const char head[] = "  a-1 [1] ..... 1.000001: x: 1\n"
				   "  a-1 [1] ..... 1.000001: <stack trace>\n";
	static const char frame[] = " => f\n";
	size_t at = sizeof(head) - 1;
	size_t n = 40000;
	char *text = mem_new(at + n * (sizeof(frame) - 1), 1);

	memcpy(text, head, at);
	for (size_t i = 0; i < n; i++, at += sizeof(frame) - 1)
		memcpy(text + at, frame, sizeof(frame) - 1);
	records_n(text, at);
	ck_assert_uint_ge(ledger_count(lg, LEDGER_DAMAGE), 1);
	ck_assert_uint_lt(strlen(out), 3u * FTEXT_STACK);
	ledger_free(lg);
	free(text);
}
END_TEST

static void ftext_refused(const char *text, const char *part)
{
	struct err err = { 0 };

	lg = ledger_new();
	ck_assert_ptr_null(open_text(text, strlen(text), &err));
	ck_assert_msg(strstr(err.msg, part) != NULL, "%s", err.msg);
	ledger_free(lg);
}

START_TEST(refusals_say_what_to_do)
{
	ftext_refused(HEAD "145 2 41563954298 type: 310\n",
		      "record again without");
	ftext_refused("# tracer: nop\n#\n00000091 00000002 09ab type: 310\n",
		      "record again without");
	ftext_refused("# tracer: blk\n#\n"
		      "# DEV   CPU TIMESTAMP     PID ACT FLG\n",
		      "blk_classic");
	ftext_refused("just some words that are nothing\n", "text");
}
END_TEST

START_TEST(fields_are_pairs_of_the_text)
{
	static const char text[] =
		"  a-1 [0] ..... 1.0: ev: x=-5 name=\"a b\" y=0x1f (31) z=two "
		"words w=7 [ns] {q=1} comm=a b pid=3 u='x'(200) v=(7) "
		"p=0000000012345678 clone_flags=1200000 "
		"sa_flags=14000000 sa_handler=401136\n";
	struct field f[16];
	struct record rec;
	struct err err;
	struct ref ref;

	lg = ledger_new();
	struct source *src = open_text(text, sizeof(text) - 1, &err);

	do
		ck_assert_int_eq(src->ops->next(src, &ref, &err), 1);
	while (src->ops->decode(src, &ref, &rec, &err) ||
	       rec.kind != REC_SAMPLE);
	const struct event_def *e = &src->events[0];
	static const char *const names[] = {
		"text", "x",	       "name",	   "y",		"w",
		"q",	"comm",	       "pid",	   "u",		"v",
		"p",	"clone_flags", "sa_flags", "sa_handler"
	};

	ck_assert_uint_eq(e->n_fields, 14);
	src->ops->fields(src, &rec.sample, f, &err);
	for (int i = 0; i < 14; i++)
		ck_assert_str_eq(e->fields[i].name, names[i]);
	ck_assert_int_eq(f[1].num, -5);
	ck_assert_str_eq(f[2].text, "\"a b\"");
	ck_assert_int_eq(f[3].num, 0x1f);
	ck_assert_int_eq(f[4].num, 7);
	ck_assert_str_eq(f[6].text, "a b");
	ck_assert_int_eq(f[7].num, 3);
	ck_assert_int_eq(f[8].num, 200);
	ck_assert_int_eq(f[9].num, 7);
	ck_assert_str_eq(f[10].text, "0000000012345678");
	ck_assert_int_eq(f[11].num, 0x1200000);
	ck_assert_int_eq(f[12].num, 0x14000000);
	ck_assert_int_eq(f[13].num, 0x401136);
	/* away from the capture the text is the same */
	struct payload *pl =
		payload_new(e->format, &(struct payload_machine){ 0 });
	char buf[256];

	tp_print(&pl->tp, &pl->fmt, rec.sample.raw, rec.sample.raw_len, buf,
		 sizeof(buf));
	ck_assert_str_eq(buf, f[0].text);
	tp_print_fields(&pl->tp, &pl->fmt, f, buf, sizeof(buf));
	ck_assert_str_eq(buf, f[0].text);
	payload_free(pl);
	source_close(src);
	ledger_free(lg);
}
END_TEST

RUN("ftext", stacks_belong_to_the_event_before_them, stacks_never_cross_a_loss,
    deferred_stacks_have_cookies, reports_end_stacks_with_zeros,
    a_field_may_be_a_stack, the_order_of_the_text_is_kept,
    switches_in_both_words, plugins_print_success_of_old_kernels,
    names_end_where_the_kernel_prints_the_next_key, raw_data_has_its_name,
    lives_of_tasks, markers_may_have_several_lines,
    strings_and_names_may_have_several_lines,
    a_character_of_an_event_may_be_zero, overwritten_entries_are_a_sum,
    a_cut_last_line_is_damage, lines_that_are_too_long_are_damage,
    stacks_that_never_end_are_cut, refusals_say_what_to_do,
    fields_are_pairs_of_the_text)
