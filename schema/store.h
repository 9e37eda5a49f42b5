/* store.h - a database: created or opened, finished, closed.
 *
 * Writing: store_create(), then the calls of schema/write/write.h, then
 * store_finish(), which builds indexes and views, checks that the sums add up,
 * and renames the temporary file to the target. store_close() without
 * store_finish() removes the temporary file, so that an interrupted ingest
 * leaves no half-written database.
 *
 * Reading: store_open(), then named queries and SQL through rows.h. This header
 * includes what every reader needs. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "schema/db/addrs.h"
#include "schema/db/column_name.h"
#include "schema/db/queries.h"
#include "schema/db/rows.h"

struct frames;
struct ledger;

#define SCHEMA_VERSION 15
/* That of release 1.0: a database since then can be read. */
#define SCHEMA_OLDEST 12

struct store_opts {
	/* Events whose payloads become ev_ tables: "none", "all", or a comma
	 * list of names and globs; NULL: the default set (sched:* and process
	 * events); "": of that set only those whose text needs it, which have
	 * stacks in their fields, or fields that are in no payload. Payloads of
	 * other events are rows of payload, or nowhere if "none". */
	const char *fields;
	/* One of store_compat_tools, whose views store_finish() adds; NULL:
	 * none. Borrowed until then. */
	const char *compat;
	/* Of store_create_temp(): the folder for a file that has its name only
	 * while it is opened. NULL, and where none can be made: SQLite inserts
	 * all rows, into a file that it chooses. */
	const char *temp_dir;
	bool force;	/* store_finish() replaces an existing file */
	bool large;	/* 100 MB and more are expected: use larger pages */
	bool no_thread; /* for tests: write on the caller's thread */
	bool no_pages;	/* insert all rows by SQL: they are read while more are
			 * stored, or for tests */
};

/* Return a new database, for store_close(), or NULL and *err. store_create()
 * refuses a path that exists unless force is set; fr is borrowed. The database
 * of store_create_temp() has no name and is gone after store_close(). */
struct store *store_create(const char *path, const struct store_opts *o,
			   const struct frames *fr, struct err *err);
struct store *store_create_temp(const struct store_opts *o,
				const struct frames *fr, struct err *err);
/* Opens a finished database; writable: to add names to it. Refuses files that
 * are no databases of ours, and databases of schemas that it does not know. One
 * of an older schema can only be read; what it lacks is NULL, or has no rows.
 * Returns NULL and *err on failure. */
struct store *store_open(const char *path, bool writable, struct err *err);
/* The same; messages call the file `name`, as a temporary one was made of that
 * or becomes it. */
struct store *store_open_as(const char *path, const char *name, bool writable,
			    struct err *err);
/* Completes what was written; afterwards the database can only be read.
 * Does nothing if it was opened for reading. Returns 0, or -1 and *err. */
int store_finish(struct store *db, struct ledger *lg, struct err *err);
void store_close(struct store *db); /* NULL is fine */

/* Enough bytes of a file for store_is_database(). */
#define STORE_HEAD 100
/* Returns true if n bytes from the begin of a file are those of a database that
 * this program made. */
bool store_is_database(const void *head, size_t n);
/* Adds our SQL functions to the connection. Returns 0, or -1 and *err. */
int store_functions(struct store *db,
		    bool (*demangle)(const char *name, char *buf, size_t size),
		    struct err *err);
/* Tools for whose databases there are queries: "perf" (export-to-sqlite),
 * "perfetto". Ends with NULL. */
extern const char *const store_compat_tools[];
/* Makes views with the columns of such a tool for this connection, which can
 * only read. Returns 0, or -1 and *err. */
int store_compat(struct store *db, const char *tool, struct err *err);
/* Statements end with an error once fn returns true; it is asked now and then
 * while they run. */
void store_on_stop(struct store *db, bool (*fn)(void));
/* Ends the statement that runs, for Ctrl-C. May be called from a signal
 * handler. */
void store_interrupt(struct store *db);
