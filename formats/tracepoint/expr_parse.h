/* expr_parse.h - parses the expressions in a tracepoint's print format. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct expr_tree;
struct tp_format;

/* How many variables statements may have: ({ int a = 1; a; }). */
#define EXPR_LOCALS 8

struct expr_local {
	const char *name; /* len bytes, no NUL */
	size_t len;
	uint32_t node;
};

/* An expression that is parsed: the rest of the text, and the meaning of the
 * names in it. */
struct expr_source {
	const char *s;
	const struct tp_format *fmt;
	struct expr_tree *tree;
	uint32_t release; /* of the kernel; see kernel_release_number() */
	bool long32;
	int depth;
	size_t n_local;
	struct expr_local local[EXPR_LOCALS];
	bool failed; /* the text is not understood; every call fails from then
			on */
	/* The reason: what the format does, for example "calls", and with which
	 * word; word "": it is not C. */
	const char *what;
	char word[48];
	/* A name whose value only the kernel knows; "": none. */
	char unknown[48];
	bool variable; /* one is a variable of the kernel; the caller clears it
			*/
};

/* Takes one expression, up to a comma or closing bracket. Returns
 * its node, or 0 if it failed. */
uint32_t expr_parse(struct expr_source *in);
/* Returns a node with the text of the address in a list of lines 0x12 : "text",
 * which ends at the first line of another form; "(null)" for address 0. */
uint32_t expr_strings(struct expr_source *in, uint32_t addr, const char *list);
/* Takes one or more string literals, joined and without escapes; they belong to
 * the tree. Returns NULL if there is none. */
const char *expr_string(struct expr_source *in);
/* Skips blanks, then takes c if it is next and returns true. */
bool expr_is(struct expr_source *in, char c);
/* Sets in->failed with the reason: the format does `what` with this word of n
 * bytes. Returns 0. */
uint32_t expr_refuse_word(struct expr_source *in, const char *what,
			  const char *word, size_t n);
