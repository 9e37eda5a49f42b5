/* table_function.h - functions that return rows, as eponymous virtual tables.
 *
 * Arguments are hidden columns behind the visible ones, so that
 * f(1, 2) and f WHERE a = 1 AND b = 2 are the same query. */
#pragma once
#include "schema/guard/sqlite_api.h"

struct functions;

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

/* Registers f under a name, which drops a reference to fs when it goes. Returns
 * an SQLite result code. */
int table_function_add(struct functions *fs, const char *name,
		       const struct table_function *f);
