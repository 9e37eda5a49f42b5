/* text.h - conversions of printf in formats that come from a capture, and
 * the text they make: what print.c and bprint.c share. */
#ifndef FORMATS_TRACEPOINT_TEXT_H
#define FORMATS_TRACEPOINT_TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_out {
	char *buf;
	size_t size, len;
};

/* Adds what has room. */
void tp_out(struct tp_out *o, const char *fmt, ...)
	__attribute__((format(__printf__, 2, 3)));

/* "%-08.3llx", taken apart. */
struct tp_conversion {
	bool left, zero, alt, plus, blank;
	int width, precision; /* precision -1: none */
	int bytes;	      /* of the number */
	char type;
};

/* Behind the %; *s goes behind the conversion. */
void tp_conversion(const char **s, struct tp_conversion *c, bool long32);
void tp_out_number(struct tp_out *o, const struct tp_conversion *c, uint64_t v);
void tp_out_text(struct tp_out *o, const struct tp_conversion *c,
		 const char *s);
#endif
