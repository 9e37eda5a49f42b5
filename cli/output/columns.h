/* columns.h - rows as a JSON object of columns: {"length": 2, "a": [1, 2],
 * ...}.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define COLUMN_NONE UINT32_MAX

enum column_kind {
	COLUMN_END,
	COLUMN_U32,
	COLUMN_OR_NULL,	 /* uint32_t; null for COLUMN_NONE */
	COLUMN_OR_MINUS, /* uint32_t; -1 for COLUMN_NONE */
	COLUMN_I64,
	COLUMN_SIZE,  /* uint64_t; null for 0 */
	COLUMN_PLACE, /* the number of the row: 0, 1, 2, ... */
	COLUMN_CONST
};

struct column {
	const char *name;
	enum column_kind kind;
	size_t at;	   /* offset in the row */
	const char *value; /* COLUMN_CONST: JSON text of the value */
};

struct json;

/* Writes n rows of size bytes each as an object with an array for each column;
 * the columns end with COLUMN_END. */
void columns_json(struct json *j, const char *key, const struct column *c,
		  const void *rows, size_t size, size_t n);
