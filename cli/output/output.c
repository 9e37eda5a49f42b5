/* output.c - the ways to write rows, and the options that choose one. */
#include "cli/output/output.h"

#include <inttypes.h>
#include <string.h>

#include "schema/store.h"
#include "stitch/base/err.h"

extern const struct output out_table, out_lines, out_csv, out_json,
	out_markdown, out_sql;

const struct output *const outputs[] = { &out_table, &out_lines,    &out_csv,
					 &out_json,  &out_markdown, &out_sql,
					 NULL };
static const char *const names[] = { "table",	 "lines", "csv", "json",
				     "markdown", "sql",	  NULL };

static const char *format;
static bool json;

const struct opt output_opts[] = {
	OPT_HEADING("Output"),
	OPT_CHOICE(0, "format", "FORMAT", &format, names,
		   "table, lines, csv, json, markdown or sql"),
	OPT_FLAG(0, "json", &json, "the same as --format json"),
	OPT_GROUP(csv_opts),
	{ .kind = OPT_END }
};

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

bool output_asked(void)
{
	return json || format;
}

int output_check(struct err *err)
{
	if (!json || !format || !strcmp(format, "json"))
		return 0;
	return err_set(err, ERR_USAGE,
		       "--json is --format json: leave out --json or --format "
		       "%s",
		       format);
}

const struct output *output_chosen(void)
{
	const char *name = json ? "json" : format;

	for (size_t i = 0; name && outputs[i]; i++)
		if (!strcmp(outputs[i]->name, name))
			return outputs[i];
	return outputs[0];
}

void output_value(FILE *out, const struct value *v)
{
	if (v->kind == VALUE_INT)
		fprintf(out, "%" PRId64, v->num);
	else if (v->kind == VALUE_REAL)
		fprintf(out, "%.15g", v->real);
	for (size_t i = 0; v->kind == VALUE_BLOB && i < v->len; i++)
		fprintf(out, "%02x", (unsigned char)v->text[i]);
}
