/* functions_state.h - what our SQL functions keep on one connection.
 *
 * The functions read the tables of their connection through statements that
 * are prepared once and kept here. SQLite refuses to close a connection that
 * has statements left, so they are finalized when it disconnects the table
 * backstitch_functions, which it does before it looks.
 *
 * A database may have a view in place of a table that we expect, and that view
 * may call our functions: functions_enter() refuses a second entry. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "schema/guard/sqlite_api.h"

/* The statements of the functions that return one value. */
enum function_query {
	Q_STACK,
	Q_FRAME,
	Q_INLINED,
	Q_LABEL,
	Q_WALL,
	Q_N
};

struct functions {
	sqlite3 *db;
	bool (*demangle)(const char *name, char *buf, size_t size);
	unsigned int refs; /* functions and modules that point here */
	bool inside;	   /* a statement of ours is running */
	sqlite3_stmt *st[Q_N];
};

/* Drops a reference; the last one frees the state. */
void functions_unref(void *fs);
void functions_forget_statements(struct functions *fs);

/* Returns true if the caller may read tables; functions_leave() must follow.
 * Returns false and *message, for sqlite3_free(), if a table that is being read
 * calls us. */
bool functions_enter(struct functions *fs, const char *name, char **message);
void functions_leave(struct functions *fs);
/* Returns the statement, reset, or NULL: then the connection has the error. */
sqlite3_stmt *functions_statement(struct functions *fs, enum function_query q);
