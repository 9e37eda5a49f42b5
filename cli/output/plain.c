/* plain.c - names from captures as text that is safe to show. */
#include "cli/output/plain.h"

#include <stdbool.h>
#include <string.h>

#include "stitch/base/utf8.h"

/* East Asian characters take two columns; good enough to clip by. */
static bool wide(uint32_t c)
{
	return (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
	       (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
	       (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
	       (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000);
}

int plain_next(const char **s, struct plain *out)
{
	const unsigned char *p = (const unsigned char *)*s;
	uint32_t c = 0;

	if (!*p)
		return 0;

	size_t n = utf8_char(*s, strnlen(*s, 4), &c);

	if (!n || c < 0x20 || c == 0x7f) {
		n = 1;
		snprintf(out->text, sizeof(out->text), "\\x%02x", p[0]);
		out->cells = 4;
	} else if (!utf8_shown(c)) {
		snprintf(out->text, sizeof(out->text), "\\u%04x", c);
		out->cells = (unsigned int)strlen(out->text);
	} else {
		memcpy(out->text, p, n);
		out->text[n] = 0;
		out->cells = wide(c) ? 2 : 1;
	}
	*s += n;
	return 1;
}

size_t plain_cells(const char *s)
{
	struct plain u;
	size_t cells = 0;

	while (plain_next(&s, &u))
		cells += u.cells;
	return cells;
}

static void put_xml(FILE *out, const struct plain *u)
{
	switch (u->text[0]) {
	case '<':
		fputs("&lt;", out);
		break;
	case '>':
		fputs("&gt;", out);
		break;
	case '&':
		fputs("&amp;", out);
		break;
	case '"':
		fputs("&quot;", out);
		break;
	case '\'':
		fputs("&#39;", out);
		break;
	default:
		fputs(u->text, out);
	}
}

void plain_xml(FILE *out, const char *s, size_t cells)
{
	struct plain u;
	size_t room = cells;

	if (cells && plain_cells(s) <= cells)
		cells = 0;
	if (cells)
		room = cells > 2 ? cells - 2 : 0;
	while (plain_next(&s, &u)) {
		if (cells && u.cells > room)
			break;
		room -= cells ? u.cells : 0;
		put_xml(out, &u);
	}
	if (cells)
		fputs("..", out);
}

void plain_json(FILE *out, const char *s)
{
	struct plain u;

	fputc('"', out);
	while (plain_next(&s, &u)) {
		if (u.text[0] == '"' || u.text[0] == '\\')
			fputc('\\', out);
		fputs(u.text, out);
	}
	fputc('"', out);
}

void plain_text(FILE *out, const char *s, char from, char to)
{
	struct plain u;

	while (plain_next(&s, &u)) {
		if (u.text[0] == from && !u.text[1])
			fputc(to, out);
		else
			fputs(u.text, out);
	}
}

void plain_fixed(FILE *out, uint64_t n, uint64_t d, unsigned int decimals)
{
	unsigned __int128 v = n;
	uint64_t scale = 1;

	for (unsigned int i = 0; i < decimals; i++)
		scale *= 10;
	v = d ? v * scale / d : 0;
	fprintf(out, "%llu", (unsigned long long)(v / scale));
	if (decimals)
		fprintf(out, ".%0*llu", (int)decimals,
			(unsigned long long)(v % scale));
}

void plain_grouped(FILE *out, uint64_t n)
{
	char digit[32];
	int len = snprintf(digit, sizeof(digit), "%llu", (unsigned long long)n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			fputc(',', out);
		fputc(digit[i], out);
	}
}
