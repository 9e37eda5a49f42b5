/* db.c - the connection to a database, and rows on their way into it. */
#include "schema/db/db.h"

#include <assert.h>

#include "schema/guard/guard.h"
#include "schema/db/page_file.h"
#include "schema/db/page_tree.h"
#include "schema/guard/problem.h"
#include "schema/db/writer.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* Most bytes of text in one row: more is neither a name nor a payload. */
#define ROW_MAX ((size_t)64 << 20)

int db_error(const struct store *db, int rc, struct err *err)
{
	const struct err *why = guard_refused(db->guard);

	if (!why)
		return problem_set(db->db, db->path, rc, err);
	if (err)
		*err = *why;
	return -1;
}

int db_unordered(const struct store *db, struct err *err)
{
	return err_set(err, ERR_DB,
		       "%s: the database is damaged: the ids of its rows are "
		       "not in order",
		       db->path);
}

int db_exec(struct store *db, const char *sql, struct err *err)
{
	if (db_drain(db, err))
		return -1;
	int rc = sqlite3_exec(db->db, sql, NULL, NULL, NULL);

	return rc ? db_error(db, rc, err) : 0;
}

sqlite3_stmt *db_prepare(struct store *db, const char *sql, struct err *err)
{
	sqlite3_stmt *st = NULL;

	if (db_drain(db, err))
		return NULL;
	int rc = sqlite3_prepare_v2(db->db, sql, -1, &st, NULL);

	if (rc)
		db_error(db, rc, err);
	return st;
}

int db_step(struct store *db, sqlite3_stmt *st, struct err *err)
{
	assert(!db->filling);
	int rc = sqlite3_step(st);

	if (rc != SQLITE_DONE && rc != SQLITE_ROW) {
		db_error(db, rc, err);
		sqlite3_reset(st);
		return -1;
	}
	sqlite3_reset(st);
	return 0;
}

int db_number(struct store *db, const char *sql, int64_t *out, struct err *err)
{
	sqlite3_stmt *st = db_prepare(db, sql, err);

	*out = 0;
	if (!st)
		return -1;
	int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW)
		*out = sqlite3_column_int64(st, 0);
	else if (rc != SQLITE_DONE)
		db_error(db, rc, err);
	sqlite3_finalize(st);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : -1;
}

unsigned int db_table_add(struct store *db, const struct bulk_shape *shape)
{
	struct bulk_table *t = bulk_table_new(shape);

	if (db->pages && shape->key)
		t->tree = page_tree_new(db->pages, shape->key);
	*mem_add(db->table, db->n_table, db->cap_table) = t;
	return (unsigned int)db->n_table - 1;
}

int db_submit(struct store *db, struct bulk_table *t, struct err *err)
{
	struct block *b = t->open;

	t->open = NULL;
	return b ? writer_put(db->wr, b, err) : 0;
}

int db_drain(struct store *db, struct err *err)
{
	if (!db->filling)
		return 0;
	for (size_t i = 0; i < db->n_table; i++)
		if (db_submit(db, db->table[i], err))
			return -1;
	if (writer_wait(db->wr, err))
		return -1;
	db->filling = false;
	return 0;
}

struct block *db_new_packed(struct store *db, unsigned int i, size_t data,
			    struct err *err)
{
	struct bulk_table *t = db->table[i];

	if (data > ROW_MAX)
		err_set(err, ERR_LIMIT,
			"%s: a row of %zu bytes in '%s', at most %zu are "
			"stored",
			db->path, data, t->shape.name, ROW_MAX);
	if (data > ROW_MAX || db_submit(db, t, err))
		return NULL;
	size_t size = block_next_size(t, packing_need(t, data));
	struct block *b = size == BLOCK_USUAL ? writer_spare(db->wr) : NULL;

	if (b)
		block_begin(b, t);
	else
		b = block_make(t, size);
	b->dense = t->dense;
	t->open = b;
	db->filling = true;
	return b;
}

void db_close(struct store *db)
{
	if (!db)
		return;
	writer_free(db->wr);
	for (size_t i = 0; i < db->n_table; i++) {
		page_tree_free(db->table[i]->tree);
		bulk_table_free(db->table[i]);
	}
	/* it watches the connection's file */
	page_file_free(db->pages);
	guard_close(db->db, db->guard);
	free(db->table);
	free(db->path);
	free(db);
}
