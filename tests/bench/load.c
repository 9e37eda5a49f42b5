/* load.c - a busy program to record for the benchmark.
 *
 * usage: load SECONDS [THREADS]
 * Threads walk call trees of changing shape (so that there are some thousand
 * distinct stacks), make small system calls at the leaves, and now and then
 * start a child that does the same for a moment. Build it with frame
 * pointers and without inlining. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;
static double end_time;
static int zero_fd;

static double bench_load_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void leaf_count(uint64_t *state)
{
	for (int i = 0; i < 40; i++)
		sink += next_random(state);
}

static void leaf_read(uint64_t *state)
{
	char buf[64];
	ssize_t n = read(zero_fd, buf, sizeof(buf));

	sink += (uint64_t)n + *state;
}

static void leaf_parent(uint64_t *state)
{
	sink += (uint64_t)getppid() + *state;
}

static void branch_a(uint64_t *state, int depth);
static void branch_b(uint64_t *state, int depth);
static void branch_c(uint64_t *state, int depth);

static void descend(uint64_t *state, int depth)
{
	if (depth <= 0) {
		static void (*const leaf[])(uint64_t *) = {
			leaf_count, leaf_read, leaf_parent, leaf_parent
		};
		leaf[next_random(state) % 4](state);
		return;
	}
	static void (*const branch[])(uint64_t *, int) = { branch_a, branch_b,
							   branch_c };
	branch[next_random(state) % (depth > 3 ? 2 : 3)](state, depth - 1);
}

static void branch_a(uint64_t *state, int depth)
{
	descend(state, depth);
	sink++;
}

static void branch_b(uint64_t *state, int depth)
{
	descend(state, depth);
	sink += 2;
}

static void branch_c(uint64_t *state, int depth)
{
	descend(state, depth);
	sink += 3;
}

static void bench_load_work(uint64_t seed, double until)
{
	uint64_t state = seed * 2654435761u + 1;

	while (bench_load_now() < until)
		for (int i = 0; i < 100; i++)
			descend(&state, (int)(next_random(&state) % 5));
}

static void *thread_main(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg;

	while (bench_load_now() < end_time) {
		bench_load_work(seed, bench_load_now() + 0.2);
		pid_t pid = fork();
		if (pid == 0) {
			bench_load_work(seed + 7, bench_load_now() + 0.01);
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	long n = argc > 2 ? strtol(argv[2], NULL, 10) : 2;

	if (argc < 2 || n < 1 || n > 64) {
		fputs("usage: load SECONDS [THREADS]\n", stderr);
		return 2;
	}
	zero_fd = open("/dev/zero", O_RDONLY);
	end_time = bench_load_now() + strtod(argv[1], NULL);
	for (long i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, thread_main,
				   (void *)(uintptr_t)(i + 1)))
			return 1;
	for (long i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	return 0;
}
