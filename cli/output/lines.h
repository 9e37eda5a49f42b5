/* lines.h - facts for people: short lines with a label in front, wrapped so
 * that text stays in its column.
 *
 * Add to a line as often as needed, then put it. */
#ifndef CLI_OUTPUT_LINES_H
#define CLI_OUTPUT_LINES_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/output/term.h"

struct lines {
	FILE *out;
	int width; /* columns; INT_MAX: never wrapped */
	char text[2048];
	size_t len;
};

void lines_add(struct lines *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Text of a capture: what commands a terminal is shown as \xNN. */
void lines_clean(struct lines *l, const char *text);
/* "210.660909": as script shows times. */
void lines_seconds(struct lines *l, int64_t ns);
/* "3 gaps", "1 gap". */
void lines_count(struct lines *l, const char *before, int64_t n,
		 const char *one, const char *many);
/* Prints the line; label "": it goes on with the one above. */
void lines_put(struct lines *l, const char *label);
void lines_put_styled(struct lines *l, const char *label,
		      enum term_style style);
#endif
