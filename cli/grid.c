/* grid.c - a table that was computed, not selected. */
#include "cli/grid.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out.h"
#include "cli/output.h"
#include "cli/plain.h"
#include "stitch/mem.h"

enum cell_kind {
	CELL_TEXT,
	CELL_NUMBER,
	CELL_SIGNED,
	CELL_PERCENT
};

struct cell {
	enum cell_kind kind;
	const char *text;
	uint64_t n; /* percent: in 1/1000000 */
};

struct grid {
	const struct grid_column *col;
	size_t n_col;
	struct cell *cell;
	size_t n, cap;
	struct arena text;
};

struct grid *grid_new(const struct grid_column *col, size_t n)
{
	struct grid *g = mem_new(1, sizeof(*g));

	g->col = col;
	g->n_col = n;
	return g;
}

void grid_free(struct grid *g)
{
	if (!g)
		return;
	arena_release(&g->text);
	free(g->cell);
	free(g);
}

static void add(struct grid *g, struct cell c)
{
	g->cell = mem_grow(g->cell, &g->cap, g->n + 1, sizeof(*g->cell));
	g->cell[g->n++] = c;
}

void grid_text(struct grid *g, const char *s)
{
	add(g, (struct cell){ CELL_TEXT, arena_strdup(&g->text, s), 0 });
}

void grid_number(struct grid *g, uint64_t n)
{
	add(g, (struct cell){ CELL_NUMBER, NULL, n });
}

void grid_signed(struct grid *g, int64_t n)
{
	add(g, (struct cell){ CELL_SIGNED, NULL, (uint64_t)n });
}

void grid_percent(struct grid *g, uint64_t part, uint64_t whole)
{
	unsigned __int128 v = (unsigned __int128)part * 100000000;
	uint64_t n = whole ? (uint64_t)((v + whole / 2) / whole) : 0;

	add(g, (struct cell){ CELL_PERCENT, NULL, n });
}

/* Digits of a cell that is no text. */
static const char *digits(const struct cell *c, bool people, char buf[32])
{
	unsigned long long n = c->n;

	if (c->kind == CELL_SIGNED)
		snprintf(buf, 32, "%lld", (long long)c->n);
	else if (c->kind == CELL_NUMBER)
		snprintf(buf, 32, "%llu", n);
	else if (people)
		snprintf(buf, 32, "%llu.%02llu", (n + 5000) / 1000000,
			 (n + 5000) % 1000000 / 10000);
	else
		snprintf(buf, 32, "%llu.%06llu", n / 1000000, n % 1000000);
	return buf;
}

static size_t width_of(const struct cell *c)
{
	char buf[32];

	return c->kind == CELL_TEXT ? plain_cells(c->text)
				    : strlen(digits(c, true, buf));
}

static void pad(FILE *out, size_t n)
{
	fprintf(out, "%*s", (int)n, "");
}

static void put_cell(FILE *out, const struct cell *c, size_t width, bool last)
{
	size_t used = width_of(c);
	size_t room = width > used ? width - used : 0;
	char buf[32];

	if (c->kind != CELL_TEXT) {
		pad(out, room);
		fputs(digits(c, true, buf), out);
		return;
	}
	plain_text(out, c->text, 0, 0);
	if (!last)
		pad(out, room);
}

static void write_table(const struct grid *g, FILE *out)
{
	size_t *width = mem_new(g->n_col, sizeof(*width));

	for (size_t i = 0; i < g->n_col; i++)
		width[i] = g->col[i].title ? strlen(g->col[i].title) : 0;
	for (size_t i = 0; i < g->n; i++) {
		size_t w = width_of(&g->cell[i]);
		size_t at = i % g->n_col;

		if (g->col[at].title && w > width[at])
			width[at] = w;
	}
	for (size_t i = 0; i < g->n_col; i++) {
		bool right = g->n && g->cell[i].kind != CELL_TEXT;

		if (!g->col[i].title)
			continue;
		if (i + 1 == g->n_col && !right)
			width[i] = 0;
		fprintf(out, "%s%*s", i ? "  " : "",
			(int)width[i] * (right ? 1 : -1), g->col[i].title);
	}
	for (size_t i = 0; i < g->n && !out_failed(); i++) {
		size_t at = i % g->n_col;

		if (!at)
			fputc('\n', out);
		if (!g->col[at].title)
			continue;
		fputs(at ? "  " : "", out);
		put_cell(out, &g->cell[i], width[at], at + 1 == g->n_col);
	}
	fputc('\n', out);
	free(width);
}

static void put_quoted(FILE *out, const char *s)
{
	struct plain u;

	fputc('"', out);
	while (plain_next(&s, &u))
		fputs(u.text[0] == '"' ? "\"\"" : u.text, out);
	fputc('"', out);
}

static void put_json(FILE *out, const char *s)
{
	struct json_object *o = output_json_text(s, strlen(s));

	output_json_put(out, o, false);
	json_object_put(o);
}

static void write_csv(const struct grid *g, FILE *out)
{
	const char *sep = "";
	char buf[32];

	for (size_t i = 0; i < g->n_col; i++) {
		if (!g->col[i].name)
			continue;
		fprintf(out, "%s%s", sep, g->col[i].name);
		sep = ",";
	}
	for (size_t i = 0; i < g->n && !out_failed(); i++) {
		const struct cell *c = &g->cell[i];

		if (i % g->n_col == 0) {
			fputc('\n', out);
			sep = "";
		}
		if (!g->col[i % g->n_col].name)
			continue;
		fputs(sep, out);
		sep = ",";
		if (c->kind != CELL_TEXT)
			fputs(digits(c, false, buf), out);
		else if (c->text[0] && !strpbrk(c->text, ",\" "))
			plain_text(out, c->text, 0, 0);
		else
			put_quoted(out, c->text);
	}
	fputc('\n', out);
}

static void write_json(const struct grid *g, FILE *out)
{
	const char *sep = "";
	char buf[32];

	fputs("[", out);
	for (size_t i = 0; i < g->n && !out_failed(); i++) {
		const struct cell *c = &g->cell[i];
		size_t at = i % g->n_col;

		if (!at) {
			fputs(i ? "},\n{" : "\n{", out);
			sep = "";
		}
		if (g->col[at].name) {
			fprintf(out, "%s\"%s\":", sep, g->col[at].name);
			sep = ",";
			if (c->kind == CELL_TEXT)
				put_json(out, c->text);
			else
				fputs(digits(c, false, buf), out);
		}
	}
	fputs(g->n ? "}\n]\n" : "]\n", out);
}

void grid_write(const struct grid *g, const char *format, FILE *out)
{
	if (!strcmp(format, "json"))
		write_json(g, out);
	else if (!strcmp(format, "csv"))
		write_csv(g, out);
	else
		write_table(g, out);
}
