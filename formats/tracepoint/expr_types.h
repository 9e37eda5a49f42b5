/* expr_types.h - the types that print formats cast to and fields are declared
 * with. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The type of a number, by the rules of C. */
struct expr_type {
	uint8_t bytes; /* 0: not known, nothing is cut off */
	bool is_signed;
};

/* A type, and what its pointer leads to if it is one. */
struct expr_declared {
	struct expr_type is, to;
	bool pointer;
};

/* Takes blanks and the word at *s, which may be empty. Returns its length. */
size_t expr_types_word(const char **s, const char **word);

static inline bool expr_word_is(const char *w, size_t n, const char *name)
{
	return n && *w == *name && strlen(name) == n && !memcmp(w, name, n);
}

/* Takes a type. Returns false, and takes nothing, if there is none. */
bool expr_types_take(const char **s, bool long32, struct expr_declared *out);
/* Returns the bytes of the type that the declaration of an array begins with; 1
 * if the type is not known. */
uint32_t expr_types_element(const char *declared, const char *end);
