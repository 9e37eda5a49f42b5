/* plain.c - a program for machines of 32 and 64 bits: recursion, stubs of a
 * PLT, callbacks from the C library, both kinds of signal frames, a realigned
 * stack.
 *
 * usage: plain SECONDS */
#include <signal.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static volatile unsigned long sink;

static int compare(const void *a, const void *b)
{
	const int *x = a;
	const int *y = b;

	return (*x > *y) - (*x < *y);
}

__attribute__((noinline)) static void sorts(void)
{
	int v[300];

	for (int i = 0; i < 300; i++)
		v[i] = i * 7919 % 307;
	qsort(v, 300, sizeof(*v), compare);
	sink += (unsigned long)v[7];
}

__attribute__((noinline)) static unsigned long recurse(unsigned int n)
{
	char text[64];

	snprintf(text, sizeof(text), "%u %s", n, "frames");
	return n ? recurse(n - 1) + strlen(text) : 0;
}

__attribute__((noinline)) static void realigned(unsigned int n)
{
	alignas(64) volatile char v[128];
	volatile char *more = __builtin_alloca(n);

	for (unsigned int i = 0; i < n; i++)
		more[i] = (char)i;
	for (unsigned int i = 0; i < 128; i++)
		v[i] = more[i % n];
	sink += (unsigned long)v[5] + recurse(3);
}

static void tick(int sig)
{
	(void)sig;
	for (int i = 0; i < 3; i++)
		sorts();
}

static void tick_info(int sig, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	tick(sig);
}

int main(int argc, char **argv)
{
	const struct itimerval every = { { 0, 3000 }, { 0, 3000 } };
	const struct itimerval other = { { 0, 5000 }, { 0, 5000 } };
	struct sigaction plain = { .sa_handler = tick };
	struct sigaction info = { .sa_sigaction = tick_info,
				  .sa_flags = SA_SIGINFO };
	clock_t end = clock() + (clock_t)((argc > 1 ? atof(argv[1]) : 1) *
					  CLOCKS_PER_SEC);

	sigaction(SIGALRM, &plain, NULL);
	sigaction(SIGPROF, &info, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	setitimer(ITIMER_PROF, &other, NULL);
	while (clock() < end) {
		sorts();
		sink += recurse(20);
		realigned(200);
	}
	return 0;
}
