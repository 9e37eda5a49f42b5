/* expr_value.h - what an expression of a print format comes to: a number, a
 * text or bytes of the payload. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum expr_kind {
	EXPR_NUM,
	EXPR_TEXT,
	EXPR_BLOB,
};

struct expr_value {
	enum expr_kind kind;
	uint64_t num;
	const char *text;	   /* with a final 0 */
	const unsigned char *blob; /* len bytes, of a text too */
	uint32_t len, elem;	   /* elem: bytes of one element */
	bool is_signed;		   /* the elements are */
};

/* What the payload was recorded on: numbers are swapped, a long has 32 bits. */
struct expr_machine {
	bool swap, long32;
};

/* Returns element i of an array; sets *ok to false if there is none. */
uint64_t expr_element(const struct expr_machine *on, const struct expr_value *v,
		      uint32_t elem, uint64_t i, bool *ok);
