/* query_error.h - explains where a statement is wrong. */
#pragma once
struct err;
struct store;

/* To be called right after SQLite refused the statement. Shows the line with
 * the error on stderr with a mark below it. If a name was not found, adds the
 * nearest one to the message. */
void query_error(struct store *db, const char *sql, struct err *err);
