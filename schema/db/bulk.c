/* bulk.c - rows of one table, in blocks of memory. */
#include "schema/db/bulk.h"

#include "stitch/base/mem.h"

#define BLOCK_FIRST 4096u

struct bulk_table *bulk_table_new(const struct bulk_shape *shape)
{
	struct bulk_table *t = mem_new(1, sizeof(*t));

	t->shape = *shape;
	t->shape.name = mem_strdup(shape->name);
	t->shape.columns = mem_strdup(shape->columns);
	t->size = BLOCK_FIRST;
	t->next_id = 1;
	t->dense = shape->has_id;
	return t;
}

void bulk_table_reset(struct bulk_table *t)
{
	sqlite3_finalize(t->insert);
	t->insert = NULL;
}

void bulk_table_free(struct bulk_table *t)
{
	if (!t)
		return;
	bulk_table_reset(t);
	bulk_table_free(t->late);
	block_free(t->open);
	free_all((char *)t->shape.name, (char *)t->shape.columns, t);
}

void block_begin(struct block *b, struct bulk_table *t)
{
	const struct block was = *b;

	*b = (struct block){
		.table = t,
		.size = was.size,
		.rows = was.rows,
	};
}

struct block *block_make(struct bulk_table *t, size_t size)
{
	struct block *b = mem_new(1, sizeof(*b));

	b->size = (uint32_t)size;
	b->rows = malloc(size);
	if (!b->rows)
		b->rows = mem_new(1, size);
	block_begin(b, t);
	return b;
}

/* Blocks of one table grow from 4 to 64 KiB, so that hundreds of rarely
 * used ev_ tables stay small. */
size_t block_next_size(struct bulk_table *t, size_t need)
{
	size_t size = t->size;

	if (t->size < BLOCK_USUAL)
		t->size *= 2;
	return size < need ? need : size;
}

void block_free(struct block *b)
{
	if (!b)
		return;
	free_all(b->rows, b);
}
