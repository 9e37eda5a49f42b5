/* calls.c - what C does to stacks: recursion, callbacks from the C library,
 * callers of its stubs and of functions that it chooses at run time, signals,
 * longjmp, large and growing frames, threads. The innermost functions are in
 * inner.c and leaf.S.
 *
 * usage: calls SECONDS (of processor time) */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "inner.h"

#define AWAY __attribute__((noinline))

volatile unsigned long sink;
static volatile double number = 1e17;
static sigjmp_buf back;

static int calls_in_order(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

AWAY static void calls_sort(void)
{
	int v[600];

	for (int i = 0; i < 600; i++)
		v[i] = i * 7919 % 613;
	qsort(v, 600, sizeof(*v), calls_in_order);
	sink += (unsigned long)v[9];
}

AWAY static void calls_library(void)
{
	static char a[4096], b[4096];

	for (int i = 0; i < 100; i++) {
		sink += (unsigned long)memcmp(a, b, sizeof(a));
		memset(a, 7, sizeof(a) - 1);
		memset(b, 7, sizeof(b) - 1);
		sink += strlen(a) + (unsigned long)fmod(number, 3.7 + i);
	}
}

AWAY static unsigned long calls_deep(unsigned int n)
{
	volatile char held[40];

	held[n % 40] = (char)n;
	if (!n)
		return inner_hash(300);
	return calls_deep(n - 1) + (unsigned long)held[n % 40];
}

AWAY static void calls_grow(size_t n)
{
	char *more = __builtin_alloca(n);
	volatile char large[9000];

	memset(more, 1, n);
	for (size_t i = 0; i < sizeof(large); i += 16)
		large[i] = more[i % n];
	sink += inner_sum((const unsigned char *)more, n) +
		(unsigned long)large[16];
}

AWAY static void calls_jump(int n)
{
	if (!n) {
		sink += inner_hash(40);
		siglongjmp(back, 1);
	}
	calls_jump(n - 1);
	sink++;
}

AWAY static void calls_jumps(void)
{
	for (volatile int i = 0; i < 20; i++)
		if (!sigsetjmp(back, 0))
			calls_jump(5);
}

static void calls_tick(int signal)
{
	(void)signal;
	sink += inner_hash(6000);
}

AWAY static unsigned long calls_tail(unsigned long n)
{
	return inner_hash(n & 255);
}

AWAY static void calls_work(double seconds)
{
	struct timespec t;

	do {
		calls_sort();
		calls_library();
		sink += calls_deep(30);
		for (size_t n = 500; n < 3000; n += 700)
			calls_grow(n);
		sink += inner_outer(200) + calls_tail(250);
		sink += inner_assembly(2000);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 < seconds);
}

static void *calls_thread(void *arg)
{
	calls_work(*(double *)arg);
	return NULL;
}

int main(int argc, char **argv)
{
	struct itimerval every = { { 0, 2000 }, { 0, 2000 } };
	double seconds = argc > 1 ? strtod(argv[1], NULL) / 2 : 1;
	pthread_t other;

	signal(SIGVTALRM, calls_tick);
	setitimer(ITIMER_VIRTUAL, &every, NULL);
	pthread_create(&other, NULL, calls_thread, &seconds);
	for (int i = 0; i < 200; i++)
		calls_jumps();
	calls_work(seconds);
	pthread_join(other, NULL);
	return 0;
}
