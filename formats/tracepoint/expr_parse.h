/* expr_parse.h - parses the expressions in a tracepoint's print format. */
#ifndef FORMATS_TRACEPOINT_EXPR_PARSE_H
#define FORMATS_TRACEPOINT_EXPR_PARSE_H
#include <stdbool.h>
#include <stdint.h>

struct expr_tree;
struct tp_format;

/* What is parsed: the rest of the text, and the meaning of names in it. */
struct expr_source {
	const char *s;
	const struct tp_format *fmt;
	struct expr_tree *tree;
	int depth;
	bool failed; /* it is not understood; everything fails from then on */
};

/* Takes one expression, up to a comma or closing bracket. Returns
 * its node, or 0 if it failed. */
uint32_t expr_parse(struct expr_source *in);
/* Takes one or more string literals, joined and without escapes; they belong to
 * the tree. Returns NULL if there is none. */
const char *expr_string(struct expr_source *in);
/* Skips blanks, then takes c if it is next and returns true. */
bool expr_is(struct expr_source *in, char c);
#endif
