/* text.h - printf conversions of formats that come from a capture, and their
 * output. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "stitch/base/text_out.h"

/* Returns the value of the low `bytes` bytes of v. */
static inline uint64_t tp_narrow(uint64_t v, int bytes, bool is_signed)
{
	int drop = bytes < 8 ? 64 - 8 * bytes : 0;

	return is_signed ? (uint64_t)((int64_t)(v << drop) >> drop)
			 : v << drop >> drop;
}

struct tp;

/* The most characters that a width may ask for. */
#define TEXT_WIDTH_MAX 200

/* A parsed conversion such as "%-08.3llx". */
struct tp_conversion {
	bool left, zero, alt, plus, blank;
	bool width_given, precision_given; /* is an argument: "%*d" */
	int width, precision;		   /* precision -1: none */
	int bytes;			   /* size of the number */
	char type;
	char letter;	 /* 'p': the letter after it; 0: none */
	char pointed[8]; /* 'p': the letters for tp_out_pointed(); "": none */
};

/* Parses a conversion. *s must be after the '%', and is after the conversion on
 * return. */
void tp_conversion(const char **s, struct tp_conversion *c, bool long32);
/* Prints the address of %ps and the like as its symbol, if the capture has one,
 * or as digits. */
void tp_out_pointer(struct text_out *o, const struct tp *tp,
		    const struct tp_conversion *c, uint64_t v);
