/* guard.h - opens connections: the one place that does.
 *
 * A database may come from anywhere, and so may the files next to it. For
 * GUARD_READ and GUARD_WRITE they are checked before SQLite sees them, and no
 * SQL in the database can call a function with side effects. Before reading or
 * writing its tables, the caller compares its schema with ours (views_check()),
 * then calls guard_accept(). */
#pragma once

struct err;
struct guard;
struct sqlite3;

/* Fills *err for result code rc of the connection, which may be NULL. An empty
 * path is a temporary database. Returns -1. */
int problem_set(struct sqlite3 *db, const char *path, int rc, struct err *err);

/* How to open. A rollback journal changes the database, and deletes the
 * super-journal that it names, as soon as a user with permission to write opens
 * the database. So whoever packs one next to a database can act as that user.
 * The layout is in "Database File Format" of SQLite, "The Rollback Journal". */

enum guard_how {
	GUARD_MAKE, /* a new database of ours, or one in memory */
	GUARD_READ,
	GUARD_WRITE, /* without SQLite's triggers */
	GUARD_AS_IS, /* reads the file only: no lock, and nothing next to it */
};

/* Returns a connection, for guard_close() with *guard, or NULL and *err, which
 * names the file `name`: the path of a temporary one means nothing to a user.
 * *guard is NULL if SQLite may open any file. */
struct sqlite3 *guard_open(const char *path, const char *name,
			   enum guard_how how, struct guard **guard,
			   struct err *err);
/* Closes a connection. Both arguments may be NULL. */
void guard_close(struct sqlite3 *conn, struct guard *guard);
/* Returns why SQLite was refused a file the last time, or NULL if it never
 * was. */
const struct err *guard_refused(const struct guard *guard);
/* Call it before anything else that calls SQLite: turns off SQLite's count of
 * allocated memory, which took a lock at each allocation, and a sixth of the
 * time to open a database. */
void guard_start(void);
/* Restricts a connection: nothing in the database may make SQLite load, attach
 * or write to tables of its own, and values are as long as a schema needs. */
void guard_bind(struct sqlite3 *conn);
/* Lifts the limit on values to that of ours, as the schema was accepted. */
void guard_accept(struct sqlite3 *conn);

/* Returns path as a name that SQLite does not take for a URI; the caller frees
 * it. */
char *db_plain_name(const char *path);
