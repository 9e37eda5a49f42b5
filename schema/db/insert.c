/* insert.c - a block of rows into a B-tree of ours, or into SQLite. */
#include "schema/db/insert.h"

#include "schema/db/bulk.h"
#include "schema/db/packing.h"
#include "schema/db/page_tree.h"
#include "stitch/base/mem.h"

/* ---- the virtual table: batch(c0, c1, ...) */

struct batch {
	sqlite3_vtab base;
	struct bulk *bulk;
};

struct batch_cursor {
	sqlite3_vtab_cursor base;
	const struct bulk_table *table;
	uint32_t left;
	const unsigned char *next; /* the row behind this one */
	uint32_t key;
	struct batch_value {
		uint64_t type;
		const unsigned char *at;
	} value[BULK_COLUMNS];
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

/* Finds the values of the next row. */
static void batch_begin_row(struct batch_cursor *c)
{
	struct packing_head h;
	const unsigned char *type = packing_row(c->next, &h);
	const unsigned char *end = type + h.types;
	const unsigned char *at = type + h.room;

	for (unsigned int i = 0; i < c->table->shape.n_columns; i++) {
		struct batch_value *v = &c->value[i];

		*v = (struct batch_value){ RECORD_NULL, at };
		if (type < end)
			type += record_varint(type, end, &v->type);
		at += record_type_len(v->type);
	}
	c->key = h.key;
	c->next += packing_size(&h);
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
	c->left = b ? b->n : 0;
	if (!c->left)
		return SQLITE_OK;
	c->table = b->table;
	c->next = b->rows;
	batch_begin_row(c);
	return SQLITE_OK;
}

static int batch_next(sqlite3_vtab_cursor *cur)
{
	struct batch_cursor *c = (struct batch_cursor *)cur;

	if (--c->left)
		batch_begin_row(c);
	return SQLITE_OK;
}

static int batch_eof(sqlite3_vtab_cursor *cur)
{
	return !((struct batch_cursor *)cur)->left;
}

static int batch_column(sqlite3_vtab_cursor *cur, sqlite3_context *ctx, int i)
{
	const struct batch_cursor *c = (const struct batch_cursor *)cur;
	const struct batch_value *v = &c->value[i];
	const size_t len = record_type_len(v->type);

	if (!i && bulk_has_key(&c->table->shape))
		sqlite3_result_int64(ctx, c->key);
	else if (v->type >= RECORD_BLOB && v->type & 1)
		sqlite3_result_text(ctx, (const char *)v->at, (int)len,
				    SQLITE_STATIC);
	else if (v->type >= RECORD_BLOB)
		sqlite3_result_blob(ctx, v->at, (int)len, SQLITE_STATIC);
	else if (v->type != RECORD_NULL) /* with which SQLite starts */
		sqlite3_result_int64(ctx, record_int(v->type, v->at, len));
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
	return tree ? insert_late(db, bulk, b) : insert_by_sql(db, bulk, b);
}
