/* guard.h - the one place where connections are made.
 *
 * A database may come from anywhere, and so may the files next to it. What is
 * opened for GUARD_READ and GUARD_WRITE was looked at before SQLite sees it,
 * and no SQL in it can call a function with side effects.
 * Before anything of its tables is read or written, the caller compares its
 * schema with ours (views_check()), then calls guard_accept(). */
#pragma once

struct err;
struct guard;
struct sqlite3;

/* Fills *err for result code rc of the connection, which may be NULL. An empty
 * path is a temporary database. Returns -1. */
int problem_set(struct sqlite3 *db, const char *path, int rc, struct err *err);

/* A rollback journal changes the database, and deletes what it names as its
 * super-journal, as soon as somebody who may write opens the database. So who
 * packs one next to a database acts as whoever opens it. The layout is in
 * "Database File Format" of SQLite, "The Rollback Journal". */

enum guard_how {
	GUARD_MAKE, /* a new database of ours, or one in memory */
	GUARD_READ,
	GUARD_WRITE, /* without SQLite's triggers */
	GUARD_AS_IS, /* reads the file only: no lock, and nothing next to it */
};

/* Returns a connection, for guard_close() with *guard, or NULL and *err, which
 * calls the file `name`: a temporary one has a path that says nothing to a
 * user. *guard is NULL where SQLite may open what it likes. */
struct sqlite3 *guard_open(const char *path, const char *name,
			   enum guard_how how, struct guard **guard,
			   struct err *err);
/* Both can be NULL. */
void guard_close(struct sqlite3 *conn, struct guard *guard);
/* Returns why SQLite was last refused a file, or NULL if it never was. */
const struct err *guard_refused(const struct guard *guard);
/* For a program, before all else that calls SQLite: it counts no bytes of its
 * memory, which took a lock at each allocation, and a sixth of what it takes to
 * open a database. */
void guard_start(void);
/* Nothing in the database may make SQLite load, attach or write to tables of
 * its own, and values are as long as a schema needs. */
void guard_bind(struct sqlite3 *conn);
/* The schema is ours: values may be as long as ours are. */
void guard_accept(struct sqlite3 *conn);

/* Returns path as a name that SQLite does not take for a URI; the caller frees
 * it. */
char *db_plain_name(const char *path);
