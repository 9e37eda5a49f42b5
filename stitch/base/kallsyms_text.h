/* kallsyms_text.h - reads the lines of a copy of /proc/kallsyms: "ADDRESS TYPE
 * NAME", followed by "\t[MODULE]" for a module. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A symbol. name and module are in the text, without a final 0. */
struct kallsyms_line {
	uint64_t addr; /* not 0 */
	const char *name, *module;
	size_t name_len;   /* not 0 */
	size_t module_len; /* 0: a symbol of the kernel itself */
	char type;
};

/* The rest of the text, borrowed. Other members start as 0. */
struct kallsyms_text {
	const char *at;
	size_t left;
	const char *high;    /* 8 digits of an earlier line; NULL: none */
	uint64_t high_value; /* their value */
};

/* Stores the next symbol in *out, or returns false at the end. Skips malformed
 * lines, and hidden addresses, which are 0. */
bool kallsyms_text_next(struct kallsyms_text *t, struct kallsyms_line *out);

/* Returns whether the symbol has this name; the length rejects most lines. */
static inline bool kallsyms_line_is(const struct kallsyms_line *l,
				    const char *name)
{
	const size_t n = strlen(name);

	return l->name_len == n && !memcmp(l->name, name, n);
}

/* Returns whether the symbol is code. */
static inline bool kallsyms_line_is_code(const struct kallsyms_line *l)
{
	const char lower = l->type | 0x20;

	return lower == 't' || lower == 'w';
}
