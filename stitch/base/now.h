/* now.h - time that only goes on, for how long something takes and may take. */
#ifndef STITCH_BASE_NOW_H
#define STITCH_BASE_NOW_H
#include <stdint.h>
#include <time.h>

/* Returns nanoseconds of CLOCK_MONOTONIC. */
static inline int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
#endif
