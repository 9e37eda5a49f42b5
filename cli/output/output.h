/* output.h - the ways to write rows, each one struct output. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct json;
struct err;
struct rows;
struct value;

struct output {
	const char *name; /* "table", "csv"; "spreadsheet" is no word of
			   * --format */
	/* Writes all rows. Returns 0, or -1 and *err; 0 also if it stops
	 * because out_failed(). Control bytes are escaped. */
	int (*write)(FILE *out, struct rows *rows, struct err *err);
	/* Or else each value stands for itself, whatever the others are:
	 * writes one that is text, and the first line's name of a column;
	 * NULL: as a text. */
	void (*text)(FILE *out, const char *s, size_t len);
	void (*column)(FILE *out, const char *name, bool first);
	/* what is written in front of the first value of a row and of others,
	 * after each, after a row and all of them; for NULL, and around a
	 * blob */
	char first[28], before[4], behind[4], end[4], last[12];
	char null[8], blob[4], blob_end[4];
	/* Markdown's rule below a name, and that below one of numbers; then
	 * people read it, and it has titles for names */
	char rule[2][8];
};

extern const struct output *const outputs[]; /* ends with NULL */
/* Returns that of a name, NULL: none. */
const struct output *output_find(const char *name);
/* Writes all rows as struct output says. */
int output_write(const struct output *o, FILE *out, struct rows *rows,
		 struct err *err);
/* For those without write(): write a name, or a value with a mark after it,
 * and what is around them. */
void output_put_name(const struct output *o, FILE *out, const char *name,
		     bool first);
void output_put(const struct output *o, FILE *out, const struct value *v,
		const char *mark, bool first);
/* Returns whether an output is read by people, with text around its table. */
bool output_is_text(const char *name);
bool output_is_markdown(const char *name);
/* Returns whether only the table of functions, and 'diff', have this form. */
bool output_is_for_functions(const char *name);
/* Returns whether it is "csv", or "spreadsheet", its form for programs that
 * would calculate what a text says. */
bool output_is_csv(const char *name);

/* Begins or ends a block of Markdown that shows text as a screen has it. */
void markdown_fence(FILE *out, bool begin);
/* Writes a text as a literal of SQL; what a terminal would interpret is \xNN.
 */
void sql_put_text(FILE *out, const char *s, size_t len);

/* ---- rows of a query as JSON. */

/* Writes a value of a row; a blob as hexadecimal, at most its first MiB. */
void json_value(struct json *j, const char *key, const struct value *v);
/* Writes the next row as an object, null if there is none. Of columns with the
 * same name the last is written. Returns 0, or -1 and *err. */
int json_row(struct json *j, const char *key, struct rows *r, struct err *err);
/* Writes all rows as an array of objects, one a line. Returns 0, or -1 and
 * *err; 0 also if it stops because a write has failed. */
int json_rows(struct json *j, const char *key, struct rows *r, struct err *err);

/* Returns whether a row of text is to have its JSON and a tab in front, by
 * which view knows what the row is about: $BACKSTITCH_ROWS. */
bool json_before_rows(void);
