/* expr_parse.h - parses the expressions in a tracepoint's print format. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct expr_tree;
struct tp_format;

/* Most variables of statements: ({ int a = 1; a; }). */
#define EXPR_LOCALS 8

struct expr_local {
	const char *name; /* len bytes */
	size_t len;
	uint32_t node;
};

/* What is parsed: the rest of the text, and the meaning of names in it. */
struct expr_source {
	const char *s;
	const struct tp_format *fmt;
	struct expr_tree *tree;
	uint32_t release; /* of the kernel, as kernel_name_value() takes it */
	bool long32;
	int depth;
	size_t n_local;
	struct expr_local local[EXPR_LOCALS];
	bool failed; /* it is not understood; everything fails from then on */
	/* Why: what, for example "calls", and the word; "": it is no C. */
	const char *what;
	char word[48];
	/* A name that has a value in the kernel only; "": there is none. */
	char unknown[48];
	bool variable; /* one of its variables, since this was set to false */
};

/* Takes one expression, up to a comma or closing bracket. Returns
 * its node, or 0 if it failed. */
uint32_t expr_parse(struct expr_source *in);
/* Makes a node of the address, whose value is its text in a list of lines
 * 0x12 : "text", up to the first other line; "(null)" of 0. */
uint32_t expr_strings(struct expr_source *in, uint32_t addr, const char *list);
/* Takes one or more string literals, joined and without escapes; they belong to
 * the tree. Returns NULL if there is none. */
const char *expr_string(struct expr_source *in);
/* Skips blanks, then takes c if it is next and returns true. */
bool expr_is(struct expr_source *in, char c);
/* Fails, because the format does what with this word of n bytes. Returns 0. */
uint32_t expr_refuse_word(struct expr_source *in, const char *what,
			  const char *word, size_t n);
