/* parse_wall.h - times of the day, as users type them and logs have them.
 *
 * A time is "2026-11-28 03:12:04.5" (or with T for the blank), or
 * "28/Nov/2026:03:12:04" of web servers, with a zone behind it ("Z", "UTC",
 * "+0100", "+01:00") or else in that of $TZ. It may be anywhere in a line of a
 * log, which is the whole text. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Finds the first time in a text. Returns false if there is none, or else true
 * and a range of ns since 1970, of which `to` is the first ns behind it:
 *
 * - TIME+1s, with a duration as parse_duration() reads it: that long from then;
 * - TIME,TIME: from the one to the other;
 * - a line with "duration: 812.3 ms" (PostgreSQL; seconds too) or
 *   "Query_time: 0.8" (MariaDB): the time before, as both log when it is over;
 * - else the second, or the last decimal, that the time has. */
bool parse_wall(const char *text, int64_t *from, int64_t *to);
