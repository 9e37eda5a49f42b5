/* safe_text.c - makes text from captures safe to show. */
#include "stitch/text/safe_text.h"

#include <stdbool.h>

#include "stitch/base/mem.h"
#include "stitch/base/utf8.h"

/* East Asian characters take two columns. Approximate, which is enough to cut
 * names to a width. */
static bool safe_text_is_wide(uint32_t c)
{
	return (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
	       (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
	       (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
	       (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000);
}

size_t safe_text_unit(const char *s, size_t len, struct safe_text *out)
{
	uint32_t c = 0;
	size_t n = utf8_char(s, len, &c);

	if (!n || c < 0x20 || c == 0x7f) {
		n = 1;
		snprintf(out->text, sizeof(out->text), "\\x%02x",
			 (unsigned char)*s);
		out->cells = 4;
	} else if (!utf8_shown(c)) {
		snprintf(out->text, sizeof(out->text), "\\u%04x", c);
		out->cells = (unsigned int)strlen(out->text);
	} else {
		memcpy(out->text, s, n);
		out->text[n] = 0;
		out->cells = safe_text_is_wide(c) ? 2 : 1;
	}
	return n;
}

int safe_text_next(const char **s, struct safe_text *out)
{
	if (!**s)
		return 0;
	*s += safe_text_unit(*s, strnlen(*s, 4), out);
	return 1;
}

size_t safe_text_cells(const char *s)
{
	struct safe_text u;
	size_t cells = 0;

	while (safe_text_next(&s, &u))
		cells += u.cells;
	return cells;
}

void safe_text_xml(FILE *out, const char *s, size_t cells)
{
	struct safe_text u;
	size_t room = cells;

	if (cells && safe_text_cells(s) <= cells)
		cells = 0;
	if (cells)
		room = cells > 2 ? cells - 2 : 0;
	while (safe_text_next(&s, &u)) {
		if (cells && u.cells > room)
			break;
		room -= cells ? u.cells : 0;
		static const char *const entity[] = {
			['<'] = "&lt;",	  ['>'] = "&gt;",   ['&'] = "&amp;",
			['"'] = "&quot;", ['\''] = "&#39;",
		};
		const unsigned char c = (unsigned char)u.text[0];

		fputs(c < ARRAY_SIZE(entity) && entity[c] ? entity[c] : u.text,
		      out);
	}
	if (cells)
		fputs("..", out);
}

void safe_text_put(FILE *out, const char *s, char from, char to)
{
	struct safe_text u;

	while (safe_text_next(&s, &u)) {
		if (u.text[0] == from && !u.text[1])
			fputc(to, out);
		else
			fputs(u.text, out);
	}
}

void safe_text_say(FILE *out, const char *before, const char *s,
		   const char *after)
{
	fputs(before, out);
	safe_text_put(out, s, 0, 0);
	fputs(after, out);
}

#define SAFE_BLOCK 16 /* bytes that the compiler tests together */

/* Returns whether a block has bytes other than plain printable ASCII. */
static inline bool safe_text_odd(const char *s)
{
	unsigned char odd = 0;

	for (size_t k = 0; k < SAFE_BLOCK; k++) {
		const signed char c = (signed char)s[k];

		odd |= (unsigned char)((c < 0x20) | (c == 0x7f));
	}
	return odd;
}

size_t safe_text_plain(const char *s, size_t n)
{
	size_t i = 0;

	while (n - i >= SAFE_BLOCK && !safe_text_odd(s + i))
		i += SAFE_BLOCK;
	/* the last block may overlap the previous one */
	if (i && n - i < SAFE_BLOCK && !safe_text_odd(s + n - SAFE_BLOCK))
		return n;
	while (i < n && (signed char)s[i] >= 0x20 && s[i] != 0x7f)
		i++;
	return i;
}

size_t safe_text_clean_buf(char *dst, size_t size, const char *s, size_t len,
			   const char *also)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *p = (const unsigned char *)s;
	size_t n = 0;

	for (size_t i = 0; i < len;) {
		/* fast path: nearly all text is ASCII */
		if (!also) {
			size_t room = size - n ? size - n - 1 : 0;
			size_t plain = safe_text_plain(
				s + i, len - i < room ? len - i : room);

			memcpy(dst + n, s + i, plain);
			n += plain;
			i += plain;
			if (i == len)
				break;
		}
		size_t safe = utf8_safe(s + i, len - i);

		if (safe == 1 && also && strchr(also, p[i]))
			safe = 0;
		if (n + (safe ? safe : 4) + 1 > size)
			break;
		if (safe) {
			memcpy(dst + n, p + i, safe);
			n += safe;
			i += safe;
			continue;
		}
		dst[n++] = '\\';
		dst[n++] = 'x';
		dst[n++] = hex[p[i] >> 4];
		dst[n++] = hex[p[i] & 15];
		i++;
	}
	dst[n] = 0;
	return n;
}

size_t safe_text_part(const char *s, size_t len, size_t max)
{
	size_t part = len < max ? len : max;

	for (size_t k = 0; k < 3 && part < len; k++)
		if (((unsigned char)s[part] & 0xc0) == 0x80)
			part++;
	return part;
}

void safe_text_clean(FILE *out, const char *s, size_t len)
{
	char buf[1024];

	while (len) {
		size_t part = safe_text_part(s, len, 200);

		fwrite(buf, 1,
		       safe_text_clean_buf(buf, sizeof(buf), s, part, NULL),
		       out);
		s += part;
		len -= part;
	}
}

void safe_text_doubled(FILE *out, const char *s, size_t len, char quote)
{
	while (len) {
		const char *q = memchr(s, quote, len);
		size_t n = q ? (size_t)(q - s) : len;

		safe_text_clean(out, s, n);
		if (q) {
			putc(quote, out);
			putc(quote, out);
			n++;
		}
		s += n;
		len -= n;
	}
}

/* Returns whether a text has characters that are shown as an escape. */
static bool safe_text_escapes(const char *s)
{
	struct safe_text u;

	for (const char *from = s; safe_text_next(&s, &u); from = s)
		if (strncmp(from, u.text, (size_t)(s - from)) != 0)
			return true;
	return false;
}

/* Writes s between $' and '. */
static void safe_text_put_escaped(FILE *out, const char *s)
{
	struct safe_text u;

	for (const char *from = s; safe_text_next(&s, &u); from = s) {
		if (strchr("'\\", *from))
			fprintf(out, "\\%c", *from);
		else if (!strncmp(from, u.text, (size_t)(s - from)))
			fputs(u.text, out);
		else
			for (; from < s; from++)
				fprintf(out, "\\x%02x", (unsigned char)*from);
	}
}

char *safe_text_word(const char *s)
{
	char *word;
	FILE *out;

	if (*s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
			       "UVWXYZ0123456789_-+=.,:/@%")])
		return mem_strdup(s);
	out = mem_stream(&word, NULL);
	if (safe_text_escapes(s)) {
		fputs("$'", out);
		safe_text_put_escaped(out, s);
	} else {
		putc('\'', out);
		for (size_t n; (n = strcspn(s, "'")), s[n]; s += n + 1)
			fprintf(out, "%.*s'\\''", (int)n, s);
		fputs(s, out);
	}
	putc('\'', out);
	mem_stream_end(out);
	return word;
}
