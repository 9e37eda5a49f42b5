/* page_rows.c - rows that are read from the pages of a file are those that
 * SQLite tells, and what is not plain is left to it. */
#include <fcntl.h>
#include <inttypes.h>

#include "schema/db/db.h"
#include "schema/db/rows.h"
#include "schema/db/page_rows.h"
#include "stitch/base/mem.h"
#include "tests/unit/mkstore.h"
#include "tests/unit/run.h"

#define ROWS_MOST 4000
#define PAGE 16384 /* bytes */

static const char *const three[] = { "id", "a", "b" };

/* Makes a database of ours that has a table t, too. */
static void leaves_make(const char *sql)
{
	sqlite3 *db = NULL;
	char *why = NULL;

	open_store(false, false);
	mkstore_fill("app");
	mkstore_finish();
	store_close(run.db);
	run.db = NULL;
	ck_assert_int_eq(sqlite3_open(run.path, &db), SQLITE_OK);
	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &why) == SQLITE_OK,
		      "%s", why);
	sqlite3_close(db);
}

static struct store leaves_open(void)
{
	static struct db_taking taking;
	struct store db = { .path = run.path, .taking = &taking };

	taking.known = false;
	ck_assert_int_eq(
		sqlite3_open_v2(run.path, &db.db, SQLITE_OPEN_READONLY, NULL),
		SQLITE_OK);
	return db;
}

struct leaves_read {
	char text[ROWS_MOST * 64];
	size_t len, n;
	int rc;
};

static void leaves_put(struct leaves_read *out, const int64_t v[3],
		       uint32_t known, const char *text)
{
	out->len += (size_t)snprintf(
		out->text + out->len, sizeof(out->text) - out->len,
		"%" PRId64 " %" PRId64 " %" PRId64 " %u '%s'\n", v[0], v[1],
		v[2], known, text ? text : "");
	out->n++;
}

static bool leaves_fit(const struct leaves_read *out)
{
	return out->n < ROWS_MOST && out->len + 600 < sizeof(out->text);
}

static void leaves_read(struct store *db, struct leaves_read *out)
{
	struct rows *r = rows_ints_of(db, "t", three, 3, &err);
	struct int_row row;
	struct err why = { 0 };

	*out = (struct leaves_read){ .rc = -1 };
	while (r && leaves_fit(out) &&
	       (out->rc = rows_next_ints(r, &row, &why)) > 0)
		leaves_put(out, row.v, row.known, rows_word(r, &row, 2));
	rows_close(r);
}

/* By the values of statements, as leaves_read_sql() without pages. */
static void leaves_read_values(struct store *db, bool by_pages,
			       struct leaves_read *out)
{
	struct rows *r = rows_open(db, "SELECT id, a, b FROM t ORDER BY id",
				   NULL, 0, &err);
	struct err why = { 0 };

	*out = (struct leaves_read){ .rc = -1 };
	if (r && by_pages)
		rows_by_pages(r, "t");
	while (r && leaves_fit(out) && (out->rc = rows_next(r, &why)) > 0) {
		struct value v = rows_value(r, 2);
		char text[64];

		snprintf(text, sizeof(text), "%d %zu %g %.*s", v.kind, v.len,
			 v.real, v.text ? (int)v.len : 0, v.text ? v.text : "");
		leaves_put(out,
			   (int64_t[]){ rows_int(r, 0), rows_int_or(r, 1, 0),
					v.num },
			   v.kind == VALUE_TEXT && v.text[v.len], text);
	}
	rows_close(r);
}

/* By one statement that goes from row to row. Ids that do not increase are an
 * error. */
static void leaves_read_sql(sqlite3 *db, struct leaves_read *out)
{
	sqlite3_stmt *st = NULL;
	int64_t last = INT64_MIN;
	int rc;

	*out = (struct leaves_read){ .rc = -1 };
	rc = sqlite3_prepare_v2(db, "SELECT id, a, b FROM t", -1, &st, NULL);
	while (!rc && leaves_fit(out) && sqlite3_step(st) == SQLITE_ROW) {
		int64_t v[3];
		uint32_t known = 0;

		for (int i = 0; i < 3; i++) {
			bool is = sqlite3_column_type(st, i) == SQLITE_INTEGER;

			v[i] = is ? sqlite3_column_int64(st, i) : 0;
			known |= (uint32_t)is << i;
		}
		if (v[0] <= last)
			break;
		last = v[0];
		leaves_put(out, v, known,
			   sqlite3_column_type(st, 2) == SQLITE_TEXT
				   ? db_column_text(st, 2)
				   : NULL);
	}
	if (!rc && leaves_fit(out) && sqlite3_errcode(db) == SQLITE_DONE)
		out->rc = 0;
	sqlite3_finalize(st);
}

/* Returns whether the pages were read. */
static bool leaves_both(struct leaves_read *sql, struct leaves_read *pages)
{
	struct store db = leaves_open();
	struct page_rows *p = page_rows_open(&db, "t", three, 3);
	bool plain = p != NULL;

	page_rows_close(p);
	leaves_read_sql(db.db, sql);
	leaves_read(&db, pages);
	ck_assert_int_eq(sqlite3_close(db.db), SQLITE_OK);
	return plain;
}

#define EACH(n)                                                                \
	"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c "      \
	"WHERE n < " #n ") "

/* Numbers of every length, NULL, text, reals, blobs, rows that end early and
 * gaps; and tables whose records do not tell what SQLite does. */
static const struct {
	const char *name, *sql;
	size_t n;
	bool plain;
} leaves_tables[] = {
	{ "no_rows", "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)", 0, true },
	{ "one_row",
	  "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b);"
	  "INSERT INTO t VALUES(-5, 7, 'x')",
	  1, true },
	{ "numbers",
	  "CREATE TABLE t(x, id INTEGER PRIMARY KEY, b, y INTEGER, a);" EACH(
		  3000) "INSERT INTO t SELECT 'x' || n, n * 3 - 900, "
			"CASE n % 5 WHEN 0 THEN NULL WHEN 1 THEN 'word' || n "
			"WHEN 2 THEN n / 7.0 WHEN 3 THEN x'0102' ELSE "
			"-(1 << (n % 64)) - n END, NULL, (1 << (n % 64)) - "
			"n % 3 FROM c",
	  3000, true },
	{ "gaps",
	  "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);" EACH(
		  3000) "INSERT INTO t SELECT n, n, n FROM c;"
			"DELETE FROM t WHERE id % 1000 BETWEEN 100 AND 900",
	  597, true },
	{ "added_column",
	  "CREATE TABLE t(id INTEGER PRIMARY KEY, a);"
	  "INSERT INTO t VALUES(1, 1), (2, 2);"
	  "ALTER TABLE t ADD COLUMN b; INSERT INTO t VALUES(3, 3, 3)",
	  3, true },
	{ "overflow",
	  "CREATE TABLE t(id INTEGER PRIMARY KEY, x, a, b);" EACH(
		  40) "INSERT INTO t SELECT n, printf('%*d', n * 300, n), n, "
		      "'b' FROM c",
	  40, true },
	{ "bytes",
	  "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b BLOB);" EACH(
		  2000) "INSERT INTO t SELECT n, n, CASE n % 4 WHEN 0 THEN "
			"zeroblob(n % 30) WHEN 1 THEN 'text' ELSE n / 4.0 END "
			"FROM c",
	  2000, true },
	{ "added_default",
	  "CREATE TABLE t(id INTEGER PRIMARY KEY, a);"
	  "INSERT INTO t VALUES(1, 1);"
	  "ALTER TABLE t ADD COLUMN b DEFAULT 7",
	  1, false },
	{ "real_column",
	  "CREATE TABLE t(id INTEGER PRIMARY KEY, a REAL, b);"
	  "INSERT INTO t VALUES(1, 1, 2)",
	  1, false },
	{ "computed_column",
	  "CREATE TABLE t(id INTEGER PRIMARY KEY, x AS (a + 1), a, b);"
	  "INSERT INTO t VALUES(1, 2, 3)",
	  1, false },
	{ "another_key",
	  "CREATE TABLE t(id INTEGER, k INTEGER PRIMARY KEY, a, b);"
	  "INSERT INTO t VALUES(1, 5, 2, 3)",
	  1, false },
	{ "a_key_that_descends",
	  "CREATE TABLE t(id INTEGER PRIMARY KEY DESC, a, b);"
	  "INSERT INTO t VALUES(9, 5, 2)",
	  1, false },
	{ "without_rowid",
	  "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b) WITHOUT ROWID;"
	  "INSERT INTO t VALUES(9, 5, 2)",
	  1, false },
	{ "a_view",
	  "CREATE TABLE u(id INTEGER PRIMARY KEY, a, b);"
	  "INSERT INTO u VALUES(1, 2, 3);"
	  "CREATE VIEW t AS SELECT * FROM u",
	  1, false },
	{ "write_ahead_log",
	  "PRAGMA journal_mode=WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, a, "
	  "b); INSERT INTO t VALUES(1, 2, 3)",
	  1, false },
};

static struct leaves_read sql, pages;

START_TEST(rows_are_those_that_sql_tells)
{
	leaves_make(leaves_tables[_i].sql);
	ck_assert_int_eq(leaves_both(&sql, &pages), leaves_tables[_i].plain);
	ck_assert_int_eq(sql.rc, 0);
	ck_assert_int_eq(pages.rc, 0);
	ck_assert_uint_eq(sql.n, leaves_tables[_i].n);
	ck_assert_str_eq(sql.text, pages.text);

	struct store db = leaves_open();

	leaves_read_values(&db, false, &sql);
	leaves_read_values(&db, true, &pages);
	ck_assert_int_eq(sqlite3_close(db.db), SQLITE_OK);
	ck_assert_int_eq(pages.rc, 0);
	ck_assert_uint_eq(pages.n, leaves_tables[_i].n);
	ck_assert(!strcmp(sql.text, pages.text));
}
END_TEST

/* Rows are found forwards and backwards. */
START_TEST(rows_are_found_by_their_ids)
{
	struct store db;
	struct page_rows *p;
	int64_t v[3];
	struct page_row row = { .v = v };

	leaves_make("CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);" EACH(
		3000) "INSERT INTO t SELECT n * 2, n, n FROM c");
	db = leaves_open();
	p = page_rows_open(&db, "t", three, 3);
	ck_assert_ptr_nonnull(p);
	for (int64_t i = 0; i < 5000; i++) {
		int64_t after = i * 1237 % 6003 - 1;
		int64_t next = after < 2 ? 2 : after / 2 * 2 + 2;
		int rc = page_rows_seek(p, after);

		ck_assert_int_eq(rc, next <= 6000);
		if (!rc)
			continue;
		ck_assert_int_eq(page_rows_take(p, &row), 1);
		ck_assert_int_eq(v[0], next);
		ck_assert_int_eq(v[1], next / 2);
		ck_assert_uint_eq(row.known, 7);
	}
	page_rows_close(p);
	sqlite3_close(db.db);
}
END_TEST

static int leaves_asked;

static bool leaves_stop(void)
{
	return leaves_asked++ > 2;
}

/* Who asks a command to end does not wait until all rows are read. */
START_TEST(rows_end_when_the_program_is_to_stop)
{
	struct int_row row;
	struct rows *r;
	int64_t n = 0;
	int rc;

	leaves_make("CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);" EACH(
		60000) "INSERT INTO t SELECT n, n, n FROM c");
	run.db = store_open(run.path, &err);
	ck_assert_msg(run.db != NULL, "%s", err.msg);
	leaves_asked = 0;
	store_on_stop(run.db, leaves_stop);
	r = rows_ints_of(run.db, "t", three, 3, &err);
	ck_assert_ptr_nonnull(r);
	while ((rc = rows_next_ints(r, &row, &err)) > 0)
		n++;
	ck_assert_int_eq(rc, -1);
	ck_assert_int_lt(n, 60000);
	rows_close(r);
}
END_TEST

/* Whatever bytes the file has, no more is read than there is; and where SQLite
 * finds nothing wrong, the rows are those that it tells. */
START_TEST(damage_is_left_to_sqlite)
{
	static unsigned char byte[1 << 20];
	uint64_t state = 1;
	size_t same = 0;
	size_t tried = 0;
	ssize_t n;
	int fd;

	leaves_make("CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);" EACH(
		2000) "INSERT INTO t SELECT n, n * 1000, 'x' || n FROM c");
	fd = open(run.path, O_RDWR);
	ck_assert_int_ge(fd, 0);
	n = read(fd, byte, sizeof(byte));
	ck_assert_int_gt(n, 8192);
	for (uint64_t i = 0; i < 1200; i++) {
		/* heads of pages, most of all */
		size_t at = rnd_below(&state, (size_t)n / PAGE) * PAGE +
			    rnd_below(&state, i % 2 ? 40 : PAGE);
		unsigned char to = (unsigned char)rnd_below(&state, 256);

		if (at < 100 || !turn_is(i, RUN_FEWER * 2 + 1))
			continue;
		tried++;
		ck_assert_int_eq(pwrite(fd, &to, 1, (off_t)at), 1);
		leaves_both(&sql, &pages);
		if (!sql.rc && sql.n < ROWS_MOST) {
			ck_assert_msg(!pages.rc &&
					      !strcmp(sql.text, pages.text),
				      "byte %zu is %u", at, to);
			same++;
		}
		ck_assert_int_eq(pwrite(fd, &byte[at], 1, (off_t)at), 1);
	}
	close(fd);
	ck_assert_uint_gt(same, tried / 12);
}
END_TEST

/* What SQLite refuses at the first row: a byte of the first page of t. Cells of
 * a page are at its end; 3 bytes of a cell are lengths and the id. */
static const struct {
	const char *name, *sql;
	off_t at; /* below 0: from the end of the page */
	const char *byte;
} leaves_refused[] = {
	{ "no_such_type",
	  "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);"
	  "INSERT INTO t VALUES(1, 2, 3)",
	  0, "\1" },
	{ "a_root_without_keys", "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)",
	  0, "\5" },
	{ "types_that_do_not_fill_a_record",
	  "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);"
	  "INSERT INTO t VALUES(1, 2, 300)",
	  -4, "\1" },
	{ "a_table_without_rowids_that_has_some",
	  "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b) WITHOUT ROWID", 0,
	  "\15" },
};

/* It is not the end of the rows. */
START_TEST(damage_before_the_first_row_is_an_error)
{
	struct store db;
	sqlite3_stmt *st = NULL;
	off_t at = leaves_refused[_i].at;
	int fd;

	leaves_make(leaves_refused[_i].sql);
	db = leaves_open();
	ck_assert_int_eq(sqlite3_prepare_v2(db.db,
					    "SELECT rootpage * page_size, "
					    "page_size FROM sqlite_master, "
					    "pragma_page_size WHERE name = 't'",
					    -1, &st, NULL),
			 SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
	at += sqlite3_column_int64(st, 0);
	if (leaves_refused[_i].at >= 0)
		at -= sqlite3_column_int64(st, 1);
	sqlite3_finalize(st);
	leaves_read(&db, &pages);
	ck_assert_int_eq(pages.rc, 0);
	ck_assert_int_eq(sqlite3_close(db.db), SQLITE_OK);
	fd = open(run.path, O_WRONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, leaves_refused[_i].byte, 1, at), 1);
	close(fd);
	leaves_both(&sql, &pages);
	ck_assert_int_eq(sql.rc, -1);
	ck_assert_int_eq(pages.rc, -1);
}
END_TEST

/* Swaps two cells of a page of the file. */
static void leaves_swap(int fd, off_t page, unsigned int a, unsigned int b)
{
	unsigned char cell[2][2];
	off_t at[2] = { page + 8 + 2 * (off_t)a, page + 8 + 2 * (off_t)b };

	ck_assert_int_eq(pread(fd, cell[0], 2, at[0]), 2);
	ck_assert_int_eq(pread(fd, cell[1], 2, at[1]), 2);
	ck_assert_int_eq(pwrite(fd, cell[0], 2, at[1]), 2);
	ck_assert_int_eq(pwrite(fd, cell[1], 2, at[0]), 2);
}

/* Returns how many of the ids 10, 20, ... 20000, for a commit of a part of
 * them, are not found, though no error says why. */
static unsigned int leaves_missed(struct store *db)
{
	unsigned int missed = 0;

	for (int64_t id = 10; id <= 20000; id += 10) {
		if (!turn_is((uint64_t)id / 10, RUN_FEWER + 1))
			continue;
		struct rows *r = rows_ints_of(db, "t", three, 3, &err);
		struct int_row row;

		ck_assert_ptr_nonnull(r);
		missed += rows_seek_ints(r, id, &row, &err) == 0;
		rows_close(r);
	}
	return missed;
}

/* Returns the leaf that child i of the first page of t leads to; 0: none. */
static off_t leaves_child(int fd, unsigned int i)
{
	struct store db = leaves_open();
	unsigned char head[12], number[4];
	sqlite3_stmt *st = NULL;
	int64_t size, root;

	ck_assert_int_eq(
		sqlite3_prepare_v2(db.db,
				   "SELECT page_size, (rootpage - 1) * "
				   "page_size FROM sqlite_master, "
				   "pragma_page_size WHERE name = 't'",
				   -1, &st, NULL),
		SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
	size = sqlite3_column_int64(st, 0);
	root = sqlite3_column_int64(st, 1);
	sqlite3_finalize(st);
	sqlite3_close(db.db);
	ck_assert_int_eq(pread(fd, head, 12, root), 12);
	ck_assert_int_eq(head[0], 5);
	if (i >= head[3] * 256U + head[4])
		return 0;
	ck_assert_int_eq(pread(fd, number, 2, root + 12 + 2 * i), 2);
	ck_assert_int_eq(
		pread(fd, number, 4, root + number[0] * 256 + number[1]), 4);
	return (((number[1] << 16) + (number[2] << 8) + number[3]) - 1) * size;
}

/* Whoever reads all rows, or looks for one, is told. */
START_TEST(rows_that_are_out_of_order_are_an_error)
{
	/* cells of a leaf: side by side, far from each other, at its ends */
	static const unsigned int swapped[][2] = { { 4, 5 },
						   { 1, 60 },
						   { 0, 1 } };
	unsigned int leaves = 0;
	struct store db;
	off_t page;
	int fd;

	leaves_make("CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);" EACH(
		2000) "INSERT INTO t SELECT n * 10, n, printf('%30d', n) FROM "
		      "c");
	fd = open(run.path, O_RDWR);
	ck_assert_int_ge(fd, 0);
	for (; (page = leaves_child(fd, leaves)); leaves += 7) {
		for (size_t i = 0; i < ARRAY_SIZE(swapped); i++) {
			leaves_swap(fd, page, swapped[i][0], swapped[i][1]);
			ck_assert(leaves_both(&sql, &pages));
			ck_assert_int_eq(sql.rc, -1);
			ck_assert_int_eq(pages.rc, -1);
			db = leaves_open();
			ck_assert_uint_eq(leaves_missed(&db), 0);
			sqlite3_close(db.db);
			leaves_swap(fd, page, swapped[i][0], swapped[i][1]);
		}
	}
	close(fd);
	ck_assert_uint_ge(leaves, 14);
	leaves_both(&sql, &pages);
	ck_assert_int_eq(pages.rc, 0);
}
END_TEST

START_TEST(the_last_column_that_fits_may_be_text)
{
	static const char *const all[] = {
		"id",  "c1",  "c2",  "c3",  "c4",  "c5",  "c6",	 "c7",
		"c8",  "c9",  "c10", "c11", "c12", "c13", "c14", "c15",
		"c16", "c17", "c18", "c19", "c20", "c21", "c22", "c23",
		"c24", "c25", "c26", "c27", "c28", "c29", "c30", "c31"
	};
	struct rows *r;
	struct int_row row;
	struct store db;

	leaves_make("CREATE TABLE t(id INTEGER PRIMARY KEY, c1, c2, c3, c4, c5,"
		    "c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17,"
		    "c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28,"
		    "c29, c30, c31); INSERT INTO t(id, c31) VALUES(1, 'x')");
	ck_assert_uint_eq(ARRAY_SIZE(all), PAGE_ROWS_COLUMNS);
	db = leaves_open();
	r = rows_ints_of(&db, "t", all, ARRAY_SIZE(all), &err);
	ck_assert_ptr_nonnull(r);
	ck_assert_int_eq(rows_next_ints(r, &row, &err), 1);
	ck_assert_str_eq(rows_word(r, &row, ARRAY_SIZE(all) - 1), "x");
	ck_assert_int_eq(rows_next_ints(r, &row, &err), 0);
	rows_close(r);
	ck_assert_int_eq(sqlite3_close(db.db), SQLITE_OK);
}
END_TEST

/* Of a table without a key, rows have a number of their own. */
static const struct {
	const char *name, *sql;
	bool plain;
	int64_t sum;
} bare_tables[] = {
	{ "no_key",
	  "CREATE TABLE t(a INTEGER, b);" EACH(
		  3000) "INSERT INTO t SELECT n, NULL FROM c;"
			"DELETE FROM t WHERE a % 3 = 0",
	  true, 3000000 },
	{ "another_key",
	  "CREATE TABLE t(a INTEGER PRIMARY KEY, b);"
	  "INSERT INTO t VALUES(5, 1), (7, 1)",
	  false, 24 },
	{ "a_key_of_text",
	  "CREATE TABLE t(a, b TEXT PRIMARY KEY);"
	  "INSERT INTO t VALUES(5, 'x'), (7, 'y')",
	  false, 15 },
	{ "a_column_of_that_name",
	  "CREATE TABLE t(RowId INTEGER, a, b);"
	  "INSERT INTO t VALUES(10, 5, 1), (20, 7, 1)",
	  false, 42 },
};

START_TEST(rows_without_a_key_are_read_by_their_number)
{
	static const char *const column[] = { "rowid", "a", "b" };
	struct store db;
	struct page_rows *p;
	struct rows *r;
	struct int_row row;
	int64_t sum = 0;
	int rc;

	leaves_make(bare_tables[_i].sql);
	db = leaves_open();
	p = page_rows_open(&db, "t", column, 3);
	ck_assert_int_eq(p != NULL, bare_tables[_i].plain);
	page_rows_close(p);
	r = rows_ints_of(&db, "t", column, 3, &err);
	ck_assert_ptr_nonnull(r);
	while ((rc = rows_next_ints(r, &row, &err)) > 0)
		sum += row.v[0] + (bare_tables[_i].plain ? 0 : row.v[1]);
	ck_assert_int_eq(rc, 0);
	ck_assert_int_eq(sum, bare_tables[_i].sum);
	rows_close(r);
	ck_assert_int_eq(sqlite3_close(db.db), SQLITE_OK);
}
END_TEST

/* That it is no view is for guard_reading() to see. */
START_TEST(a_table_without_numbers_of_rows_is_an_error)
{
	static const char *const column[] = { "rowid", "a" };
	struct store db;
	struct err why = { 0 };

	leaves_make("CREATE TABLE t(a INTEGER PRIMARY KEY) WITHOUT ROWID;"
		    "INSERT INTO t VALUES(5), (7)");
	db = leaves_open();
	ck_assert_ptr_null(page_rows_open(&db, "t", column, 2));
	ck_assert_ptr_null(rows_ints_of(&db, "t", column, 2, &why));
	ck_assert_ptr_nonnull(strstr(why.msg, "no such column: rowid"));
	ck_assert_int_eq(sqlite3_close(db.db), SQLITE_OK);
}
END_TEST

/* Arrays are indexed by such ids. */
START_TEST(a_gap_of_dense_ids_is_damage)
{
	struct store db;
	struct rows *r;
	struct int_row row;
	struct err why = { 0 };
	int64_t n = 0;

	leaves_make("CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);" EACH(
		1000) "INSERT INTO t SELECT n, n, n FROM c;"
		      "DELETE FROM t WHERE id = 700");
	db = leaves_open();
	r = rows_ints_dense(&db, "t", three, 3, &why);
	while (rows_step_ints(r, &row))
		ck_assert_int_eq(row.v[1], ++n);
	ck_assert_int_eq(n, 699);
	ck_assert_int_eq(rows_end(r, &why), -1);
	ck_assert_ptr_nonnull(strstr(why.msg, "is damaged: t, row 700"));
	ck_assert_int_eq(rows_end(NULL, &why), -1);
	ck_assert_int_eq(sqlite3_close(db.db), SQLITE_OK);
}
END_TEST

static const struct run_table tables[] = {
	RUN_TABLE(rows_are_those_that_sql_tells, leaves_tables),
	RUN_TABLE(damage_before_the_first_row_is_an_error, leaves_refused),
	RUN_TABLE(rows_without_a_key_are_read_by_their_number, bare_tables)
};

RUN_TABLES_WITH("page_rows", mkstore_set_up, tear_down, tables,
		rows_are_found_by_their_ids,
		rows_end_when_the_program_is_to_stop, damage_is_left_to_sqlite,
		rows_that_are_out_of_order_are_an_error,
		the_last_column_that_fits_may_be_text,
		a_table_without_numbers_of_rows_is_an_error,
		a_gap_of_dense_ids_is_damage)
