/* span_text.h - times as tables print them, and --time takes them. */
#pragma once
#include <stdint.h>

#define SPAN_TEXT 96

/* Writes a time, "12.500000,13.250001"; of the clock on the wall, if that is
 * *wall later, "2026-11-28T03:12:04.500000Z+0.750001s". Rounded outwards to
 * microseconds. Returns buf. */
const char *span_text(char buf[SPAN_TEXT], const int64_t *wall, int64_t from,
		      int64_t to);
/* The same of one moment, "12.500000", which is cut. */
const char *span_moment(char buf[SPAN_TEXT], const int64_t *wall, int64_t time);
