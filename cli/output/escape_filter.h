/* escape_filter.h - the last filter of printed text: shows as an escape what
 * controls a terminal, hides or reverses text, or is not UTF-8.
 *
 * All output to stdout and stderr goes through it, so that no caller has to
 * know which of its texts came from outside. Newlines, tabs and the sequences
 * of term.h pass; text that is safe already is not changed. */
#pragma once
#include <stddef.h>

struct escape_filter {
	void (*put)(const char *buf, size_t n); /* writes filtered text */
	/* the start of a character or mark that is not complete yet */
	char held[32];
	size_t n_held;
};

/* Filters n bytes. Holds an incomplete character at the end until the next
 * call. */
void escape_filter_pass(struct escape_filter *s, const char *buf, size_t n);
/* Writes the bytes that are held, as no more will follow. */
void escape_filter_end(struct escape_filter *s);
