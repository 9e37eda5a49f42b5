/* pointed.h - prints the target of a pointer in a print format: network
 * addresses, UUIDs, bitmaps. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct expr_machine;
struct expr_value;
struct text_out;

/* ---- the value of an expression in a print format: a number, a text or bytes
 * of the payload. */

enum expr_kind {
	EXPR_NUM,
	EXPR_TEXT,
	EXPR_BLOB,
};

struct expr_value {
	enum expr_kind kind;
	uint64_t num;
	const char *text;	   /* NUL-terminated */
	const unsigned char *blob; /* len bytes; texts have them too */
	uint32_t len, elem;	   /* elem: size of one element in bytes */
	bool is_signed;		   /* the elements are signed */
};

/* The machine of the capture. swap: numbers have the other byte order; long32:
 * a long has 32 bits. */
struct expr_machine {
	bool swap, long32;
};

/* Returns element i of an array; sets *ok to false if there is none. */
uint64_t expr_element(const struct expr_machine *on, const struct expr_value *v,
		      uint32_t elem, uint64_t i, bool *ok);

/* Prints a value: s: a string in quotes; l: the labels of an enumeration; v: a
 * variant, j: a list or structure, both kept as JSON; x, d, i: bytes as
 * hexadecimal, unsigned or signed numbers; b: the last `bits` of a number.
 * Returns false if the value is of another kind. */
bool tp_out_braces(struct text_out *o, char how, int bits,
		   const struct expr_value *v);

/* Returns how many letters after %p are known to choose a kind; 0: none. */
size_t tp_pointed_letters(const char *s);
/* Prints the bytes that v points to, as %p with these letters does
 * (lib/vsprintf.c of Linux, pointer()); number is the width of "%*p", -1: none.
 * Returns false if the payload does not have the bytes. */
bool tp_out_pointed(struct text_out *o, const struct expr_machine *on,
		    const char *letters, int number,
		    const struct expr_value *v);
/* Prints the first bits of a bitmap: its words or, with `list`, the numbers of
 * the bits: "0-3,8". Returns false if it has fewer bits. */
bool tp_out_bitmap(struct text_out *o, const struct expr_machine *on,
		   const struct expr_value *v, unsigned int bits, bool list);
