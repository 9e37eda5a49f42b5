/* words.h - the words for the values of an enum. */
#pragma once
#include <stddef.h>

/* Defines the function `name`, which returns the word for a value, of those
 * that follow by their values; NULL: it has none. A semicolon follows, as with
 * COMPARE_BY(). */
#define WORDS_FUNCTION(name, type, ...)                                        \
	const char *name(type v)                                               \
	{                                                                      \
		static const char *const word[] = { __VA_ARGS__ };             \
                                                                               \
		return (size_t)v < sizeof(word) / sizeof(*word) ? word[v]      \
								: NULL;        \
	}                                                                      \
	const char *name(type v)
