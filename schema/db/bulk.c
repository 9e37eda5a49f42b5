/* bulk.c - many rows of one table, inserted into SQLite by one statement. */
#include "schema/db/bulk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/base/mem.h"

#define BLOCK_FIRST 4096u

struct bulk_table *bulk_table_new(const struct bulk_shape *shape)
{
	struct bulk_table *t = mem_new(1, sizeof(*t));

	t->shape = *shape;
	t->shape.name = mem_strdup(shape->name);
	t->shape.columns = mem_strdup(shape->columns);
	t->size = BLOCK_FIRST;
	t->next_id = 1;
	t->dense = shape->has_id;
	return t;
}

void bulk_table_reset(struct bulk_table *t)
{
	for (int i = 0; i < 2; i++) {
		sqlite3_finalize(t->insert[i]);
		t->insert[i] = NULL;
	}
}

void bulk_table_free(struct bulk_table *t)
{
	if (!t)
		return;
	bulk_table_reset(t);
	bulk_table_free(t->late);
	block_free(t->open);
	free((char *)t->shape.name);
	free((char *)t->shape.columns);
	free(t);
}

void block_begin(struct block *b, struct bulk_table *t)
{
	const struct block was = *b;

	*b = (struct block){
		.table = t,
		.dense = t->dense,
		.stride = t->shape.n_columns + (t->shape.n_columns + 31) / 32,
		.size = was.size,
		.word = was.word,
	};
}

struct block *block_make(struct bulk_table *t, size_t size)
{
	struct block *b = mem_new(1, sizeof(*b));

	size = (size + 7) & ~(size_t)7;
	b->size = (uint32_t)size;
	b->word = malloc(size);
	if (!b->word)
		b->word = mem_new(1, size);
	block_begin(b, t);
	return b;
}

/* Blocks of one table grow from 4 to 64 KiB, so that hundreds of rarely
 * used ev_ tables stay small. */
size_t block_next_size(struct bulk_table *t, size_t need)
{
	size_t size = t->size;

	if (t->size < BLOCK_USUAL)
		t->size *= 2;
	return size < need ? need : size;
}

void block_free(struct block *b)
{
	if (!b)
		return;
	free(b->word);
	free(b);
}

/* A cell of text or bytes is offset << 32 | length. */
void row_bytes(struct row *r, unsigned int i, enum cell tag, const void *p,
	       size_t len)
{
	struct block *b = r->block;
	size_t left = b->size - (size_t)b->n * b->stride * 8 - b->data;

	if (len > left)
		len = left;
	b->data += (uint32_t)len;
	if (len)
		memcpy((unsigned char *)b->word + b->size - b->data, p, len);
	r->word[i / 32] |= (uint64_t)tag << (i % 32 * 2);
	r->word[r->tags + i] = (uint64_t)(b->size - b->data) << 32 | len;
}

void row_text(struct row *r, unsigned int i, const char *s)
{
	if (s)
		row_bytes(r, i, CELL_TEXT, s, strlen(s));
}

void row_blob(struct row *r, unsigned int i, const void *p, size_t len)
{
	if (p)
		row_bytes(r, i, CELL_BLOB, p, len);
}

void row_list(struct row *r, int64_t a, uint32_t b, const uint32_t *list,
	      uint32_t n)
{
	row_int(r, 0, a);
	row_bytes(r, 1, CELL_BLOB, list, LIST_BYTES(n));
	row_int(r, 2, b);
}

bool block_list(const struct block *b, const uint64_t *row,
		struct block_list *out)
{
	const uint64_t *cell = row + 1;

	if (b->table->shape.key != PAGES_PAIR || (*row >> 2 & 3) != CELL_BLOB)
		return false;
	out->a = (int64_t)cell[0];
	out->b = (uint32_t)cell[2];
	out->at = (const unsigned char *)b->word + (cell[1] >> 32);
	out->n = (uint32_t)((cell[1] & UINT32_MAX) / sizeof(uint32_t));
	return true;
}

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

int bulk_register(sqlite3 *db, struct bulk *bulk)
{
	return sqlite3_create_module_v2(db, "batch", &batch_module, bulk, NULL);
}

/* ---- inserting */

static int bulk_prepare(sqlite3 *db, const struct bulk_table *t, bool dense,
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

int bulk_insert(sqlite3 *db, struct bulk *bulk, const struct block *b)
{
	struct bulk_table *t = b->table;
	sqlite3_stmt **st = &t->insert[b->dense];
	int rc = *st ? SQLITE_OK : bulk_prepare(db, t, b->dense, st);

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
