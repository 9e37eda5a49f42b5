/* functions.h - our SQL functions on one connection, inside schema/.
 *
 * functions_add() once per connection. What the functions read are the tables
 * of that connection, by statements that are prepared once and kept in its
 * struct functions; they are finalised when the table backstitch_functions is
 * disconnected, which SQLite does before it asks whether statements are left.
 *
 * A database may have a view of its own where we expect a table, and that view
 * may call our functions: functions_enter() lets nobody in twice. */
#ifndef SCHEMA_FUNCTIONS_FUNCTIONS_H
#define SCHEMA_FUNCTIONS_FUNCTIONS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/db/sqlite_api.h"

struct sql_hooks;
struct table_function;

/* The statements of the functions that give one value. */
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
	const struct sql_hooks *hooks;
	unsigned int refs; /* functions and modules that point here */
	bool inside;	   /* a statement of ours is running */
	sqlite3_stmt *st[Q_N];
};

struct function {
	const char *name;
	const char *args; /* as in the help */
	const char *help; /* one line */
	int n_args;	  /* of a function that gives one value */
	int flags;
	void (*value)(sqlite3_context *ctx, int argc, sqlite3_value **v);
	const struct table_function *table; /* or it gives rows */
};

extern const struct function function_list[]; /* ends with name NULL */

/* An SQLite result code. */
int functions_add(sqlite3 *db, const struct sql_hooks *hooks);

/* For the functions: false, and *message (sqlite3_free) says why, when the
 * tables themselves call us. Else functions_leave() must follow. */
bool functions_enter(struct functions *fs, const char *name, char **message);
void functions_leave(struct functions *fs);
/* The statement, reset; NULL: the connection knows the error. */
sqlite3_stmt *functions_statement(struct functions *fs, enum function_query q);

/* function_text.c: functions that give one value. */
void function_stack_text(sqlite3_context *ctx, int argc, sqlite3_value **v);
void function_folded(sqlite3_context *ctx, int argc, sqlite3_value **v);
void function_frame_name(sqlite3_context *ctx, int argc, sqlite3_value **v);
void function_hex(sqlite3_context *ctx, int argc, sqlite3_value **v);
void function_demangle(sqlite3_context *ctx, int argc, sqlite3_value **v);
void function_wall(sqlite3_context *ctx, int argc, sqlite3_value **v);
#endif
