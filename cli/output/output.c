/* output.c - writes rows as a table, CSV, JSON, lines, Markdown or SQL. */
#include "cli/output/output.h"

#include <inttypes.h>

#include "cli/output/out.h"
#include "cli/output/term.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"

/* Writes a value that is not text: nothing for NULL, hexadecimal for a blob,
 * and for a number its text if that is set. */
static void output_value(FILE *out, const struct value *v)
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

/* A table for people.
 *
 * Column widths come from the first rows; a longer value in a later row shifts
 * the rest of its line. On a terminal the widest columns are cut until a line
 * fits; in a file nothing is cut. */

#define MEASURE 500 /* rows that are measured */
#define CUT_MIN 8   /* columns are not cut below this width */

struct column {
	size_t width;
	bool number;
	bool cut;
};

struct table_out {
	FILE *out;
	struct column *col;
	size_t n;
	char **cell; /* the rows that are measured, n cells each */
	size_t held, cap;
};

/* Returns the text of a value; the caller frees it. */
static char *out_table_text(const struct value *v)
{
	char num[40] = "";
	char *s;
	size_t size;

	switch (v->kind) {
	case VALUE_NULL:
		break;
	case VALUE_INT:
		snprintf(num, sizeof(num), "%" PRId64, v->num);
		break;
	case VALUE_REAL:
		snprintf(num, sizeof(num), "%.6g", v->real);
		break;
	case VALUE_TEXT:
		if (v->len > SIZE_MAX / 4 - 1)
			break;
		size = v->len * 4 + 1;
		s = mem_new(size, 1);
		safe_text_clean_buf(s, size, v->text, v->len, NULL);
		return s;
	case VALUE_BLOB:
		size = v->len < 32 ? v->len : 32;
		s = mem_new(size * 2 + 1, 1);
		for (size_t i = 0; i < size; i++)
			snprintf(s + i * 2, 3, "%02x",
				 (unsigned char)v->text[i]);
		return s;
	}
	return mem_strdup(num);
}

/* Writes a cell, cut or padded to the width of its column. */
static void out_table_put_cell(struct table_out *t, size_t i, const char *s)
{
	const struct column *c = &t->col[i];
	size_t width = safe_text_cells(s);
	bool cut = c->cut && width > c->width;
	size_t len = strlen(s);

	if (cut) {
		size_t n = c->width - 1;
		const char *at = s;
		const char *next = s;
		struct safe_text u;

		for (width = 0;
		     safe_text_next(&next, &u) && width + u.cells <= n;
		     at = next)
			width += u.cells;
		len = (size_t)(at - s);
		width++; /* for '~' */
	}
	int pad = width < c->width ? (int)(c->width - width) : 0;
	bool last = i + 1 == t->n;

	if (c->number)
		fprintf(t->out, "%*s", pad, "");
	fwrite(s, 1, len, t->out);
	if (cut)
		putc('~', t->out);
	if (!c->number && !last)
		fprintf(t->out, "%*s", pad, "");
	fputs(last ? "\n" : "  ", t->out);
}

/* Narrows the widest column until a line fits. */
static void out_table_fit_columns(struct table_out *t)
{
	size_t room = (size_t)term_columns(t->out);
	size_t total = 2 * (t->n - 1);

	if (!term_is_terminal(t->out) || t->out != stdout)
		return;
	for (size_t i = 0; i < t->n; i++)
		total += t->col[i].width;
	while (total > room) {
		struct column *widest = NULL;

		for (size_t i = 0; i < t->n; i++)
			if (!t->col[i].number && t->col[i].width > CUT_MIN &&
			    (!widest || t->col[i].width > widest->width))
				widest = &t->col[i];
		if (!widest)
			return;
		widest->width--;
		widest->cut = true;
		total--;
	}
}

/* Writes the titles and the rows that were kept, and frees these. */
static void out_table_flush_held(struct table_out *t, struct rows *rows)
{
	out_table_fit_columns(t);
	fputs(term_on(t->out, STYLE_BOLD), t->out);
	for (size_t i = 0; i < t->n; i++) {
		char name[128];

		safe_text_clean_buf(name, sizeof(name), rows_name(rows, i),
				    strlen(rows_name(rows, i)), NULL);
		out_table_put_cell(t, i, name);
	}
	fputs(term_off(t->out), t->out);
	for (size_t i = 0; i < t->held * t->n; i++) {
		out_table_put_cell(t, i % t->n, t->cell[i]);
		free(t->cell[i]);
	}
	free(t->cell);
	t->cell = NULL;
}

/* Keeps a row, and widens the columns to fit it. */
static void out_table_hold_row(struct table_out *t, struct rows *rows)
{
	mem_grow(t->cell, t->cap, (t->held + 1) * t->n);
	for (size_t i = 0; i < t->n; i++) {
		struct value v = rows_value(rows, i);
		char *s = out_table_text(&v);
		size_t w = safe_text_cells(s);

		t->cell[t->held * t->n + i] = s;
		raise_to(t->col[i].width, w);
		if (v.kind == VALUE_TEXT || v.kind == VALUE_BLOB)
			t->col[i].number = false;
	}
	t->held++;
}

static int out_table_write(FILE *out, struct rows *rows, struct err *err)
{
	struct table_out t = { .out = out, .n = rows_columns(rows) };
	bool flushed = false;
	int ret;

	if (!t.n)
		return 0;
	t.col = mem_new(t.n, sizeof(*t.col));
	for (size_t i = 0; i < t.n; i++) {
		t.col[i].width = safe_text_cells(rows_name(rows, i));
		t.col[i].number = true;
	}
	while ((ret = rows_next(rows, err)) > 0 && !out_failed()) {
		if (t.held < MEASURE) {
			out_table_hold_row(&t, rows);
			continue;
		}
		if (!flushed)
			out_table_flush_held(&t, rows);
		flushed = true;
		for (size_t i = 0; i < t.n; i++) {
			struct value v = rows_value(rows, i);
			char *s OWNED = out_table_text(&v);

			out_table_put_cell(&t, i, s);
		}
	}
	if (!flushed)
		out_table_flush_held(&t, rows);
	free(t.col);
	return ret < 0 ? -1 : 0;
}

static const struct output out_table = {
	.name = "table",
	.write = out_table_write,
};

/* the longest part of a blob that is written, in bytes */
#define BLOB_MAX ((size_t)1 << 20)

void json_value(struct json *j, const char *key, const struct value *v)
{
	switch (v->kind) {
	case VALUE_NULL:
		json_null(j, key);
		break;
	case VALUE_INT:
		json_int(j, key, v->num);
		break;
	case VALUE_REAL:
		json_real(j, key, v->real);
		break;
	case VALUE_TEXT:
		json_text_len(j, key, v->text, v->len);
		break;
	case VALUE_BLOB:
		json_hex_bytes(j, key, v->text,
			       v->len < BLOB_MAX ? v->len : BLOB_MAX);
		break;
	}
}

/* Returns, for each column, the column whose value is written in its place. A
 * JSON object has each key once: of columns with the same name, the first has
 * the value of the last, and the others SIZE_MAX, which skips them. The caller
 * frees it. */
static size_t *json_columns(const struct rows *r)
{
	size_t n = rows_columns(r);
	size_t *column = mem_new(n ? n : 1, sizeof(*column));

	for (size_t i = 0; i < n; i++) {
		column[i] = i;
		for (size_t k = 0; k < i; k++) {
			if (strcmp(rows_name(r, k), rows_name(r, i)) != 0)
				continue;
			column[k] = column[k] == SIZE_MAX ? SIZE_MAX : i;
			column[i] = SIZE_MAX;
		}
	}
	return column;
}

static void json_put_row(struct json *j, const char *key, struct rows *r,
			 const size_t *column)
{
	json_object(j, key);
	for (size_t i = 0; i < rows_columns(r); i++) {
		if (column[i] == SIZE_MAX)
			continue;
		struct value v = rows_value(r, column[i]);

		json_value(j, rows_name(r, i), &v);
	}
	json_end(j);
}

int json_row(struct json *j, const char *key, struct rows *r, struct err *err)
{
	int ret = rows_next(r, err);

	if (ret < 0)
		return -1;
	if (!ret) {
		json_null(j, key);
		return 0;
	}
	size_t *column OWNED = json_columns(r);

	json_put_row(j, key, r, column);
	return 0;
}

int json_rows(struct json *j, const char *key, struct rows *r, struct err *err)
{
	size_t *column OWNED = json_columns(r);
	int ret;

	json_array(j, key);
	if (j->form != JSON_PRETTY)
		json_lines(j);
	while ((ret = rows_next(r, err)) > 0 && !json_failed(j))
		json_put_row(j, NULL, r, column);
	json_end(j);
	return ret < 0 ? -1 : 0;
}

bool json_before_rows(void)
{
	return getenv("BACKSTITCH_ROWS") != NULL;
}

/* Longer than any run of backticks that begins a line, such as in a thread's
 * name, which has at most 15 bytes. */
#define FENCE "````````````````````"

static void markdown_put_ticks(FILE *out, size_t n)
{
	while (n--)
		putc('`', out);
}

/* Writes the text of a cell of a table: a code span, in which names of captures
 * are no HTML, link or mention, unless it is plain words. */
static void markdown_put_cell(FILE *out, const char *s, size_t len)
{
	char *text OWNED = NULL;
	size_t n;
	FILE *clean = mem_stream(&text, &n);

	safe_text_clean(clean, s, len);
	mem_stream_end(clean);
	if (strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789 .,%+") == n) {
		fputs(text, out);
		return;
	}

	const char *str = text;
	size_t most = 0;
	size_t count = 0;

	for (; *str; str++) {
		count = *str == '`' ? count + 1 : 0;
		raise_to(most, count);
	}
	size_t ticks = most + 1;
	bool pad = text[0] == '`' || text[n - 1] == '`';

	markdown_put_ticks(out, ticks);
	fputs(pad ? " " : "", out);
	for (const char *p = text; *p; p++) {
		if (*p == '|')
			putc('\\', out);
		putc(*p, out);
		/* a blank, or it would escape the "\" of the next "|" */
		if (*p == '\\' && p[1] == '|')
			putc(' ', out);
	}
	fputs(pad ? " " : "", out);
	markdown_put_ticks(out, ticks);
}

void markdown_fence(FILE *out, bool begin)
{
	fputs(begin ? FENCE "text\n" : FENCE "\n\n", out);
}

static const struct output out_markdown = {
	.name = "markdown",
	.text = markdown_put_cell,
	.first = "| ",
	.before = " ",
	.behind = " |",
	.end = "\n",
	.rule = { " --- |", " ---: |" },
};

/* Blocks with one value a line, for values that are long or have lines
 * themselves, such as stacks.
 *
 * A line of a value never begins in the column of the names, so that text from
 * a capture cannot pass for another value. */

/* Writes a value, whose further lines are indented. */
static void out_lines_put_value(FILE *out, const struct value *v, int indent)
{
	const char *s = v->text;
	size_t left = v->len;

	if (v->kind != VALUE_TEXT || !s) {
		output_value(out, v);
		putc('\n', out);
		return;
	}
	for (;;) {
		const char *end = memchr(s, '\n', left);
		size_t n = end ? (size_t)(end - s) : left;

		safe_text_clean(out, s, n);
		putc('\n', out);
		if (!end)
			return;
		fprintf(out, "%*s", indent, "");
		s += n + 1;
		left -= n + 1;
	}
}

static int out_lines_write(FILE *out, struct rows *rows, struct err *err)
{
	size_t n = rows_columns(rows);
	int width = 0;
	bool first = true;
	int ret;

	for (size_t i = 0; i < n; i++) {
		size_t cells = safe_text_cells(rows_name(rows, i));

		if (cells < 40 && (int)cells > width)
			width = (int)cells;
	}
	while ((ret = rows_next(rows, err)) > 0 && !out_failed()) {
		if (!first)
			putc('\n', out);
		first = false;
		for (size_t i = 0; i < n; i++) {
			const char *name = rows_name(rows, i);
			struct value v = rows_value(rows, i);
			int pad = width - (int)safe_text_cells(name);

			fprintf(out, "%s", term_on(out, STYLE_BOLD));
			safe_text_put(out, name, 0, 0);
			fprintf(out, "%s%*s  ", term_off(out),
				pad > 0 ? pad : 0, "");
			out_lines_put_value(out, &v, width + 2);
		}
	}
	return ret < 0 ? -1 : 0;
}

static const struct output out_lines = {
	.name = "lines",
	.write = out_lines_write,
};

/* SQL that makes a table `result`, for a shell of SQLite in any database: an
 * older `result` is replaced. */

void sql_put_text(FILE *out, const char *s, size_t len)
{
	putc('\'', out);
	safe_text_doubled(out, s, len, '\'');
	putc('\'', out);
}

/* Writes the name of a column of the table and, before the first, the
 * statements that create the table. */
static void out_sql_put_column(FILE *out, const char *name, bool first)
{
	fputs(first ? "BEGIN;\nDROP TABLE IF EXISTS result;\n"
		      "CREATE TABLE result(\""
		    : ", \"",
	      out);
	for (; *name; name++) {
		if (*name == '"')
			putc('"', out);
		/* a name in a query may be anything */
		putc((unsigned char)*name < ' ' ? ' ' : *name, out);
	}
	putc('"', out);
}

static const struct output out_sql = {
	.name = "sql",
	.text = sql_put_text,
	.column = out_sql_put_column,
	.first = "INSERT INTO result VALUES(",
	.before = ", ",
	.end = ");\n",
	.last = "COMMIT;\n",
	.null = "NULL",
	.blob = "X'",
	.blob_end = "'",
};

static int out_json_write(FILE *out, struct rows *rows, struct err *err)
{
	struct json j;

	json_answer(&j, out, JSON_COMPACT);
	if (json_rows(&j, "rows", rows, err))
		return -1;
	json_finish(&j);
	return 0;
}

static const struct output out_json = {
	.name = "json",
	.write = out_json_write,
};

/* Writes a mark and a value of CSV (RFC 4180), in quotes if it needs them.
 * Newlines are escaped: RFC 4180 allows them in quotes, but they break
 * line-based tools. */
static void out_csv_put(FILE *out, const char *s, size_t len, const char *mark)
{
	bool quote = !len;

	for (size_t i = 0; i < len; i++)
		if (strchr(",\"\r\n ", s[i]))
			quote = true;
	if (quote)
		putc('"', out);
	fputs(mark, out);
	safe_text_doubled(out, s, len, '"');
	if (quote)
		putc('"', out);
}

static void out_csv_put_text(FILE *out, const char *s, size_t len)
{
	out_csv_put(out, s, len, "");
}

/* Writes text with ' in front of what a spreadsheet would calculate. */
static void out_csv_put_safe(FILE *out, const char *s, size_t len)
{
	out_csv_put(out, s, len,
		    len && strchr("=+-@\t\r", s[0]) && s[0] ? "'" : "");
}

static const struct output out_csv = {
	.name = "csv",
	.text = out_csv_put_text,
	.before = ",",
	.end = "\n",
};

static const struct output out_spreadsheet = {
	.name = "spreadsheet",
	.text = out_csv_put_safe,
	.before = ",",
	.end = "\n",
};

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
		char real[JSON_REAL];

		output_around(out, v->kind == VALUE_NULL ? o->null
				   : blob		 ? o->blob
							 : "");
		if (o->column && v->kind == VALUE_REAL && !v->text)
			fputs(json_real_text(real, v->real), out);
		else
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

/* Of columns with one name, which no table has, the second is "name:1", as in
 * CREATE TABLE AS. */
int output_write(const struct output *o, FILE *out, struct rows *rows,
		 struct err *err)
{
	size_t n = rows_columns(rows);
	int ret;

	if (o->write)
		return o->write(out, rows, err);
	for (size_t i = 0; i < n; i++) {
		const char *name = rows_name(rows, i);
		size_t same = 0;

		for (size_t k = 0; o->column && k < i; k++)
			same += !strcasecmp(rows_name(rows, k), name);
		char *numbered OWNED = mem_printf("%s:%zu", name, same);
		output_put_name(o, out, same ? numbered : name, !i);
	}
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
