/* grid.h - a table that was computed, not selected: filled row by row, then
 * written as text, CSV or JSON like the answer of a query. */
#ifndef CLI_OUTPUT_GRID_H
#define CLI_OUTPUT_GRID_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct grid;
struct json;

/* title: for people; name: for CSV and JSON. A column with one of them only
 * is left out of the other. */
struct grid_column {
	const char *title, *name;
};

/* Columns are borrowed. */
struct grid *grid_new(const struct grid_column *col, size_t n);
void grid_free(struct grid *g);
/* The next cell, from left to right, row by row. Text is copied. */
void grid_text(struct grid *g, const char *s);
void grid_number(struct grid *g, uint64_t n);
/* For people 12.34, rounded; for programs a number with six places. */
void grid_percent(struct grid *g, uint64_t part, uint64_t whole);
void grid_signed(struct grid *g, int64_t n);
/* "+1.25" for people, with six places for programs. */
void grid_change(struct grid *g, double v);
/* "3.7e-14"; what is no number, or 1 and more, is empty, and null. */
void grid_chance(struct grid *g, double p);

/* format: "table", "csv", "json". */
void grid_write(const struct grid *g, const char *format, FILE *out);
/* Writes an array of objects, one a line, and a newline behind it. */
void grid_json(const struct grid *g, struct json *j, const char *key);
#endif
