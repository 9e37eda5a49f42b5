/* functions.h - our SQL functions, to be added to a connection once. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "schema/guard/sqlite_api.h"

struct table_function;

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
/* What the loadable extension has: schema/ knows no mangled names. */
extern demangle_fn *const sql_demangle; /* cli/hooks.c */

/* function_text.c: functions that return one value. */
void function_stack_text(sqlite3_context *ctx, int argc, sqlite3_value **v);
void function_folded(sqlite3_context *ctx, int argc, sqlite3_value **v);
void function_frame_name(sqlite3_context *ctx, int argc, sqlite3_value **v);
void function_hex(sqlite3_context *ctx, int argc, sqlite3_value **v);
void function_demangle(sqlite3_context *ctx, int argc, sqlite3_value **v);
void function_wall(sqlite3_context *ctx, int argc, sqlite3_value **v);
