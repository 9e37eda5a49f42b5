/* grid.h - a table that is filled cell by cell, then written as text, CSV or
 * JSON in the form of a query's result. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/output/term.h"

struct grid;
struct json;

/* A column: its title in text and its name in CSV and JSON. NULL: the column is
 * left out there. */
struct grid_column {
	const char *title, *name;
};

/* Two columns with one value: rounded, for people; in full, for programs. */
#define GRID_TWO(title, name)                                                  \
	{ title, NULL },                                                       \
	{                                                                      \
		NULL, name                                                     \
	}

/* Returns a new grid, for grid_free(). The columns must live as long as it. */
struct grid *grid_new(const struct grid_column *col, size_t n);
void grid_free(struct grid *g);
/* Frees the grid of a variable at the end of its scope. */
#define OWNED_GRID __attribute__((cleanup(grid_owned)))
static inline void grid_owned(struct grid **g)
{
	grid_free(*g);
}

/* Marks the column of this title, one of the first 64, as names of functions,
 * which are cut by cut_names(). in_files: they are cut in files too, to lines
 * of 80 columns. */
void grid_names(struct grid *g, const char *title, bool in_files);
/* Marks the column of this title as one that is never cut, as users copy its
 * values, such as times. */
void grid_whole(struct grid *g, const char *title);
/* Marks the column of this title as one that is left out if lines are too
 * narrow for all; the last such column is left out first. */
void grid_spare(struct grid *g, const char *title);
/* Marks a column to be left out if text of other columns would be cut. */
void grid_give_way(struct grid *g, const char *title);
/* Adds the next cell, from left to right, row by row. Text is copied. */
void grid_text(struct grid *g, const char *s);
/* Adds text and, in the text form only, a constant mark after it, or NULL. */
void grid_marked(struct grid *g, const char *s, const char *mark);
void grid_number(struct grid *g, uint64_t n);
/* Adds two cells: "47.0 ms", and ns. */
void grid_ns(struct grid *g, uint64_t ns);
/* Adds a share: "12.34", rounded, in text; six decimals in CSV and JSON. */
void grid_percent(struct grid *g, uint64_t part, uint64_t whole);
void grid_signed(struct grid *g, int64_t n);
/* Adds "+1.25", of a count "+43,521,750"; six decimals in CSV and JSON. */
void grid_change(struct grid *g, double v, bool count);
/* Adds "1.25", of a count "1,768,651"; six decimals in CSV and JSON. NaN is
 * empty, and null in JSON. */
void grid_real(struct grid *g, double v, bool count);
/* Makes the last number a time in ns: "+47.0 ms" in text. */
void grid_is_time(struct grid *g);
/* Adds a probability such as "3.7e-14". NaN and values of 1 or more are empty
 * in text and CSV, null in JSON. */
void grid_chance(struct grid *g, double p);

/* Returns whether a row was added. */
bool grid_has_rows(const struct grid *g);
/* Writes the table; format is "table", "csv", "json", "markdown" or "sql". */
void grid_write(const struct grid *g, const char *format, FILE *out);
/* Writes the table to stdout or, with "json", as member `key` of *j. */
void grid_put(const struct grid *g, const char *format, struct json *j,
	      const char *key);
/* Prints how many more rows there are; what: their noun, "row", "thread". */
void grid_say_rest(size_t n, const char *what);
/* Writes the rows as objects of an array that the caller begins and ends, to
 * which rows of other grids may be written, too. */
void grid_json_rows(const struct grid *g, struct json *j);
/* Writes an array of objects, one a line, and a newline. */
void grid_json(const struct grid *g, struct json *j, const char *key);

#define SPAN_TEXT 96

/* Writes a span of time, "12.500000,13.250001", or, if wall is not NULL, in
 * UTC, which is *wall ns later: "2026-11-28T03:12:04.500000Z+0.750001s". It is
 * rounded outwards to microseconds. Returns buf. */
const char *span_text(char buf[SPAN_TEXT], const int64_t *wall, int64_t from,
		      int64_t to);
/* Writes one time in the same form, "12.500000", rounded down. Returns buf. */
const char *span_moment(char buf[SPAN_TEXT], const int64_t *wall, int64_t time);

/* Lines of text with a label in front, wrapped so that the text stays in its
 * column. The functions add to a line until lines_put() prints it. */

struct lines {
	FILE *out;
	int width; /* in columns; INT_MAX: no wrapping */
	char text[2048];
	size_t len;
};

/* Formats as printf() does; HUMAN_GROUPED() writes a count as 12,345. */
void lines_add(struct lines *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds text from a capture, made safe as by safe_text_clean(). */
void lines_clean(struct lines *l, const char *text);
/* Adds a time as script shows it: "210.660909". */
void lines_seconds(struct lines *l, int64_t ns);
/* Adds `before` and a number with its noun: "3 gaps", "1 gap". */
void lines_count(struct lines *l, const char *before, int64_t n,
		 const char *one, const char *many);
/* Adds " (12.3 %)" unless whole is 0. */
void lines_share(struct lines *l, int64_t part, int64_t whole);
/* Adds percentiles of a time in ns: "median 11.2 us, 90 % by 40.0 us, ...". */
void lines_waited(struct lines *l, int64_t p50, int64_t p90, int64_t p99,
		  int64_t max);
/* Prints the line and empties it; with label "" it continues the line above. */
void lines_put(struct lines *l, const char *label);
/* Does lines_add() and lines_put(). */
void lines_print(struct lines *l, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same as lines_put(), with the text in a style. */
void lines_put_styled(struct lines *l, const char *label,
		      enum term_style style);
