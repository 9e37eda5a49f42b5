/* words.h - the words for the values of an enum, and words in a text. */
#pragma once
#include <stddef.h>
#include <string.h>

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

/* Returns which of the words, with a blank between them, has these n bytes; -1:
 * none. */
static inline int words_find(const char *words, const char *word, size_t n)
{
	for (int i = 0;; i++) {
		const char *end = strchrnul(words, ' ');

		if ((size_t)(end - words) == n && !memcmp(words, word, n))
			return i;
		if (!*end)
			return -1;
		words = end + 1;
	}
}
