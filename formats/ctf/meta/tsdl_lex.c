/* tsdl_lex.c - makes tokens and values of TSDL text. */
#include <string.h>
#include <strings.h>

#include "formats/ctf/meta/tsdl.h"

/* ---- values of TSDL, as in key = value; and their conversion */

const char *tsdl_text(const struct tsdl *t, uint32_t name)
{
	return intern_get(&t->r->names, name);
}

static void tsdl_append(struct tsdl *t, size_t *n, const char *s)
{
	size_t len = strlen(s);

	mem_append(t->path, *n, t->cap_path, s, len);
}

int tsdl_path(struct tsdl *t, uint32_t *name)
{
	size_t n = 0;

	for (;;) {
		if (!tsdl_is(t, TSDL_IDENT))
			return tsdl_unexpected(t, "a name");
		*name = t->tok.name;
		const char *s = tsdl_text(t, *name);

		if (tsdl_next(t))
			return -1;
		if (!n && !tsdl_is(t, '.'))
			return 0;
		tsdl_append(t, &n, s);
		if (!tsdl_is(t, '.'))
			break;
		tsdl_append(t, &n, ".");
		if (tsdl_next(t))
			return -1;
	}
	*name = intern_add_bytes(&t->r->names, t->path, n);
	return 0;
}

int tsdl_value(struct tsdl *t, struct tsdl_value *v)
{
	*v = (struct tsdl_value){ .at = t->tok.at };
	while (tsdl_is(t, '-') || tsdl_is(t, '+')) {
		v->negative ^= tsdl_is(t, '-');
		if (tsdl_next(t))
			return -1;
		if (!tsdl_is(t, TSDL_NUMBER))
			return tsdl_unexpected(t, "a number");
	}
	v->kind = t->tok.kind;
	v->num = t->tok.num;
	v->name = t->tok.name;
	if (tsdl_is(t, TSDL_IDENT))
		return tsdl_path(t, &v->name);
	if (!tsdl_is(t, TSDL_NUMBER) && !tsdl_is(t, TSDL_TEXT))
		return tsdl_unexpected(t, "a value");
	return tsdl_next(t);
}

int tsdl_unsigned(struct tsdl *t, const struct tsdl_value *v, uint64_t lo,
		  uint64_t hi, uint64_t *out)
{
	if (v->kind != TSDL_NUMBER || (v->negative && v->num) || v->num < lo ||
	    v->num > hi)
		return raw_fail(t->r, v->at,
				"value is not a number from %llu to %llu",
				(unsigned long long)lo, (unsigned long long)hi);
	*out = v->num;
	return 0;
}

int tsdl_signed(struct tsdl *t, const struct tsdl_value *v, int64_t *out)
{
	if (v->kind != TSDL_NUMBER ||
	    v->num > (uint64_t)INT64_MAX + v->negative)
		return raw_fail(t->r, v->at,
				"value is not a signed number of 64 bits");
	*out = (int64_t)(v->negative ? -v->num : v->num);
	return 0;
}

int tsdl_bool(struct tsdl *t, const struct tsdl_value *v, bool *out)
{
	if (v->kind == TSDL_NUMBER) {
		*out = v->num != 0;
		return 0;
	}
	const char *s = v->kind == TSDL_IDENT ? tsdl_text(t, v->name) : "";

	*out = !strcasecmp(s, "true");
	if (!*out && strcasecmp(s, "false"))
		return raw_fail(t->r, v->at, "value is not 'true' or 'false'");
	return 0;
}

int tsdl_byte_order(struct tsdl *t, const struct tsdl_value *v, bool *native,
		    bool *big)
{
	const char *s = v->kind == TSDL_IDENT ? tsdl_text(t, v->name) : "";

	*native = !strcmp(s, "native");
	*big = !strcmp(s, "be") || !strcmp(s, "network");
	if (!*big && !*native && strcmp(s, "le"))
		return raw_fail(t->r, v->at,
				"byte order is not 'le', 'be' or 'network'");
	return 0;
}

int tsdl_alignment(struct tsdl *t, const struct tsdl_value *v, uint32_t *out)
{
	uint64_t n = 0;

	if (tsdl_unsigned(t, v, 1, CTF_ALIGN_MAX, &n))
		return -1;
	if (n & (n - 1))
		return raw_fail(t->r, v->at, "alignment is no power of two");
	*out = (uint32_t)n;
	return 0;
}

int tsdl_attribute(struct tsdl *t, uint32_t key, tsdl_set_fn *set, void *to)
{
	struct tsdl_value v;

	if (tsdl_need(t, '=', "'='") || tsdl_value(t, &v) ||
	    set(t, to, key, &v))
		return -1;
	return tsdl_need(t, ';', "';' after a value");
}

int tsdl_attributes(struct tsdl *t, tsdl_set_fn *set, void *to)
{
	uint32_t key;

	if (tsdl_need(t, '{', "'{'"))
		return -1;
	while (!tsdl_is(t, '}'))
		if (tsdl_path(t, &key) || tsdl_attribute(t, key, set, to))
			return -1;
	return tsdl_next(t);
}

static uint32_t tsdl_pos(const struct tsdl *t)
{
	return (uint32_t)(t->r->n_text - t->rest.n);
}

int tsdl_fail(struct tsdl *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	raw_vfail(t->r, t->tok.at, fmt, ap);
	va_end(ap);
	return -1;
}

int tsdl_unexpected(struct tsdl *t, const char *needed)
{
	if (tsdl_is(t, TSDL_END))
		return tsdl_fail(t, "found the end of the metadata, needed %s",
				 needed);
	struct scan found = scan_head(
		scan_tail(scan_of(t->r->text, t->r->n_text), t->tok.at),
		t->tok.len < 40 ? t->tok.len : 40);

	return tsdl_fail(t, "found '%.*s', needed %s", (int)found.n, found.p,
			 needed);
}

/* Skips blanks and comments. */
static int tsdl_blanks(struct tsdl *t)
{
	struct scan *s = &t->rest;

	for (;;) {
		size_t n = 0;

		while (n < s->n && (scan_is_blank(s->p[n]) ||
				    (s->p[n] >= '\n' && s->p[n] <= '\r')))
			n++;
		scan_skip(s, n);
		if (scan_starts(*s, "//")) {
			scan_line(s);
		} else if (scan_starts(*s, "/*")) {
			n = scan_find(scan_tail(*s, 2), "*/");
			t->tok.at = tsdl_pos(t);
			if (n + 4 > s->n) {
				t->tok.kind = TSDL_END;
				return tsdl_fail(t, "comment has no end");
			}
			scan_skip(s, n + 4);
		} else {
			return 0;
		}
	}
}

/* Reads a decimal, octal or hexadecimal number, with the suffixes of C. */
static int tsdl_lex_number(struct tsdl *t)
{
	struct scan s = t->rest;
	uint64_t v = 0;
	unsigned base = 10;
	size_t n = 0;

	if (s.p[0] == '0') {
		base = s.n > 1 && (s.p[1] | 32) == 'x' ? 16 : 8;
		scan_skip(&s, base == 16 ? 2 : 0);
	}
	for (; n < s.n && scan_hex_digit(s.p[n]) >= 0; n++) {
		unsigned digit = (unsigned)scan_hex_digit(s.p[n]);

		if (digit >= base || __builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, digit, &v))
			return tsdl_fail(t, "number is not one of 64 bits");
	}
	size_t digits = n;

	while (n < s.n && ((s.p[n] | 32) == 'u' || (s.p[n] | 32) == 'l'))
		n++;
	if (!digits && n == s.n)
		t->tok.kind = TSDL_END;
	if (!digits || (n < s.n && scan_is_word(s.p[n])))
		return tsdl_fail(t, "number has characters of none");
	t->tok.kind = TSDL_NUMBER;
	t->tok.num = v;
	t->rest = scan_tail(s, n);
	return 0;
}

/* Takes an escape sequence from *s, after its backslash, and returns its
 * character; -1 if it is none. */
static int tsdl_escape(struct scan *s)
{
	static const char from[] = "abfnrtv";
	static const char to[] = "\a\b\f\n\r\t\v";
	int v = 0;
	size_t n = 0;

	if (!s->n)
		return -1;
	if (s->p[0] == 'x') {
		for (n = 1; n < 3 && n < s->n && scan_hex_digit(s->p[n]) >= 0;)
			v = v * 16 + scan_hex_digit(s->p[n++]);
		scan_skip(s, n);
		return n > 1 ? v : -1;
	}
	while (n < 3 && n < s->n && s->p[n] >= '0' && s->p[n] <= '7')
		v = v * 8 + s->p[n++] - '0';
	if (n) {
		scan_skip(s, n);
		return v & 255;
	}
	char c = s->p[0];
	const char *known = c ? strchr(from, c) : NULL;

	scan_skip(s, 1);
	return known ? to[known - from] : (unsigned char)c;
}

/* Reads a string, or a character in quotes, which is a number. */
static int tsdl_lex_text(struct tsdl *t, char quote)
{
	struct scan s = scan_tail(t->rest, 1);
	size_t n = 0;

	while (s.n && s.p[0] != quote) {
		int c = (unsigned char)s.p[0];

		mem_grow(t->word, t->cap_word, n + 1);
		scan_skip(&s, 1);
		if (c == '\\')
			c = tsdl_escape(&s);
		if (c < 0 && !s.n)
			break;
		if (n == RAW_TEXT_MAX)
			return tsdl_fail(t, "string has more than %u bytes",
					 RAW_TEXT_MAX);
		if (c < 0)
			return tsdl_fail(t, "string has a '\\' before nothing");
		t->word[n++] = (char)c;
	}
	if (!s.n) {
		t->tok.kind = TSDL_END;
		return tsdl_fail(t, "string has no end");
	}
	t->rest = scan_tail(s, 1);
	if (quote == '\'') {
		t->tok.kind = TSDL_NUMBER;
		t->tok.num = n == 1 ? (unsigned char)t->word[0] : 0;
		return n == 1 ? 0 : tsdl_fail(t, "'' is not one character");
	}
	t->tok.kind = TSDL_TEXT;
	t->tok.name = intern_add_bytes(&t->r->names, n ? t->word : "", n);
	return 0;
}

static int tsdl_lex(struct tsdl *t)
{
	static const char single[] = "{}[]()<>;:,.=*-+";
	char c = t->rest.p[0];

	if (scan_is_digit(c))
		return tsdl_lex_number(t);
	if (c == '"' || c == '\'')
		return tsdl_lex_text(t, c);
	if (scan_is_word(c)) {
		size_t n = 1;

		while (n < t->rest.n && scan_is_word(t->rest.p[n]))
			n++;
		t->tok.kind = TSDL_IDENT;
		t->tok.name = intern_add_bytes(&t->r->names, t->rest.p, n);
		scan_skip(&t->rest, n);
		return 0;
	}
	if (scan_take(&t->rest, "..."))
		return t->tok.kind = TSDL_DOTS, 0;
	if (scan_take(&t->rest, ":="))
		return t->tok.kind = TSDL_ASSIGN, 0;
	if (!c || !strchr(single, c))
		return tsdl_fail(t, "byte 0x%02x begins nothing known",
				 (unsigned char)c);
	scan_skip(&t->rest, 1);
	t->tok.kind = c;
	return 0;
}

int tsdl_next(struct tsdl *t)
{
	if (raw_room(t->r, tsdl_pos(t)) || tsdl_blanks(t))
		return -1;
	t->tok = (struct tsdl_token){ .kind = TSDL_END, .at = tsdl_pos(t) };
	if (!t->rest.n)
		return 0;
	t->tok.kind = t->rest.p[0];
	if (tsdl_lex(t))
		return -1;
	t->tok.len = tsdl_pos(t) - t->tok.at;
	return 0;
}

int tsdl_need(struct tsdl *t, int kind, const char *what)
{
	if (!tsdl_is(t, kind))
		return tsdl_unexpected(t, what);
	return tsdl_next(t);
}
