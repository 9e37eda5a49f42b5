/* pointed.c - prints the target of a pointer in a print format, by the rules of
 * lib/vsprintf.c of Linux. */
#include "formats/tracepoint/pointed.h"

#include <ctype.h>
#include <inttypes.h>

#include "formats/tracepoint/fields.h"
#include "stitch/base/mem.h"
#include "stitch/base/text_out.h"

/* ---- the elements of arrays */

uint64_t expr_element(const struct expr_machine *on, const struct expr_value *v,
		      uint32_t elem, uint64_t i, bool *ok)
{
	const struct tp_field as = { .kind = FMT_NUM, .size = elem };
	struct bytes b;
	int64_t num = 0;

	/* the NUL of a text is an element too */
	if (!v->blob || !elem || elem > 8 || i >= v->len / elem) {
		*ok = v->kind == EXPR_TEXT && elem == 1 && i == v->len;
		return 0;
	}
	bytes_init(&b, v->blob + i * elem, elem, "", 0, on->swap);
	*ok = tp_field_number(&b, &as, &num);
	return (uint64_t)num;
}

/* The letters that may follow %pJ in a print format of CTF. The kernel has no
 * %pJ. */
#define BRACES_HOW "slvjxdib"

/* Prints values that the CTF reader made: strings, numbers and lists. Lists are
 * JSON, in which hexadecimal numbers and those above 2^63 are strings. */

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

/* Prints the labels of one value, which have '|' between them. */
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

/* Prints a number of JSON, with or without quotes. Returns its length in s; 0
 * if there is none. */
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

/* Prints a string of JSON, from after its first quote. Returns the text after
 * it. */
static const char *braces_string(struct text_out *o, const char *s)
{
	const size_t n = strspn(s, "0123456789abcdefx");

	/* other numbers are not quoted unless they have 19 digits or more */
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
	uint64_t at[NESTED_MAX]; /* by depth: index of the next element of a
				    list */
	bool is_list[NESTED_MAX + 1] = { false };
	size_t depth = 0;
	bool key = false;

	while (*s && !o->cut) {
		const char c = *s;

		/* an element of a list begins */
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
	/* a list of bytes that is empty */
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
		/* A variant's string has no quotes, and neither does its
		 * number. */
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

#define FAMILY_IP4 2
#define FAMILY_IP6 10
#define HEX_MOST 64 /* the most bytes of %*ph */

/* The letters after %p: those that select the kind, and those that may
 * follow. */
static const struct {
	const char *letters, *more;
} kinds[] = {
	{ "I4", "hnbl" }, { "i4", "hnbl" },	{ "I6", "c" },
	{ "i6", "" },	  { "IS", "pfschnbl" }, { "iS", "pfschnbl" },
	{ "M", "FR" },	  { "m", "R" },		{ "U", "bBlL" },
	{ "h", "CDN" },	  { "b", "l" },		{ "J", BRACES_HOW },
};

size_t tp_pointed_letters(const char *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const size_t n = strlen(kinds[i].letters);

		if (!strncmp(s, kinds[i].letters, n))
			return n + strspn(s + n, kinds[i].more);
	}
	return 0;
}

static void pointed_ip4(struct text_out *o, const unsigned char *b,
			const char *letters)
{
	const bool zeros = *letters == 'i';
	/* 'h' means the machine's byte order, nearly always little-endian */
	const bool turn = strpbrk(letters + 2, "hl") != NULL;

	for (int i = 0; i < 4; i++)
		text_out_add(o, zeros ? "%s%03u" : "%s%u", i ? "." : "",
			     b[turn ? 3 - i : i]);
}

/* Prints an IPv6 address. The longest run of zeros is left out, unless it is a
 * single zero. */
static void pointed_ip6_short(struct text_out *o, const unsigned char *b)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };

	const bool ip4 =
		!memcmp(b, mapped, sizeof(mapped)) ||
		((b[8] | 2) == 2 && !b[9] && b[10] == 0x5e && b[11] == 0xfe);
	const int words = ip4 ? 6 : 8;
	int at = -1;
	int longest = 1;
	bool colon = false;

	for (int i = 0; i < words; i++) {
		int n = 0;

		while (i + n < words && !b[2 * (i + n)] && !b[2 * (i + n) + 1])
			n++;
		if (n > longest) {
			longest = n;
			at = i;
		}
	}
	for (int i = 0; i < words; i++) {
		if (i == at) {
			text_out_add(o, colon || !i ? "::" : ":");
			colon = false;
			i += longest - 1;
			continue;
		}
		text_out_add(o, "%s%x", colon ? ":" : "",
			     b[2 * i] << 8 | b[2 * i + 1]);
		colon = true;
	}
	if (ip4) {
		text_out_add(o, "%s", colon ? ":" : "");
		pointed_ip4(o, b + 12, "I4");
	}
}

static void pointed_ip6(struct text_out *o, const unsigned char *b,
			const char *letters)
{
	if (*letters == 'I' && strchr(letters, 'c')) {
		pointed_ip6_short(o, b);
		return;
	}
	for (int i = 0; i < 16; i += 2)
		text_out_add(o, "%s%02x%02x", i && *letters == 'I' ? ":" : "",
			     b[i], b[i + 1]);
}

/* Prints a struct sockaddr, which has the machine's byte order except for
 * addresses and ports. */
static bool pointed_socket(struct text_out *o, const struct expr_machine *on,
			   const char *letters, const struct expr_value *v)
{
	const bool port = strchr(letters, 'p') != NULL;
	const bool flow = strchr(letters, 'f') != NULL;
	const bool scope = strchr(letters + 2, 's') != NULL;
	const unsigned char *b = v->blob;
	bool ok;
	uint64_t family = expr_element(on, v, 2, 0, &ok);
	char rest[8] = { *letters, '6', strchr(letters, 'c') ? 'c' : 0 };

	if (ok && family == FAMILY_IP4 && v->len >= 8) {
		pointed_ip4(o, b + 4, letters);
		if (port)
			text_out_add(o, ":%u", b[2] << 8 | b[3]);
		return true;
	}
	if (ok && family != FAMILY_IP4 && family != FAMILY_IP6) {
		text_out_add(o, "(einval)");
		return true;
	}
	if (!ok || family != FAMILY_IP6 || v->len < 24)
		return false;
	const bool more = port || flow || scope;

	if (scope && v->len < 28)
		return false;
	text_out_add(o, "%s", more ? "[" : "");
	pointed_ip6(o, b + 8, rest);
	text_out_add(o, "%s", more ? "]" : "");
	if (port)
		text_out_add(o, ":%u", b[2] << 8 | b[3]);
	if (flow)
		text_out_add(o, "/%u",
			     (b[4] & 15u) << 24 | (unsigned int)b[5] << 16 |
				     (unsigned int)b[6] << 8 | b[7]);
	if (scope)
		text_out_add(o, "%%%" PRIu64, expr_element(on, v, 4, 6, &ok));
	return true;
}

static void pointed_bytes(struct text_out *o, const unsigned char *b, int n,
			  const char *between, bool turn)
{
	for (int i = 0; i < n; i++)
		text_out_add(o, "%s%02x", i ? between : "",
			     b[turn ? n - 1 - i : i]);
}

static void pointed_uuid(struct text_out *o, const unsigned char *b, char how)
{
	static const unsigned char turned[16] = {
		3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15
	};
	const bool turn = how == 'l' || how == 'L';
	const bool upper = how == 'L' || how == 'B';

	for (int i = 0; i < 16; i++)
		text_out_add(o, upper ? "%s%02X" : "%s%02x",
			     i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			     b[turn ? turned[i] : i]);
}

static bool pointed_bit(const struct expr_machine *on,
			const struct expr_value *v, unsigned int i, bool *ok)
{
	const unsigned int width = on->long32 ? 32 : 64;

	return expr_element(on, v, width / 8, i / width, ok) >> (i % width) & 1;
}

static bool pointed_list(struct text_out *o, const struct expr_machine *on,
			 const struct expr_value *v, unsigned int bits)
{
	const char *comma = "";
	bool ok = true;

	for (unsigned int i = 0; i < bits && ok; i++) {
		const unsigned int from = i;

		while (i < bits && pointed_bit(on, v, i, &ok) && ok)
			i++;
		if (i == from)
			continue;
		text_out_add(o, "%s%u", comma, from);
		if (i > from + 1)
			text_out_add(o, "-%u", i - 1);
		comma = ",";
	}
	return ok;
}

bool tp_out_bitmap(struct text_out *o, const struct expr_machine *on,
		   const struct expr_value *v, unsigned int bits, bool list)
{
	bool ok = true;

	if (bits > 8 * (uint64_t)v->len)
		return false;
	if (list)
		return pointed_list(o, on, v, bits);
	/* words of 32 bits; the highest may have fewer */
	for (unsigned int at = bits ? (bits - 1) / 32 * 32 : 0; bits && ok;
	     at -= 32) {
		const int n = (int)(bits - at < 32 ? bits - at : 32);
		uint64_t word = 0;

		for (int i = 0; i < n && ok; i++)
			word |= (uint64_t)pointed_bit(on, v,
						      at + (unsigned int)i, &ok)
				<< i;
		text_out_add(o, "%0*" PRIx64 "%s", (n + 3) / 4, word,
			     at ? "," : "");
		if (!at)
			break;
		bits = at;
	}
	return ok;
}

bool tp_out_pointed(struct text_out *o, const struct expr_machine *on,
		    const char *letters, int number, const struct expr_value *v)
{
	static const char gaps[] = "CDN";
	static const char *const gap[] = { ":", "-", "" };
	const char *how = strpbrk(letters, gaps);
	const unsigned char *b = v->blob;
	const int n = number < 0 ? 1 : number > HEX_MOST ? HEX_MOST : number;

	if (*letters == 'J')
		return tp_out_braces(o, letters[1], number, v);
	if (v->kind == EXPR_NUM || !b)
		return false;
	switch (*letters) {
	case 'I':
	case 'i':
		if (letters[1] == 'S')
			return pointed_socket(o, on, letters, v);
		if (v->len < (letters[1] == '4' ? 4 : 16))
			return false;
		if (letters[1] == '4')
			pointed_ip4(o, b, letters);
		else
			pointed_ip6(o, b, letters);
		return true;
	case 'M':
	case 'm':
		if (v->len >= 6)
			pointed_bytes(o, b, 6,
				      *letters == 'm'	  ? ""
				      : letters[1] == 'F' ? "-"
							  : ":",
				      strchr(letters, 'R') != NULL);
		return v->len >= 6;
	case 'U':
		if (v->len >= 16)
			pointed_uuid(o, b, letters[1]);
		return v->len >= 16;
	case 'h':
		if ((uint32_t)n <= v->len)
			pointed_bytes(o, b, n,
				      how ? gap[strchr(gaps, *how) - gaps]
					  : " ",
				      false);
		return (uint32_t)n <= v->len;
	case 'b':
		return tp_out_bitmap(o, on, v,
				     number < 0 ? 0 : (unsigned)number,
				     letters[1] == 'l');
	default:
		return false;
	}
}
