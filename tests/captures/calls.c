/* calls.c - a program that times its own system calls: calls.data.zst.
 *
 * It prints "TID NUMBER FROM TO RESULT" for each call, times of
 * CLOCK_MONOTONIC in ns before and behind it: reads that wait for another
 * thread, sleeps, one that a signal interrupts, a handler that returns, a
 * child of vfork that calls execve. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int line[2], back[2];

static int64_t calls_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The log is kept: printing is a call, too. */
static struct {
	long tid, number, result;
	int64_t from, to;
} entry[512];
static int entries;

static long calls_do(long number, long a, long b, long c, long d)
{
	int64_t from = calls_now();
	long result = syscall(number, a, b, c, d);
	int64_t to = calls_now();
	int i = __atomic_fetch_add(&entries, 1, __ATOMIC_RELAXED);

	entry[i].tid = gettid();
	entry[i].number = number;
	entry[i].from = from;
	entry[i].to = to;
	entry[i].result = result;
	return result;
}

static void calls_nap(long ns)
{
	struct timespec t = { 0, ns };

	calls_do(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&t, 0);
}

static void *calls_echo(void *arg)
{
	char byte;

	while (calls_do(SYS_read, line[0], (long)&byte, 1, 0) == 1) {
		calls_nap(200000);
		calls_do(SYS_write, back[1], (long)&byte, 1, 0);
	}
	return arg;
}

static void calls_handle(int signal)
{
	(void)signal;
}

static void *calls_kick(void *arg)
{
	calls_nap(2000000);
	pthread_kill(*(pthread_t *)arg, SIGUSR1);
	return NULL;
}

int main(void)
{
	struct sigaction act = { .sa_handler = calls_handle };
	pthread_t me = pthread_self();
	pthread_t echo, kick;
	char byte = 1;

	if (pipe(line) || pipe(back))
		return 1;
	sigaction(SIGUSR1, &act, NULL);
	pthread_create(&echo, NULL, calls_echo, NULL);
	for (int i = 0; i < 20; i++) {
		calls_do(SYS_write, line[1], (long)&byte, 1, 0);
		calls_do(SYS_read, back[0], (long)&byte, 1, 0);
		calls_do(SYS_read, -1, 0, 0, 0); /* EBADF */
	}
	pthread_create(&kick, NULL, calls_kick, &me);
	calls_nap(50000000);
	pthread_join(kick, NULL);
	if (!vfork()) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	wait(NULL);
	close(line[1]);
	pthread_join(echo, NULL);
	for (int i = 0; i < entries; i++)
		printf("%ld %ld %" PRId64 " %" PRId64 " %ld\n", entry[i].tid,
		       entry[i].number, entry[i].from, entry[i].to,
		       entry[i].result);
	return 0;
}
