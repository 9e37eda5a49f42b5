/* merge_copy.c - copies rows of a merged database, with their new ids. */
#include <assert.h>
#include <inttypes.h>

#include "schema/merge/merging.h"
#include "schema/store.h"
#include "schema/write/writing.h"
#include "stitch/base/err.h"
#include "stitch/base/search.h"

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

/* The row is left out if the row that it refers to is. */
#define MUST 0x80
/* In a smaller file, finding the pages of a table takes longer than reading it
 * by SQLite. */
#define LARGE ((uint64_t)1 << 20)

/* Returns the kind of row that a column of a query refers to, perhaps with
 * MUST. */
static uint8_t merge_ref(const struct merge_copy *c, const struct rows *r,
			 size_t i)
{
	static const struct {
		const char *column;
		uint8_t ref;
	} refs[] = {
		{ "capture", MERGE_CAPTURE | MUST },
		{ "together", MERGE_CAPTURE },
		{ "event_type", MERGE_TYPE },
		{ "process", MERGE_PROCESS },
		{ "parent", MERGE_PROCESS },
		{ "thread", MERGE_THREAD },
		{ "comm", MERGE_COMM },
		{ "image", MERGE_IMAGE },
		{ "symbol", MERGE_SYMBOL },
		{ "frame", MERGE_FRAME },
		{ "inner", MERGE_FRAME },
		{ "stack", MERGE_STACK },
		{ "above", MERGE_STACK },
		{ "kernel", MERGE_STACK },
		{ "user", MERGE_STACK },
		{ "uraw", MERGE_RAW },
		{ "chain", MERGE_CHAIN },
		{ "as_tid", MERGE_CHAIN },
		{ "loss", MERGE_LOSS },
		{ "event", MERGE_EVENT },
		{ "leader", MERGE_EVENT | MUST },
	};
	const char *name = rows_name(r, i);

	if (c->kind && !sqlite3_stricmp(name, "id"))
		return (uint8_t)(c->kind | MUST);
	for (size_t k = 0; k < ARRAY_SIZE(refs); k++)
		if (!sqlite3_stricmp(name, refs[k].column))
			return refs[k].ref | (i ? 0 : MUST);
	return 0;
}

/* Replaces an id by the new one. Returns false if the row is left out. */
static bool merge_map_value(const struct merge_part *p, uint8_t ref,
			    struct value *v)
{
	uint8_t kind = ref & (MUST - 1);

	v->num = kind == MERGE_EVENT ? merge_part_event(p, v->num)
				     : merge_map_get(&p->map[kind], v->num);
	if (!v->num)
		v->kind = VALUE_NULL;
	return v->num || !(ref & MUST);
}

/* Copies the rows of one query; st: what writes them, NULL: in bulk. */
static int merge_copy_query(struct merge *m, struct merge_part *p,
			    const struct merge_copy *c, struct rows *r,
			    sqlite3_stmt *st, struct err *err)
{
	uint8_t ref[MERGE_COLUMNS_MAX];
	size_t n = rows_columns(r);

	assert(n <= MERGE_COLUMNS_MAX);
	for (size_t i = 0; i < n; i++)
		ref[i] = merge_ref(c, r, i);
	while (rows_step(r)) {
		struct value v[MERGE_COLUMNS_MAX];
		int take = 1;

		for (size_t i = 0; take && i < n; i++) {
			v[i] = rows_value(r, i);
			if (ref[i] && v[i].kind == VALUE_INT)
				take = merge_map_value(p, ref[i], &v[i]);
		}
		if (take && c->take)
			take = c->take(m, p, r, v, err);
		if (take < 0 ||
		    (take && (st ? tables_run(m->out, st, v, n, err)
				 : tables_put(m->out, c->table, v, n, err))))
			return -1;
	}
	return 0;
}

int merge_copy_rows(struct merge *m, struct merge_part *p,
		    const struct merge_copy *c, size_t n, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		struct rows *r = rows_of(p->db, c[i].query, err);
		sqlite3_stmt *st = NULL;

		if (r && c[i].many && p->in->bytes >= LARGE)
			rows_by_pages(r, m->out->table[c[i].table]->shape.name);
		if (r && c[i].put)
			st = maker_prepare(m->out, store_sql(c[i].put), err);
		rc = !r || (c[i].put && !st)
			     ? -1
			     : merge_copy_query(m, p, &c[i], r, st, err);
		sqlite3_finalize(st);
		rc = rc ? rows_stop(r) : rows_end(r, err);
	}
	return rc;
}
