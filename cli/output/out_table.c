/* out_table.c - rows as a table for people.
 *
 * Column widths come from the first rows; a longer value in a later row shifts
 * the rest of its line. On a terminal the widest columns are cut until a line
 * fits; in a file nothing is cut. */
#include <inttypes.h>

#include "cli/output/out.h"
#include "cli/output/output.h"
#include "stitch/text/safe_text.h"
#include "cli/output/term.h"
#include "schema/store.h"
#include "stitch/base/mem.h"

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

const struct output out_table = {
	.name = "table",
	.write = out_table_write,
};
