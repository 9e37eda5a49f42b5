/* parse_number.h - reads decimal numbers, durations and times that users type.
 *
 * strtod() is of no use for numbers: it takes "0x1p3" and "nan", and wants
 * "0,1" in some locales. */
#pragma once
#include <stdint.h>
#include <stdbool.h>

/* A time is "2026-11-28 03:12:04.5" (or with T for the blank), or
 * "28/Nov/2026:03:12:04" of web servers, with a zone after it ("Z", "UTC",
 * "+0100", "+01:00") or else in that of $TZ. It may be anywhere in a line of a
 * log, which is the whole text. */

/* Finds the first time in a text. Returns false if there is none, or else true
 * and a range of ns since 1970, of which `to` is the first ns after it:
 *
 * - TIME+1s, with a duration as parse_duration() reads it: that long from then;
 * - TIME,TIME: from the one to the other;
 * - a line with "duration: 812.3 ms" (PostgreSQL; seconds too) or
 *   "Query_time: 0.8" (MariaDB): the time before, as both log when it is over;
 * - else the second, or the last decimal, that the time has. */
bool parse_wall(const char *text, int64_t *from, int64_t *to);

/* Reads a number without a sign, "12", "12.5" or ".5", as a multiple of
 * 10^-places, exactly; further decimals are cut. Moves *p after it. Returns 0,
 * or -1 if there is no digit, or if it does not fit. */
int parse_decimal(const char **p, unsigned int places, int64_t *out);
/* Reads a whole text as a duration with its unit: "200ms", "1.5s", "5m", "2h"
 * or "1d". Returns 0, or -1 if it is not a duration, or does not fit. */
int parse_duration(const char *text, int64_t *ns);
