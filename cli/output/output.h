/* output.h - the formats of rows, each a struct output. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct json;
struct err;
struct rows;
struct value;

struct output {
	const char *name; /* the value of --format; "spreadsheet" is none */
	/* Writes all rows. Returns 0, or -1 and *err; 0 also if it stops
	 * because out_failed(). Control bytes are escaped. */
	int (*write)(FILE *out, struct rows *rows, struct err *err);
	/* If write is NULL, values are written one by one. text() writes a
	 * value that is text, column() the name of a column in the first line;
	 * column NULL: text() writes it, too. */
	void (*text)(FILE *out, const char *s, size_t len);
	void (*column)(FILE *out, const char *name, bool first);
	/* text before the first value of a row and before others, after each
	 * value, after each row and after all; for NULL, and around a blob */
	char first[28], before[4], behind[4], end[4], last[12];
	char null[8], blob[4], blob_end[4];
	/* Markdown's rule below a column of text and of numbers. If it is set,
	 * columns have titles for people */
	char rule[2][8];
};

extern const struct output *const outputs[]; /* ends with NULL */
/* Returns the output of a name, or NULL. */
const struct output *output_find(const char *name);
/* Writes all rows. Returns 0, or -1 and *err. */
int output_write(const struct output *o, FILE *out, struct rows *rows,
		 struct err *err);
/* For outputs without write(): write the name of a column, or a value with a
 * mark after it, and the text around them. */
void output_put_name(const struct output *o, FILE *out, const char *name,
		     bool first);
void output_put(const struct output *o, FILE *out, const struct value *v,
		const char *mark, bool first);
/* Returns whether an output is read by people, with text around its table. */
bool output_is_text(const char *name);
bool output_is_markdown(const char *name);
/* Returns whether only the table of functions, and 'diff', have this form. */
bool output_is_for_functions(const char *name);
/* Returns whether it is "csv" or "spreadsheet", the CSV for programs that would
 * evaluate text as a formula. */
bool output_is_csv(const char *name);

/* Begins or ends a Markdown block of preformatted text. */
void markdown_fence(FILE *out, bool begin);
/* Writes text as an SQL literal, with \xNN for what controls a terminal. */
void sql_put_text(FILE *out, const char *s, size_t len);

/* Writes a value of a row; a blob as hexadecimal, at most its first MiB. */
void json_value(struct json *j, const char *key, const struct value *v);
/* Writes the next row as an object, or null if there is none. If columns have
 * the same name, the last is written. Returns 0, or -1 and *err. */
int json_row(struct json *j, const char *key, struct rows *r, struct err *err);
/* Writes all rows as an array of objects, one a line. Returns 0, or -1 and
 * *err; 0 also if it stops because a write has failed. */
int json_rows(struct json *j, const char *key, struct rows *r, struct err *err);

/* Returns whether each row of text begins with its JSON and a tab, which view
 * reads: whether $BACKSTITCH_ROWS is set. */
bool json_before_rows(void);
