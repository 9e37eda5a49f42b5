/* escape_filter.c - filters all printed text last. */
#include "cli/output/escape_filter.h"

#include <stdbool.h>
#include <string.h>

#include "stitch/text/safe_text.h"
#include "cli/output/term.h"

#define BLOCK 256 /* bytes that are tested in one vectorized loop */

/* Returns whether c may not pass as it is, without branches, so that the
 * compiler vectorizes the loop over a block. */
static inline unsigned char escape_filter_is_odd(signed char c)
{
	/* 0x7f + 1 is less than 0, too */
	return (unsigned char)(((signed char)((unsigned char)c + 1) < 0x21) &
			       (c != '\n') & (c != '\t'));
}

/* Returns how many bytes at the start are ASCII that passes unchanged. */
static inline __attribute__((always_inline)) size_t
escape_filter_plain_any(const char *s, size_t n)
{
	size_t i = 0;

	while (n - i >= BLOCK) {
		unsigned char odd = 0;

		for (size_t k = 0; k < BLOCK; k++)
			odd |= escape_filter_is_odd((signed char)s[i + k]);
		if (odd)
			break;
		i += BLOCK;
	}
	while (i < n && !escape_filter_is_odd((signed char)s[i]))
		i++;
	return i;
}

#ifdef __x86_64__
/* Most processors have vectors of 32 bytes, which the compiler uses only for
 * such a target. With 16 bytes, script spent a fifth of its time here. */
__attribute__((target("avx2"))) static size_t
escape_filter_plain_avx2(const char *s, size_t n)
{
	return escape_filter_plain_any(s, n);
}
#endif

static size_t escape_filter_plain(const char *s, size_t n)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2"))
		return escape_filter_plain_avx2(s, n);
#endif
	return escape_filter_plain_any(s, n);
}

/* Filtered text that is not written yet. */
struct sieved {
	const struct escape_filter *s;
	char buf[4096];
	size_t n;
};

static void escape_filter_flush(struct sieved *o)
{
	if (o->n)
		o->s->put(o->buf, o->n);
	o->n = 0;
}

static void escape_filter_add(struct sieved *o, const char *s, size_t n)
{
	if (n > sizeof(o->buf) - o->n)
		escape_filter_flush(o);
	if (n > sizeof(o->buf)) {
		o->s->put(s, n);
		return;
	}
	memcpy(o->buf + o->n, s, n);
	o->n += n;
}

/* Returns whether s may be the beginning of a character of UTF-8 that is longer
 * than the len bytes. */
static bool escape_filter_is_part(const char *s, size_t len)
{
	unsigned char c = (unsigned char)*s;
	size_t need = c < 0xc2 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

	for (size_t i = 1; i < len; i++)
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return false;
	return c < 0xf5 && len < need;
}

/* Adds the character or sequence at the front of s. Returns how many bytes it
 * has; 0 if it may go on after the len bytes. */
static size_t escape_filter_unit(struct sieved *o, const char *s, size_t len)
{
	const char *code;
	struct safe_text u;

	if (!escape_filter_is_odd((signed char)*s)) {
		escape_filter_add(o, s, 1);
		return 1;
	}
	size_t n = term_find_mark(s, len, &code);
	if (n && code)
		escape_filter_add(o, code, strlen(code));
	if (n)
		return code ? n : 0;
	if (escape_filter_is_part(s, len))
		return 0;
	n = safe_text_unit(s, len, &u);
	escape_filter_add(o, u.text, strlen(u.text));
	return n;
}

/* Completes the held bytes with those at buf. Returns how many bytes of buf are
 * done. */
static size_t escape_filter_pass_held(struct escape_filter *s, struct sieved *o,
				      const char *buf, size_t n)
{
	char part[sizeof(s->held)];
	size_t held = s->n_held;
	size_t add = n < sizeof(part) - held ? n : sizeof(part) - held;
	size_t at = 0;

	memcpy(part, s->held, held);
	memcpy(part + held, buf, add);
	while (at < held) {
		size_t took = escape_filter_unit(o, part + at, held + add - at);

		if (!took) {
			s->n_held = held + add - at;
			memcpy(s->held, part + at, s->n_held);
			return add;
		}
		at += took;
	}
	s->n_held = 0;
	return at - held;
}

void escape_filter_pass(struct escape_filter *s, const char *buf, size_t n)
{
	struct sieved o;
	size_t plain = s->n_held ? 0 : escape_filter_plain(buf, n);

	if (plain == n) {
		s->put(buf, n);
		return;
	}
	o.s = s;
	o.n = 0;
	for (size_t i = s->n_held ? escape_filter_pass_held(s, &o, buf, n) : 0;
	     i < n;) {
		plain = escape_filter_plain(buf + i, n - i);
		escape_filter_add(&o, buf + i, plain);
		i += plain;
		if (i == n)
			break;
		size_t took = escape_filter_unit(&o, buf + i, n - i);

		if (!took) {
			s->n_held = n - i;
			memcpy(s->held, buf + i, s->n_held);
			break;
		}
		i += took;
	}
	escape_filter_flush(&o);
}

void escape_filter_end(struct escape_filter *s)
{
	for (size_t i = 0; i < s->n_held; i++) {
		struct safe_text u;

		safe_text_unit(s->held + i, 1, &u);
		s->put(u.text, strlen(u.text));
	}
	s->n_held = 0;
}
