/* filling.h - a maker: a connection, and rows that are queued for it.
 *
 * Rows go from the main thread through blocks (bulk.h) to the writer thread
 * (writer.h). Other reads and changes of the database go through door.h, which
 * waits until every block is inserted and the writer sleeps. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "schema/db/bulk.h"
#include "schema/db/db.h"
#include "schema/db/packing.h"

struct page_file;
struct writer;
struct writing;

struct maker {
	struct store *db;
	bool is_new; /* false: names are added to a finished database */
	struct bulk_table **table;
	size_t n_table, cap_table;
	struct writer *wr;
	struct page_file *pages; /* of large tables; NULL: SQL inserts all */
	struct writing *w;	 /* schema/write/writing.h */
};

/* Adds a table that is filled in bulk. Returns its number. */
unsigned int maker_table_add(struct maker *mk, const struct bulk_shape *shape);
/* maker_packed() for an open block without room. */
struct block *maker_new_packed(struct maker *mk, unsigned int t, size_t data,
			       struct err *err);
/* Returns a block with room for a row of table t with `data` bytes of text and
 * blobs, for packing_begin(), or NULL and *err. */
static inline struct block *maker_packed(struct maker *mk, unsigned int t,
					 size_t data, struct err *err)
{
	struct block *b = mk->table[t]->open;

	if (__builtin_expect(!b || !packing_fits(b, data), 0))
		return maker_new_packed(mk, t, data, err);
	return b;
}
/* Hands the open block of a table to the writer. */
int maker_submit(struct maker *mk, struct bulk_table *t, struct err *err);
/* Frees everything that fills the connection, but not the connection; blocks
 * that were not inserted are lost. */
void filling_end(struct maker *mk);
/* link.c: commits, puts the pages of all tables after SQLite's own, and begins
 * the next transaction. Until then these tables are empty for SQL; afterwards
 * their rows are inserted by SQL. Does nothing the second time, or if there are
 * no such tables. Returns 0, or -1 and *err. */
int link_pages(struct maker *mk, struct err *err);
