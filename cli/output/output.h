/* output.h - one way to write rows: one file, one struct output, one table row.
 */
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "cli/command.h"

struct rows;
struct value;

struct output {
	const char *name; /* "table", "csv", "json" */
	/* Writes all rows. Returns 0, or -1 and *err; 0 also if it stops
	 * because out_failed(). Control bytes are escaped. */
	int (*write)(FILE *out, struct rows *rows, struct err *err);
};

extern const struct output *const outputs[]; /* ends with NULL */
/* --format and --json, for OPT_GROUP(). */
extern const struct opt output_opts[];
/* Returns -1 and *err if the user chose two. */
int output_check(struct err *err);
/* Returns the output that the user chose, else the first. */
const struct output *output_chosen(void);
/* Returns whether an output is read by people, with text around its table. */
bool output_is_text(const char *name);
bool output_is_markdown(const char *name);
/* Returns whether only the table of functions, and --diff, have this form. */
bool output_is_for_functions(const char *name);
/* Returns whether the user chose an output. */
bool output_asked(void);

/* --spreadsheet, which is part of output_opts. */
extern const struct opt csv_opts[];

/* Writes a value that is not text: nothing for NULL, hexadecimal for a blob. */
void output_value(FILE *out, const struct value *v);
