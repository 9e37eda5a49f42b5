/* problem.h - errors of SQLite as messages: path, cause, what to do. */
#pragma once
struct err;
struct sqlite3;

/* Fills *err for result code rc of the connection, which may be NULL. An empty
 * path is a temporary database. Returns -1. */
int problem_set(struct sqlite3 *db, const char *path, int rc, struct err *err);
