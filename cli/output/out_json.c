/* out_json.c - rows as a JSON array with one object a line. */
#include <json-c/json.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/out.h"
#include "cli/output/output.h"
#include "cli/output/safe_text.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/utf8.h"

/* JSON can carry every character, but not bytes that are no UTF-8. */
struct json_object *output_json_text(const char *s, size_t len)
{
	size_t size = len < (SIZE_MAX - 1) / 4 ? len * 4 + 1 : 1;
	struct json_object *o;
	char *buf;

	if (len <= INT_MAX && json_can(s, len))
		return json_object_new_string_len(s, (int)len);
	buf = mem_new(size, 1);
	size_t n = safe_text_clean_buf(buf, size, s, len, NULL);

	if (n > INT_MAX)
		n = INT_MAX;
	o = json_object_new_string_len(buf, (int)n);
	free(buf);
	return o;
}

static void put_escaped(FILE *out, uint32_t c)
{
	if (c > 0xffff) {
		c -= 0x10000;
		fprintf(out, "\\u%04x", 0xd800 + (c >> 10));
		c = 0xdc00 + (c & 0x3ff);
	}
	fprintf(out, "\\u%04x", c);
}

/* json-c escapes what is below 0x20; a terminal obeys and hides more. */
void output_json_put(FILE *out, struct json_object *o, bool pretty)
{
	int style = JSON_C_TO_STRING_NOSLASHESCAPE;
	const char *s = json_object_to_json_string_ext(
		o, style | (pretty ? JSON_C_TO_STRING_PRETTY
				   : JSON_C_TO_STRING_PLAIN));
	const char *start = s;
	uint32_t c;

	for (size_t n; *s; s += n) {
		n = utf8_char(s, strnlen(s, 4), &c);
		if (!n || c == '\n' || utf8_shown(c)) {
			n += !n;
			continue;
		}
		fwrite(start, 1, (size_t)(s - start), out);
		put_escaped(out, c);
		start = s + n;
	}
	fputs(start, out);
}

static struct json_object *blob(const struct value *v)
{
	static const char hex[] = "0123456789abcdef";
	size_t n = v->len < 1 << 20 ? v->len : 1 << 20;
	char *buf = mem_new(n * 2 + 1, 1);
	struct json_object *o;

	for (size_t i = 0; i < n; i++) {
		buf[i * 2] = hex[(unsigned char)v->text[i] >> 4];
		buf[i * 2 + 1] = hex[(unsigned char)v->text[i] & 15];
	}
	o = json_object_new_string_len(buf, (int)(n * 2));
	free(buf);
	return o;
}

struct json_object *output_json_value(const struct value *v)
{
	switch (v->kind) {
	case VALUE_NULL:
		break;
	case VALUE_INT:
		return json_object_new_int64(v->num);
	case VALUE_REAL:
		return json_object_new_double(v->real);
	case VALUE_TEXT:
		return output_json_text(v->text, v->len);
	case VALUE_BLOB:
		return blob(v);
	}
	return NULL;
}

static struct json_object *one_row(struct rows *r)
{
	struct json_object *o = json_object_new_object();

	for (size_t i = 0; i < rows_columns(r); i++) {
		struct value v = rows_value(r, i);

		json_object_object_add(o, rows_name(r, i),
				       output_json_value(&v));
	}
	return o;
}

struct json_object *output_json_rows(struct rows *r, struct err *err)
{
	struct json_object *all = json_object_new_array();
	int ret;

	while ((ret = rows_next(r, err)) > 0)
		json_object_array_add(all, one_row(r));
	if (!ret)
		return all;
	json_object_put(all);
	return NULL;
}

void output_json_line(struct json_object *o)
{
	output_json_put(stdout, o, false);
	putchar('\n');
}

int output_json_array(FILE *out, struct rows *rows, struct err *err)
{
	const char *before = "[\n";
	int ret;

	while ((ret = rows_next(rows, err)) > 0 && !out_failed()) {
		struct json_object *o = one_row(rows);

		fputs(before, out);
		output_json_put(out, o, false);
		json_object_put(o);
		before = ",\n";
	}
	if (ret < 0)
		return -1;
	fputs(before[0] == '[' ? "[]" : "\n]", out);
	return 0;
}

static int write_json(FILE *out, struct rows *rows, struct err *err)
{
	if (output_json_array(out, rows, err))
		return -1;
	putc('\n', out);
	return 0;
}

extern const struct output out_json;
const struct output out_json = {
	.name = "json",
	.summary = "an array with one object for each row",
	.write = write_json,
};
