/* packing.c - rows of cells as packed rows, for the B-trees. */
#include "schema/db/packing.h"

/* Returns the bytes of text and blobs of a row. */
static size_t packing_data(const uint64_t *row, const uint64_t *cell,
			   unsigned int n)
{
	size_t sum = 0;

	for (unsigned int i = 0; i < n; i++)
		if (row_tag(row, i) >= CELL_TEXT)
			sum += (uint32_t)cell[i];
	return sum;
}

static void packing_cell(struct packing *p, const struct block *b,
			 enum cell tag, uint64_t cell)
{
	if (tag == CELL_NULL)
		packing_null(p);
	else if (tag == CELL_INT)
		packing_int(p, (int64_t)cell);
	else
		packing_bytes(p, tag, (const char *)b->word + (cell >> 32),
			      (uint32_t)cell);
}

struct block *packing_of_cells(const struct block *b)
{
	struct bulk_table *t = b->table;
	const unsigned int n = t->shape.n_columns;
	const unsigned int first = bulk_has_key(&t->shape);
	struct block *out = block_make(t, packing_need(t, 0) * b->n + b->data +
						  b->data / 16);
	const uint64_t *row = b->word;

	out->packed = true;
	out->dense = b->dense;
	for (uint32_t r = 0; r < b->n; r++, row += b->stride) {
		const uint64_t *cell = row + b->stride - n;
		uint32_t key = first ? (uint32_t)*cell : 0;
		struct packing p =
			packing_at(out, key, packing_data(row, cell, n));

		for (unsigned int i = first; i < n; i++)
			packing_cell(&p, b, row_tag(row, i), cell[i]);
		packing_end(&p);
	}
	return out;
}
