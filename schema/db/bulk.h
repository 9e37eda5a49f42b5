/* bulk.h - rows of one table, packed (packing.h) in blocks of memory. Each
 * table has one open block; insert_block() takes the full ones. */
#pragma once
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_tree;

#define BULK_COLUMNS 256 /* most columns of a table */

/* The key of a table. */
enum page_key {
	PAGES_NONE,  /* rows of this table are inserted by SQL */
	PAGES_ROWID, /* the number of the row, which is in no column */
	PAGES_ID,    /* column 0, the INTEGER PRIMARY KEY */
	PAGES_NEAR,  /* the same, for rows that are almost in its order */
	PAGES_PAIR,  /* columns of numbers; WITHOUT ROWID, PRIMARY
		      * KEY(a, b DESC) */
};

struct bulk_shape {
	const char *name;    /* quoted if SQL needs it */
	const char *columns; /* separated by commas; NULL: all */
	unsigned int n_columns;
	bool has_id;	   /* column 0 is the INTEGER PRIMARY KEY */
	enum page_key key; /* for a table that is large */
};

/* Returns true if column 0 is the number of the row, which is not in its
 * record. */
static inline bool bulk_has_key(const struct bulk_shape *s)
{
	return s->has_id || s->key == PAGES_ID || s->key == PAGES_NEAR;
}

/* Rows of one table. */
struct block {
	struct block *next;
	struct bulk_table *table;
	bool dense;	     /* ids continue those before without a gap */
	uint32_t n;	     /* rows */
	uint32_t size, data; /* bytes in all, and of rows */
	unsigned char *rows;
};

struct bulk_table {
	struct bulk_shape shape;
	struct block *open; /* being filled */
	uint32_t size;	    /* bytes of the next block */
	uint32_t next_id;
	bool dense;    /* all ids so far were 1, 2, 3 ... */
	bool replaces; /* a row replaces the one with its id */
	sqlite3_stmt *insert;
	struct page_tree *tree;	 /* NULL: SQLite takes the rows; not freed
				  * with the table */
	struct bulk_table *late; /* rows that the tree did not take */
};

struct bulk_table *bulk_table_new(const struct bulk_shape *shape);
void bulk_table_free(struct bulk_table *t);
/* Finalizes the statement: after a change of shape, or before the connection
 * is closed. */
void bulk_table_reset(struct bulk_table *t);

/* Bytes of a block of a table with many rows. */
#define BLOCK_USUAL 65536u

/* Returns the bytes of a table's next block, which has room for `need`. */
size_t block_next_size(struct bulk_table *t, size_t need);
/* Returns an empty block of any size. It is not dense: only the thread that
 * fills blocks may read the table's state, while another thread has the
 * previous block. */
struct block *block_make(struct bulk_table *t, size_t size);
/* Makes a block an empty one for a table. */
void block_begin(struct block *b, struct bulk_table *t);
void block_free(struct block *b);
