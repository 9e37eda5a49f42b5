/* clocks.h - the clocks of captures, and times as text. */
#ifndef STITCH_ORDER_CLOCKS_H
#define STITCH_ORDER_CLOCKS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/clock_map.h"
#include "stitch/source.h"

/* The clock that perf, ftrace, LTTng or a user calls so; CLOCK_ID_NONE: none
 * of those that we know, or one that does not count ns. NULL is fine. */
enum clock_id clock_id_of(const char *name);
/* Never steps against other clocks of the kernel but by its own errors:
 * realtime and what NTP steers alike. */
bool clock_is_steered(enum clock_id id);
/* Cycles of a processor: no ns before they are converted. */
bool clock_is_raw(const struct source_info *info);

/* Bytes of a time as clock_utc() writes it, with the final 0. */
#define CLOCK_UTC_SIZE 64
/* ns since 1970 as "2026-11-20T14:03:07.123456789Z"; its length, or 0 when
 * the year cannot be written. */
size_t clock_utc(int64_t ns, char buf[CLOCK_UTC_SIZE]);
#endif
