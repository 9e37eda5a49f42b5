/* clocks.h - which clocks there are, and how times go from one to another.
 *
 * A map is a straight line: the offset at one moment, and how much it grows
 * from there. Maps never turn two times around, so what is sorted on one clock
 * is sorted on the other. */
#ifndef STITCH_ORDER_CLOCKS_H
#define STITCH_ORDER_CLOCKS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/source.h"

/* Zeroed: times stay what they are. */
struct clock_map {
	struct tsc_conv tsc; /* first of all; mult 0: times are ns already */
	int64_t offset;	     /* ns to add at the time `at` */
	int64_t drift;	     /* and so many more for each 2^48 ns since */
	uint64_t at;
};

#define DRIFT_ONE ((int64_t)1 << 48)

/* The clock that perf, ftrace, LTTng or a user calls so; CLOCK_ID_NONE: none
 * of those that we know, or one that does not count ns. NULL is fine. */
enum clock_id clock_id_of(const char *name);
/* Never steps against other clocks of the kernel but by its own errors:
 * realtime and what NTP steers alike. */
bool clock_is_steered(enum clock_id id);
/* Cycles of a processor: no ns before they are converted. */
bool clock_is_raw(const struct source_info *info);

uint64_t clock_map_time(const struct clock_map *m, uint64_t t);
/* What b makes of a's results. b has no tsc. */
struct clock_map clock_map_then(const struct clock_map *a,
				const struct clock_map *b);

/* Bytes of a time as clock_utc() writes it, with the final 0. */
#define CLOCK_UTC_SIZE 64
/* ns since 1970 as "2026-11-20T14:03:07.123456789Z"; its length, or 0 when
 * the year cannot be written. */
size_t clock_utc(int64_t ns, char buf[CLOCK_UTC_SIZE]);
#endif
