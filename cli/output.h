/* output.h - one way to write rows: one file, one struct output, one table row.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H
#include <stddef.h>
#include <stdio.h>

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
/* Their names, for OPT_CHOICE. */
extern const char *const output_names[];
/* NULL: the first one. NULL back when there is no such output. */
const struct output *output_find(const char *name);

/* Copies s with control bytes as \xNN, and the bytes in `also` too (NULL:
 * none); bytes that are not UTF-8 as well. */
void output_clean(FILE *out, const char *s, size_t len, const char *also);
/* The same into dst, which has size bytes; cut where it is full. Gives the
 * length; a final 0 is added. 4 * len + 1 is always enough. */
size_t output_clean_buf(char *dst, size_t size, const char *s, size_t len,
			const char *also);

/* json-c objects; the caller owns them. A string that is not UTF-8 is
 * cleaned. */
struct json_object *output_json_text(const char *s, size_t len);
struct json_object *output_json_value(const struct value *v);
/* All rows as an array of objects; NULL and *err. */
struct json_object *output_json_rows(struct rows *r, struct err *err);
#endif
