/* link.h - makes the B-trees that were built without SQLite part of the
 * database. */
#pragma once
struct err;
struct store;

/* Commits, puts the pages of all tables behind SQLite's own, and begins the
 * next transaction. Until then these tables are empty for SQL; afterwards their
 * rows are inserted by SQL. Does nothing the second time, or if there are no
 * such tables. Returns 0, or -1 and *err. */
int link_pages(struct store *db, struct err *err);
