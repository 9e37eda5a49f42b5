/* expr.h - the expressions in a tracepoint's print format.
 *
 * They are C with REC->field and some __functions, written by the kernel and
 * recorded in the capture, so anything may stand there. They are evaluated
 * while they are read: no tree, no allocation, a limit on depth and output.
 * Nothing is called, no address is followed. */
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
	const char *text;	   /* ends with a 0 */
	const unsigned char *blob; /* len bytes */
	uint32_t len, elem;	   /* elem: bytes of one of its items */
};

#define EXPR_TEXT_MAX 4096

/* Where we are in the text, and what the names in it mean. */
struct expr {
	const char *s;
	const struct tp_format *fmt;
	const struct field *field; /* one for each of fmt's */
	bool swap, long32;
	int depth;
	bool failed; /* something that is not understood: give up */
	char text[EXPR_TEXT_MAX]; /* what __print_flags and the like made */
	size_t n_text;
};

/* Reads one expression, up to a comma or closing bracket. */
struct expr_value expr_take(struct expr *e);
/* One or more string literals, joined and without escapes. NULL: none. */
const char *expr_string(struct expr *e);
/* Skips blanks; then, if c stands there, it is taken: true. */
bool expr_is(struct expr *e, char c);
#endif
