/* insert.h - inserts a block of rows into a B-tree of page_tree.h, or into
 * SQLite, which takes 2 million rows of event in a second. If ids come as 1, 2,
 * 3 ..., they are left to SQLite: its next id is the row's id, and it does not
 * search for a duplicate.
 *
 * Rows that the B-tree refuses, as they come after a row with a larger key,
 * wait in a temporary table. */
#pragma once
#include <sqlite3.h>

struct block;
struct bulk_table;

/* Inserts a block, and changes it; called on the thread that uses the
 * connection. Returns an SQLite result code. */
int insert_block(sqlite3 *db, struct block *b);
/* Inserts the waiting rows, when the B-tree is in the database. Returns an
 * SQLite result code. */
int insert_late_rows(sqlite3 *db, struct bulk_table *t);
