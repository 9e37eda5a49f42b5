/* utf8.h - decodes UTF-8 in names from captures, and decides which characters
 * may be shown. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the character at s, which has len bytes, into *c. Returns its length
 * in bytes, or 0 if it is not valid UTF-8: incomplete, overlong, a surrogate,
 * or above U+10FFFF. */
size_t utf8_char(const char *s, size_t len, uint32_t *c);

/* Returns false for characters that control a terminal, end a line, change the
 * direction of text, are invisible, or are forbidden in XML. */
bool utf8_shown(uint32_t c);

/* Returns the length of the character at s if it may be shown as it is, else
 * 0. */
size_t utf8_safe(const char *s, size_t len);
