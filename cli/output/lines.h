/* lines.h - lines of text with a label in front, wrapped so that the text stays
 * in its column.
 *
 * The functions add to a line until lines_put() prints it. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/output/term.h"

struct lines {
	FILE *out;
	int width; /* in columns; INT_MAX: no wrapping */
	char text[2048];
	size_t len;
};

/* Formats as printf() does; HUMAN_GROUPED() writes a count as 12,345. */
void lines_add(struct lines *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds text from a capture, made safe as by safe_text_clean(). */
void lines_clean(struct lines *l, const char *text);
/* Adds a time as script shows it: "210.660909". */
void lines_seconds(struct lines *l, int64_t ns);
/* Adds `before` and a number with its noun: "3 gaps", "1 gap". */
void lines_count(struct lines *l, const char *before, int64_t n,
		 const char *one, const char *many);
/* Adds " (12.3 %)" unless whole is 0. */
void lines_share(struct lines *l, int64_t part, int64_t whole);
/* Adds percentiles of a time in ns: "median 11.2 us, 90 % by 40.0 us, ...". */
void lines_waited(struct lines *l, int64_t p50, int64_t p90, int64_t p99,
		  int64_t max);
/* Prints the line and empties it; with label "" it continues the line above. */
void lines_put(struct lines *l, const char *label);
/* Does lines_add() and lines_put(). */
void lines_print(struct lines *l, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void lines_put_styled(struct lines *l, const char *label,
		      enum term_style style);
