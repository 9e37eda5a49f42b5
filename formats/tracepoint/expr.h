/* expr.h - evaluates the expressions in a tracepoint's print format.
 *
 * They are C with REC->field and some __functions, written by the kernel but
 * read from the capture, so they may be anything. They are evaluated while they
 * are parsed: no tree, no allocation, limits on depth and output. No function
 * is called and no address is dereferenced. Texts stay where they are as long
 * as the struct expr is used. */
#ifndef FORMATS_TRACEPOINT_EXPR_H
#define FORMATS_TRACEPOINT_EXPR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct field;
struct tp_format;

enum expr_kind {
	EXPR_NUM,
	EXPR_TEXT,
	EXPR_BLOB,
};

struct expr_value {
	enum expr_kind kind;
	uint64_t num;
	const char *text;	   /* with a final 0 */
	const unsigned char *blob; /* len bytes */
	uint32_t len, elem;	   /* elem: bytes of one element */
};

#define EXPR_TEXT_MAX 4096
#define EXPR_KNOWN 64

/* What is in brackets, and names no field: it has one value always. */
struct expr_known {
	const char *begin, *end; /* behind both brackets; NULL: none */
	uint64_t num;
};

/* The position in the text, and the meaning of names in it. */
struct expr {
	const char *s;
	const struct tp_format *fmt;
	const struct field *field; /* n elements, like fmt's */
	bool swap, long32;
	int depth;
	bool failed;		  /* the expression is not understood */
	char text[EXPR_TEXT_MAX]; /* output of __print_flags and the like */
	size_t n_text;
	uint32_t fields;		     /* that were looked up so far */
	struct expr_known known[EXPR_KNOWN]; /* by place */
};

/* Evaluates one expression, up to a comma or closing bracket. */
struct expr_value expr_take(struct expr *e);
/* Takes one or more string literals, joined and without escapes. Returns NULL
 * if there is none. */
const char *expr_string(struct expr *e);
/* Skips blanks, then takes c if it is next and returns true. */
bool expr_is(struct expr *e, char c);
#endif
