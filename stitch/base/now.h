/* now.h - reads clocks: wall time, and monotonic time for durations and
 * timeouts. */
#pragma once
#include <stdint.h>
#include <time.h>

static inline int64_t now_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Returns nanoseconds of CLOCK_MONOTONIC. */
static inline int64_t now_ns(void)
{
	return now_of(CLOCK_MONOTONIC);
}

/* Returns nanoseconds since 1970, which may step. */
static inline int64_t now_wall_ns(void)
{
	return now_of(CLOCK_REALTIME);
}
