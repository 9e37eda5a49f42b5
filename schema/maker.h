/* maker.h - a database that is being made: begun, read by its maker, and
 * finished.
 *
 * maker_create(), then the calls of schema/write/write.h, then maker_finish(),
 * which builds indexes and views, checks that the sums add up, and renames the
 * temporary file to the target. maker_free() in place of it removes the
 * temporary file, so that an interrupted ingest leaves no half-written
 * database.
 *
 * Rows are queued in blocks for a separate thread. There is one door from a
 * maker to reading: maker_read(). */
#pragma once
#include <stdbool.h>

#include "schema/db/door.h"

struct frames;
struct ledger;

struct maker_opts {
	/* Events whose payloads become ev_ tables: "none", "all", or a comma
	 * list of names and globs; NULL: the default set (sched:* and process
	 * events); "": only the events of that set whose text needs it, with
	 * stacks in their fields, or fields that are in no payload. Payloads of
	 * other events are rows of payload, or are dropped if "none". */
	const char *fields;
	/* For maker_create_temp(): the folder for a file that has its name only
	 * while it is opened. If NULL, or if no file can be made there, SQLite
	 * inserts all rows, into a file that it chooses. */
	const char *temp_dir;
	bool force;	/* maker_finish() replaces an existing file */
	bool large;	/* 100 MB and more are expected: use larger pages */
	bool no_thread; /* for tests: write on the caller's thread */
	bool no_pages;	/* insert all rows by SQL: for reading while more are
			   stored, or for tests */
};

/* Return a maker of a new database, for maker_finish() or maker_free(), or NULL
 * and *err. maker_create() refuses a path that exists unless force is set; fr
 * is borrowed. The database of maker_create_temp() has no name and is gone
 * after store_close(). */
struct maker *maker_create(const char *path, const struct maker_opts *o,
			   struct frames *fr, struct err *err);
struct maker *maker_create_temp(const struct maker_opts *o, struct frames *fr,
				struct err *err);
/* Opens a finished database to add names to it, as store_open_as() does. */
struct maker *maker_open(const char *path, const char *name, struct err *err);
/* Completes what was written, and frees *mk in any case. Returns the database,
 * which can only be read, for store_close(), or NULL and *err. */
struct store *maker_finish(struct maker *mk, struct ledger *lg,
			   struct err *err);
/* Drops what was made or changed, and frees *mk. NULL is allowed. */
void maker_free(struct maker *mk);
