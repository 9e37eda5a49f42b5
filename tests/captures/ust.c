/* ust.c - a small program traced by LTTng-UST, for the captures lttng/t213-*
 * and lttng/t216-*: events with fields of most kinds, and requests whose stacks
 * follow.
 *
 * usage: ust STEPS; two threads take so many steps each. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "ust_tp.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int steps = 10;

static void *work(void *arg)
{
	const uint64_t first = (uint64_t)getpid() << 32 | (uintptr_t)arg << 24;
	static const uint16_t list[] = { 1, 20, 300, 4000 };
	uint64_t stack[2] = { (uintptr_t)work,
			      (uintptr_t)__builtin_return_address(0) };

	for (int i = 0; i < steps; i++) {
		lttng_ust_tracepoint(stitch, step, i, "text", list,
				     (size_t)i % 5);
		if (i % 4 == 1)
			lttng_ust_tracepoint(stitch, request,
					     first + (uint64_t)i);
		if (i % 4 == 3 && i % 8 != 3)
			lttng_ust_tracepoint(stitch, ustack,
					     first + (uint64_t)i - 2, stack,
					     (size_t)2);
		if (i % 10 == 0)
			lttng_ust_tracepoint(stitch, bare);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1)
		steps = (int)strtol(argv[1], NULL, 10);
	pthread_create(&t, NULL, work, (void *)1);
	work(NULL);
	pthread_join(t, NULL);
	return 0;
}
