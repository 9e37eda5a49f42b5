/* filling.c - a maker: a connection, and rows that are queued for it. */
#include "schema/db/filling.h"

#include "schema/db/page_file.h"
#include "schema/db/page_tree.h"
#include "schema/db/writer.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* The most bytes of text in one row: anything larger is neither a name nor a
 * payload. */
#define ROW_MAX ((size_t)64 << 20)

unsigned int maker_table_add(struct maker *mk, const struct bulk_shape *shape)
{
	struct bulk_table *t = bulk_table_new(shape);

	if (mk->pages && shape->key)
		t->tree = page_tree_new(mk->pages, shape->key);
	*mem_add(mk->table, mk->n_table, mk->cap_table) = t;
	return (unsigned int)mk->n_table - 1;
}

int maker_submit(struct maker *mk, struct bulk_table *t, struct err *err)
{
	struct block *b = t->open;

	t->open = NULL;
	return b ? writer_put(mk->wr, b, err) : 0;
}

struct block *maker_new_packed(struct maker *mk, unsigned int i, size_t data,
			       struct err *err)
{
	struct bulk_table *t = mk->table[i];

	if (data > ROW_MAX)
		err_set(err, ERR_LIMIT,
			"%s: a row of %zu bytes in '%s', at most %zu are "
			"stored",
			mk->db->path, data, t->shape.name, ROW_MAX);
	if (data > ROW_MAX || maker_submit(mk, t, err))
		return NULL;
	size_t size = block_next_size(t, packing_need(t, data));
	struct block *b = size == BLOCK_USUAL ? writer_spare(mk->wr) : NULL;

	if (b)
		block_begin(b, t);
	else
		b = block_make(t, size);
	b->dense = t->dense;
	t->open = b;
	mk->db->filling = true;
	return b;
}

void filling_end(struct maker *mk)
{
	/* the thread must not use the connection any more */
	writer_free(mk->wr);
	for (size_t i = 0; i < mk->n_table; i++) {
		page_tree_free(mk->table[i]->tree);
		bulk_table_free(mk->table[i]);
	}
	/* it watches the connection's file */
	page_file_free(mk->pages);
	free(mk->table);
	mk->wr = NULL;
	mk->pages = NULL;
	mk->table = NULL;
	mk->n_table = 0;
}
