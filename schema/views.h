/* views.h - adds the views of a database, and checks that it has the tables and
 * views that it should have. */
#pragma once
struct err;
struct store;

/* Adds the views of an SQL text that has nothing else; needs PRAGMA
 * writable_schema. */
int views_add(const struct store *db, const char *sql, struct err *err);
/* Refuses a database in which a table of ours is anything else, and replaces
 * views with another text by ours, on this connection. */
int views_check(const struct store *db, struct err *err);
