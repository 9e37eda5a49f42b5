/* packing.h - writes rows directly in SQLite's record format.
 *
 * packing_begin() starts a row in a block (maker_packed() returns one with
 * room), then comes one call for each column except the key, in their order,
 * and packing_end(). Cells of 8 bytes, converted to a record later, took twice
 * the instructions and the memory for a row of event: most of its numbers have
 * one or two bytes.
 *
 * struct packing is used by value: its pointers stay in registers. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "schema/db/bulk.h"
#include "schema/db/page_format.h"

/* The head of a row, which the types follow, and then the values. */
struct packing_head {
	uint32_t key;
	uint32_t types, values; /* bytes */
	uint32_t room;		/* bytes for types */
};

/* A row that is being written. */
struct packing {
	struct block *block;
	unsigned char *at;	     /* its head */
	unsigned char *type, *value; /* where the next type and value go */
	unsigned char *end; /* end of the types, without NULLs at the end */
	uint32_t key, room;
};

/* Returns how many bytes to reserve for types. The type of a text or blob takes
 * more than one byte if that has more than 57, and never more than 1 for each
 * 16 of its bytes. */
static inline size_t packing_room(const struct bulk_table *t, size_t data)
{
	return t->shape.n_columns + data / 16;
}

/* Returns the bytes that a row with `data` bytes of text and blobs needs. */
static inline size_t packing_need(const struct bulk_table *t, size_t data)
{
	return sizeof(struct packing_head) + packing_room(t, data) +
	       (size_t)t->shape.n_columns * 8 + data + RECORD_SLACK;
}

static inline bool packing_fits(const struct block *b, size_t data)
{
	return b->data + packing_need(b->table, data) <= b->size;
}

/* Begins a row, for which the block has room. Column 0 of the table may be the
 * key. */
static inline struct packing packing_begin(struct block *b, uint32_t key,
					   size_t data)
{
	if (key != b->table->next_id++) {
		b->table->dense = false;
		b->dense = false;
	}
	uint32_t room = (uint32_t)packing_room(b->table, data);
	unsigned char *at = b->rows + b->data;
	unsigned char *type = at + sizeof(struct packing_head);
	unsigned char *first = type + bulk_has_key(&b->table->shape);

	/* stands for the key; SQLite has no record without a type */
	*type = RECORD_NULL;
	return (struct packing){
		b, at, first, type + room, type + 1, key, room
	};
}

static inline void packing_null(struct packing *p)
{
	*p->type++ = RECORD_NULL;
}

static inline void packing_int(struct packing *p, int64_t v)
{
	*p->type++ = (unsigned char)record_put_int(&p->value, (uint64_t)v);
	p->end = p->type;
}

/* Adds a number, or NULL if it is not known. */
static inline void packing_known(struct packing *p, bool known, int64_t v)
{
	if (known)
		packing_int(p, v);
	else
		packing_null(p);
}

/* Adds an id: 0 becomes NULL. */
static inline void packing_id(struct packing *p, uint64_t v)
{
	packing_known(p, v != 0, (int64_t)v);
}

/* Ends a RECORD_TEXT or RECORD_BLOB that was written at p->value. */
static inline void packing_written(struct packing *p, unsigned int type,
				   size_t len)
{
	p->value += len;
	p->type += record_put_varint(p->type, type + 2 * (uint64_t)len);
	p->end = p->type;
}

/* Copies len bytes, which are part of the `data` of the row; bytes beyond the
 * block are dropped. */
static inline void packing_bytes(struct packing *p, unsigned int type,
				 const void *from, size_t len)
{
	const unsigned char *end = p->block->rows + p->block->size;

	if (len > (size_t)(end - p->value))
		len = (size_t)(end - p->value);
	if (len)
		memcpy(p->value, from, len);
	packing_written(p, type, len);
}

/* Ends the row. NULLs at its end are left out: columns that a record lacks are
 * NULL, as after ALTER TABLE ADD COLUMN. */
static inline void packing_end(struct packing *p)
{
	unsigned char *type = p->at + sizeof(struct packing_head);
	const struct packing_head h = {
		.key = p->key,
		.types = (uint32_t)(p->end - type),
		.values = (uint32_t)(p->value - type) - p->room,
		.room = p->room,
	};

	memcpy(p->at, &h, sizeof(h));
	p->block->data = (uint32_t)(p->value - p->block->rows);
	p->block->n++;
}

/* Reads the head of a row. Returns its types. */
static inline const unsigned char *packing_row(const unsigned char *at,
					       struct packing_head *h)
{
	memcpy(h, at, sizeof(*h));
	return at + sizeof(*h);
}

/* Returns the size of a row in bytes, with its head. */
static inline size_t packing_size(const struct packing_head *h)
{
	return sizeof(*h) + h->room + h->values;
}
