/* interval_sql.h - the intervals of a database as a table for SQL: interval in
 * backstitch-schema(5). It is computed when a statement first reads it. */
#pragma once

struct err;
struct interval_sql;
struct store;

/* Adds the table to the connection. path: borrowed. Returns NULL and *err on
 * failure. Call interval_sql_free() when all statements are closed, and before
 * store_close(). */
struct interval_sql *interval_sql_new(struct store *db, const char *path,
				      struct err *err);
void interval_sql_free(struct interval_sql *s); /* NULL is fine */
