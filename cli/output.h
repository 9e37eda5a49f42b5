/* output.h - one way to write rows: one file, one struct output, one table row. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H
#include <stdio.h>

struct err;
struct rows;

struct output {
	const char *name; /* "table", "csv", "json" */
	const char *summary;
	/* Writes all rows; gives 0, or -1 and *err (SIGPIPE is no error: the
	 * caller sees ferror). Control bytes never reach a terminal. */
	int (*write)(FILE *out, struct rows *rows, struct err *err);
};

extern const struct output *const outputs[]; /* ends with NULL */
const struct output *output_find(const char *name);

/* Copies s with control bytes as \xNN, and the bytes in `also` too. */
void output_clean(FILE *out, const char *s, size_t len, const char *also);
#endif
