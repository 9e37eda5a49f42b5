/* utf8.h - characters in names that come from captures, and which of them
 * may be shown as they are. */
#ifndef STITCH_BASE_UTF8_H
#define STITCH_BASE_UTF8_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at s, which has len of them, and its value; 0 when
 * it is no UTF-8: cut, too long a form, a surrogate, or beyond the last. */
size_t utf8_char(const char *s, size_t len, uint32_t *c);

/* False for what commands a terminal, ends a line, turns the direction of
 * text, cannot be seen, or is forbidden in XML. */
bool utf8_shown(uint32_t c);

/* Bytes of the character at s when it may be shown as it is; else 0. */
size_t utf8_safe(const char *s, size_t len);
#endif
