/* rows.c - statements that return rows, and the values of a row.
 *
 * For a million rows sqlite3_step() and a sqlite3_column_int64() for each
 * column take as long as the rest of SQLite's work. With rows_ints() one step
 * runs the statement until a block is full: its columns are the arguments of a
 * function, take_ints(), which copies them and is true only for the last row of
 * a block. The statement then continues where it is: finding its place again by
 * an id would trust a tree that may be damaged. */
#include "schema/db/rows.h"

#include <assert.h>
#include <inttypes.h>

#include "schema/db/db.h"
#include "schema/db/page_format.h"
#include "schema/db/page_rows.h"
#include "schema/db/queries.h"
#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"

/* Reading so many ids takes less time than looking one up. */
#define FAR 4096
/* Rows of a block, which stays in the processor's cache. */
#define BLOCK 512
#define COLUMNS_MAX 32
#define TEXT_MAX 255 /* bytes; no name of a device or a state is longer */

/* Rows of whole numbers, many at a time. */
struct rows_block {
	int64_t *v; /* BLOCK rows */
	uint32_t known[BLOCK];
	size_t at, n;	       /* rows returned so far, and in the block */
	const char **text;     /* by value; NULL: no row so far has text */
	struct arena texts;    /* of the block */
	int columns;	       /* 0: not known yet */
	bool full, ended, bad; /* bad: ids are not in order */
	bool running;	       /* the statement is at a row after the block */
	bool sought;	       /* rows were left out, by rows_seek_ints() */
	int64_t last;	       /* id of the last row of the block */
	uint64_t skip; /* of rows.read, those that the restarted statement still
			  has to skip */
};

struct rows {
	const struct store *db;
	sqlite3_stmt *st;
	size_t n;
	const char *query;	 /* its name, or the table's; NULL: none */
	bool dense;		 /* ids count up */
	int64_t at;		 /* rows so far, of rows_step() */
	struct err why;		 /* a step failed */
	struct page_rows *pages; /* NULL: the statement reads the rows */
	uint64_t read; /* rows returned from pages, which the statement has to
			  skip */
	struct value
		*value; /* values of the row from pages; NULL: there is none */
	int64_t *number;
	char *text; /* NUL-terminated texts of that row */
	size_t cap_text;
	struct rows_block *block; /* of rows_ints(); NULL: row by row */
};

/* Returns true if the text after the first statement has another one. */
static bool rows_has_more(const struct store *db, const char *tail)
{
	while (tail && *tail) {
		sqlite3_stmt *st = NULL;
		int rc = sqlite3_prepare_v2(db->db, tail, -1, &st, &tail);

		sqlite3_finalize(st);
		if (rc || st)
			return true;
	}
	return false;
}

int rows_bind_value(struct sqlite3_stmt *st, int i, const struct value *v)
{
	int rc;

	if (v->kind == VALUE_INT)
		rc = sqlite3_bind_int64(st, i, v->num);
	else if (v->kind == VALUE_REAL)
		rc = sqlite3_bind_double(st, i, v->real);
	else if (v->kind == VALUE_TEXT)
		rc = sqlite3_bind_text(st, i, v->text, -1, SQLITE_TRANSIENT);
	else if (v->kind == VALUE_BLOB)
		rc = sqlite3_bind_blob64(st, i, v->text, v->len,
					 SQLITE_TRANSIENT);
	else
		rc = sqlite3_bind_null(st, i);
	if (rc == SQLITE_NOMEM)
		mem_must(NULL);
	return rc;
}

static int rows_bind(struct rows *r, const struct value *v, size_t n,
		     struct err *err)
{
	int want = sqlite3_bind_parameter_count(r->st);

	if (n > (size_t)want)
		n = (size_t)want;
	for (size_t i = 0; i < n; i++) {
		int rc = rows_bind_value(r->st, (int)i + 1, &v[i]);

		if (rc)
			return db_error(r->db, rc, err);
	}
	return 0;
}

static int rows_refused(const struct store *db, int rc, struct err *err)
{
	if (rc == SQLITE_AUTH || rc == SQLITE_READONLY)
		return err_set(err, ERR_DB,
			       "%s: only reading is allowed here; use sqlite3 "
			       "to change a database",
			       db->path);
	return db_error(db, rc, err);
}

static int rows_prepare(struct rows *r, const char *sql, struct err *err)
{
	const char *tail = NULL;
	int rc = sqlite3_prepare_v2(r->db->db, sql, -1, &r->st, &tail);

	if (rc)
		return rows_refused(r->db, rc, err);
	if (!r->st)
		return err_set(err, ERR_USAGE, "the query is empty");
	if (rows_has_more(r->db, tail))
		return err_set(err, ERR_USAGE,
			       "more than one statement; "
			       "give them one at a time");
	/* VACUUM calls no authorizer, and may write other files too */
	if (!r->db->writable && !sqlite3_stmt_readonly(r->st))
		return rows_refused(r->db, SQLITE_READONLY, err);
	r->n = (size_t)sqlite3_column_count(r->st);
	return 0;
}

struct rows *rows_open(const struct store *db, const char *sql,
		       const struct value *values, size_t n_bind,
		       struct err *err)
{
	if (db_refuses(db, err))
		return NULL;
	if (!sql) {
		err_set(err, ERR_DB, "%s: no such query", db->path);
		return NULL;
	}
	struct rows *r = mem_new(1, sizeof(*r));
	r->db = db;
	if (rows_prepare(r, sql, err) || rows_bind(r, values, n_bind, err)) {
		rows_close(r);
		return NULL;
	}
	return r;
}

int rows_again(struct rows *r, const struct value *bind, struct err *err)
{
	if (db_refuses(r->db, err))
		return -1;
	/* the error of the last run was reported then */
	sqlite3_reset(r->st);
	return rows_bind(r, bind, 1, err);
}

int store_error_place(const struct store *db)
{
	return sqlite3_error_offset(db->db);
}

void rows_close(struct rows *r)
{
	if (!r)
		return;
	sqlite3_finalize(r->st);
	page_rows_close(r->pages);
	if (r->block) {
		free_all(r->block->v, r->block->text);
		arena_release(&r->block->texts);
		free(r->block);
	}
	free_all(r->value, r->number, r->text, r);
}

void rows_by_pages(struct rows *r, const char *table)
{
	const char *column[PAGE_ROWS_COLUMNS];

	if (!r->n || r->n > PAGE_ROWS_COLUMNS)
		return;
	for (size_t i = 0; i < r->n; i++)
		column[i] = rows_name(r, i);
	r->pages = page_rows_open(r->db, table, column, r->n);
	if (!r->pages)
		return;
	r->value = mem_new(r->n, sizeof(*r->value));
	r->number = mem_new(r->n, sizeof(*r->number));
}

/* Moves to the next row of the pages. Returns 1, 0 at the end, or less as
 * page_rows_seek(). */
static int rows_turn(struct rows *r)
{
	struct page_row row;
	const int64_t last = r->read ? r->value[0].num : INT64_MIN;
	int rc = page_rows_seek(r->pages, last);

	row.v = r->number;
	if (rc > 0)
		rc = page_rows_take(r->pages, &row);
	if (rc <= 0)
		return rc;
	r->read++;
	/* Set the values of a row of pages. Its texts have no NUL there. */
	size_t need = 0;

	for (uint32_t left = row.texts; left; left &= left - 1)
		need += row.text[__builtin_ctz(left)].len + 1;
	mem_grow(r->text, r->cap_text, need + 1);

	char *to = r->text;

	for (size_t i = 0; i < r->n; i++) {
		const uint32_t bit = (uint32_t)1 << i;
		struct value v = { .kind = VALUE_NULL };

		if (row.known & bit) {
			v.kind = VALUE_INT;
			v.num = row.v[i];
		} else if (row.texts & bit) {
			v.kind = VALUE_TEXT;
			v.text = to;
			v.len = row.text[i].len;
			memcpy(to, row.text[i].at, v.len);
			to += v.len;
			*to++ = 0;
		} else if (row.blobs & bit) {
			v.kind = VALUE_BLOB;
			v.len = row.text[i].len;
			/* as in SQLite, an empty text has no address */
			v.text = v.len ? (const char *)row.text[i].at : NULL;
		} else if (row.reals & bit) {
			uint64_t u = record_be(row.text[i].at, sizeof(u));

			v.kind = VALUE_REAL;
			memcpy(&v.real, &u, sizeof(u));
		}
		r->value[i] = v;
	}
	return 1;
}

int rows_next(struct rows *r, struct err *err)
{
	if (db_refuses(r->db, err))
		return -1;
	if (r->pages) {
		/* SQLite ends a statement that is to stop */
		bool stop = r->db->stop && r->db->stop();
		int rc = stop ? PAGE_ROWS_SQLITE : rows_turn(r);

		if (rc == PAGE_ROWS_UNORDERED)
			return db_unordered(r->db, err);
		if (rc >= 0)
			return rc;
		/* Continues with the statement, after the rows from pages. No
		 * id is looked up, as what could not be read there may be
		 * damaged. */
		int ret = SQLITE_ROW;

		page_rows_close(r->pages);
		r->pages = NULL;
		free(r->value);
		r->value = NULL;
		while (r->read && ret == SQLITE_ROW) {
			ret = sqlite3_step(r->st);
			r->read--;
		}
		if (ret != SQLITE_ROW && ret != SQLITE_DONE &&
		    rows_refused(r->db, ret, err))
			return -1;
	}
	int rc = sqlite3_step(r->st);

	if (rc == SQLITE_ROW)
		return 1;
	return rc == SQLITE_DONE ? 0 : rows_refused(r->db, rc, err);
}

struct rows *rows_of(const struct store *db, const char *query, struct err *err)
{
	struct rows *r = rows_open(db, store_sql(query), NULL, 0, err);

	if (r)
		r->query = query;
	return r;
}

struct rows *rows_by(const struct store *db, const char *query,
		     const int64_t *number, size_t n, struct err *err)
{
	struct value bind[3];

	assert(n <= ARRAY_SIZE(bind));
	for (size_t i = 0; i < n; i++)
		bind[i] = (struct value){ .kind = VALUE_INT, .num = number[i] };
	return rows_open(db, store_sql(query), bind, n, err);
}

#define ID_COLUMN 0 /* of every query for rows_dense() */

struct rows *rows_dense(const struct store *db, const char *query,
			struct err *err)
{
	struct rows *r = rows_of(db, query, err);

	if (r)
		r->dense = true;
	return r;
}

void rows_unsound(struct rows *r)
{
	err_set(&r->why, ERR_DB,
		"%s: the database is damaged: %s, row %" PRId64,
		*r->db->path ? r->db->path : "temporary database", r->query,
		r->at);
}

/* Counts a row of a loop. Returns false if its id must be its number and is
 * not. */
static bool rows_in_step(struct rows *r, int64_t id)
{
	r->at++;
	if (!r->dense || (id == r->at && r->at < UINT32_MAX))
		return true;
	rows_unsound(r);
	return false;
}

bool rows_step(struct rows *r)
{
	return r && !r->why.code && rows_next(r, &r->why) > 0 &&
	       rows_in_step(r, r->dense ? rows_int(r, ID_COLUMN) : 0);
}

int rows_end(struct rows *r, struct err *err)
{
	if (!r)
		return -1;
	int ret = r->why.code ? -1 : 0;

	if (ret && err)
		*err = r->why;
	rows_close(r);
	return ret;
}

int rows_stop(struct rows *r)
{
	rows_close(r);
	return -1;
}

size_t rows_columns(const struct rows *r)
{
	return r->n;
}

const char *rows_name(const struct rows *r, size_t i)
{
	const char *s = i < r->n ? sqlite3_column_name(r->st, (int)i) : NULL;

	return s ? s : "";
}

int64_t rows_int_or(const struct rows *r, size_t i, int64_t none)
{
	struct value v = rows_value(r, i);

	return v.kind == VALUE_INT ? v.num : none;
}

struct value rows_value(const struct rows *r, size_t i)
{
	struct value v = { .kind = VALUE_NULL };
	int at = (int)i;

	if (i >= r->n)
		return v;
	if (r->value)
		return r->value[i];
	switch (sqlite3_column_type(r->st, at)) {
	case SQLITE_INTEGER:
		v.kind = VALUE_INT;
		v.num = sqlite3_column_int64(r->st, at);
		break;
	case SQLITE_FLOAT:
		v.kind = VALUE_REAL;
		v.real = sqlite3_column_double(r->st, at);
		break;
	case SQLITE_TEXT:
		v.kind = VALUE_TEXT;
		v.text = db_column_text(r->st, at);
		v.len = (size_t)sqlite3_column_bytes(r->st, at);
		break;
	case SQLITE_BLOB:
		v.kind = VALUE_BLOB;
		v.text = sqlite3_column_blob(r->st, at);
		v.len = (size_t)sqlite3_column_bytes(r->st, at);
		break;
	default:
		break;
	}
	return v;
}

void rows_build_id(const struct rows *r, size_t i, struct image *img)
{
	struct value id = rows_value(r, i);

	img->id_len = 0;
	if (!id.len || id.len > sizeof(img->id))
		return;
	memcpy(img->id, id.text, id.len);
	img->id_len = (uint8_t)id.len;
}

void rows_image(const struct rows *r, size_t i, struct arena *text,
		struct image *img)
{
	img->kind = (enum image_kind)rows_int(r, i);
	img->path = arena_strdup(text, rows_text(r, i + 1));
	rows_build_id(r, i + 2, img);
	img->maj = (uint32_t)rows_int(r, i + 3);
	img->min = (uint32_t)rows_int(r, i + 4);
	img->ino = (uint64_t)rows_int(r, i + 5);
	img->ino_gen = (uint64_t)rows_int(r, i + 6);
	if (rows_value(r, i + 7).kind == VALUE_TEXT)
		img->settled = arena_strdup(text, rows_text(r, i + 7));
}

int64_t rows_int(const struct rows *r, size_t i)
{
	if (r->value)
		return i < r->n ? r->value[i].num : 0;
	return i < r->n ? sqlite3_column_int64(r->st, (int)i) : 0;
}

const char *rows_text(const struct rows *r, size_t i)
{
	const char *s = NULL;

	if (r->value)
		s = i < r->n && r->value[i].kind == VALUE_TEXT
			    ? r->value[i].text
			    : NULL;
	else if (i < r->n)
		s = db_column_text(r->st, (int)i);
	return s ? s : "";
}

static void rows_begin_block(struct rows_block *b, int columns)
{
	b->columns = columns;
	b->v = mem_new((size_t)columns * BLOCK, sizeof(*b->v));
}

static void rows_keep_word(struct rows_block *b, size_t at,
			   const unsigned char *text, size_t len)
{
	char word[TEXT_MAX + 1];

	if (!text || len > TEXT_MAX)
		return;
	if (!b->text)
		b->text = mem_new((size_t)b->columns * BLOCK, sizeof(*b->text));
	memcpy(word, text, len);
	word[len] = 0;
	b->text[at] = arena_strdup(&b->texts, word);
}

/* Collects the arguments of take_ints(...). The function is true, and the
 * statement pauses, when the block is full. In an undamaged table each id is a
 * number above the previous one. */
static void rows_collect(sqlite3_context *ctx, int n, sqlite3_value **value)
{
	struct rows_block *b =
		((struct db_taking *)sqlite3_user_data(ctx))->block;

	if (!b || n < 1 || n > COLUMNS_MAX || (b->columns && n != b->columns)) {
		sqlite3_result_error(ctx, "take_ints() is not for this", -1);
		return;
	}
	if (b->skip) {
		b->skip--;
		sqlite3_result_int(ctx, 0);
		return;
	}
	int64_t id = sqlite3_value_int64(*value);
	if (id <= b->last || sqlite3_value_type(*value) != SQLITE_INTEGER) {
		b->bad = true;
		sqlite3_result_error(ctx, "ids", -1);
		return;
	}
	b->last = id;
	if (!b->columns)
		rows_begin_block(b, n);
	int64_t *v = b->v + b->n * (size_t)n;
	uint32_t known = 1; /* the id */

	v[0] = b->last;
	for (int i = 1; i < n; i++) {
		int type = sqlite3_value_type(value[i]);

		v[i] = 0;
		if (type == SQLITE_INTEGER) {
			v[i] = sqlite3_value_int64(value[i]);
			known |= (uint32_t)1 << i;
		} else if (type == SQLITE_TEXT) {
			const unsigned char *text =
				sqlite3_value_text(value[i]);

			rows_keep_word(b, (size_t)(v - b->v + i), text,
				       (size_t)sqlite3_value_bytes(value[i]));
		}
	}
	b->known[b->n++] = known;
	sqlite3_result_int(ctx, b->n == BLOCK);
}

struct rows *rows_ints(const struct store *db, const char *sql, struct err *err)
{
	if (db_refuses(db, err))
		return NULL;
	int rc = db->taking->known
			 ? SQLITE_OK
			 : sqlite3_create_function_v2(
				   db->db, "take_ints", -1,
				   SQLITE_UTF8 | SQLITE_DIRECTONLY, db->taking,
				   rows_collect, NULL, NULL, NULL);

	db->taking->known = !rc;
	if (rc) {
		db_error(db, rc, err);
		return NULL;
	}
	struct rows *r = rows_open(db, sql, NULL, 0, err);

	if (!r)
		return NULL;
	r->block = mem_new(1, sizeof(*r->block));
	r->block->last = INT64_MIN;
	return r;
}

struct rows *rows_ints_of(const struct store *db, const char *table,
			  const char *const *column, size_t n, struct err *err)
{
	char *columns;
	FILE *out = mem_stream(&columns, NULL);

	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? ", " : "", column[i]);
	mem_stream_end(out);

	const struct sql_gap gap[] = { { "columns", columns },
				       { "table", table },
				       { "key", column[0] } };

	char *sql = store_sql_fill("table_ints", gap, ARRAY_SIZE(gap));
	struct rows *r = rows_ints(db, sql, err);
	free_all(sql, columns);
	if (r)
		r->pages = page_rows_open(db, table, column, n);
	if (r && r->pages)
		rows_begin_block(r->block, (int)n);
	return r;
}

struct rows *rows_ints_dense(const struct store *db, const char *table,
			     const char *const *column, size_t n,
			     struct err *err)
{
	struct rows *r = rows_ints_of(db, table, column, n, err);

	if (r) {
		r->query = table;
		r->dense = true;
	}
	return r;
}

/* Reads the next block from the pages. Returns false if the statement must read
 * it, or if the ids are not in order. */
static bool rows_fill_pages(struct rows *r)
{
	struct rows_block *b = r->block;
	int rc = 1;

	while (b->n < BLOCK && (rc = page_rows_seek(r->pages, b->last)) > 0) {
		struct page_row row = { .v = b->v + b->n * (size_t)b->columns };

		while (b->n < BLOCK &&
		       (rc = page_rows_take(r->pages, &row)) > 0) {
			for (uint32_t left = row.texts; left;
			     left &= left - 1) {
				size_t i = (size_t)__builtin_ctz(left);

				rows_keep_word(b, (size_t)(row.v - b->v) + i,
					       row.text[i].at, row.text[i].len);
			}
			b->known[b->n++] = row.known;
			b->last = *row.v;
			row.v += b->columns;
		}
		if (rc < 0)
			break;
	}
	b->full = rc != 0;
	r->read += b->n;
	b->bad = rc == PAGE_ROWS_UNORDERED;
	if (rc < 0) {
		page_rows_close(r->pages);
		r->pages = NULL;
	}
	return rc >= 0 || (b->n && !b->bad);
}

/* Reads the next block. */
static int rows_fill(struct rows *r, struct err *err)
{
	struct rows_block *b = r->block;

	if (db_refuses(r->db, err))
		return -1;
	b->at = b->n = 0;
	b->full = false;
	if (b->text)
		memset(b->text, 0,
		       (size_t)b->columns * BLOCK * sizeof(*b->text));
	arena_clear(&b->texts);
	/* SQLite ends a statement that is to stop */
	if (r->pages && !(r->db->stop && r->db->stop()) && rows_fill_pages(r)) {
		b->ended = !b->full;
		return 0;
	}
	if (b->bad)
		return db_unordered(r->db, err);
	/* Fills the block by the statement. After rows from pages it starts at
	 * the first row again, as what could not be read there may be damaged:
	 * SQLite would not find each id in such a tree. */
	int rc;

	if (!b->running) {
		b->skip = b->sought ? 0 : r->read;
		rc = sqlite3_bind_int64(r->st, 1,
					b->skip ? INT64_MIN : b->last);
		if (rc)
			return db_error(r->db, rc, err);
	}
	r->db->taking->block = b;
	rc = sqlite3_step(r->st);
	r->db->taking->block = NULL;
	b->running = b->full = rc == SQLITE_ROW;
	b->ended = !b->full;
	if (rc == SQLITE_ROW)
		return 0;
	if (b->bad)
		rc = db_unordered(r->db, err);
	else if (rc != SQLITE_DONE)
		rc = db_error(r->db, rc, err);
	else
		rc = 0;
	sqlite3_reset(r->st);
	return rc;
}

static void rows_give(const struct rows_block *b, struct int_row *row)
{
	row->v = b->v + b->at * (size_t)b->columns;
	row->known = b->known[b->at];
}

int rows_next_ints(struct rows *r, struct int_row *row, struct err *err)
{
	struct rows_block *b = r->block;

	if (b->at == b->n && !b->ended && rows_fill(r, err))
		return -1;
	if (b->at == b->n)
		return 0;
	rows_give(b, row);
	b->at++;
	return 1;
}

bool rows_step_ints(struct rows *r, struct int_row *row)
{
	return r && !r->why.code && rows_next_ints(r, row, &r->why) > 0 &&
	       rows_in_step(r, row->v[0]);
}

int rows_seek_ints(struct rows *r, int64_t id, struct int_row *row,
		   struct err *err)
{
	struct rows_block *b = r->block;
	/* an id far after the block is found by the index */
	bool far = b->last < 0 || (id > b->last && id - b->last > FAR);

	if (b->last < id)
		b->at = b->n;
	for (;; b->at++) {
		if (b->at == b->n && far && !b->ended && b->last < id) {
			b->last = id - 1;
			b->sought = true;
			b->running = false;
			sqlite3_reset(r->st);
		}
		if (b->at == b->n && !b->ended && rows_fill(r, err))
			return -1;
		if (b->at == b->n)
			return 0;
		rows_give(b, row);
		if (row->v[0] >= id)
			return row->v[0] == id;
	}
}

const char *rows_word(const struct rows *r, const struct int_row *row,
		      size_t column)
{
	const struct rows_block *b = r->block;

	return b->text ? b->text[(size_t)(row->v - b->v) + column] : NULL;
}
