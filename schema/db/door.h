/* door.h - the one door from a maker to reading.
 *
 * Nothing else waits for queued rows: a connection refuses statements while
 * rows are queued. */
#pragma once
#include <stdint.h>

struct err;
struct maker;
struct sqlite3_stmt;
struct store;

/* Waits until every row is inserted. Returns the connection, which may be read
 * until the next row is put, or NULL and *err. Costs nothing if no row was put
 * since the last time. Rows of large tables are readable after
 * store_readable(). */
struct store *maker_read(struct maker *mk, struct err *err);
/* db_exec(), db_number() and db_prepare() on the connection of maker_read(). */
int maker_exec(struct maker *mk, const char *sql, struct err *err);
int maker_number(struct maker *mk, const char *sql, int64_t *out,
		 struct err *err);
struct sqlite3_stmt *maker_prepare(struct maker *mk, const char *sql,
				   struct err *err);
