/* parquet.c - writes a Parquet file: row groups of columns, then the footer.
 *
 * Parquet format 2.x with pages of version 1, which all readers know:
 * dictionary pages, packed indexes, deltas for times; zstd; minimum and maximum
 * of each column of a row group. */
#include "cli/export/parquet/parquet.h"

#include <errno.h>

#include "cli/export/parquet/pq_buf.h"
#include "cli/export/parquet/pq_column.h"
#include "cli/export/parquet/pq_pages.h"
#include "analyze/fleet/fleet_batch.h"
#include "analyze/fleet/fleet_schema.h"
#include "cli/version.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/files/new_file.h"

#define GROUP_ROWS 524288
#define GROUP_VALUES ((size_t)4 << 20) /* of all columns that are lists */
#define GROUP_TEXT ((size_t)64 << 20)  /* bytes of the texts of a column */
#define MAGIC "PAR1"

struct parquet {
	const struct fleet_table *table;
	char *path;
	struct new_file *file;
	struct pq_pages pages;
	struct pq_column column[FLEET_COLUMNS_MAX];
	size_t n_row; /* of the open row group */
	uint64_t rows;
	struct blob groups; /* the RowGroup structs */
	size_t n_group;
};

struct parquet *parquet_open(const char *path, const struct fleet_table *table,
			     struct err *err)
{
	struct parquet *p = mem_new(1, sizeof(*p));
	FILE *out = NULL;

	p->table = table;
	p->path = mem_strdup(path);
	for (size_t i = 0; i < table->n_column; i++)
		p->column[i].c = &table->column[i];
	p->file = new_file_open(path, false, err);
	if (p->file && !(out = new_file_stream(p->file)))
		err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	if (!out || pq_pages_init(&p->pages, out, err)) {
		parquet_close(p);
		return NULL;
	}
	pq_pages_raw(&p->pages, MAGIC, 4);
	return p;
}

void parquet_close(struct parquet *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->table->n_column; i++)
		pq_column_release(&p->column[i]);
	pq_pages_release(&p->pages);
	blob_release(&p->groups);
	new_file_free(p->file);
	free(p->path);
	free(p);
}

static int parquet_end_group(struct parquet *p, struct err *err)
{
	uint64_t start = p->pages.at;
	uint64_t plain = 0;
	struct pq_thrift t;

	if (!p->n_row)
		return 0;
	pq_begin(&t, &p->groups);
	pq_list(&t, 1, PQ_STRUCT, p->table->n_column);
	for (size_t i = 0; i < p->table->n_column; i++) {
		if (pq_column_write(&p->column[i], &p->pages, &t, err))
			return err_while(err, "writing %s", p->path);
		plain += p->pages.plain;
	}
	pq_i64(&t, 2, (int64_t)plain);
	pq_i64(&t, 3, (int64_t)p->n_row);
	pq_i64(&t, 5, (int64_t)start);
	pq_i64(&t, 6, (int64_t)(p->pages.at - start));
	if (p->n_group <= INT16_MAX)
		pq_i16(&t, 7, (int)p->n_group);
	pq_end(&t);
	p->n_group++;
	p->rows += p->n_row;
	p->n_row = 0;
	return 0;
}

static bool parquet_group_is_full(const struct parquet *p)
{
	size_t values = 0;

	if (p->n_row >= GROUP_ROWS)
		return true;
	for (size_t i = 0; i < p->table->n_column; i++) {
		if (p->column[i].c->list)
			values += p->column[i].n;
		if (p->column[i].words.text.used >= GROUP_TEXT)
			return true;
	}
	return values >= GROUP_VALUES;
}

int parquet_put(struct parquet *p, const struct fleet_batch *b, size_t from,
		size_t n, struct err *err)
{
	while (n) {
		size_t room = GROUP_ROWS - p->n_row;
		size_t take = n < room ? n : room;

		for (size_t i = 0; i < p->table->n_column; i++)
			pq_column_add(&p->column[i], &b->cell[i], from, take);
		p->n_row += take;
		from += take;
		n -= take;
		if (parquet_group_is_full(p) && parquet_end_group(p, err))
			return -1;
	}
	return 0;
}

void parquet_forget(struct parquet *p)
{
	for (size_t i = 0; i < p->table->n_column; i++)
		pq_column_forget(&p->column[i]);
}

enum pq_converted {
	PQ_UTF8 = 0,
	PQ_AS_LIST = 3,
	PQ_UINT_8 = 11,
	PQ_INT_8 = 15
};

/* Puts a column, with what readers need to know of its type: that it is text,
 * or the size and sign of a number. */
static void parquet_put_leaf(struct pq_thrift *t, const struct fleet_column *c,
			     const char *name)
{
	enum fleet_type type = c->type;
	bool is_signed = type == FLEET_I32 || type == FLEET_I64;
	unsigned int bits = 8 * (unsigned int)fleet_type_size(type);
	unsigned int step = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;

	pq_struct_item(t);
	pq_i32(t, 1, pq_column_type(c));
	if (type == FLEET_HASH)
		pq_i32(t, 2, (int64_t)fleet_type_size(type));
	pq_i32(t, 3, 0); /* required */
	pq_text(t, 4, name);
	if (type == FLEET_STRING) {
		pq_i32(t, 6, PQ_UTF8);
		pq_struct(t, 10);
		pq_struct(t, 1);
		pq_end(t);
		pq_end(t);
	} else if (type != FLEET_HASH && type != FLEET_F64) {
		pq_i32(t, 6, (is_signed ? PQ_INT_8 : PQ_UINT_8) + step);
		pq_struct(t, 10);
		pq_struct(t, 10);
		pq_i8(t, 1, (int)bits);
		pq_bool(t, 2, is_signed);
		pq_end(t);
		pq_end(t);
	}
	pq_end(t);
}

static void parquet_put_group(struct pq_thrift *t, const char *name,
			      int repetition, size_t children, bool is_list)
{
	pq_struct_item(t);
	if (repetition >= 0)
		pq_i32(t, 3, repetition);
	pq_text(t, 4, name);
	pq_i32(t, 5, (int64_t)children);
	if (is_list) {
		pq_i32(t, 6, PQ_AS_LIST);
		pq_struct(t, 10);
		pq_struct(t, 3);
		pq_end(t);
		pq_end(t);
	}
	pq_end(t);
}

int parquet_finish(struct parquet *p, struct err *err)
{
	struct blob footer = { 0 };
	int rc = parquet_end_group(p, err);

	if (rc)
		return rc;
	char version[12];
	struct pq_thrift t;

	snprintf(version, sizeof(version), "%d", FLEET_VERSION);
	pq_begin(&t, &footer);
	pq_i32(&t, 1, 2);
	size_t n = 1;

	for (size_t i = 0; i < p->table->n_column; i++)
		n += p->table->column[i].list ? 3 : 1;
	pq_list(&t, 2, PQ_STRUCT, n);
	parquet_put_group(&t, p->table->name, -1, p->table->n_column, false);
	for (size_t i = 0; i < p->table->n_column; i++) {
		const struct fleet_column *c = &p->table->column[i];

		if (c->list) {
			parquet_put_group(&t, c->name, 0, 1, true);
			parquet_put_group(&t, "list", 2, 1, false);
		}
		parquet_put_leaf(&t, c, c->list ? "element" : c->name);
	}
	pq_i64(&t, 3, (int64_t)p->rows);
	pq_list(&t, 4, PQ_STRUCT, p->n_group);
	blob_add(&footer, p->groups.at, p->groups.n);
	pq_list(&t, 5, PQ_STRUCT, 1);
	pq_struct_item(&t);
	pq_text(&t, 1, "backstitch.fleet");
	pq_text(&t, 2, version);
	pq_end(&t);
	pq_text(&t, 6, "backstitch version " VERSION);
	/* all columns have the order of their type */
	pq_list(&t, 7, PQ_STRUCT, p->table->n_column);
	for (size_t i = 0; i < p->table->n_column; i++) {
		pq_struct_item(&t);
		pq_struct(&t, 1);
		pq_end(&t);
		pq_end(&t);
	}
	pq_end(&t);
	if (footer.n > INT32_MAX) {
		rc = err_set(err, ERR_LIMIT,
			     "%s: a footer of %zu bytes, 2 GB is the most",
			     p->path, footer.n);
	} else {
		blob_u32(&footer, (uint32_t)footer.n);
		blob_add(&footer, MAGIC, 4);
		pq_pages_raw(&p->pages, footer.at, footer.n);
		rc = new_file_finish(p->file, err);
	}
	blob_release(&footer);
	return rc;
}
