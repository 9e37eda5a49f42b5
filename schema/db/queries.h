/* queries.h - the SQL texts of schema/sql, which are part of the program. */
#pragma once
#include <stddef.h>

/* Returns the text after the line "-- name: NAME" of schema/sql/queries*.sql,
 * without a semicolon at its end, or NULL if there is no such query. It lives
 * as long as the program. */
const char *store_sql(const char *name);

/* The text for a gap in a query, where the query has {name}. */
struct sql_gap {
	const char *name, *text;
};
/* Returns the text of a named query with its gaps filled from gap[]; the caller
 * frees it. Braces in the texts of gaps stay. */
char *store_sql_fill(const char *query, const struct sql_gap *gap, size_t n);

/* Returns the text of a whole file, named without ".sql", or NULL. */
const char *sql_file(const char *name);

/* All SQL files, made by embed.sh; the last name is NULL. */
struct sql_file {
	const char *name, *text;
};
extern const struct sql_file sql_files[];

/* The columns of each named query, separated by blanks, as columns.awk names
 * them; "..." at the end means that the caller adds more. A test compares them
 * with the names that SQLite reports. */
struct query_columns {
	const char *query, *columns;
};
extern const struct query_columns query_columns[];
