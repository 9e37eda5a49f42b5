/* write_all.c - tests of stitch/files/write_all.c: every byte arrives, or there
 * is a reason. */
#include "stitch/files/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "stitch/base/mem.h"
#include "stitch/files/new_file.h"
#include "tests/unit/run.h"

#define MANY ((size_t)4 << 20)

static unsigned char pattern_at(size_t i)
{
	return (unsigned char)(i * 7 + (i >> 12));
}

static unsigned char *pattern_new(size_t n)
{
	unsigned char *p = mem_new(n, 1);

	for (size_t i = 0; i < n; i++)
		p[i] = pattern_at(i);
	return p;
}

static volatile sig_atomic_t ticks;

static void on_tick(int sig)
{
	(void)sig;
	ticks++;
}

/* Lets a signal come every 200 us that restarts nothing. */
static void tick_often(bool on)
{
	struct sigaction sa = { .sa_handler = on_tick };
	struct itimerval it = { .it_value = { .tv_usec = on ? 200 : 0 } };

	it.it_interval = it.it_value;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
}

struct reader {
	int fd;
	size_t n;
	bool equal;
};

static void *read_all(void *arg)
{
	struct reader *r = arg;
	unsigned char buf[511];
	sigset_t all;
	ssize_t got;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	r->equal = true;
	while ((got = read(r->fd, buf, sizeof(buf))) > 0)
		for (ssize_t i = 0; i < got; i++)
			r->equal &= buf[i] == pattern_at(r->n++);
	return NULL;
}

START_TEST(a_pipe_gets_every_byte_while_signals_cut_the_writes)
{
	unsigned char *p = pattern_new(MANY);
	struct reader r = { .n = 0 };
	pthread_t thread;
	int fd[2];

	ck_assert_int_eq(pipe(fd), 0);
	r.fd = fd[0];
	ck_assert_int_eq(pthread_create(&thread, NULL, read_all, &r), 0);
	tick_often(true);
	int rc = write_all(fd[1], p, MANY);

	tick_often(false);
	close(fd[1]);
	pthread_join(thread, NULL);
	close(fd[0]);
	free(p);
	ck_assert_int_eq(rc, 0);
	ck_assert_int_gt(ticks, 0);
	ck_assert_uint_eq(r.n, MANY);
	ck_assert(r.equal);
}
END_TEST

START_TEST(bytes_at_an_offset_leave_the_others_and_the_place_of_the_file)
{
	char got[9] = "";
	int fd = temp_open("/tmp");

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write_all(fd, "abcdef", 6), 0);
	ck_assert_int_eq(write_all_at(fd, "XY", 2, 1), 0);
	ck_assert_int_eq(write_all(fd, "gh", 2), 0);
	ck_assert_int_eq(pread(fd, got, 8, 0), 8);
	ck_assert_str_eq(got, "aXYdefgh");
	close(fd);
}
END_TEST

/* The first write takes what still fits, and only the next one fails. */
START_TEST(a_file_that_may_not_grow_is_a_failure_after_what_fits)
{
	struct rlimit was, now;
	char got[16];
	int fd = temp_open("/tmp");

	ck_assert_int_ge(fd, 0);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &was), 0);
	now = (struct rlimit){ .rlim_cur = 5, .rlim_max = was.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &now), 0);
	int rc = write_all(fd, "12345678", 8);
	int why = errno;

	setrlimit(RLIMIT_FSIZE, &was);
	ck_assert_int_eq(rc, -1);
	ck_assert_int_eq(why, EFBIG);
	ck_assert_int_eq(pread(fd, got, sizeof(got), 0), 5);
	close(fd);
}
END_TEST

START_TEST(a_device_without_space_and_a_closed_descriptor_say_why)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write_all(fd, "a", 1), -1);
	ck_assert_int_eq(errno, ENOSPC);
	close(fd);
	ck_assert_int_eq(write_all(fd, "a", 1), -1);
	ck_assert_int_eq(errno, EBADF);
	ck_assert_int_eq(write_all(fd, "a", 0), 0);
}
END_TEST

RUN("write_all", a_pipe_gets_every_byte_while_signals_cut_the_writes,
    bytes_at_an_offset_leave_the_others_and_the_place_of_the_file,
    a_file_that_may_not_grow_is_a_failure_after_what_fits,
    a_device_without_space_and_a_closed_descriptor_say_why)
