/* insert.c - what plain SQLite takes to insert the rows of a database: one
 * prepared INSERT for each table, one transaction, no journal, no indexes but
 * those that the tables declare.
 * usage: insert DATABASE COPY; prints rows, bytes, processor time and time by
 * the clock. Reading the rows is not part of the times. COPY is removed. */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CHUNK 10000
#define COLUMNS_MAX 256
#define NAME_MAX_BYTES 256

struct insert_cell {
	int type;
	int len;
	sqlite3_int64 num;
	double real;
	size_t at; /* of text and blobs, in insert_rows.bytes */
};

/* Rows that wait to be inserted. */
struct insert_rows {
	struct insert_cell *cell; /* CHUNK rows */
	unsigned char *bytes;
	size_t n, columns, used, cap;
};

/* Seconds of work and by the clock. */
struct insert_time {
	double cpu, wall;
};

static struct insert_time insert_took;
static uint64_t insert_count;

static double insert_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct insert_time insert_now(void)
{
	return (struct insert_time){ insert_clock(CLOCK_PROCESS_CPUTIME_ID),
				     insert_clock(CLOCK_MONOTONIC) };
}

static void insert_add_since(struct insert_time start)
{
	struct insert_time now = insert_now();

	insert_took.cpu += now.cpu - start.cpu;
	insert_took.wall += now.wall - start.wall;
}

static void insert_must(sqlite3 *db, int rc)
{
	if (rc == SQLITE_OK || rc == SQLITE_ROW || rc == SQLITE_DONE)
		return;
	fprintf(stderr, "insert: %s\n", sqlite3_errmsg(db));
	exit(1);
}

static sqlite3_stmt *insert_prepare(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *st = NULL;

	insert_must(db, sqlite3_prepare_v2(db, sql, -1, &st, NULL));
	return st;
}

static void insert_take_bytes(struct insert_rows *r, struct insert_cell *c,
			      const void *p)
{
	size_t len = (size_t)c->len;

	if (r->used + len > r->cap) {
		r->cap = 2 * (r->used + len);
		r->bytes = realloc(r->bytes, r->cap);
		if (!r->bytes)
			abort();
	}
	c->at = r->used;
	if (len)
		memcpy(r->bytes + r->used, p, len);
	r->used += len;
}

static void insert_take_row(struct insert_rows *r, sqlite3_stmt *st)
{
	struct insert_cell *c = r->cell + r->n++ * r->columns;

	for (int i = 0; i < (int)r->columns; i++, c++) {
		*c = (struct insert_cell){ .type = sqlite3_column_type(st, i) };
		if (c->type == SQLITE_INTEGER) {
			c->num = sqlite3_column_int64(st, i);
		} else if (c->type == SQLITE_FLOAT) {
			c->real = sqlite3_column_double(st, i);
		} else if (c->type != SQLITE_NULL) {
			const void *p = sqlite3_column_blob(st, i);

			c->len = sqlite3_column_bytes(st, i);
			insert_take_bytes(r, c, p);
		}
	}
}

static void insert_bind(sqlite3_stmt *st, int i, const struct insert_cell *c,
			const unsigned char *bytes)
{
	const char *p = (const char *)bytes + c->at;

	if (c->type == SQLITE_INTEGER)
		sqlite3_bind_int64(st, i, c->num);
	else if (c->type == SQLITE_FLOAT)
		sqlite3_bind_double(st, i, c->real);
	else if (c->type == SQLITE_TEXT)
		sqlite3_bind_text(st, i, p, c->len, SQLITE_STATIC);
	else if (c->type == SQLITE_BLOB)
		sqlite3_bind_blob(st, i, p, c->len, SQLITE_STATIC);
	else
		sqlite3_bind_null(st, i);
}

static void insert_put(sqlite3 *db, sqlite3_stmt *st, struct insert_rows *r)
{
	struct insert_time start = insert_now();
	const struct insert_cell *c = r->cell;

	for (size_t row = 0; row < r->n; row++) {
		for (int i = 1; i <= (int)r->columns; i++)
			insert_bind(st, i, c++, r->bytes);
		insert_must(db, sqlite3_step(st));
		sqlite3_reset(st);
	}
	insert_add_since(start);
	insert_count += r->n;
	r->n = r->used = 0;
}

static sqlite3_stmt *insert_into(sqlite3 *db, const char *table, size_t columns)
{
	char sql[NAME_MAX_BYTES + 32 + 2 * COLUMNS_MAX];
	size_t n = (size_t)snprintf(sql, sizeof(sql),
				    "INSERT INTO \"%s\" VALUES(?", table);

	for (size_t i = 1; i < columns; i++)
		n += (size_t)snprintf(sql + n, sizeof(sql) - n, ",?");
	snprintf(sql + n, sizeof(sql) - n, ")");
	return insert_prepare(db, sql);
}

static void insert_table(sqlite3 *from, sqlite3 *to, const char *table)
{
	char sql[NAME_MAX_BYTES + 32];

	snprintf(sql, sizeof(sql), "SELECT * FROM \"%s\"", table);
	sqlite3_stmt *get = insert_prepare(from, sql);
	struct insert_rows r = { .columns = (size_t)sqlite3_column_count(get) };
	sqlite3_stmt *put = insert_into(to, table, r.columns);

	r.cell = calloc(CHUNK * r.columns, sizeof(*r.cell));
	if (!r.cell)
		abort();
	while (sqlite3_step(get) == SQLITE_ROW) {
		insert_take_row(&r, get);
		if (r.n == CHUNK)
			insert_put(to, put, &r);
	}
	insert_must(from, sqlite3_finalize(get));
	insert_put(to, put, &r);
	sqlite3_finalize(put);
	free(r.cell);
	free(r.bytes);
}

/* The connection's defaults are those of a program that was written with care:
 * the page size of the original, no journal, no fsync. */
static void insert_all(sqlite3 *from, sqlite3 *to)
{
	sqlite3_stmt *page = insert_prepare(from, "PRAGMA page_size");
	sqlite3_stmt *list = insert_prepare(
		from, "SELECT name, sql FROM sqlite_schema WHERE type = 'table'"
		      " AND name NOT LIKE 'sqlite%' ORDER BY rowid");
	char sql[128];

	insert_must(from, sqlite3_step(page));
	snprintf(sql, sizeof(sql),
		 "PRAGMA page_size=%d; PRAGMA journal_mode=OFF;"
		 "PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; BEGIN",
		 sqlite3_column_int(page, 0));
	sqlite3_finalize(page);
	insert_must(to, sqlite3_exec(to, sql, NULL, NULL, NULL));
	while (sqlite3_step(list) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(list, 1);

		insert_must(to, sqlite3_exec(to, text, NULL, NULL, NULL));
		insert_table(from, to,
			     (const char *)sqlite3_column_text(list, 0));
	}
	insert_must(from, sqlite3_finalize(list));
}

int main(int argc, char **argv)
{
	sqlite3 *from = NULL;
	sqlite3 *to = NULL;
	struct stat st = { 0 };

	if (argc != 3) {
		fprintf(stderr, "usage: insert DATABASE COPY\n");
		return 2;
	}
	unlink(argv[2]);
	insert_must(from, sqlite3_open_v2(argv[1], &from, SQLITE_OPEN_READONLY,
					  NULL));
	insert_must(to, sqlite3_open(argv[2], &to));
	insert_all(from, to);
	struct insert_time start = insert_now();

	insert_must(to, sqlite3_exec(to, "COMMIT", NULL, NULL, NULL));
	insert_must(to, sqlite3_close(to));
	insert_add_since(start);
	sqlite3_close(from);
	stat(argv[2], &st);
	unlink(argv[2]);
	printf("%llu rows, %lld bytes: %.3f s, %.3f s\n",
	       (unsigned long long)insert_count, (long long)st.st_size,
	       insert_took.cpu, insert_took.wall);
	return 0;
}
