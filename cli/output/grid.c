/* grid.c - a table that is filled cell by cell. */
#include "cli/output/grid.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>

#include "stitch/text/cut.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "cli/output/out.h"
#include "cli/output/output.h"
#include "stitch/text/safe_text.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/base/wide.h"
#include "stitch/order/clocks.h"

#define INDENT 15

/* Appends to the line as much as fits. */
static void lines_add_list(struct lines *l, const char *fmt, va_list ap)
{
	size_t room = sizeof(l->text) - l->len;
	int n = vsnprintf(l->text + l->len, room, fmt, ap);

	if (n > 0)
		l->len += (size_t)n < room ? (size_t)n : room - 1;
}

void lines_add(struct lines *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	lines_add_list(l, fmt, ap);
	va_end(ap);
}

void lines_print(struct lines *l, const char *label, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	lines_add_list(l, fmt, ap);
	va_end(ap);
	lines_put(l, label);
}

void lines_clean(struct lines *l, const char *text)
{
	char clean[1024];

	safe_text_clean_buf(clean, sizeof(clean), text, strlen(text), NULL);
	lines_add(l, "%s", clean);
}

void lines_seconds(struct lines *l, int64_t ns)
{
	lines_add(l, "%s", HUMAN_SECONDS(ns));
}

void lines_share(struct lines *l, int64_t part, int64_t whole)
{
	if (whole > 0)
		lines_add(l, " (%s)", HUMAN_PERCENT(part, whole));
}

void lines_count(struct lines *l, const char *before, int64_t n,
		 const char *one, const char *many)
{
	lines_add(l, "%s%s %s", before, HUMAN_GROUPED(n), n == 1 ? one : many);
}

static void lines_put_label(const struct lines *l, const char *label)
{
	size_t cells = safe_text_cells(label);

	safe_text_say(l->out, "  ", label, "");
	fprintf(l->out, "%*s ", cells < 12 ? (int)(12 - cells) : 0, "");
}

void lines_put(struct lines *l, const char *label)
{
	lines_put_label(l, label);
	term_wrap(l->out, l->text, INDENT, INDENT, l->width);
	l->text[l->len = 0] = '\0';
}

void lines_waited(struct lines *l, int64_t p50, int64_t p90, int64_t p99,
		  int64_t max)
{
	const int64_t ns[] = { p50, p90, p99, max };
	char text[4][32];

	for (int i = 0; i < 4; i++)
		human_ns(text[i], sizeof(text[i]), ns[i]);
	lines_add(l, "median %s, 90 %% by %s, 99 %% by %s, all by %s", text[0],
		  text[1], text[2], text[3]);
}

void lines_put_styled(struct lines *l, const char *label, enum term_style style)
{
	lines_put_label(l, label);
	fputs(term_on(l->out, style), l->out);
	term_wrap(l->out, l->text, INDENT, INDENT, l->width);
	fputs(term_off(l->out), l->out);
	l->text[l->len = 0] = '\0';
}

const char *span_moment(char buf[SPAN_TEXT], const int64_t *wall, int64_t time)
{
	char utc[CLOCK_UTC_SIZE];
	int64_t at;

	if (!wall || __builtin_add_overflow(time, *wall, &at) ||
	    !clock_utc(at, utc))
		return human_seconds(buf, SPAN_TEXT, time);
	snprintf(buf, SPAN_TEXT, "%.*sZ", (int)strcspn(utc, ".") + 7, utc);
	return buf;
}

const char *span_text(char buf[SPAN_TEXT], const int64_t *wall, int64_t from,
		      int64_t to)
{
	int64_t at = 0, len;

	if (!wall || __builtin_add_overflow(from, *wall, &at) ||
	    __builtin_sub_overflow(to, from - (at % 1000 + 1000) % 1000, &len))
		return human_span(buf, from, to);
	span_moment(buf, wall, from);
	size_t n = strlen(buf);
	snprintf(buf + n, SPAN_TEXT - n, "+%ss",
		 HUMAN_SECONDS(len % 1000 ? len + 1000 : len));
	return buf;
}

#define FILE_WIDTH 72 /* largest width of a text column in a file */
#define FILE_LINE 80  /* and of a line, if names can be cut to make it so */
/* Least width of a name in a file, or while other text is cut. */
#define NAME_MIN 32

enum cell_kind {
	CELL_TEXT,
	CELL_NUMBER,
	CELL_SIGNED,
	CELL_PERCENT,
	CELL_CHANGE,
	CELL_REAL,
	CELL_CHANCE
};

struct cell {
	enum cell_kind kind;
	const char *text;
	const char *mark; /* after the text in the text form; NULL: none */
	uint64_t n;	  /* CELL_PERCENT: in millionths of a percent */
	double v;	  /* CELL_CHANGE, CELL_REAL, CELL_CHANCE */
	bool count;	  /* v is a count: CELL_CHANGE, CELL_REAL */
	bool time;	  /* v or n is ns: CELL_CHANGE, _REAL, _NUMBER */
};

struct grid {
	const struct grid_column *col;
	size_t n_col;
	struct cell *cell;
	size_t n, cap;
	uint64_t names, narrow; /* columns, as bits: grid_names() */
	uint64_t whole, spare;	/* grid_whole(), grid_spare() */
	uint64_t gives_way;	/* grid_give_way() */
	struct arena text;
};

struct grid *grid_new(const struct grid_column *col, size_t n)
{
	struct grid *g = mem_new(1, sizeof(*g));

	g->col = col;
	g->n_col = n;
	return g;
}

bool grid_has_rows(const struct grid *g)
{
	return g->n > 0;
}

void grid_free(struct grid *g)
{
	if (!g)
		return;
	arena_release(&g->text);
	free_all(g->cell, g);
}

/* Returns the bit of the column of a title; 0: not one of the first 64. */
static uint64_t grid_set_of(const struct grid *g, const char *title)
{
	for (size_t i = 0; i < g->n_col && i < 64; i++)
		if (g->col[i].title && !strcmp(g->col[i].title, title))
			return UINT64_C(1) << i;
	return 0;
}

void grid_names(struct grid *g, const char *title, bool in_files)
{
	g->names |= grid_set_of(g, title);
	g->narrow |= in_files ? grid_set_of(g, title) : 0;
}

void grid_whole(struct grid *g, const char *title)
{
	g->whole |= grid_set_of(g, title);
}

void grid_spare(struct grid *g, const char *title)
{
	g->spare |= grid_set_of(g, title);
}

void grid_give_way(struct grid *g, const char *title)
{
	g->gives_way = grid_set_of(g, title);
}

static bool grid_in_set(uint64_t set, size_t i)
{
	return i < 64 && set >> i & 1;
}

static void grid_add_cell(struct grid *g, struct cell c)
{
	*mem_add(g->cell, g->n, g->cap) = c;
}

void grid_text(struct grid *g, const char *s)
{
	grid_marked(g, s, NULL);
}

void grid_marked(struct grid *g, const char *s, const char *mark)
{
	grid_add_cell(g, (struct cell){ .kind = CELL_TEXT,
					.text = arena_strdup(&g->text, s),
					.mark = mark });
}

void grid_number(struct grid *g, uint64_t n)
{
	grid_add_cell(g, (struct cell){ .kind = CELL_NUMBER, .n = n });
}

void grid_ns(struct grid *g, uint64_t ns)
{
	grid_text(g, HUMAN_NS(ns));
	grid_number(g, ns);
}

void grid_signed(struct grid *g, int64_t n)
{
	grid_add_cell(g,
		      (struct cell){ .kind = CELL_SIGNED, .n = (uint64_t)n });
}

void grid_percent(struct grid *g, uint64_t part, uint64_t whole)
{
	struct wide v = wide_add(wide_mul(part, 100000000), whole / 2);
	uint64_t n = whole ? wide_div(v, whole) : 0;

	/* a part that is not 0 is never 0.000000, nor one that is not all
	 * 100.000000 */
	n += part && whole && !n;
	n -= part < whole && n == 100000000;
	grid_add_cell(g, (struct cell){ .kind = CELL_PERCENT, .n = n });
}

void grid_change(struct grid *g, double v, bool count)
{
	grid_add_cell(g, (struct cell){
				 .kind = CELL_CHANGE, .v = v, .count = count });
}

void grid_real(struct grid *g, double v, bool count)
{
	grid_add_cell(
		g, (struct cell){ .kind = CELL_REAL, .v = v, .count = count });
}

void grid_is_time(struct grid *g)
{
	g->cell[g->n - 1].time = true;
}

void grid_chance(struct grid *g, double p)
{
	grid_add_cell(g, (struct cell){ .kind = CELL_CHANCE, .v = p });
}

/* Returns whether a number is not known. */
static bool grid_is_empty(const struct cell *c)
{
	return (c->kind == CELL_CHANCE && !(c->v < 1)) ||
	       ((c->kind == CELL_REAL || c->kind == CELL_CHANGE) &&
		!isfinite(c->v));
}

/* Returns the digits of a numeric cell, in buf; people: as text shows them,
 * else as CSV and JSON do. */
static const char *grid_digits(const struct cell *c, bool people, char buf[32])
{
	unsigned long long n = c->n;

	if (people && c->time && !grid_is_empty(c)) {
		double v = c->kind == CELL_NUMBER ? (double)c->n : c->v;
		double most = 9e18;
		const char *sign = v < 0		    ? "-"
				   : c->kind == CELL_CHANGE ? "+"
							    : "";

		v = fabs(v) < most ? fabs(v) : most;
		snprintf(buf, 32, "%s%s", sign, HUMAN_NS(v + 0.5));
	} else if (people && c->count && !grid_is_empty(c)) {
		/* Writes a count that may be a mean, rounded. */
		const char *sign = c->kind == CELL_CHANGE ? "+" : "";
		char digits[30];
		/* no count of a capture is as large */
		double most = 9e18;
		double v = fabs(c->v) < most ? fabs(c->v) : most;

		human_grouped(digits, sizeof(digits), (uint64_t)(v + 0.5));
		snprintf(buf, 32, "%s%s", c->v < 0 ? "-" : sign, digits);
	} else if (c->kind == CELL_CHANGE)
		snprintf(buf, 32, people ? "%+.2f" : "%.6f", c->v);
	else if (grid_is_empty(c))
		buf[0] = 0;
	else if (c->kind == CELL_REAL)
		snprintf(buf, 32, people ? "%.2f" : "%.6f", c->v);
	else if (c->kind == CELL_CHANCE)
		snprintf(buf, 32, people ? "%.1e" : "%.9e", c->v);
	else if (c->kind == CELL_SIGNED)
		snprintf(buf, 32, "%lld", (long long)c->n);
	else if (c->kind == CELL_NUMBER && people)
		human_grouped(buf, 32, c->n);
	else if (c->kind == CELL_NUMBER)
		snprintf(buf, 32, "%llu", n);
	else if (people)
		human_share(buf, 32, (double)n, 1e8);
	else
		snprintf(buf, 32, "%llu.%06llu", n / 1000000, n % 1000000);
	return buf;
}

static size_t grid_cell_width(const struct cell *c)
{
	char buf[32];

	return c->kind == CELL_TEXT
		       ? safe_text_cells(c->text) +
				 (c->mark ? safe_text_cells(c->mark) : 0)
		       : strlen(grid_digits(c, true, buf));
}

static void grid_put_blanks(FILE *out, size_t n)
{
	fprintf(out, "%*s", (int)n, "");
}

struct column {
	size_t width;
	bool cut; /* longer cells are cut; else they shift the rest of their
		   * line */
	bool text, whole;
	bool hidden;
	struct cut_name *name; /* if names are cut: by row; else NULL */
};

/* Returns the width of a line; narrowest: as far as text can be cut. */
static size_t grid_line_width(const struct grid *g, const struct column *col,
			      bool narrowest)
{
	size_t total = 0;

	for (size_t i = 0; i < g->n_col; i++) {
		if (col[i].hidden)
			continue;
		total += (total ? 2 : 0) +
			 (narrowest && col[i].text && !col[i].whole &&
					  col[i].width > CUT_LEAST
				  ? CUT_LEAST
				  : col[i].width);
	}
	return total;
}

/* Writes a cell. *owed: blanks before the next cell that is not empty. */
static void grid_put_cell(FILE *out, const struct cell *c, size_t row,
			  const struct column *col, size_t *owed)
{
	const char *text = col->name ? col->name[row].cut : c->text;
	const char *mark = c->mark ? c->mark : "";
	size_t used = col->name ? safe_text_cells(text) + safe_text_cells(mark)
				: grid_cell_width(c);
	size_t room = col->width > used ? col->width - used : 0;
	char buf[32];

	if (c->kind != CELL_TEXT) {
		grid_put_blanks(out, *owed + room);
		*owed = 0;
		fputs(grid_digits(c, true, buf), out);
		return;
	}
	if (used) {
		grid_put_blanks(out, *owed);
		*owed = 0;
	}
	if (col->cut && !col->name && used > col->width) {
		/* Writes the first cells - 1 columns of a text and '~'. */
		const char *s = text;
		size_t cells = col->width;
		struct safe_text u;

		while (safe_text_next(&s, &u) && u.cells < cells) {
			fputs(u.text, out);
			cells -= u.cells;
		}
		fputc('~', out);
		return;
	}
	safe_text_put(out, text, 0, 0);
	fputs(mark, out);
	*owed += room;
}

/* Cuts text, the widest column first, until lines fit the terminal or $COLUMNS.
 * Names keep NAME_MIN columns while other text can be cut. */
static void grid_fit_columns(const struct grid *g, struct column *col,
			     FILE *out)
{
	size_t room = (size_t)term_limit(out);
	size_t names = NAME_MIN;

	if (out != stdout || room == INT_MAX) {
		/* Fits the columns into the lines of a file. Only names are
		 * cut, but the width of all text is limited, so that a long
		 * text does not widen all lines. */
		for (size_t i = 0; i < g->n_col; i++)
			if (col[i].text && col[i].width > FILE_WIDTH)
				col[i].width = FILE_WIDTH;
		for (size_t i = 0; i < g->n_col; i++) {
			if (!grid_in_set(g->narrow, i) || col[i].hidden)
				continue;
			while (col[i].width > NAME_MIN &&
			       grid_line_width(g, col, false) > FILE_LINE) {
				col[i].width--;
				col[i].cut = true;
			}
		}
		return;
	}
	/* Hides columns that can be spared, from the right, and then the
	 * last one, until the others can be cut to the room. */
	size_t last = g->n_col - 1;

	for (size_t i = g->n_col; i-- > 1;)
		if (grid_in_set(g->spare, i) &&
		    grid_line_width(g, col, true) > room)
			col[i].hidden = true;
	for (size_t i = 0; i < g->n_col; i++)
		if (grid_in_set(g->gives_way, i) &&
		    grid_line_width(g, col, false) - col[i].width + CUT_LEAST >
			    room)
			col[i].hidden = true;
	while (last && col[last].hidden)
		last--;
	if (last && col[last].text && !col[last].whole &&
	    grid_line_width(g, col, true) > room)
		col[last].hidden = true;
	while (grid_line_width(g, col, false) > room) {
		struct column *widest = NULL;

		for (size_t i = 0; i < g->n_col; i++)
			if (!col[i].hidden && col[i].text && !col[i].whole &&
			    col[i].width > (grid_in_set(g->names, i)
						    ? names
						    : CUT_LEAST) &&
			    (!widest || col[i].width > widest->width))
				widest = &col[i];
		if (!widest && names == CUT_LEAST)
			return;
		if (!widest) {
			names = CUT_LEAST;
			continue;
		}
		widest->width--;
		widest->cut = true;
	}
}

/* Writes the row that begins with cell `row` as an object. */
static void grid_put_json(const struct grid *g, const struct cell *row,
			  struct json *j)
{
	char buf[32];

	json_object(j, NULL);
	for (size_t i = 0; i < g->n_col; i++) {
		const struct cell *c = &row[i];
		const char *name = g->col[i].name;

		if (name && c->kind == CELL_TEXT)
			json_text(j, name, c->text);
		else if (name && grid_is_empty(c))
			json_null(j, name);
		else if (name)
			json_number(j, name, grid_digits(c, false, buf));
	}
	json_end(j);
}

/* Writes the table as text, with bold titles. */
static void grid_write_table(const struct grid *g, FILE *out)
{
	const bool told = json_before_rows();
	struct column *col OWNED = mem_new(g->n_col, sizeof(*col));

	for (size_t i = 0; i < g->n_col; i++) {
		col[i].width = g->col[i].title ? strlen(g->col[i].title) : 0;
		col[i].text = !g->n || g->cell[i].kind == CELL_TEXT;
		col[i].whole = grid_in_set(g->whole, i);
		col[i].hidden = !g->col[i].title;
	}
	for (size_t i = 0; i < g->n; i++) {
		size_t w = grid_cell_width(&g->cell[i]);
		size_t at = i % g->n_col;

		if (g->col[at].title && w > col[at].width)
			col[at].width = w;
	}
	struct arena text RELEASED_BY(arena_release) = { 0 };

	grid_fit_columns(g, col, out);
	for (size_t i = 0; i < g->n_col; i++) {
		size_t n = g->n / g->n_col;

		if (!col[i].cut || col[i].hidden || !grid_in_set(g->names, i))
			continue;
		col[i].name = mem_new(n, sizeof(*col[i].name));
		for (size_t row = 0; row < n; row++) {
			const struct cell *c = &g->cell[row * g->n_col + i];

			col[i].name[row].full = c->text;
			col[i].name[row].mark = c->mark;
		}
		cut_names(col[i].name, n, col[i].width, &text);
	}
	size_t end = g->n_col;
	size_t owed = 0;

	while (end && col[end - 1].hidden)
		end--;
	fputs(term_on(out, STYLE_BOLD), out);
	for (size_t i = 0; i < g->n_col; i++) {
		int width = (int)col[i].width;

		if (col[i].hidden)
			continue;
		if (i + 1 == end && col[i].text)
			width = 0;
		fprintf(out, "%s%*s", i ? "  " : "",
			col[i].text ? -width : width, g->col[i].title);
	}
	fputs(term_off(out), out);
	for (size_t i = 0; i < g->n && !out_failed(); i++) {
		size_t at = i % g->n_col;

		if (!at) {
			fputc('\n', out);
			owed = 0;
		}
		if (!at && told) {
			struct json j;

			json_open(&j, out, JSON_COMPACT);
			grid_put_json(g, &g->cell[i], &j);
			fputc('\t', out);
		}
		if (col[at].hidden)
			continue;
		owed += at ? 2 : 0;
		grid_put_cell(out, &g->cell[i], i / g->n_col, &col[at], &owed);
	}
	fputc('\n', out);
	for (size_t i = 0; i < g->n_col; i++)
		free(col[i].name);
}

/* Writes the table as CSV, SQL or Markdown. Columns without a name are left
 * out, or in Markdown, which is for people, those without a title. */
static void grid_write_form(const struct grid *g, const struct output *o,
			    FILE *out)
{
	const size_t n = g->n_col;
	const bool people = o->rule[0][0];
	const size_t head = people ? 2 : 1; /* lines: names, and a rule */
	bool first = true;
	char buf[32];

	for (size_t i = 0; i < head * n + g->n && !out_failed(); i++) {
		const struct grid_column *col = &g->col[i % n];
		const char *name = people ? col->title : col->name;

		first |= i % n == 0;
		if (name && i < n) {
			output_put_name(o, out, name, first);
		} else if (name && i < head * n) {
			bool right = g->n && g->cell[i - n].kind != CELL_TEXT;

			fprintf(out, "%s%s", first ? "|" : "", o->rule[right]);
		} else if (name) {
			const struct cell *c = &g->cell[i - head * n];
			struct value v = { .kind = VALUE_REAL };

			if (c->kind == CELL_TEXT)
				v = (struct value){ .kind = VALUE_TEXT,
						    .text = c->text,
						    .len = strlen(c->text) };
			else if (grid_is_empty(c))
				v.kind = VALUE_NULL;
			else
				v.text = grid_digits(c, people, buf);

			output_put(o, out, &v, people && c->mark ? c->mark : "",
				   first);
		}
		first &= !name;
		if (i % n == n - 1)
			fputs(o->end, out);
	}
	fputs(o->last, out);
}

void grid_json_rows(const struct grid *g, struct json *j)
{
	for (size_t i = 0; i < g->n && !json_failed(j); i += g->n_col)
		grid_put_json(g, &g->cell[i], j);
}

void grid_json(const struct grid *g, struct json *j, const char *key)
{
	json_array(j, key);
	json_lines(j);
	grid_json_rows(g, j);
	json_finish(j);
}

void grid_write(const struct grid *g, const char *format, FILE *out)
{
	const struct output *o = output_find(format);
	struct json j;

	if (!strcmp(format, "json")) {
		json_answer(&j, out, JSON_COMPACT);
		grid_json(g, &j, "rows");
		json_finish(&j);
	} else if (o->text) {
		grid_write_form(g, o, out);
	} else {
		grid_write_table(g, out);
	}
}

void grid_put(const struct grid *g, const char *format, struct json *j,
	      const char *key)
{
	if (!strcmp(format, "json"))
		grid_json(g, j, key);
	else
		grid_write(g, format, stdout);
}

void grid_say_rest(size_t n, const char *what)
{
	printf("\n%zu more %s%s not shown; --limit 0 shows all\n", n, what,
	       n == 1 ? "" : "s");
}
