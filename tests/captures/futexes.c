/* futexes.c - threads that wait for locks which are data of the program and of
 * a library, and say for which and how long.
 *
 * usage: futexes LOG [PROGRAM]: appends lines "tid what lock begin end" to LOG,
 * on CLOCK_MONOTONIC, and then executes PROGRAM LOG. Built as a library, with
 * -DLIBRARY, it has one of the locks. */
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS 3
#define ROUNDS 20

extern pthread_mutex_t library_lock;

#ifdef LIBRARY
long before[5] = { 1 };
pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;
#else
struct shard {
	long items;
	pthread_mutex_t lock;
};

pthread_mutex_t big_lock = PTHREAD_MUTEX_INITIALIZER; /* .data */
struct shard table[4];				      /* .bss */

struct turn {
	const char *what, *lock;
	long long begin, end;
};

struct worker {
	pthread_t thread;
	long tid;
	struct turn turn[2 * ROUNDS];
	size_t n;
};

static struct {
	const char *name;
	pthread_mutex_t *lock;
} locks[] = {
	{ "big_lock", &big_lock },
	{ "table+0x68", &table[2].lock },
	{ "library_lock", &library_lock },
};

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void *work(void *arg)
{
	const struct timespec hold = { 0, 300000 };
	struct worker *w = arg;

	w->tid = syscall(SYS_gettid);
	for (int i = 0; i < ROUNDS; i++) {
		struct turn *t = &w->turn[w->n];
		const char *name = locks[i % 3].name;

		w->n += 2;
		t[0] = (struct turn){ "lock", name, now(), 0 };
		pthread_mutex_lock(locks[i % 3].lock);
		t[0].end = now();
		nanosleep(&hold, NULL);
		t[1] = (struct turn){ "unlock", name, now(), 0 };
		pthread_mutex_unlock(locks[i % 3].lock);
		t[1].end = now();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static struct worker worker[THREADS];
	FILE *log;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&worker[i].thread, NULL, work, &worker[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(worker[i].thread, NULL);
	log = argc > 1 ? fopen(argv[1], "a") : NULL;
	if (!log)
		return 1;
	for (int i = 0; i < THREADS; i++)
		for (size_t k = 0; k < worker[i].n; k++) {
			const struct turn *t = &worker[i].turn[k];

			fprintf(log, "%ld %s %s %lld %lld\n", worker[i].tid,
				t->what, t->lock, t->begin, t->end);
		}
	fclose(log);
	if (argc > 2)
		execl(argv[2], argv[2], argv[1], (char *)NULL);
	return argc > 2;
}
#endif
