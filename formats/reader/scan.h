/* scan.h - reads text from captures piece by piece, within its bounds.
 *
 * This is to lines what struct bytes is to numbers. A scan_ function that
 * returns false has not moved *s. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A window on a text: p[0..n) may be read. Borrowed; not NUL-terminated. */
struct scan {
	const char *p;
	size_t n;
};

static inline struct scan scan_of(const void *p, size_t n)
{
	return (struct scan){ p, n };
}

static inline void scan_skip(struct scan *s, size_t n)
{
	n = n < s->n ? n : s->n;
	if (!n)
		return; /* p may be NULL, to which C adds not even 0 */
	s->p += n;
	s->n -= n;
}

/* Returns the first n bytes, or all if there are fewer. */
static inline struct scan scan_head(struct scan s, size_t n)
{
	return (struct scan){ s.p, n < s.n ? n : s.n };
}

/* Returns what follows the first n bytes; empty if there are fewer. */
static inline struct scan scan_tail(struct scan s, size_t n)
{
	scan_skip(&s, n);
	return s;
}

static inline bool scan_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline bool scan_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool scan_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       scan_is_digit(c) || c == '_';
}

static inline int scan_hex_digit(char c)
{
	if (scan_is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static inline bool scan_blanks(struct scan *s)
{
	size_t n = 0;

	while (n < s->n && scan_is_blank(s->p[n]))
		n++;
	scan_skip(s, n);
	return n > 0;
}

static inline void scan_trim(struct scan *s)
{
	while (s->n && scan_is_blank(s->p[s->n - 1]))
		s->n--;
}

static inline bool scan_starts(struct scan s, const char *text)
{
	size_t n = strlen(text);

	return s.n >= n && !memcmp(s.p, text, n);
}

static inline bool scan_is(struct scan s, const char *text)
{
	return s.n == strlen(text) && scan_starts(s, text);
}

static inline bool scan_take(struct scan *s, const char *text)
{
	if (!scan_starts(*s, text))
		return false;
	scan_skip(s, strlen(text));
	return true;
}

/* Takes text from the end of *s. Returns false if *s does not end with it. */
static inline bool scan_take_end(struct scan *s, const char *text)
{
	size_t n = strlen(text);

	if (s->n < n || memcmp(s->p + s->n - n, text, n) != 0)
		return false;
	s->n -= n;
	return true;
}

/* Returns the position of the first match, or s.n if there is none. */
static inline size_t scan_find(struct scan s, const char *text)
{
	const char *at = s.n ? memmem(s.p, s.n, text, strlen(text)) : NULL;

	return at ? (size_t)(at - s.p) : s.n;
}

static inline size_t scan_find_char(struct scan s, char c)
{
	const char *at = s.n ? memchr(s.p, c, s.n) : NULL;

	return at ? (size_t)(at - s.p) : s.n;
}

/* Returns the text up to the next blank; *s stays. */
static inline struct scan scan_token(struct scan s)
{
	size_t n = 0;

	while (n < s.n && !scan_is_blank(s.p[n]))
		n++;
	return scan_head(s, n);
}

/* Removes the first line from *s and returns it without its line feed. */
static inline struct scan scan_line(struct scan *s)
{
	size_t n = scan_find_char(*s, '\n');
	struct scan line = scan_head(*s, n);

	scan_skip(s, n + 1);
	return line;
}

/* Takes a decimal number. Returns false if there is none or it does not fit. */
static inline bool scan_u64(struct scan *s, uint64_t *out)
{
	uint64_t v = 0;
	size_t n = 0;

	for (; n < s->n && scan_is_digit(s->p[n]); n++)
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s->p[n] - '0'), &v))
			return false;
	if (!n)
		return false;
	scan_skip(s, n);
	*out = v;
	return true;
}

/* Takes a decimal number, which may be negative. Returns false if there is none
 * or it does not fit. */
static inline bool scan_i32(struct scan *s, int32_t *out)
{
	struct scan was = *s;
	uint64_t v;

	if (!scan_u64(s, &v))
		return false;
	if (v > INT32_MAX) {
		*s = was;
		return false;
	}
	*out = (int32_t)v;
	return true;
}

/* Takes a hexadecimal number, with or without 0x. Returns false if there is
 * none or it does not fit. */
static inline bool scan_hex(struct scan *s, uint64_t *out)
{
	struct scan t = *s;
	uint64_t v = 0;
	size_t n = 0;
	int digit;

	scan_take(&t, "0x");
	for (; n < t.n && (digit = scan_hex_digit(t.p[n])) >= 0; n++) {
		if (v >> 60)
			return false;
		v = v << 4 | (uint64_t)digit;
	}
	if (!n)
		return false;
	*s = scan_tail(t, n);
	*out = v;
	return true;
}

/* Takes the decimal number at the end of *s. Returns false if there is none or
 * it does not fit. */
static inline bool scan_back_i32(struct scan *s, int32_t *out)
{
	size_t n = s->n;
	struct scan digits;

	while (n && scan_is_digit(s->p[n - 1]))
		n--;
	digits = scan_tail(*s, n);
	if (!scan_i32(&digits, out) || digits.n)
		return false;
	s->n = n;
	return true;
}
