/* json_rows.h - rows of a query as JSON. */
#pragma once
#include <stdbool.h>

struct err;
struct json;
struct rows;
struct value;

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
