/* braces.h - fields of CTF events as text, as babeltrace2 prints them. */
#pragma once
#include <stdbool.h>

struct expr_value;
struct text_out;

/* What %pJ of a print format of CTF has behind it. The kernel has no %pJ. */
#define BRACES_HOW "slvjxdib"

/* Prints a value: s: a string in quotes; l: the labels of an enumeration; v: a
 * variant, j: a list or structure, both kept as JSON; x, d, i: bytes as
 * hexadecimal, unsigned or signed numbers; b: the last `bits` of a number.
 * Returns false if the value is of another kind. */
bool tp_out_braces(struct text_out *o, char how, int bits,
		   const struct expr_value *v);
