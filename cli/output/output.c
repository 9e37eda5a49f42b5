/* output.c - the ways to write rows. */
#include "cli/output/output.h"

#include <inttypes.h>
#include <string.h>

#include "cli/output/out.h"
#include "schema/store.h"

extern const struct output out_table, out_lines, out_csv, out_spreadsheet,
	out_json, out_markdown, out_sql;

const struct output *const outputs[] = { &out_table, &out_lines,
					 &out_csv,   &out_spreadsheet,
					 &out_json,  &out_markdown,
					 &out_sql,   NULL };

bool output_is_text(const char *name)
{
	return !strcmp(name, "table") || output_is_markdown(name);
}

bool output_is_markdown(const char *name)
{
	return !strcmp(name, "markdown");
}

bool output_is_for_functions(const char *name)
{
	return output_is_markdown(name) || !strcmp(name, "sql");
}

bool output_is_csv(const char *name)
{
	return !strcmp(name, "csv") || !strcmp(name, "spreadsheet");
}

const struct output *output_find(const char *name)
{
	for (size_t i = 0; outputs[i]; i++)
		if (!strcmp(outputs[i]->name, name))
			return outputs[i];
	return NULL;
}

/* Most texts around a value are empty, or a character. */
static inline void output_around(FILE *out, const char *s)
{
	if (*s && s[1])
		fputs(s, out);
	else if (*s)
		putc(*s, out);
}

void output_put(const struct output *o, FILE *out, const struct value *v,
		const char *mark, bool first)
{
	output_around(out, first ? o->first : o->before);
	if (v->kind == VALUE_TEXT) {
		o->text(out, v->text, v->len);
	} else {
		bool blob = v->kind == VALUE_BLOB;

		output_around(out, v->kind == VALUE_NULL ? o->null
				   : blob		 ? o->blob
							 : "");
		output_value(out, v);
		output_around(out, blob ? o->blob_end : "");
	}
	output_around(out, mark);
	output_around(out, o->behind);
}

void output_put_name(const struct output *o, FILE *out, const char *name,
		     bool first)
{
	const struct value v = { .kind = VALUE_TEXT,
				 .text = name,
				 .len = strlen(name) };

	if (o->column)
		o->column(out, name, first);
	else
		output_put(o, out, &v, "", first);
}

int output_write(const struct output *o, FILE *out, struct rows *rows,
		 struct err *err)
{
	size_t n = rows_columns(rows);
	int ret;

	if (o->write)
		return o->write(out, rows, err);
	for (size_t i = 0; i < n; i++)
		output_put_name(o, out, rows_name(rows, i), !i);
	fputs(o->end, out);
	if (o->rule[0][0]) {
		putc('|', out);
		for (size_t i = 0; i < n; i++)
			fputs(o->rule[0], out);
		fputs(o->end, out);
	}
	while ((ret = rows_next(rows, err)) > 0 && !out_failed()) {
		for (size_t i = 0; i < n; i++) {
			struct value v = rows_value(rows, i);

			output_put(o, out, &v, "", !i);
		}
		fputs(o->end, out);
	}
	fputs(o->last, out);
	return ret < 0 ? -1 : 0;
}

void output_value(FILE *out, const struct value *v)
{
	if ((v->kind == VALUE_INT || v->kind == VALUE_REAL) && v->text)
		fputs(v->text, out);
	else if (v->kind == VALUE_INT)
		fprintf(out, "%" PRId64, v->num);
	else if (v->kind == VALUE_REAL)
		fprintf(out, "%.15g", v->real);
	for (size_t i = 0; v->kind == VALUE_BLOB && i < v->len; i++)
		fprintf(out, "%02x", (unsigned char)v->text[i]);
}
