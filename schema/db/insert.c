/* insert.c - inserts a block of rows into a B-tree of page_tree.h, or into
 * SQLite. */
#include "schema/db/insert.h"

#include "schema/db/bulk.h"
#include "schema/db/packing.h"
#include "schema/db/page_tree.h"
#include "stitch/base/mem.h"

static int insert_statement(sqlite3 *db, struct bulk_table *t)
{
	const struct bulk_shape *s = &t->shape;
	sqlite3_str *sql = sqlite3_str_new(db);

	sqlite3_str_appendf(sql, "%s INTO %s",
			    t->replaces ? "REPLACE" : "INSERT", s->name);
	if (s->columns)
		sqlite3_str_appendf(sql, "(%s)", s->columns);
	sqlite3_str_appendall(sql, " VALUES(?");
	for (unsigned int i = 1; i < s->n_columns; i++)
		sqlite3_str_appendall(sql, ",?");
	sqlite3_str_appendall(sql, ")");

	char *text = sqlite3_str_finish(sql);

	if (!text)
		return SQLITE_NOMEM;
	int rc = sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT,
				    &t->insert, NULL);

	sqlite3_free(text);
	return rc;
}

/* Inserts the row at *next, and moves *next past it. */
static int insert_row(const struct block *b, const unsigned char **next)
{
	sqlite3_stmt *st = b->table->insert;
	struct packing_head h;
	const unsigned char *type = packing_row(*next, &h);
	const unsigned char *end = type + h.types;
	const unsigned char *at = type + h.room;
	int rc = SQLITE_OK;

	for (int i = 0; !rc && i < (int)b->table->shape.n_columns; i++) {
		uint64_t v = RECORD_NULL;

		if (type < end)
			type += record_varint(type, end, &v);
		const size_t len = record_type_len(v);

		if (v == RECORD_NULL)
			rc = sqlite3_bind_null(st, i + 1);
		else if (v < RECORD_BLOB)
			rc = sqlite3_bind_int64(st, i + 1,
						record_int(v, at, len));
		else if (v & 1)
			rc = sqlite3_bind_text(st, i + 1, (const char *)at,
					       (int)len, SQLITE_STATIC);
		else
			rc = sqlite3_bind_blob(st, i + 1, at, (int)len,
					       SQLITE_STATIC);
		at += len;
	}
	if (!rc && !b->dense && bulk_has_key(&b->table->shape))
		rc = sqlite3_bind_int64(st, 1, h.key);
	*next += packing_size(&h);
	if (rc)
		return rc;
	sqlite3_step(st);
	return sqlite3_reset(st); /* the step's error */
}

static int insert_by_sql(sqlite3 *db, const struct block *b)
{
	struct bulk_table *t = b->table;
	int rc = t->insert ? SQLITE_OK : insert_statement(db, t);
	const unsigned char *next = b->rows;

	for (uint32_t i = 0; !rc && i < b->n; i++)
		rc = insert_row(b, &next);
	return rc;
}

/* Makes the table that keeps rows until the B-tree is complete. */
static int insert_new_late(sqlite3 *db, struct bulk_table *t)
{
	char name[32];
	const struct bulk_shape shape = { name, NULL, t->shape.n_columns, false,
					  t->shape.key };
	sqlite3_str *sql = sqlite3_str_new(db);

	snprintf(name, sizeof(name), "temp.late_%p", (void *)t);
	sqlite3_str_appendf(sql, "CREATE TABLE %s(c0%s", name,
			    bulk_has_key(&t->shape) ? " INTEGER PRIMARY KEY"
						    : "");
	for (unsigned int i = 1; i < shape.n_columns; i++)
		sqlite3_str_appendf(sql, ",c%u", i);
	sqlite3_str_appendall(sql, ")");

	char *text = sqlite3_str_finish(sql);
	int rc = text ? sqlite3_exec(db, text, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(text);
	if (!rc)
		t->late = bulk_table_new(&shape);
	return rc;
}

/* Adds the columns that were added to the table since. */
static int insert_widen_late(sqlite3 *db, struct bulk_table *t)
{
	unsigned int *n = &t->late->shape.n_columns;
	int rc = SQLITE_OK;

	if (*n < t->shape.n_columns)
		bulk_table_reset(t->late);
	for (; !rc && *n < t->shape.n_columns; ++*n) {
		char sql[80];

		snprintf(sql, sizeof(sql), "ALTER TABLE %s ADD COLUMN c%u",
			 t->late->shape.name, *n);
		rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	}
	return rc;
}

int insert_late_rows(sqlite3 *db, struct bulk_table *t)
{
	int rc = SQLITE_OK;

	if (!t->late)
		return rc;
	const char *name = t->late->shape.name;
	const char *pair = t->shape.key == PAGES_PAIR ? ", c1 DESC" : "";

	rc = insert_widen_late(db, t);
	if (rc)
		return rc;
	char *sql = sqlite3_mprintf("INSERT INTO %s SELECT * FROM %s "
				    "ORDER BY c0%s; DROP TABLE %s",
				    t->shape.name, name, pair, name);

	bulk_table_reset(t->late);
	rc = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
	sqlite3_free(sql);
	bulk_table_free(t->late);
	t->late = NULL;
	return rc;
}

int insert_block(sqlite3 *db, struct block *b)
{
	struct page_tree *tree = b->table->tree;
	int rc = tree ? page_tree_add(tree, b) : SQLITE_OK;

	if (rc || !b->n)
		return rc;
	if (tree) {
		struct bulk_table *t = b->table;
		int ret = t->late ? SQLITE_OK : insert_new_late(db, t);

		if (!ret)
			ret = insert_widen_late(db, t);
		if (ret)
			return ret;
		b->table = t->late;
		b->dense = false;
		ret = insert_by_sql(db, b);
		b->table = t;
		return ret;
	}
	return insert_by_sql(db, b);
}
