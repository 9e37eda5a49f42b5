/* insert.h - a block of rows into a B-tree of ours, or into SQLite.
 *
 * SQLite takes a block by one statement, INSERT INTO table SELECT ... FROM
 * batch, where `batch` is a virtual table of ours that reads the block in
 * place. Measured with the 9-column event rows (1.5 M rows, one transaction, no
 * journal, 4 KiB pages, one core):
 *   single-row INSERT with binds		2.1 M rows/s
 *   10 rows per INSERT			2.5 M rows/s
 *   50 rows per INSERT			2.8 M rows/s
 *   batch, id given			3.0 M rows/s
 *   batch, id left to SQLite		4.4 M rows/s
 * The last one suits tables whose ids come as 1, 2, 3 ...: then SQLite's next
 * id is the row's id, and SQLite does not search for a duplicate.
 *
 * Rows that the B-tree does not take, as they come after a row with a larger
 * key, wait in a temporary table. */
#pragma once
#include <sqlite3.h>

struct block;
struct bulk;
struct bulk_table;

/* Registers the virtual table on a connection. Returns an SQLite result code.
 */
int insert_register(sqlite3 *db, struct bulk *bulk);
/* Inserts a block, and changes it; called on the thread that uses the
 * connection. Returns an SQLite result code. */
int insert_block(sqlite3 *db, struct bulk *bulk, struct block *b);
/* Inserts the rows that wait, when the B-tree is in the database. Returns an
 * SQLite result code. */
int insert_late_rows(sqlite3 *db, struct bulk_table *t);
