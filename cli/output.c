/* output.c - the ways to write rows, and text that is safe to show. */
#include "cli/output.h"

#include <stdbool.h>
#include <string.h>

extern const struct output out_table, out_csv, out_json;

const struct output *const outputs[] = { &out_table, &out_csv, &out_json,
					 NULL };
const char *const output_names[] = { "table", "csv", "json", NULL };

const struct output *output_find(const char *name)
{
	if (!name)
		return outputs[0];
	for (size_t i = 0; outputs[i]; i++)
		if (!strcmp(outputs[i]->name, name))
			return outputs[i];
	return NULL;
}

/* Bytes of the UTF-8 character at s; 0 when it is not one, or a control
 * character: C0, DEL, C1, and the marks that reorder text. */
static size_t safe_char(const unsigned char *s, size_t len)
{
	unsigned int c = s[0];
	size_t n;

	if (c < 0x80)
		return c >= 0x20 && c != 0x7f;
	n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
	if (c < 0xc2 || c > 0xf4 || n > len)
		return 0;
	c &= 0xff >> (n + 1);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if ((n == 3 && c < 0x800) || (n == 4 && c < 0x10000) || c > 0x10ffff)
		return 0;
	if (c < 0xa0 || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	if ((c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
		return 0;
	return n;
}

size_t output_clean_buf(char *dst, size_t size, const char *s, size_t len,
			const char *also)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *p = (const unsigned char *)s;
	size_t n = 0;

	for (size_t i = 0; i < len;) {
		size_t safe = safe_char(p + i, len - i);

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

void output_clean(FILE *out, const char *s, size_t len, const char *also)
{
	char buf[1024];

	while (len) {
		size_t part = len < 200 ? len : 200;

		/* do not cut a character in two */
		for (size_t k = 0; k < 3 && part < len; k++)
			if (((unsigned char)s[part] & 0xc0) == 0x80)
				part++;
		fwrite(buf, 1,
		       output_clean_buf(buf, sizeof(buf), s, part, also), out);
		s += part;
		len -= part;
	}
}
