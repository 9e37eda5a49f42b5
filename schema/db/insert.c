/* insert.c - a block of rows into a B-tree of ours, or into SQLite. */
#include "schema/db/insert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/db/bulk.h"
#include "schema/db/packing.h"
#include "schema/db/page_tree.h"
#include "stitch/base/mem.h"

/* Returns a column of the first row of a list. */
static int64_t block_list_column(const struct block_list *l, int i)
{
	uint32_t v;

	if (!i)
		return l->a;
	if (i == 1)
		return (int64_t)l->b + l->n - 1;
	memcpy(&v, l->at, sizeof(v));
	return v;
}

/* ---- the virtual table: batch(c0, c1, ...) */

struct batch {
	sqlite3_vtab base;
	struct bulk *bulk;
};

struct batch_cursor {
	sqlite3_vtab_cursor base;
	const struct block *block;
	const uint64_t *row;
	uint32_t left, tags;
	struct block_list list; /* what is left of the row's; n 0: none */
};

static int batch_connect(sqlite3 *db, void *aux, int argc,
			 const char *const *argv, sqlite3_vtab **out,
			 char **msg)
{
	char sql[BULK_COLUMNS * 5 + 32];
	size_t n = (size_t)snprintf(sql, sizeof(sql), "CREATE TABLE x(c0");

	(void)argc;
	(void)argv;
	(void)msg;
	for (unsigned int i = 1; i < BULK_COLUMNS; i++)
		n += (size_t)snprintf(sql + n, sizeof(sql) - n, ",c%u", i);
	snprintf(sql + n, sizeof(sql) - n, ")");

	int rc = sqlite3_declare_vtab(db, sql);

	if (rc)
		return rc;
	struct batch *b = mem_new(1, sizeof(*b));

	b->bulk = aux;
	*out = &b->base;
	return SQLITE_OK;
}

static int batch_disconnect(sqlite3_vtab *tab)
{
	free(tab);
	return SQLITE_OK;
}

static int batch_best(sqlite3_vtab *tab, sqlite3_index_info *info)
{
	(void)tab;
	info->estimatedCost = 1000;
	return SQLITE_OK;
}

static int batch_open(sqlite3_vtab *tab, sqlite3_vtab_cursor **out)
{
	struct batch_cursor *c = mem_new(1, sizeof(*c));

	(void)tab;
	*out = &c->base;
	return SQLITE_OK;
}

static int batch_close(sqlite3_vtab_cursor *cur)
{
	free(cur);
	return SQLITE_OK;
}

static int batch_filter(sqlite3_vtab_cursor *cur, int num, const char *str,
			int argc, sqlite3_value **argv)
{
	struct batch_cursor *c = (struct batch_cursor *)cur;
	const struct block *b = ((struct batch *)cur->pVtab)->bulk->now;

	(void)num;
	(void)str;
	(void)argc;
	(void)argv;
	c->block = b;
	c->left = b ? b->n : 0;
	c->list.n = 0;
	if (b) {
		c->row = b->word;
		c->tags = b->stride - b->table->shape.n_columns;
		block_list(b, c->row, &c->list);
	}
	return SQLITE_OK;
}

static int batch_next(sqlite3_vtab_cursor *cur)
{
	struct batch_cursor *c = (struct batch_cursor *)cur;

	if (c->list.n > 1) {
		c->list.n--;
		c->list.at += sizeof(uint32_t);
		return SQLITE_OK;
	}
	c->row += c->block->stride;
	c->list.n = 0;
	if (--c->left)
		block_list(c->block, c->row, &c->list);
	return SQLITE_OK;
}

static int batch_eof(sqlite3_vtab_cursor *cur)
{
	return !((struct batch_cursor *)cur)->left;
}

static int batch_column(sqlite3_vtab_cursor *cur, sqlite3_context *ctx, int i)
{
	struct batch_cursor *c = (struct batch_cursor *)cur;
	uint64_t v = c->row[c->tags + (unsigned int)i];
	const char *p = (const char *)c->block->word + (v >> 32);

	if (c->list.n) {
		sqlite3_result_int64(ctx, block_list_column(&c->list, i));
		return SQLITE_OK;
	}
	switch (c->row[i / 32] >> (i % 32 * 2) & 3) {
	case CELL_INT:
		sqlite3_result_int64(ctx, (int64_t)v);
		break;
	case CELL_TEXT:
		sqlite3_result_text(ctx, p, (int)(v & 0xffffffff),
				    SQLITE_STATIC);
		break;
	case CELL_BLOB:
		sqlite3_result_blob(ctx, p, (int)(v & 0xffffffff),
				    SQLITE_STATIC);
		break;
	default: /* SQLite starts with NULL */
		break;
	}
	return SQLITE_OK;
}

static int batch_rowid(sqlite3_vtab_cursor *cur, sqlite3_int64 *out)
{
	*out = ((struct batch_cursor *)cur)->left;
	return SQLITE_OK;
}

/* Without xCreate the table exists without CREATE VIRTUAL TABLE. */
static const sqlite3_module batch_module = {
	.xConnect = batch_connect,
	.xBestIndex = batch_best,
	.xDisconnect = batch_disconnect,
	.xOpen = batch_open,
	.xClose = batch_close,
	.xFilter = batch_filter,
	.xNext = batch_next,
	.xEof = batch_eof,
	.xColumn = batch_column,
	.xRowid = batch_rowid,
};

int insert_register(sqlite3 *db, struct bulk *bulk)
{
	return sqlite3_create_module_v2(db, "batch", &batch_module, bulk, NULL);
}

/* ---- by SQL */

static int insert_statement(sqlite3 *db, const struct bulk_table *t, bool dense,
			    sqlite3_stmt **st)
{
	const struct bulk_shape *s = &t->shape;
	sqlite3_str *sql = sqlite3_str_new(db);

	sqlite3_str_appendf(sql, "%s INTO %s",
			    t->replaces ? "REPLACE" : "INSERT", s->name);
	if (s->columns)
		sqlite3_str_appendf(sql, "(%s)", s->columns);
	sqlite3_str_appendf(sql, " SELECT %s", dense ? "NULL" : "c0");
	for (unsigned int i = 1; i < s->n_columns; i++)
		sqlite3_str_appendf(sql, ",c%u", i);
	sqlite3_str_appendall(sql, " FROM batch");

	char *text = sqlite3_str_finish(sql);

	if (!text)
		return SQLITE_NOMEM;
	int rc = sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT, st,
				    NULL);

	sqlite3_free(text);
	return rc;
}

static int insert_by_sql(sqlite3 *db, struct bulk *bulk, const struct block *b)
{
	struct bulk_table *t = b->table;
	sqlite3_stmt **st = &t->insert[b->dense];
	int rc = *st ? SQLITE_OK : insert_statement(db, t, b->dense, st);

	if (rc)
		return rc;
	bulk->now = b;
	rc = sqlite3_step(*st);
	bulk->now = NULL;
	if (rc == SQLITE_DONE)
		rc = SQLITE_OK;
	/* reset returns the error of step again, and keeps its message */
	sqlite3_reset(*st);
	return rc;
}

/* ---- rows that wait for the B-tree */

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
	rc = insert_by_sql(db, bulk, b);
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
	rc = tree ? insert_late(db, bulk, b) : insert_by_sql(db, bulk, b);
	block_free(plain);
	return rc;
}
