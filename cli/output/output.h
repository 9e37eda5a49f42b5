/* output.h - one way to write rows: one file, one struct output, one table row.
 */
#ifndef CLI_OUTPUT_OUTPUT_H
#define CLI_OUTPUT_OUTPUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/command.h"

struct err;
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
#endif
