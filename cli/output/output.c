/* output.c - the ways to write rows, and text that is safe to show. */
#include "cli/output/output.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "schema/store.h"
#include "stitch/base/utf8.h"

extern const struct output out_table, out_lines, out_csv, out_json;

const struct output *const outputs[] = { &out_table, &out_lines, &out_csv,
					 &out_json, NULL };
static const char *const names[] = { "table", "lines", "csv", "json", NULL };

static const char *format;
static bool json;

const struct opt output_opts[] = { { .kind = OPT_CHOICE,
				     .name = "format",
				     .arg = "FORMAT",
				     .help = "table, lines, csv or json",
				     .value = &format,
				     .choices = names },
				   { .kind = OPT_FLAG,
				     .name = "json",
				     .help = "the same as --format json",
				     .value = &json },
				   { .kind = OPT_END } };

bool output_asked(void)
{
	return json || format;
}

const struct output *output_chosen(void)
{
	const char *name = json ? "json" : format;

	for (size_t i = 0; name && outputs[i]; i++)
		if (!strcmp(outputs[i]->name, name))
			return outputs[i];
	return outputs[0];
}

void output_plain(FILE *out, const struct value *v)
{
	if (v->kind == VALUE_INT)
		fprintf(out, "%" PRId64, v->num);
	else if (v->kind == VALUE_REAL)
		fprintf(out, "%.15g", v->real);
	for (size_t i = 0; v->kind == VALUE_BLOB && i < v->len; i++)
		fprintf(out, "%02x", (unsigned char)v->text[i]);
}

size_t output_clean_buf(char *dst, size_t size, const char *s, size_t len,
			const char *also)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *p = (const unsigned char *)s;
	size_t n = 0;

	for (size_t i = 0; i < len;) {
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
