/* int_rows.c - rows of whole numbers, read many at a time. */
#include "schema/db/int_rows.h"

#include <inttypes.h>

#include "schema/db/db.h"
#include "schema/db/page_rows.h"
#include "schema/db/queries.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* Ids that are read in less time than one is looked up. */
#define FAR 4096
/* Rows of a block, which stays in the processor's cache. */
#define BLOCK 512
#define COLUMNS_MAX 32
#define TEXT_MAX 255 /* bytes; no name of a device or a state is longer */

struct int_rows {
	struct store *db;
	sqlite3_stmt *st;
	struct page_rows *pages; /* NULL: the statement reads the rows */
	int64_t *v;		 /* BLOCK rows */
	uint32_t known[BLOCK];
	size_t at, n;	       /* rows given out, and in the block */
	const char **text;     /* by value; NULL: no row so far has text */
	struct arena texts;    /* of the block */
	int columns;	       /* 0: not known yet */
	bool full, ended, bad; /* bad: ids are not in order */
	bool running;	       /* the statement is at a row behind the block */
	bool sought;	       /* rows were left out, by int_rows_seek() */
	int64_t last;	       /* id of the last row of the block */
	uint64_t read, skip;   /* rows from pages, and those that the statement,
				* which begins anew, has still to pass over */
	const char *table;     /* of int_rows_dense(), else NULL */
	int64_t step;	       /* rows so far, of int_rows_step() */
	struct err why;	       /* a step failed */
};

static void int_rows_keep_text(struct int_rows *r, size_t at,
			       const unsigned char *text, size_t len)
{
	char word[TEXT_MAX + 1];

	if (!text || len > TEXT_MAX)
		return;
	if (!r->text)
		r->text = mem_new((size_t)r->columns * BLOCK, sizeof(*r->text));
	memcpy(word, text, len);
	word[len] = 0;
	r->text[at] = arena_strdup(&r->texts, word);
}

static void int_rows_take(struct int_rows *r, int n, sqlite3_value **value)
{
	if (!r->columns) {
		r->columns = n;
		r->v = mem_new((size_t)n * BLOCK, sizeof(*r->v));
	}
	int64_t *v = r->v + r->n * (size_t)n;
	uint32_t known = 1; /* the id */

	v[0] = r->last;
	for (int i = 1; i < n; i++) {
		int type = sqlite3_value_type(value[i]);

		v[i] = 0;
		if (type == SQLITE_INTEGER) {
			v[i] = sqlite3_value_int64(value[i]);
			known |= (uint32_t)1 << i;
		} else if (type == SQLITE_TEXT) {
			const unsigned char *text =
				sqlite3_value_text(value[i]);

			int_rows_keep_text(
				r, (size_t)(v - r->v + i), text,
				(size_t)sqlite3_value_bytes(value[i]));
		}
	}
	r->known[r->n++] = known;
}

/* take_ints(...). It is true, and the statement rests, when the block is full.
 * An id that is no number, or is not above the one before it, is in no table
 * that is whole. */
static void int_rows_collect(sqlite3_context *ctx, int n, sqlite3_value **value)
{
	struct int_rows *r = ((struct store *)sqlite3_user_data(ctx))->taking;

	if (!r || n < 1 || n > COLUMNS_MAX || (r->columns && n != r->columns)) {
		sqlite3_result_error(ctx, "take_ints() is not for this", -1);
		return;
	}
	if (r->skip) {
		r->skip--;
		sqlite3_result_int(ctx, 0);
		return;
	}
	int64_t id = sqlite3_value_int64(*value);
	if (id <= r->last || sqlite3_value_type(*value) != SQLITE_INTEGER) {
		r->bad = true;
		sqlite3_result_error(ctx, "ids", -1);
		return;
	}
	r->last = id;
	int_rows_take(r, n, value);
	sqlite3_result_int(ctx, r->n == BLOCK);
}

struct int_rows *int_rows_open(struct store *db, const char *sql,
			       struct err *err)
{
	if (db_drain(db, err))
		return NULL;
	int rc = db->takes ? SQLITE_OK
			   : sqlite3_create_function_v2(
				     db->db, "take_ints", -1,
				     SQLITE_UTF8 | SQLITE_DIRECTONLY, db,
				     int_rows_collect, NULL, NULL, NULL);

	db->takes = !rc;
	if (rc) {
		db_error(db, rc, err);
		return NULL;
	}
	struct int_rows *r = mem_new(1, sizeof(*r));

	r->db = db;
	r->last = INT64_MIN;
	r->st = db_prepare(db, sql, err);
	if (r->st)
		return r;
	int_rows_close(r);
	return NULL;
}

struct int_rows *int_rows_of(struct store *db, const char *table,
			     const char *const *column, size_t n,
			     struct err *err)
{
	char *columns, *sql;
	FILE *out = mem_stream(&columns, NULL);

	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? ", " : "", column[i]);
	mem_stream_end(out);

	const struct sql_gap gap[] = { { "columns", columns },
				       { "table", table },
				       { "key", column[0] } };

	sql = store_sql_fill("int_rows", gap, ARRAY_SIZE(gap));
	struct int_rows *r = int_rows_open(db, sql, err);
	free(sql);
	free(columns);
	if (r)
		r->pages = page_rows_open(db, table, column, n);
	if (r && r->pages) {
		r->columns = (int)n;
		r->v = mem_new(n * BLOCK, sizeof(*r->v));
	}
	return r;
}

struct int_rows *int_rows_dense(struct store *db, const char *table,
				const char *const *column, size_t n,
				struct err *err)
{
	struct int_rows *r = int_rows_of(db, table, column, n, err);

	if (r)
		r->table = table;
	return r;
}

void int_rows_close(struct int_rows *r)
{
	if (!r)
		return;
	page_rows_close(r->pages);
	sqlite3_finalize(r->st);
	free(r->v);
	free(r->text);
	arena_release(&r->texts);
	free(r);
}

/* Reads the next block from the pages. Returns false if the statement must, or
 * if the ids are not in order. */
static bool int_rows_fill_pages(struct int_rows *r)
{
	int rc = 1;

	while (r->n < BLOCK && (rc = page_rows_seek(r->pages, r->last)) > 0) {
		struct page_row row = { .v = r->v + r->n * (size_t)r->columns };

		while (r->n < BLOCK &&
		       (rc = page_rows_take(r->pages, &row)) > 0) {
			for (uint32_t left = row.texts; left;
			     left &= left - 1) {
				size_t i = (size_t)__builtin_ctz(left);

				int_rows_keep_text(
					r, (size_t)(row.v - r->v) + i,
					row.text[i].at, row.text[i].len);
			}
			r->known[r->n++] = row.known;
			r->last = *row.v;
			row.v += r->columns;
		}
		if (rc < 0)
			break;
	}
	r->full = rc != 0;
	r->read += r->n;
	r->bad = rc == PAGE_ROWS_UNORDERED;
	if (rc < 0) {
		page_rows_close(r->pages);
		r->pages = NULL;
	}
	return rc >= 0 || (r->n && !r->bad);
}

/* Lets the statement fill the block. Behind rows that pages gave it begins at
 * the first row again, as what could not be read there may be damaged: SQLite
 * would not find each id in such a tree. */
static int int_rows_run(struct int_rows *r, struct err *err)
{
	int rc;

	if (!r->running) {
		r->skip = r->sought ? 0 : r->read;
		rc = sqlite3_bind_int64(r->st, 1,
					r->skip ? INT64_MIN : r->last);
		if (rc)
			return db_error(r->db, rc, err);
	}
	r->db->taking = r;
	rc = sqlite3_step(r->st);
	r->db->taking = NULL;
	r->running = r->full = rc == SQLITE_ROW;
	r->ended = !r->full;
	if (rc == SQLITE_ROW)
		return 0;
	if (r->bad)
		rc = db_unordered(r->db, err);
	else if (rc != SQLITE_DONE)
		rc = db_error(r->db, rc, err);
	else
		rc = 0;
	sqlite3_reset(r->st);
	return rc;
}

/* Reads the next block. */
static int int_rows_fill(struct int_rows *r, struct err *err)
{
	if (db_drain(r->db, err))
		return -1;
	r->at = r->n = 0;
	r->full = false;
	if (r->text)
		memset(r->text, 0,
		       (size_t)r->columns * BLOCK * sizeof(*r->text));
	arena_clear(&r->texts);
	/* SQLite ends a statement that is to stop */
	if (r->pages && !(r->db->stop && r->db->stop()) &&
	    int_rows_fill_pages(r)) {
		r->ended = !r->full;
		return 0;
	}
	return r->bad ? db_unordered(r->db, err) : int_rows_run(r, err);
}

static void int_rows_give(const struct int_rows *r, struct int_row *row)
{
	row->v = r->v + r->at * (size_t)r->columns;
	row->known = r->known[r->at];
}

int int_rows_next(struct int_rows *r, struct int_row *row, struct err *err)
{
	if (r->at == r->n && !r->ended && int_rows_fill(r, err))
		return -1;
	if (r->at == r->n)
		return 0;
	int_rows_give(r, row);
	r->at++;
	return 1;
}

void int_rows_unsound(struct int_rows *r)
{
	err_set(&r->why, ERR_DB,
		"%s: the database is damaged: %s, row %" PRId64,
		*r->db->path ? r->db->path : "temporary database", r->table,
		r->step);
}

bool int_rows_step(struct int_rows *r, struct int_row *row)
{
	if (!r || r->why.code || int_rows_next(r, row, &r->why) <= 0)
		return false;
	r->step++;
	if (!r->table || (row->v[0] == r->step && r->step < UINT32_MAX))
		return true;
	int_rows_unsound(r);
	return false;
}

int int_rows_end(struct int_rows *r, struct err *err)
{
	if (!r)
		return -1;
	int ret = r->why.code ? -1 : 0;

	if (ret && err)
		*err = r->why;
	int_rows_close(r);
	return ret;
}

int int_rows_seek(struct int_rows *r, int64_t id, struct int_row *row,
		  struct err *err)
{
	/* what is far behind the block is found by the index */
	bool far = r->last < 0 || (id > r->last && id - r->last > FAR);

	if (r->last < id)
		r->at = r->n;
	for (;; r->at++) {
		if (r->at == r->n && far && !r->ended && r->last < id) {
			r->last = id - 1;
			r->sought = true;
			r->running = false;
			sqlite3_reset(r->st);
		}
		if (r->at == r->n && !r->ended && int_rows_fill(r, err))
			return -1;
		if (r->at == r->n)
			return 0;
		int_rows_give(r, row);
		if (row->v[0] >= id)
			return row->v[0] == id;
	}
}

const char *int_rows_text(const struct int_rows *r, const struct int_row *row,
			  size_t column)
{
	return r->text ? r->text[(size_t)(row->v - r->v) + column] : NULL;
}
