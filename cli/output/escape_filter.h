/* escape_filter.h - filters all printed text last: whatever controls a
 * terminal, hides or reverses text, or is not UTF-8 is shown as an escape.
 *
 * All that is written to stdout and stderr goes through a sieve, so that no
 * caller has to know which of its texts came from outside. Newlines, tabs and
 * the sequences of term.h pass; text that is safe already is not changed. */
#pragma once
#include <stddef.h>

struct escape_filter {
	void (*put)(const char *buf, size_t n); /* takes what has passed */
	/* the beginning of a character or a mark whose rest has not come */
	char held[32];
	size_t n_held;
};

/* Passes n bytes on. A part of a character at their end is held until the next
 * call. */
void escape_filter_pass(struct escape_filter *s, const char *buf, size_t n);
/* Shows what is held: no more bytes follow. */
void escape_filter_end(struct escape_filter *s);
