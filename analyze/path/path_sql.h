/* path_sql.h - presents the causes of waits as tables for SQL: stay,
 * state_interval, wait, wake and blame of backstitch-schema(5).
 *
 * They are computed when a statement first reads one of them, by the same code
 * as the answers of path. */
#pragma once
struct err;
struct path_sql;
struct store;

/* Adds the tables to the connection. path: borrowed. Returns NULL and *err on
 * failure. Call path_sql_free() when all statements are closed and before
 * store_close(). */
struct path_sql *path_sql_new(struct store *db, const char *path,
			      struct err *err);
void path_sql_free(struct path_sql *s); /* NULL is fine */
