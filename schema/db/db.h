/* db.h - the connection to a database, and rows on their way into it.
 *
 * Only one thread uses the connection at a time. While a database is being
 * written, rows go from the main thread through blocks (bulk.h) to the writer
 * thread (writer.h). db_prepare(), db_exec() and what reads rows wait until
 * every block is inserted and the writer sleeps. db_step() does not: binding
 * values uses the connection too, so who has put rows since db_prepare() calls
 * db_drain() before binding. Else db_step() stops the program. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/db/bulk.h"
#include "schema/db/packing.h"
#include "schema/guard/sqlite_api.h"

struct err;
struct guard;
struct rows_block;
struct page_file;
struct writer;
struct writing;

/* An open database. */
struct store {
	sqlite3 *db;
	struct guard *guard; /* of db */
	char *path;	     /* for messages; "" for a temporary database */
	bool making;	     /* it is new and not finished */
	bool writable;	     /* rows can be added */
	bool older;	     /* its schema is one before ours */
	bool (*stop)(void);  /* NULL: statements run to their end */
	struct bulk_table **table;
	size_t n_table, cap_table;
	bool filling; /* blocks are open or on their way: see db_drain() */
	bool takes;   /* take_ints() is registered */
	struct rows_block *taking; /* whose statement runs; see rows.c */
	struct writer *wr;	   /* NULL: rows cannot be added */
	struct page_file *pages;   /* of large tables; NULL: SQL inserts all */
	struct writing *w;	   /* schema/write/writing.h */
};

/* Waits as db_drain() does, and runs one or more statements that return no
 * rows. Returns 0, or -1 and *err with path and cause. */
int db_exec(struct store *db, const char *sql, struct err *err);
/* Stores the first column of a statement's first row in *out, or 0 if it
 * returns no row. Returns 0, or -1 and *err. */
int db_number(struct store *db, const char *sql, int64_t *out, struct err *err);
/* Fills *err for SQLite's result code rc. Returns -1. */
int db_error(const struct store *db, int rc, struct err *err);
/* Fills *err for rows whose ids do not increase. Returns -1. */
int db_unordered(const struct store *db, struct err *err);
/* Waits as db_drain() does. Returns the prepared statement, for
 * sqlite3_finalize(), or NULL and *err. */
sqlite3_stmt *db_prepare(struct store *db, const char *sql, struct err *err);
/* Runs a statement that returns no rows, and resets it. No row was put since it
 * was made, or since db_drain(). */
int db_step(struct store *db, sqlite3_stmt *st, struct err *err);

/* Waits until every row is inserted; then the caller may use the connection
 * until the next db_packed(). Returns 0, or -1 and *err. Costs nothing if no
 * row was put since the last time. */
int db_drain(struct store *db, struct err *err);
/* Adds a table that is filled in bulk. Returns its number. */
unsigned int db_table_add(struct store *db, const struct bulk_shape *shape);
/* db_packed() where the open block has no room. */
struct block *db_new_packed(struct store *db, unsigned int t, size_t data,
			    struct err *err);
/* Returns a block with room for a row of table t with `data` bytes of text and
 * blobs, for packing_begin(), or NULL and *err. */
static inline struct block *db_packed(struct store *db, unsigned int t,
				      size_t data, struct err *err)
{
	struct block *b = db->table[t]->open;

	if (__builtin_expect(!b || !packing_fits(b, data), 0))
		return db_new_packed(db, t, data, err);
	return b;
}
/* Hands the open block of a table to the writer. */
int db_submit(struct store *db, struct bulk_table *t, struct err *err);
/* link.c: commits, puts the pages of all tables behind SQLite's own, and begins
 * the next transaction. Until then these tables are empty for SQL; afterwards
 * their rows are inserted by SQL. Does nothing the second time, or if there are
 * no such tables. Returns 0, or -1 and *err. */
int link_pages(struct store *db, struct err *err);
/* guard_reading.c: refuses everything but reading on this connection from now
 * on. Returns 0, or -1 and *err. */
int guard_reading(struct store *db, struct err *err);
/* Closes the connection and frees *db, all but db->w. NULL is fine. */
void db_close(struct store *db);
