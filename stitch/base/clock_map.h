/* clock_map.h - converts the times of one clock to another.
 *
 * A map is a straight line: the offset at one moment, and how much it grows
 * from there. It never reverses the order of two times, so what is sorted on
 * one clock is sorted on the other. */
#ifndef STITCH_BASE_CLOCK_MAP_H
#define STITCH_BASE_CLOCK_MAP_H
#include <stdint.h>

/* How perf's clock goes with x86's counter, by PERF_RECORD_TIME_CONV:
 * ns = zero + ((cycles * mult) >> shift). mult 0: not said. */
struct tsc_conv {
	uint64_t zero, mult;
	uint16_t shift;
};

/* Zeroed: times stay what they are. */
struct clock_map {
	struct tsc_conv tsc; /* first of all; mult 0: times are ns already */
	int64_t offset;	     /* ns to add at the time `at` */
	int64_t drift;	     /* and so many more for each 2^48 ns since */
	uint64_t at;
};

#define DRIFT_ONE ((int64_t)1 << 48)

uint64_t clock_map_time(const struct clock_map *m, uint64_t t);
/* What b makes of a's results. b has no tsc. */
struct clock_map clock_map_then(const struct clock_map *a,
				const struct clock_map *b);
#endif
