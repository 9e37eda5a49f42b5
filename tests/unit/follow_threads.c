/* follow_threads.c - names and processes of threads go on from one piece of a
 * stream to the next. */
#include "cli/follow/threads.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stitch/base/mem.h"
#include "tests/unit/run.h"

static struct threads *threads;

static void begin_live(void)
{
	threads = threads_new(true);
}

static void end_live(void)
{
	threads_free(threads);
}

/* Returns whether the names, or processes, have that line. */
static bool has(bool names, int tid, const char *value)
{
	char line[128];
	char *text;
	size_t len;
	FILE *out = mem_stream(&text, &len);

	if (names)
		threads_write_names(threads, out);
	else
		threads_write_processes(threads, out);
	mem_stream_end(out);
	snprintf(line, sizeof(line), "%d %s\n", tid, value);
	bool found = strstr(text, line) != NULL;

	free(text);
	return found;
}

/* Says that the kernel remembers a name. */
static void ask(int tid, const char *name)
{
	char text[128];

	snprintf(text, sizeof(text), "1 init\n%d %s\n", tid, name);
	threads_ask(threads, text, NULL);
}

static void cut(void)
{
	threads_cut(threads);
	threads_forget(threads);
}

START_TEST(a_name_goes_on_while_its_thread_lives)
{
	int me = (int)getpid();

	threads_see(threads, me);
	ck_assert(threads_are_new(threads));
	ask(me, "a name");
	ck_assert(!threads_are_new(threads));
	ck_assert(has(true, me, "a name"));
	cut();
	/* the kernel has forgotten it */
	threads_see(threads, me);
	threads_ask(threads, "1 init\n", "");
	ck_assert(has(true, me, "a name"));
}
END_TEST

START_TEST(the_newest_name_counts)
{
	int me = (int)getpid();

	threads_see(threads, me);
	ask(me, "old");
	cut();
	ask(me, "new");
	ck_assert(has(true, me, "new"));
	ck_assert(!has(true, me, "old"));
}
END_TEST

START_TEST(a_thread_that_ended_is_forgotten_after_its_piece)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	threads_see(threads, (int32_t)pid);
	ask((int)pid, "child");
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	threads_cut(threads);
	/* the piece before the cut may be written later */
	ck_assert(has(true, (int)pid, "child"));
	threads_forget(threads);
	ck_assert(!has(true, (int)pid, "child"));
}
END_TEST

/* Returns a child that waits and has that name; tid: its id, or 0. */
static pid_t begin_child(pid_t tid, const char *name)
{
	struct clone_args a = { .exit_signal = SIGCHLD,
				.set_tid = (uintptr_t)&tid,
				.set_tid_size = tid ? 1 : 0 };
	int ready[2];
	char c;

	if (!tid)
		a.set_tid = 0;
	ck_assert_int_eq(pipe(ready), 0);
	pid_t pid = (pid_t)syscall(SYS_clone3, &a, sizeof(a));

	if (!pid) {
		prctl(PR_SET_NAME, name);
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(0);
	}
	close(ready[1]);
	if (pid > 0)
		ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* Ends a thread that is known as "first", and gives its id to another one,
 * "second". Returns the id, or 0 if only root may do that. */
static pid_t use_again(void)
{
	pid_t pid = begin_child(0, "first");

	ck_assert_int_gt(pid, 0);
	threads_see(threads, (int32_t)pid);
	threads_ask(threads, NULL, NULL);
	ck_assert(has(true, (int)pid, "first"));
	end_child(pid);
	/* they begin at different ticks */
	usleep(30000);
	pid_t again = begin_child(pid, "second");

	ck_assert(again == pid || (again < 0 && errno == EPERM));
	return again < 0 ? 0 : pid;
}

START_TEST(an_id_that_is_used_again_is_another_thread)
{
	pid_t pid = use_again();

	if (!pid)
		return;
	threads_cut(threads);
	threads_see(threads, (int32_t)pid);
	threads_ask(threads, NULL, NULL);
	ck_assert(has(true, (int)pid, "second"));
	end_child(pid);
}
END_TEST

START_TEST(a_thread_is_forgotten_although_its_id_is_used_again)
{
	pid_t pid = use_again();

	if (!pid)
		return;
	cut();
	ck_assert(!has(true, (int)pid, "first"));
	end_child(pid);
}
END_TEST

START_TEST(proc_tells_what_the_kernel_does_not_remember)
{
	char me[16];

	prctl(PR_SET_NAME, "my own");
	snprintf(me, sizeof(me), "%d", (int)getpid());
	threads_see(threads, (int32_t)getpid());
	threads_ask(threads, NULL, NULL);
	ck_assert(has(false, (int)getpid(), me));
	ck_assert(has(true, (int)getpid(), "my own"));
}
END_TEST

START_TEST(threads_of_another_machine_are_not_asked_for)
{
	int me = (int)getpid();

	threads_free(threads);
	threads = threads_new(false);
	threads_see(threads, me);
	threads_ask(threads, NULL, NULL);
	ck_assert(!has(true, me, "my own"));
	ask(me, "other");
	ck_assert(has(true, me, "other"));
	cut();
	ck_assert(!has(true, me, "other"));
}
END_TEST

START_TEST(texts_of_anything_are_read)
{
	threads_see(threads, INT32_MAX);
	threads_see(threads, INT32_MIN);
	threads_see(threads, 0);
	ck_assert(!threads_are_new(threads));
	threads_see(threads, 4194304);
	ck_assert(threads_are_new(threads));
	threads_ask(threads,
		    "\n 1\n-5 x\n4194304\n4194304 \n4194304 <...>\n"
		    "99999999999999999999 y\n4194305 z\n",
		    "4194304 0\n4194304 -1\n4194304 7");
	ck_assert(has(false, 4194304, "7"));
	ck_assert(!has(true, 4194304, "<...>"));
}
END_TEST

RUN_WITH("follow_threads", begin_live, end_live,
	 a_name_goes_on_while_its_thread_lives, the_newest_name_counts,
	 a_thread_that_ended_is_forgotten_after_its_piece,
	 an_id_that_is_used_again_is_another_thread,
	 a_thread_is_forgotten_although_its_id_is_used_again,
	 proc_tells_what_the_kernel_does_not_remember,
	 threads_of_another_machine_are_not_asked_for,
	 texts_of_anything_are_read)
