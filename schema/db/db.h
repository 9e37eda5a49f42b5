/* db.h - the connection to a database, for readers.
 *
 * Only one thread uses the connection at a time. The maker of a database
 * (filling.h) has a writer thread that uses the connection while rows are
 * queued: maker_read() waits for them. Until then all functions that run a
 * statement return an error. They also accept NULL for a connection, from a
 * maker_read() that has filled *err. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/guard/sqlite_api.h"

struct err;
struct guard;
struct rows_block;
struct sample_group;
struct sums_code;

/* take_ints(), see rows.c. */
struct db_taking {
	bool known;		  /* take_ints() was added to the connection */
	struct rows_block *block; /* block of the running statement */
};

/* An open database. */
struct store {
	sqlite3 *db;
	struct guard *guard; /* of db */
	char *path;	     /* for messages; "" for a temporary database */
	bool older;	     /* its schema is older than this program's */
	bool writable;	     /* a maker has it */
	bool filling;	     /* the maker has rows queued */
	bool (*stop)(void);  /* NULL: statements run to their end */
	struct db_taking *taking;
	/* Sums from making the database, which may be read in place of rows;
	 * NULL: the rows exist. See sums_code.h and groups.h. */
	struct sums_code *sums;
	struct sample_group *group;
	size_t n_group;
};

/* Returns a connection that is not open yet, for store_close(). path is copied.
 */
struct store *db_new(const char *path);
/* Returns true if no statement can run: a maker has rows queued, which *err is
 * set to, or db is NULL, and *err is set already. */
bool db_refuses(const struct store *db, struct err *err);
/* Runs one or more statements that return no rows. Returns 0, or -1 and *err
 * with path and cause. */
int db_exec(const struct store *db, const char *sql, struct err *err);
/* Stores the first column of a statement's first row in *out, or 0 if it
 * returns no row. Returns 0, or -1 and *err. */
int db_number(const struct store *db, const char *sql, int64_t *out,
	      struct err *err);
/* Fills *err for SQLite's result code rc. Returns -1. */
int db_error(const struct store *db, int rc, struct err *err);
/* Fills *err for rows whose ids do not increase. Returns -1. */
int db_unordered(const struct store *db, struct err *err);
/* Returns the prepared statement, for sqlite3_finalize(), or NULL and *err. */
sqlite3_stmt *db_prepare(const struct store *db, const char *sql,
			 struct err *err);
/* Runs a statement that returns no rows, and resets it. Returns 0, or -1 and
 * *err. Binding values uses the connection too: after putting rows since
 * db_prepare(), call maker_read() first. */
int db_step(const struct store *db, sqlite3_stmt *st, struct err *err);
/* guard_reading.c: refuses everything but reading on this connection from now
 * on. Returns 0, or -1 and *err. */
int guard_reading(const struct store *db, struct err *err);
