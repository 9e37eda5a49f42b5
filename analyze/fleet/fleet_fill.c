/* fleet_fill.c - a batch of rows while it is filled. */
#include "analyze/fleet/fleet_input.h"

#include <assert.h>

#include "schema/store.h"
#include "stitch/base/mem.h"

void fleet_fill_init(struct fleet_fill *b, const struct fleet_table *table,
		     const struct intern *words, const struct intern *hashes)
{
	*b = (struct fleet_fill){ .table = table };
	for (size_t i = 0; i < table->n_column; i++) {
		const struct fleet_column *c = &table->column[i];

		if (c->type == FLEET_STRING)
			b->cell[i].pool = words;
		else if (c->type == FLEET_HASH)
			b->cell[i].pool = hashes;
		if (c->list)
			b->of[i].first = mem_grow_to(NULL, &b->of[i].cap_first,
						     1, sizeof(uint32_t));
	}
	fleet_fill_clear(b);
}

void fleet_fill_release(struct fleet_fill *b)
{
	for (size_t i = 0; b->table && i < b->table->n_column; i++) {
		free_all(b->of[i].data, b->of[i].first);
	}
	b->table = NULL;
}

void fleet_fill_clear(struct fleet_fill *b)
{
	for (size_t i = 0; i < b->table->n_column; i++) {
		b->of[i].n = 0;
		if (b->of[i].first)
			b->of[i].first[0] = 0;
	}
	b->at = b->rows = b->items = 0;
}

enum fleet_type fleet_fill_type(const struct fleet_fill *b)
{
	return b->table->column[b->at].type;
}

/* Returns the place of the next value, which has `size` bytes. */
static inline void *fleet_fill_place(struct fleet_fill *b, size_t size)
{
	struct fleet_values *v = &b->of[b->at];

	assert(b->at < b->table->n_column);
	if (__builtin_expect(v->n == v->cap, 0))
		v->data = mem_grow_to(v->data, &v->cap, v->n + 1, size);
	if (v->first)
		b->items++;
	else
		b->at++;
	return (char *)v->data + v->n++ * size;
}

void fleet_fill_int(struct fleet_fill *b, int64_t v)
{
	switch (fleet_fill_type(b)) {
	case FLEET_U8:
		*(uint8_t *)fleet_fill_place(b, 1) = (uint8_t)v;
		break;
	case FLEET_U16:
		*(uint16_t *)fleet_fill_place(b, 2) = (uint16_t)v;
		break;
	case FLEET_U32:
		*(uint32_t *)fleet_fill_place(b, 4) = (uint32_t)v;
		break;
	case FLEET_I32:
		*(int32_t *)fleet_fill_place(b, 4) = (int32_t)v;
		break;
	case FLEET_U64:
	case FLEET_I64:
		*(int64_t *)fleet_fill_place(b, 8) = v;
		break;
	default:
		assert(!"a number for a column of numbers");
	}
}

void fleet_fill_id(struct fleet_fill *b, uint32_t id)
{
	assert(b->cell[b->at].pool);
	*(uint32_t *)fleet_fill_place(b, sizeof(id)) = id;
}

void fleet_fill_list(struct fleet_fill *b)
{
	struct fleet_values *v = &b->of[b->at];

	assert(v->first);
	mem_grow(v->first, v->cap_first, b->rows + 2);
	v->first[b->rows + 1] = (uint32_t)v->n;
	b->at++;
}

size_t fleet_fill_room(struct fleet_fill *b)
{
	if (b->rows == b->room) {
		/* Make the columns that have no room for a row larger. */
		for (size_t i = 0; i < b->table->n_column; i++) {
			size_t size = fleet_type_size(b->table->column[i].type);

			if (b->cell[i].pool)
				size = sizeof(uint32_t);
			b->of[i].data =
				mem_grow_to(b->of[i].data, &b->of[i].cap,
					    b->rows + 1, size);
			b->room = !i || b->of[i].cap < b->room ? b->of[i].cap
							       : b->room;
		}
	}
	b->at = b->table->n_column;
	return b->rows;
}

void fleet_fill_row(struct fleet_fill *b)
{
	assert(b->at == b->table->n_column);
	b->at = 0;
	b->rows++;
}

void fleet_fill_value(struct fleet_fill *b, const struct value *v)
{
	static const struct {
		int64_t low, high;
	} range[] = {
		[FLEET_U8] = { 0, UINT8_MAX },
		[FLEET_U16] = { 0, UINT16_MAX },
		[FLEET_U32] = { 0, UINT32_MAX },
		[FLEET_U64] = { 0, INT64_MAX },
		[FLEET_I32] = { INT32_MIN, INT32_MAX },
		[FLEET_I64] = { INT64_MIN, INT64_MAX },
	};
	enum fleet_type type = fleet_fill_type(b);
	int64_t n = v->kind == VALUE_INT ? v->num : 0;

	assert(type < ARRAY_SIZE(range));
	raise_to(n, range[type].low);
	lower_to(n, range[type].high);
	fleet_fill_int(b, n);
}

const struct fleet_batch *fleet_fill_batch(struct fleet_fill *b)
{
	for (size_t i = 0; i < b->table->n_column; i++) {
		b->cell[i].any = b->of[i].data;
		b->cell[i].first = b->of[i].first;
	}
	b->batch = (struct fleet_batch){ .table = b->table,
					 .n = b->rows,
					 .cell = b->cell };
	return &b->batch;
}
