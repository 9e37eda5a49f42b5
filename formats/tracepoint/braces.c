/* braces.c - fields of CTF events as text, as babeltrace2 prints them.
 *
 * Strings, numbers and lists were read before; lists are JSON, in which
 * hexadecimal numbers and those above 2^63 are strings. */
#include "formats/tracepoint/braces.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/tracepoint/expr_value.h"
#include "stitch/base/text_out.h"

#define NESTED_MAX 64

static void braces_char(struct text_out *o, char c)
{
	o->cut |= o->len + 1 >= o->size;
	if (o->cut)
		return;
	o->buf[o->len++] = c;
	o->buf[o->len] = '\0';
}

static void braces_escape(struct text_out *o, unsigned char c)
{
	static const char plain[] = "\\\"'?";
	static const char from[] = "\a\b\x1b\f\n\r\t\v";
	static const char to[] = "abefnrtv";
	const char *at = strchr(from, c);

	if (c && strchr(plain, c))
		text_out_add(o, "\\%c", c);
	else if (c && at)
		text_out_add(o, "\\%c", to[at - from]);
	else if (iscntrl(c))
		text_out_add(o, "\\x%02x", c);
	else
		braces_char(o, (char)c);
}

static void braces_quoted(struct text_out *o, const char *s, char until)
{
	text_out_add(o, "\"");
	for (; *s && *s != until; s++)
		braces_escape(o, (unsigned char)*s);
	text_out_add(o, "\"");
}

/* Labels of one value stand with '|' between them. */
static void braces_labels(struct text_out *o, const char *s)
{
	if (!*s) {
		text_out_add(o, "<unknown>");
		return;
	}
	for (;; s++) {
		braces_quoted(o, s, '|');
		s += strcspn(s, "|");
		if (!*s)
			return;
		text_out_add(o, ", ");
	}
}

/* Prints a number of JSON, in quotes or not. Returns how much of s it is; 0: it
 * is none. */
static size_t braces_number(struct text_out *o, const char *s)
{
	const bool hex = s[0] == '0' && s[1] == 'x';
	const size_t n = hex ? 2 + strspn(s + 2, "0123456789abcdef")
			     : strspn(s, "0123456789");

	if (hex && n > 2)
		text_out_add(o, "0x%llX", strtoull(s, NULL, 16));
	else if (n)
		text_out_add(o, "%.*s", (int)n, s);
	return hex && n == 2 ? 0 : n;
}

/* Prints a string of JSON, from behind its first quote. Returns what follows
 * it. */
static const char *braces_string(struct text_out *o, const char *s)
{
	const size_t n = strspn(s, "0123456789abcdefx");

	/* no other number that is kept in quotes has fewer digits */
	if (s[n] == '"' && (s[1] == 'x' || n >= 19)) {
		struct text_out was = *o;

		if (braces_number(o, s) == n)
			return s + n + 1;
		*o = was;
	}
	text_out_add(o, "\"");
	for (; *s && *s != '"'; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '\\' && s[1]) {
			c = (unsigned char)*++s;
			if (c == 'u') {
				char digits[5] = "";

				memcpy(digits, s + 1, strnlen(s + 1, 4));
				c = (unsigned char)strtoul(digits, NULL, 16);
				s += strlen(digits);
			}
		}
		braces_escape(o, c);
	}
	text_out_add(o, "\"");
	return s + (*s == '"');
}

static void braces_json(struct text_out *o, const char *s)
{
	uint64_t at[NESTED_MAX]; /* the next element of a list */
	bool is_list[NESTED_MAX + 1] = { false };
	size_t depth = 0;
	bool key = false;

	while (*s && !o->cut) {
		const char c = *s;

		/* an element begins */
		if (depth && is_list[depth] && c != ']' && c != ',' &&
		    (s[-1] == '[' || s[-1] == ','))
			text_out_add(o, "[%" PRIu64 "] = ", at[depth - 1]++);
		if ((c == '[' || c == '{') && depth < NESTED_MAX) {
			is_list[++depth] = c == '[';
			at[depth - 1] = 0;
			key = c == '{';
			text_out_add(o, "%c ", c);
			s++;
		} else if ((c == ']' || c == '}') && depth) {
			depth--;
			text_out_add(o, "%s%c", strchr("[{", s[-1]) ? "" : " ",
				     c);
			s++;
		} else if (c == ',') {
			key = !is_list[depth];
			text_out_add(o, ", ");
			s++;
		} else if (c == '"' && key) {
			const size_t n = strcspn(s + 1, "\"");

			text_out_add(o, "%.*s = ", (int)n, s + 1);
			s += n + (s[n + 1] ? 2 : 1);
			s += *s == ':';
			key = false;
		} else if (c == '"') {
			s = braces_string(o, s + 1);
		} else {
			const size_t n = c == '0' && s[1] == 'x'
						 ? braces_number(o, s)
						 : 0;

			if (!n)
				braces_char(o, c);
			s += n + !n;
		}
	}
}

bool tp_out_braces(struct text_out *o, char how, int bits,
		   const struct expr_value *v)
{
	const bool is_bytes = strchr("xdi", how) != NULL;
	/* a list of bytes without any */
	const bool none = v->kind == EXPR_NUM && !v->num && !v->len;

	if (is_bytes && none) {
		text_out_add(o, "[ ]");
		return true;
	}
	if (v->kind != (is_bytes     ? EXPR_BLOB
			: how == 'b' ? EXPR_NUM
				     : EXPR_TEXT))
		return false;
	if (is_bytes && v->len && !v->blob)
		return false;
	const char *s = v->text ? v->text : "";

	if (is_bytes) {
		text_out_add(o, "[ ");
		for (uint32_t i = 0; i < v->len && !o->cut; i++) {
			text_out_add(
				o, how == 'x' ? "%s[%u] = 0x%X" : "%s[%u] = %d",
				i ? ", " : "", i,
				how == 'i' ? (signed char)v->blob[i]
					   : v->blob[i]);
		}
		text_out_add(o, v->len ? " ]" : "]");
	} else if (how == 'l')
		braces_labels(o, s);
	else if (how == 'j')
		braces_json(o, s);
	else if (how == 'v') {
		/* A variant's string has no quotes; its number has none either.
		 */
		const size_t n = strspn(s, "0123456789abcdefx.+-");

		text_out_add(o, "{ ");
		if (*s == '{' || *s == '[' ||
		    (n && !s[n] && (isdigit((unsigned char)*s) || *s == '-')))
			braces_json(o, s);
		else
			braces_quoted(o, s, '\0');
		text_out_add(o, " }");
	} else if (how == 's')
		braces_quoted(o, s, '\0');
	else
		text_out_add(o, "0b");
	for (int i = how == 'b' ? (bits > 64 ? 64 : bits) : 0; i-- > 0;)
		text_out_add(o, "%d", (int)(v->num >> i & 1));
	return true;
}
