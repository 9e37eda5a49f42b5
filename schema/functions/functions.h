/* functions.h - adds our SQL functions to a connection. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "schema/guard/sqlite_api.h"

/* Writes the demangled name to buf. Returns false if the name is not
 * mangled. */
typedef bool demangle_fn(const char *name, char *buf, size_t size);

struct function {
	const char *name;
	const char *args; /* for the help */
	const char *help; /* one line */
	int n_args;	  /* of a function that returns one value */
	int flags;
	void (*value)(sqlite3_context *ctx, int argc, sqlite3_value **v);
	const struct table_function *table; /* NULL: value */
};

/* Returns an SQLite result code. */
int functions_add(sqlite3 *db, demangle_fn *demangle);
/* The demangler for the loadable extension: schema/ itself has none. */
extern demangle_fn *const sql_demangle; /* cli/embed/hooks.c */

/* function_text.c: functions that return one value. */
void function_stack_text(sqlite3_context *ctx, int argc, sqlite3_value **v);
void function_folded(sqlite3_context *ctx, int argc, sqlite3_value **v);
void function_frame_name(sqlite3_context *ctx, int argc, sqlite3_value **v);
void function_hex(sqlite3_context *ctx, int argc, sqlite3_value **v);
void function_demangle(sqlite3_context *ctx, int argc, sqlite3_value **v);
void function_wall(sqlite3_context *ctx, int argc, sqlite3_value **v);

/* ---- functions that return rows, as eponymous virtual tables
 *
 * Arguments are hidden columns after the visible ones, so that
 * f(1, 2) and f WHERE a = 1 AND b = 2 are the same query. */

#define TABLE_ARGS_MAX 8

/* One call. data belongs to the function. */
struct table_call {
	sqlite3_vtab_cursor base;
	struct functions *fs;
	void *data;
	sqlite3_int64 row; /* from 0 */
	int end;	   /* there is no such row */
};

struct table_function {
	const char *columns;  /* "CREATE TABLE x(..., arg HIDDEN)" */
	int n_columns;	      /* visible */
	int n_args, required; /* arguments, and how many must be given */
	/* Moves to the first row. arg[i] is NULL if not given. Returns an
	 * SQLite result code; on an error *message may be set, for
	 * sqlite3_free(). */
	int (*filter)(struct table_call *c, sqlite3_value **arg,
		      char **message);
	int (*next)(struct table_call *c, char **message);
	/* Sets the result to visible column i. */
	void (*column)(const struct table_call *c, sqlite3_context *ctx, int i);
	/* Frees data, which may be NULL. */
	void (*close)(struct table_call *c);
	/* The connection is being closed. */
	void (*disconnect)(struct functions *fs);
};

extern const struct table_function flame_function;
extern const struct table_function at_function;
extern const struct table_function list_function;

/* ---- state of our SQL functions on one connection
 *
 * The functions read the tables of their connection through statements that are
 * prepared once and kept here. SQLite refuses to close a connection with open
 * statements, so they are finalized when it disconnects the table
 * backstitch_functions, which it does before that check.
 *
 * A database may have a view in place of an expected table, and that view may
 * call our functions: functions_enter() refuses a second entry. */

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
	demangle_fn *demangle;
	unsigned int refs; /* functions and modules that point here */
	bool inside;	   /* a statement of ours is running */
	sqlite3_stmt *st[Q_N];
};

/* Returns true if the caller may read tables; functions_leave() must follow.
 * Returns false and *message, for sqlite3_free(), if a table that is being read
 * calls us. */
bool functions_enter(struct functions *fs, const char *name, char **message);
void functions_leave(struct functions *fs);
/* Returns the statement, reset, or NULL: then the connection has the error. */
sqlite3_stmt *functions_statement(struct functions *fs, enum function_query q);
