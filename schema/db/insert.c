/* insert.c - a block of rows into a B-tree of ours, or into SQLite. */
#include "schema/db/insert.h"

#include <stdio.h>

#include "schema/db/bulk.h"
#include "schema/db/packing.h"
#include "schema/db/page_tree.h"

/* Makes the table that keeps rows until the B-tree is complete. */
static int insert_new_late(sqlite3 *db, struct bulk *bulk, struct bulk_table *t)
{
	char name[32];
	const struct bulk_shape shape = { name, NULL, t->shape.n_columns, false,
					  t->shape.key };
	sqlite3_str *sql = sqlite3_str_new(db);

	snprintf(name, sizeof(name), "temp.late_%u", bulk->n_late++);
	sqlite3_str_appendf(sql, "CREATE TABLE %s(c0", name);
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

/* Adds the columns that the table has got since. */
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

static int insert_late(sqlite3 *db, struct bulk *bulk, struct block *b)
{
	struct bulk_table *t = b->table;
	int rc = t->late ? SQLITE_OK : insert_new_late(db, bulk, t);

	if (!rc)
		rc = insert_widen_late(db, t);
	if (rc)
		return rc;
	b->table = t->late;
	b->dense = false;
	rc = bulk_insert(db, bulk, b);
	b->table = t;
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

int insert_block(sqlite3 *db, struct bulk *bulk, struct block *b)
{
	struct page_tree *tree = b->table->tree;
	int rc = tree ? page_tree_add(tree, b) : SQLITE_OK;

	if (rc || !b->n)
		return rc;
	struct block *plain = b->packed ? packing_plain(b) : NULL;

	if (plain)
		b = plain;
	rc = tree ? insert_late(db, bulk, b) : bulk_insert(db, bulk, b);
	block_free(plain);
	return rc;
}
