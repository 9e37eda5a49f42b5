/* slower.c - the program of the captures before.data and after.data: rounds of
 * four kinds of work, of which one can be made to take longer. */
#include <stdlib.h>

#define WORK 20000

static volatile unsigned long sink;

/* What each of them does: n steps that depend on each other. */
#define STEPS(n, step)                                                         \
	do {                                                                   \
		unsigned long x = sink;                                        \
		for (long i = 0; i < (n); i++)                                 \
			x = (step);                                            \
		sink = x;                                                      \
	} while (0)

__attribute__((noinline)) static void parse(long n)
{
	STEPS(n, x * 2862933555777941757ul + 3037000493ul);
}

__attribute__((noinline)) static void lookup(long n)
{
	STEPS(n, (x ^ x >> 29) * 13787848793156543929ul);
}

__attribute__((noinline)) static void format(long n)
{
	STEPS(n, (x << 7 | x >> 57) * 6364136223846793005ul);
}

__attribute__((noinline)) static void checksum(long n)
{
	STEPS(n, x + (x << 5) * 11400714819323198485ul);
}

__attribute__((noinline)) static void reply(long times)
{
	format(WORK);
	for (long i = 0; i < times; i++)
		checksum(WORK / 4);
}

__attribute__((noinline)) static void request(long times)
{
	parse(WORK);
	lookup(WORK);
	reply(times);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
	long times = argc > 2 ? strtol(argv[2], NULL, 10) : 1;

	for (long i = 0; i < rounds; i++)
		request(times);
	return 0;
}
