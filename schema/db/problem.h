/* problem.h - SQLite's errors in our words: path, cause, what to do. */
#ifndef SCHEMA_DB_PROBLEM_H
#define SCHEMA_DB_PROBLEM_H
struct err;
struct sqlite3;

/* Fills *err for result code rc of the connection; gives -1. path "": a
 * temporary database. */
int problem_set(struct sqlite3 *db, const char *path, int rc, struct err *err);
#endif
