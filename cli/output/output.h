/* output.h - one way to write rows: one file, one struct output, one table row.
 */
#ifndef CLI_OUTPUT_OUTPUT_H
#define CLI_OUTPUT_OUTPUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/command.h"

struct err;
struct json_object;
struct rows;
struct value;

struct output {
	const char *name; /* "table", "csv", "json" */
	const char *summary;
	/* Writes all rows; gives 0, or -1 and *err. Stops early, with 0, when
	 * out_failed() says that nobody reads. Control bytes never reach a
	 * terminal. */
	int (*write)(FILE *out, struct rows *rows, struct err *err);
};

extern const struct output *const outputs[]; /* ends with NULL */
/* --format, --json: for OPT_GROUP. */
extern const struct opt output_opts[];
/* The one that was asked for, else the first. */
const struct output *output_chosen(void);
/* Was one asked for at all? */
bool output_asked(void);

/* One value of CSV, in quotes when it needs them. */
void output_csv_text(FILE *out, const char *s, size_t len);

/* A value that is no text, in full: nothing for NULL, hex for a blob. */
void output_value(FILE *out, const struct value *v);

/* json-c objects; the caller owns them. A string that is UTF-8 comes out of
 * a JSON parser as it went in; another one is cleaned. */
struct json_object *output_json_text(const char *s, size_t len);
struct json_object *output_json_value(const struct value *v);
/* As a line on standard output; as output_json_put(). */
void output_json_line(struct json_object *o);
/* As text without a newline; nothing in it commands a terminal. */
void output_json_put(FILE *out, struct json_object *o, bool pretty);
/* All rows as an array, an object a line; 0, or -1 and *err. */
int output_json_array(FILE *out, struct rows *r, struct err *err);
/* All rows as an array of objects; NULL and *err. */
struct json_object *output_json_rows(struct rows *r, struct err *err);
bool json_can(const char *s, size_t len);
#endif
