/* merge_copy.c - rows of a database that is merged, with their new ids. */
#include <assert.h>
#include <inttypes.h>

#include "schema/merge/merging.h"
#include "schema/store.h"
#include "schema/write/writing.h"
#include "stitch/base/err.h"
#include "stitch/base/search.h"

/* ---- ids */

uint32_t merge_map_get(const struct merge_map *map, int64_t id)
{
	return id > 0 && (uint64_t)id < map->n ? map->id[id] : 0;
}

void merge_map_put(struct merge_map *map, int64_t id, uint32_t to)
{
	*mem_at(map->id, map->n, map->cap, id) = to;
}

int merge_part_map(struct merge_part *p, enum merge_kind kind, int64_t id,
		   uint32_t to, struct err *err)
{
	struct merge_map *map = &p->map[kind];

	/* an id far beyond the others would be an array of any size */
	if (id < 1 || (uint64_t)id > map->n + !map->n || id >= UINT32_MAX)
		return err_set(err, ERR_DB,
			       "%s: the database is damaged: id %" PRId64
			       " follows id %zu",
			       p->in->path, id, map->n - (map->n > 0));
	merge_map_put(map, id, to);
	return 0;
}

uint32_t merge_part_event(const struct merge_part *p, int64_t event)
{
	size_t i = search_where(p->n_run, k, p->run[k].from > event);

	if (!i || event < 0)
		return 0;
	const struct merge_run *r = &p->run[i - 1];

	return r->to && event - r->from < r->n
		       ? r->to + (uint32_t)(event - r->from)
		       : 0;
}

/* ---- rows */

void merge_put_value(struct row *row, unsigned int i, const struct value *v)
{
	switch (v->kind) {
	case VALUE_INT:
		row_int(row, i, v->num);
		break;
	case VALUE_REAL:
		row_int(row, i, (int64_t)v->real);
		break;
	case VALUE_TEXT:
		row_text(row, i, v->text);
		break;
	case VALUE_BLOB:
		row_blob(row, i, v->text, v->len);
		break;
	case VALUE_NULL:
		break;
	}
}

void merge_put_values(struct row *row, const struct rows *r, unsigned int from)
{
	for (unsigned int i = from; i < rows_columns(r); i++) {
		struct value v = rows_value(r, i);

		merge_put_value(row, i, &v);
	}
}

size_t merge_row_bytes(const struct rows *r)
{
	size_t sum = 0;

	for (size_t i = 0; i < rows_columns(r); i++)
		sum += rows_value(r, i).len;
	return sum;
}

bool merge_map_value(const struct merge_part *p, uint8_t ref, struct value *v)
{
	uint8_t kind = ref & ~MERGE_MUST_BIT;

	if (!ref || v->kind != VALUE_INT)
		return true;
	v->num = kind == MERGE_REF(EVENT)
			 ? merge_part_event(p, v->num)
			 : merge_map_get(&p->map[kind - 1], v->num);
	if (!v->num)
		v->kind = VALUE_NULL;
	return v->num || !(ref & MERGE_MUST_BIT);
}

int merge_copy_row(struct merge *m, const struct merge_part *p,
		   const struct merge_copy *c, const struct rows *r, bool *done,
		   struct err *err)
{
	const struct bulk_shape *shape = &m->db->table[c->table]->shape;
	struct value v[MERGE_COLUMNS_MAX];
	size_t n = rows_columns(r);
	size_t bytes = 0;
	struct row row;

	assert(n <= MERGE_COLUMNS_MAX);
	*done = false;
	for (size_t i = 0; i < n; i++) {
		v[i] = rows_value(r, i);
		bytes += v[i].len;
		if (!merge_map_value(p, c->ref[i], &v[i]))
			return 0;
	}
	if (db_row(m->db, c->table, bytes, &row, err))
		return -1;
	if (shape->has_id)
		row_key(&row, (uint32_t)v[0].num);
	for (size_t i = shape->has_id; i < n; i++)
		merge_put_value(&row, (unsigned int)i, &v[i]);
	*done = true;
	return 0;
}

int merge_copy_rows(struct merge *m, struct merge_part *p,
		    const struct merge_copy *c, merge_row_fn *fn,
		    struct err *err)
{
	struct rows *r = rows_of(p->db, c->sql, err);

	while (rows_step(r)) {
		bool done;

		if (merge_copy_row(m, p, c, r, &done, err))
			return rows_stop(r);
		if (done && fn)
			fn(m, p, r);
	}
	return rows_end(r, err);
}
