/* bulk.h - rows of one table, in blocks of memory.
 *
 * A block has cells of 8 bytes from its front, and text behind them; or packed
 * rows (packing.h). Each table has one open block, and insert_block() takes the
 * full ones. */
#pragma once
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_tree;

#define BULK_COLUMNS 256 /* most columns of a table */

/* The kinds of cells, 2 bits each before a row's cells. */
enum cell {
	CELL_NULL,
	CELL_INT,
	CELL_TEXT,
	CELL_BLOB
};

/* What the key of a table is. */
enum page_key {
	PAGES_NONE,  /* rows of this table are inserted by SQL */
	PAGES_ROWID, /* the number of the row; no column has it */
	PAGES_ID,    /* column 0, the INTEGER PRIMARY KEY */
	PAGES_NEAR,  /* the same, in rows that are almost in its order */
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

/* Rows of one table; cells from the front, text and blobs from the end. Packed
 * rows are from the front (packing.h). */
struct block {
	struct block *next;
	struct bulk_table *table;
	bool packed;
	bool dense;	     /* ids are the next ones */
	uint32_t n;	     /* rows */
	uint32_t stride;     /* words of a row */
	uint32_t size, data; /* bytes in all, bytes of text or packed rows */
	uint64_t *word;
};

struct bulk_table {
	struct bulk_shape shape;
	struct block *open; /* being filled */
	uint32_t size;	    /* bytes of the next block */
	uint32_t next_id;
	bool dense;		 /* all ids so far were 1, 2, 3 ... */
	bool replaces;		 /* a row takes the place of that with its id */
	sqlite3_stmt *insert[2]; /* by block.dense */
	struct page_tree *tree;	 /* NULL: SQLite takes the rows; not freed
				  * with the table */
	struct bulk_table *late; /* rows that the tree did not take */
};

/* Of a connection. */
struct bulk {
	const struct block *now; /* that the virtual table shows */
	unsigned int n_late;	 /* tables of late rows */
};

struct row {
	uint64_t *word;
	struct block *block;
	unsigned int tags; /* words of tags */
};

struct bulk_table *bulk_table_new(const struct bulk_shape *shape);
void bulk_table_free(struct bulk_table *t);
/* Finalizes the statements: after a change of shape, or before the connection
 * is closed. */
void bulk_table_reset(struct bulk_table *t);

/* Bytes of a block of a table with many rows. */
#define BLOCK_USUAL 65536u

/* Returns the bytes of a table's next block, which has room for `need`. */
size_t block_next_size(struct bulk_table *t, size_t need);
/* Returns an empty block of any size. It is not dense: only who fills blocks
 * may ask the table, while another thread has the one before. */
struct block *block_make(struct bulk_table *t, size_t size);
/* Makes a block an empty one of a table. */
void block_begin(struct block *b, struct bulk_table *t);
void block_free(struct block *b);
/* Returns true if there is room for a row with `data` bytes of text. */
static inline bool block_fits(const struct block *b, size_t data)
{
	return ((size_t)b->n + 1) * b->stride * 8 + b->data + data <= b->size;
}
/* Returns the bytes that a row with `data` bytes of text needs. */
static inline size_t block_need(const struct bulk_table *t, size_t data)
{
	size_t n = t->shape.n_columns;

	return (n + (n + 31) / 32) * 8 + data;
}
/* Begins a row, which must fit. All its cells are NULL. */
static inline void block_row(struct block *b, struct row *row)
{
	unsigned int n = b->table->shape.n_columns;

	row->word = b->word + (size_t)b->n++ * b->stride;
	row->block = b;
	row->tags = b->stride - n;
	for (unsigned int i = 0; i < row->tags; i++)
		row->word[i] = 0;
}

/* Returns the kind of a cell. */
static inline enum cell row_tag(const uint64_t *row, unsigned int i)
{
	return (enum cell)(row[i / 32] >> (i % 32 * 2) & 3);
}

static inline void row_int(struct row *r, unsigned int i, int64_t v)
{
	r->word[i / 32] |= (uint64_t)CELL_INT << (i % 32 * 2);
	r->word[r->tags + i] = (uint64_t)v;
}

/* Sets a cell of text or bytes, which is offset << 32 | length. */
static inline void row_place(struct row *r, unsigned int i, enum cell tag,
			     size_t off, size_t len)
{
	r->word[i / 32] |= (uint64_t)tag << (i % 32 * 2);
	r->word[r->tags + i] = (uint64_t)off << 32 | len;
}

/* For ids: 0 becomes NULL. */
static inline void row_id(struct row *r, unsigned int i, uint64_t v)
{
	if (v)
		row_int(r, i, (int64_t)v);
}

/* Sets column 0 of a table with has_id. */
static inline void row_key(struct row *r, uint32_t id)
{
	struct bulk_table *t = r->block->table;

	row_int(r, 0, id);
	if (id != t->next_id++) {
		t->dense = false;
		r->block->dense = false;
	}
}
/* Copy s or p; NULL becomes NULL, but row_bytes() takes none. The bytes are
 * part of the `data` of the row; what exceeds it is cut off. */
void row_text(struct row *r, unsigned int i, const char *s);
void row_blob(struct row *r, unsigned int i, const void *p, size_t len);
void row_bytes(struct row *r, unsigned int i, enum cell tag, const void *p,
	       size_t len);
