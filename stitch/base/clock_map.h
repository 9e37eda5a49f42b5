/* clock_map.h - converts the times of one clock to another.
 *
 * A map is a straight line: the offset at one moment, and how much it grows
 * from there. It never reverses the order of two times, so what is sorted on
 * one clock is sorted on the other. */
#pragma once
#include <stdint.h>

/* Converts cycles of x86's TSC to perf's clock, as PERF_RECORD_TIME_CONV says:
 * ns = zero + ((cycles * mult) >> shift). mult 0: unknown. */
struct tsc_conv {
	uint64_t zero, mult;
	uint16_t shift;
};

/* All zeros: times stay unchanged. */
struct clock_map {
	struct tsc_conv tsc; /* applied first; mult 0: times are in ns */
	int64_t offset;	     /* ns to add at the time `at` */
	int64_t drift;	     /* ns to add for each 2^48 ns after `at` */
	uint64_t at;
};

#define DRIFT_ONE ((int64_t)1 << 48)

/* Returns a time of the capture's own clock on the timeline. */
uint64_t clock_map_time(const struct clock_map *m, uint64_t t);
/* Returns the map that applies a, then b. b must have no tsc. */
struct clock_map clock_map_then(const struct clock_map *a,
				const struct clock_map *b);
