/* insert.h - a block of rows into a B-tree of ours, or into SQLite.
 *
 * Rows that the B-tree does not take, as they come after a row with a larger
 * key, wait in a temporary table. */
#ifndef SCHEMA_DB_INSERT_H
#define SCHEMA_DB_INSERT_H
#include <sqlite3.h>

struct block;
struct bulk;
struct bulk_table;

/* Inserts a block, and changes it; called on the thread that uses the
 * connection. Returns an SQLite result code. */
int insert_block(sqlite3 *db, struct bulk *bulk, struct block *b);
/* Inserts the rows that wait, when the B-tree is in the database. Returns an
 * SQLite result code. */
int insert_late_rows(sqlite3 *db, struct bulk_table *t);
#endif
