/* pair.c - the program of the captures pair.*: a parent with a second thread
 * that reads through two functions, and children that exec it again. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int fd;
static volatile unsigned long sink;

__attribute__((noinline)) static void spin(long ms)
{
	struct timespec t0, t;

	clock_gettime(CLOCK_MONOTONIC, &t0);
	do {
		for (int i = 0; i < 20000; i++)
			sink += (unsigned long)i * i;
		clock_gettime(CLOCK_MONOTONIC, &t);
	} while ((t.tv_sec - t0.tv_sec) * 1000 +
			 (t.tv_nsec - t0.tv_nsec) / 1000000 <
		 ms);
}

__attribute__((noinline)) static int read_here(void)
{
	char c[64];
	int n = (int)pread(fd, c, sizeof(c), 0);

	spin(3);
	return n + 1;
}

__attribute__((noinline)) static int read_there(void)
{
	return read_here() + 1;
}

static void *work(void *arg)
{
	(void)arg;
	for (int i = 0; i < 6; i++)
		sink += (unsigned long)read_there();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	fd = open("/proc/self/cmdline", O_RDONLY);
	if (argc > 1) {
		for (int i = 0; i < 4; i++)
			sink += (unsigned long)read_there();
		return 0;
	}
	pthread_create(&t, NULL, work, NULL);
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (!pid) {
			sink += (unsigned long)read_here();
			execl("/usr/local/pair/pair", argv[0], "again",
			      (char *)NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
	pthread_join(t, NULL);
	return 0;
}
