/* pages.c - tables whose B-trees are built without SQLite have the rows that
 * SQLite's own have. Each table is made twice, by both ways. */
/* A process for each test: a limit of the size of files stays. */
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "schema/db/door.h"
#include "schema/db/filling.h"
#include "schema/db/insert.h"
#include "schema/db/page_file.h"
#include "schema/db/writer.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "tests/unit/run.h"
#include "tests/unit/scratch.h"

#define COLUMNS_MAX 250
#define HUGE 200000 /* bytes of a text */

static char dir[64];
static struct err err;

/* How a table is filled. */
struct filling {
	enum page_key key;
	unsigned int columns, rows;
	unsigned int text; /* most bytes of a text */
	unsigned int huge; /* one row in so many has a larger one; 0: none */
	unsigned int late; /* one row in so many comes late; 0: none */
	unsigned int list; /* rows of PAGES_PAIR come at most so many of one
			    * first column; of others, keys grow evenly; 0:
			    * neither */
};

static bool pages_has_id(const struct filling *f)
{
	return f->key == PAGES_ID || f->key == PAGES_NEAR;
}

static void pages_ok(int rc)
{
	ck_assert_msg(rc == 0, "%s", err.msg);
}

static void pages_file(const char *name, char path[128])
{
	snprintf(path, 128, "%s/%s", dir, name);
}

/* first: what is in the database already. pages: B-trees are built without
 * SQLite. */
static struct maker *pages_open_with(const char *first, const char *name,
				     int page_size, bool pages, uint64_t lock)
{
	struct maker *mk = mem_new(1, sizeof(*mk));
	char path[128];
	char sql[256];

	pages_file(name, path);
	remove(path);
	mk->db = db_new(path);
	ck_assert_int_eq(sqlite3_open(path, &mk->db->db), SQLITE_OK);
	snprintf(sql, sizeof(sql),
		 "PRAGMA page_size=%d; PRAGMA journal_mode=OFF;"
		 "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-256; %s;"
		 "BEGIN; CREATE TABLE first(a)",
		 page_size, first);
	pages_ok(maker_exec(mk, sql, &err));
	if (pages)
		mk->pages = page_file_new(mk->db->db, path, (uint32_t)page_size,
					  lock);
	mk->wr = writer_new(mk->db->db, mk->db->path, false);
	return mk;
}

static void pages_close(struct maker *mk)
{
	filling_end(mk);
	store_close(mk->db);
	free(mk);
}

static struct maker *pages_open(const char *name, int page_size, bool pages,
				uint64_t lock)
{
	return pages_open_with("", name, page_size, pages, lock);
}

static unsigned int pages_table(struct maker *mk, const char *name,
				const struct filling *f)
{
	char sql[COLUMNS_MAX * 6 + 128];
	size_t n =
		(size_t)snprintf(sql, sizeof(sql), "CREATE TABLE %s(a%s", name,
				 pages_has_id(f) ? " INTEGER PRIMARY KEY" : "");
	struct bulk_shape shape = { name, NULL, f->columns, false, f->key };

	for (unsigned int i = 1; i < f->columns; i++)
		n += (size_t)snprintf(sql + n, sizeof(sql) - n, ",c%u", i);
	snprintf(sql + n, sizeof(sql) - n, "%s",
		 f->key == PAGES_PAIR
			 ? ", PRIMARY KEY(a, c1 DESC)) WITHOUT ROWID"
			 : ")");
	pages_ok(maker_exec(mk, sql, &err));
	return maker_table_add(mk, &shape);
}

/* Numbers of every size, with either sign. */
static int64_t pages_number(uint64_t *state)
{
	uint64_t v = rnd(state) >> rnd_below(state, 64);

	if (!rnd_below(state, 4))
		return (int64_t)rnd_below(state, 3);
	return (int64_t)(rnd(state) & 1 ? v : ~v);
}

/* A value that is one of all kinds. */
struct pages_cell {
	enum {
		CELL_NULL,
		CELL_INT,
		CELL_TEXT,
		CELL_BLOB
	} kind;
	int64_t num;
	char bytes[1 << 18];
	size_t len;
};

static const struct pages_cell *pages_cell(size_t text, uint64_t *state)
{
	static struct pages_cell c;

	c.len = text ? rnd_below(state, text) : 0;
	switch (rnd_below(state, 6)) {
	case 0:
		c.kind = CELL_NULL;
		break;
	case 1:
		c.kind = CELL_TEXT;
		memset(c.bytes, 'a' + (int)rnd_below(state, 26), c.len);
		c.bytes[c.len] = '\0';
		break;
	case 2:
		c.kind = CELL_BLOB;
		memset(c.bytes, (int)rnd_below(state, 256), c.len + 1);
		break;
	default:
		c.kind = CELL_INT;
		c.num = pages_number(state);
	}
	return &c;
}

static void pages_pack_cell(struct packing *p, const struct pages_cell *c)
{
	if (c->kind == CELL_NULL)
		packing_null(p);
	else if (c->kind == CELL_INT)
		packing_int(p, c->num);
	else
		packing_bytes(p,
			      c->kind == CELL_TEXT ? RECORD_TEXT : RECORD_BLOB,
			      c->bytes, c->len);
}

/* The key of row i, which grows, but for the late ones. */
static uint32_t pages_key(const struct filling *f, unsigned int i, bool late)
{
	int64_t gap = (int64_t)1 << (i % 7 == 0 && i < 200 ? i / 7 : 0);
	/* keys of late rows are below, and have no sign either */
	int64_t first = f->late ? 1 << 21 : 1;
	int64_t before = first + 2 * (int64_t)i - (1 << 20) - 1;
	static int64_t key;

	if (!i)
		key = first;
	if (f->key == PAGES_ID)
		key += 2 * gap;
	if (late)
		return (uint32_t)before;
	/* in groups of 8, each backwards */
	return (uint32_t)(f->key == PAGES_NEAR
				  ? first - 1 + 2 * (int64_t)(i ^ 7)
				  : key);
}

/* Puts rows i and following of one first column, at most f->list, whose second
 * one descends. Returns how many. */
static unsigned int pages_put_pairs(struct maker *mk, unsigned int t,
				    const struct filling *f, unsigned int i,
				    uint64_t *state)
{
	unsigned int n = 1 + (unsigned int)rnd_below(state, f->list);
	uint32_t last = (uint32_t)(rnd(state) >> (33 + rnd_below(state, 31)));
	bool late = f->late && i > f->late && !rnd_below(state, f->late);
	int64_t key = late ? -(int64_t)i - 10 : (int64_t)i * i - 3;

	if (n > f->rows - i)
		n = f->rows - i;
	for (unsigned int k = n; k--;) {
		struct packing p =
			packing_begin(maker_packed(mk, t, 0, &err), 0, 0);

		packing_int(&p, key);
		packing_int(&p, (int64_t)last + k);
		packing_int(&p, pages_number(state));
		packing_end(&p);
	}
	return n;
}

/* Returns a key that grows evenly; those of PAGES_NEAR are in groups of 8, each
 * backwards. */
static uint32_t pages_even_key(const struct filling *f, uint32_t i, bool late)
{
	const uint32_t first = 1 << 21;

	if (late)
		return first + 2 * i - (1 << 20) + 1;
	return first + 2 * (f->key == PAGES_NEAR ? i ^ 7 : i);
}

static void pages_fill(struct maker *mk, unsigned int t,
		       const struct filling *f, uint64_t seed)
{
	unsigned int first = f->key == PAGES_ROWID ? 0
			     : pages_has_id(f)	   ? 1
						   : 3;
	const bool list = f->list && !pages_has_id(f);

	for (unsigned int i = 0; list && i < f->rows;)
		i += pages_put_pairs(mk, t, f, i, &seed);
	for (unsigned int i = 0; !list && i < f->rows; i++) {
		bool huge = f->huge && !rnd_below(&seed, f->huge);
		bool late =
			f->late && i > f->late && !rnd_below(&seed, f->late);
		size_t text = huge ? HUGE : f->text;
		struct block *b = maker_packed(mk, t, text * f->columns, &err);

		ck_assert_msg(b != NULL, "%s", err.msg);
		struct packing p =
			packing_begin(b,
				      f->list ? pages_even_key(f, i, late)
					      : pages_key(f, i, late),
				      text * f->columns);

		if (f->key == PAGES_PAIR) {
			packing_int(&p, late ? -(int64_t)(i / 4) - 10
					     : (int64_t)(i / 4));
			packing_int(&p, 9 - (int64_t)(i % 4));
			packing_int(&p, (int64_t)(rnd(&seed) >> 32));
		}
		for (unsigned int c = first; c < f->columns; c++)
			pages_pack_cell(
				&p, pages_cell(huge && c != first ? 9 : text,
					       &seed));
		packing_end(&p);
	}
}

/* Puts a row that has a key only. */
static int pages_put_bare(struct maker *mk, unsigned int t, uint32_t key)
{
	struct block *b = maker_packed(mk, t, 0, &err);

	if (!b)
		return -1;
	struct packing p = packing_begin(b, key, 0);

	packing_end(&p);
	return 0;
}

static sqlite3_stmt *pages_select(struct maker *mk, const char *name)
{
	char sql[96];

	snprintf(sql, sizeof(sql), "SELECT * FROM %s", name);
	sqlite3_stmt *st = maker_prepare(mk, sql, &err);

	ck_assert_msg(st != NULL, "%s", err.msg);
	return st;
}

static void pages_same_value(sqlite3_stmt *a, sqlite3_stmt *b, int i)
{
	int type = sqlite3_column_type(a, i);
	int len;

	must(sqlite3_column_type(b, i) == type);
	must(sqlite3_column_int64(a, i) == sqlite3_column_int64(b, i));
	if (type != SQLITE_TEXT && type != SQLITE_BLOB)
		return;
	len = sqlite3_column_bytes(a, i);
	must(sqlite3_column_bytes(b, i) == len);
	must(!len || !memcmp(sqlite3_column_blob(a, i),
			     sqlite3_column_blob(b, i), (size_t)len));
}

static void pages_same_rows(struct maker *a, struct maker *b, const char *name,
			    unsigned int rows)
{
	sqlite3_stmt *x = pages_select(a, name);
	sqlite3_stmt *y = pages_select(b, name);
	unsigned int n = 0;

	for (;; n++) {
		int rc = sqlite3_step(x);

		must(sqlite3_step(y) == rc);
		if (rc == SQLITE_DONE)
			break;
		must(rc == SQLITE_ROW);
		for (int i = 0; i < sqlite3_column_count(x); i++)
			pages_same_value(x, y, i);
	}
	ck_assert_uint_eq(n, rows);
	sqlite3_finalize(x);
	sqlite3_finalize(y);
}

static void pages_check(struct maker *mk)
{
	sqlite3_stmt *st = maker_prepare(mk, "PRAGMA integrity_check", &err);

	ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
	ck_assert_str_eq((const char *)sqlite3_column_text(st, 0), "ok");
	sqlite3_finalize(st);
}

/* SQLite changes a table that it did not make. */
static void pages_change(struct maker *mk, const char *name)
{
	char sql[512];

	snprintf(sql, sizeof(sql),
		 "UPDATE %s SET c2 = zeroblob(300) WHERE c2 %% 3 = 0;"
		 "DELETE FROM %s WHERE c2 %% 5 = 1;"
		 "INSERT OR IGNORE INTO %s(a, c1) SELECT a + 1, c1 FROM %s",
		 name, name, name, name);
	pages_ok(maker_exec(mk, sql, &err));
}

/* What is made is read and changed with its pages in memory: files of some MB
 * through a cache of 256 KB are two thirds of the system calls. */
static void pages_cache(struct maker *mk)
{
	pages_ok(maker_exec(mk, "PRAGMA cache_size=-65536", &err));
}

static void pages_name(char name[8], size_t i)
{
	snprintf(name, 8, "t%zu", i);
}

/* Makes both databases of some tables, and compares them. own: bytes that
 * SQLite writes itself after each table. */
static void pages_make_both(const struct filling *f, size_t n, int page_size,
			    uint64_t seed, uint64_t lock, unsigned int own,
			    struct maker *mk[2])
{
	char name[8];
	char sql[64];

	snprintf(sql, sizeof(sql), "INSERT INTO first VALUES(zeroblob(%u))",
		 own);
	mk[0] = pages_open("sql", page_size, false, lock);
	pages_cache(mk[0]);
	mk[1] = pages_open("pages", page_size, true, lock);
	for (int k = 0; k < 2; k++) {
		unsigned int t[11];

		for (size_t i = 0; i < n; i++) {
			pages_name(name, i);
			t[i] = pages_table(mk[k], name, &f[i]);
		}
		for (size_t i = 0; i < n; i++) {
			pages_fill(mk[k], t[i], &f[i], seed + i);
			pages_ok(!maker_read(mk[k], &err));
			pages_ok(maker_exec(mk[k], sql, &err));
		}
		pages_ok(link_pages(mk[k], &err));
		pages_ok(!maker_read(mk[k], &err));
		pages_cache(mk[k]);
		pages_check(mk[k]);
	}
	for (size_t i = 0; i < n; i++) {
		pages_name(name, i);
		pages_same_rows(mk[0], mk[1], name, f[i].rows);
	}
}

static void pages_close_both(struct maker *mk[2])
{
	pages_ok(maker_exec(mk[1], "COMMIT", &err));
	pages_close(mk[1]);
	pages_close(mk[0]);
}

/* The same, and lets SQLite change all of them. Sanitizers see nothing of what
 * SQLite does there, and take ten times as long for large pages. */
static void pages_both_beside(const struct filling *f, size_t n, int page_size,
			      uint64_t seed, uint64_t lock, unsigned int own)
{
	struct maker *mk[2];
	char name[8];

	pages_make_both(f, n, page_size, seed, lock, own, mk);
	for (size_t i = 0; i < n; i++) {
		if (f[i].columns < 3 || SANITIZERS_ADDRESS)
			continue;
		pages_name(name, i);
		pages_change(mk[0], name);
		pages_change(mk[1], name);
		pages_check(mk[1]);
	}
	pages_close_both(mk);
}

static void pages_both(const struct filling *f, size_t n, int page_size,
		       uint64_t seed, uint64_t lock)
{
	pages_both_beside(f, n, page_size, seed, lock, 70000);
}

static const int page_sizes[] = { 512,	1024,  2048,  4096,
				  8192, 16384, 32768, 65536 };

START_TEST(tables_of_every_page_size_are_equal)
{
	const struct filling f[] = {
		{ PAGES_ID, 9, 3000, 12, 0, 0, 0 },
		{ PAGES_ROWID, 4, 3000, 40, 0, 0, 0 },
		{ PAGES_PAIR, 3, 9000, 0, 0, 0, 0 },
		{ PAGES_ID, 2, 500, 900, 40, 0, 0 },
		{ PAGES_ROWID, 3, 100, 20000, 0, 0, 0 },
		{ PAGES_ID, 9, 2000, 12, 0, 9, 0 },
		{ PAGES_PAIR, 3, 2000, 0, 0, 7, 0 },
		{ PAGES_ROWID, 250, 300, 30, 0, 0, 0 },
		{ PAGES_NEAR, 5, 3000, 12, 0, 0, 0 },
		{ PAGES_NEAR, 5, 3000, 12, 40, 9, 0 },
		{ PAGES_NEAR, 1, 20000, 0, 0, 0, 0 },
	};
	const struct filling packed[] = {
		{ PAGES_ID, 9, 3000, 12, 0, 0, 1 },
		{ PAGES_ID, 2, 2000, 300, 0, 0, 1 },
		{ PAGES_ID, 3, 500, 900, 40, 0, 1 },
		{ PAGES_ID, 9, 2000, 100, 0, 9, 1 },
		{ PAGES_ID, 250, 300, 30, 0, 0, 1 },
		{ PAGES_NEAR, 5, 3000, 12, 0, 0, 1 },
		{ PAGES_NEAR, 5, 3000, 12, 40, 9, 1 },
	};
	const struct filling lists[] = {
		{ PAGES_PAIR, 3, 9000, 0, 0, 0, 1 },
		{ PAGES_PAIR, 3, 9000, 0, 0, 0, 40 },
		{ PAGES_PAIR, 3, 9000, 0, 0, 0, 4000 },
		{ PAGES_PAIR, 3, 9000, 0, 0, 7, 30 },
	};

	/* random tables are of every size for each change */
	if (!turn_is((uint64_t)_i, RUN_ELSEWHERE ? 8 : 4))
		return;
	pages_both(lists, 4, page_sizes[_i], 1, PAGE_FILE_LOCK);
	pages_both(f, 11, page_sizes[_i], 1, PAGE_FILE_LOCK);
	pages_both(packed, 7, page_sizes[_i], 1, PAGE_FILE_LOCK);
}
END_TEST

START_TEST(tables_of_few_rows_are_equal)
{
	for (unsigned int n = 0; n < 24; n++) {
		const struct filling f[] = {
			{ PAGES_ID, 3, n, 200, 0, 0, 0 },
			{ PAGES_ROWID, 3, n, 700, 0, 0, 0 },
			{ PAGES_PAIR, 3, n * 8, 0, 0, 0, 0 },
			{ PAGES_ID, 1, n * 20, 0, 0, 0, 0 },
			{ PAGES_ROWID, 1, n * 20, 0, 0, 0, 0 },
			{ PAGES_PAIR, 3, n * 60, 0, 0, 0, 0 },
			{ PAGES_PAIR, 3, n * 8, 0, 0, 0, 9 },
			{ PAGES_NEAR, 2, n, 200, 0, 0, 0 },
			{ PAGES_ID, 3, n, 200, 0, 0, 1 },
		};

		pages_both(f, 9, 512, n, PAGE_FILE_LOCK);
	}
}
END_TEST

/* One table ends at every fill of its last leaf and of the pages above; for
 * each change at every fifth, in turn. 2000 rows need three levels. */
START_TEST(tables_end_anywhere)
{
	for (unsigned int n = 0; n < 40; n++) {
		if (!turn_is(n, 5))
			continue;
		const struct filling f[] = {
			{ PAGES_ID, 3, 2000 + n, 20, 0, 0, 0 },
			{ PAGES_ID, 4, 2000 + n, 9, 0, 0, 1 },
			{ PAGES_PAIR, 3, 2000 + n, 0, 0, 0, 0 },
			{ PAGES_PAIR, 3, 2000 + n, 0, 0, 0, 50 },
		};

		pages_both(f, 4, 512, n, PAGE_FILE_LOCK);
	}
}
END_TEST

/* More rows than wait at a time; some come when they cannot be put in order. */
START_TEST(rows_almost_in_order_are_equal)
{
	const struct filling f[] = {
		{ PAGES_NEAR, 4, 60000, 40, 0, 0, 0 },
		{ PAGES_NEAR, 4, 60000, 40, 0, 50, 0 },
		{ PAGES_NEAR, 2, 60000, 9, 0, 3, 0 },
		{ PAGES_NEAR, 4, 60000, 40, 0, 50, 1 },
	};

	pages_both(f, 4, 4096, 1, PAGE_FILE_LOCK);
}
END_TEST

/* Both rows wait, or the first was taken. */
START_TEST(a_key_that_comes_twice_is_an_error)
{
	const struct filling f = { PAGES_NEAR, 2, 0, 0, 0, 0, 0 };

	for (unsigned int n = 0; n < 200000; n += 100000) {
		struct maker *mk =
			pages_open("twice", 4096, true, PAGE_FILE_LOCK);
		unsigned int t = pages_table(mk, "t", &f);
		int rc = 0;

		for (unsigned int i = 0; !rc && i <= n; i++) {
			rc = pages_put_bare(mk, t, i < n ? i + 1 : 1);
			if (!rc && !n)
				rc = pages_put_bare(mk, t, 1);
		}
		ck_assert_int_eq(
			rc || link_pages(mk, &err) || !maker_read(mk, &err), 1);
		ck_assert_msg(strstr(err.msg, "constraint"), "%s", err.msg);
		pages_close(mk);
	}
}
END_TEST

START_TEST(random_tables_are_equal)
{
	uint64_t s = (uint64_t)_i;
	struct filling f[4];

	for (int i = 0; i < 4; i++) {
		f[i].key = PAGES_ROWID + (unsigned int)rnd_below(&s, 4);
		f[i].columns = 3 + (unsigned int)rnd_below(&s, 60);
		f[i].rows =
			(unsigned int)(rnd_below(&s, 4000) >> rnd_below(&s, 8));
		f[i].text = (unsigned int)(rnd_below(&s, 4000) >>
					   rnd_below(&s, 12));
		f[i].huge = (unsigned int)rnd_below(&s, 2) * 300;
		f[i].late = (unsigned int)rnd_below(&s, 2) * 20;
		f[i].list = pages_has_id(&f[i]) && rnd_below(&s, 2);
		if (f[i].key == PAGES_PAIR) {
			f[i].columns = 3;
			f[i].list = (unsigned int)rnd_below(&s, 2) *
				    (unsigned int)rnd_below(&s, 300);
		}
		if (f[i].columns * f[i].text > 4000)
			f[i].rows /= 10;
	}
	pages_both(f, 4, page_sizes[_i % 8], s, PAGE_FILE_LOCK);
}
END_TEST

/* $PAGES_ROWS: as many rows, for tests/bench/bench.sh. */
static unsigned int pages_large(unsigned int rows)
{
	const char *more = getenv("PAGES_ROWS");

	return more ? (unsigned int)strtoul(more, NULL, 10) : rows / RUN_FEWER;
}

START_TEST(large_tables_are_equal)
{
	const struct filling f[] = {
		{ PAGES_ID, 6, pages_large(_i ? 50000 : 150000), 0, 0, 0, 0 },
		{ PAGES_PAIR, 3, pages_large(100000), 0, 0, 0, 0 },
		{ PAGES_PAIR, 3, pages_large(100000), 0, 0, 0, 200 },
		{ PAGES_ID, 6, pages_large(100000), 0, 0, 0, 1 },
	};

	struct maker *mk[2];

	if (!turn_is((uint64_t)_i, 2))
		return;
	if (run_long() && !getenv("PAGES_ROWS")) {
		pages_both(f, 4, _i ? 512 : 16384, 3, PAGE_FILE_LOCK);
		return;
	}
	/* without changes: they take SQLite three times as long as all else,
	 * and those of small tables of as many levels show the same */
	pages_make_both(f, 4, _i ? 512 : 16384, 3, PAGE_FILE_LOCK, 70000, mk);
	pages_close_both(mk);
}
END_TEST

/* SQLite's own pages, ours, or the last one of either may be at the byte that
 * is never used. */
START_TEST(the_page_of_the_lock_is_left_out)
{
	const struct filling f[] = {
		{ PAGES_ID, 4, 3000, 30, 0, 0, 0 },
		{ PAGES_ROWID, 3, 200, 3000, 0, 0, 0 },
	};

	for (unsigned int page = 60; page < 460;
	     page += (page % 8 ? 1 : 17) + (RUN_FEWER - 1) * 4) {
		uint64_t lock = (uint64_t)page * 512;

		if (!turn_is(page / 4, 3))
			continue;
		sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE,
				     (unsigned int)lock);
		pages_both(f, 2, 512, 4, lock);
	}
}
END_TEST

/* SQLite comes to the place of pages that were written far behind its own. */
START_TEST(pages_give_way_to_those_of_sqlite)
{
	const struct filling f[] = {
		{ PAGES_ID, 4, 9000, 30, 0, 0, 0 },
		{ PAGES_ROWID, 3, 100, 9000, 0, 0, 0 },
		{ PAGES_PAIR, 3, 9000, 0, 0, 0, 40 },
	};
	uint64_t seed = (uint64_t)_i + 1;

	if (!turn_is((uint64_t)_i, 3))
		return;
	for (int i = 0; i < (RUN_FEWER > 1 ? 2 : 4); i++) {
		uint64_t lock = (4000 + rnd_below(&seed, 16000)) * 512;
		unsigned int own = (unsigned int)rnd_below(&seed, 3500000);

		sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE,
				     (unsigned int)lock);
		pages_both_beside(f, 3, 512, seed, lock, own);
	}
}
END_TEST

START_TEST(a_full_disk_ends_it)
{
	const struct filling f = { PAGES_ID, 9, 20000, 30, 0, 0, 0 };
	const struct rlimit lim = { 40000, 40000 };
	struct maker *mk = pages_open("full", 1024, true, PAGE_FILE_LOCK);
	unsigned int t = pages_table(mk, "t", &f);
	int rc = 0;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &lim), 0);
	for (unsigned int i = 0; !rc && i < f.rows; i++)
		rc = pages_put_bare(mk, t, i);
	ck_assert_int_eq(rc ? rc : link_pages(mk, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.msg, "no space left"));
	pages_close(mk);
}
END_TEST

/* Pages are only put into a file of which all is known. */
START_TEST(other_databases_are_refused)
{
	static const char *const before[] = {
		"PRAGMA auto_vacuum=FULL; CREATE TABLE t(a)",
		"PRAGMA page_size=1024; CREATE TABLE t(a)",
	};
	char path[128];

	pages_file("other", path);
	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
		struct page_file *pf;
		sqlite3 *db;

		remove(path);
		ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
		ck_assert_int_eq(sqlite3_exec(db, before[i], NULL, NULL, NULL),
				 SQLITE_OK);
		sqlite3_close(db);
		pf = page_file_new(NULL, path, 4096, PAGE_FILE_LOCK);
		ck_assert_int_eq(page_file_attach(pf), SQLITE_CORRUPT);
		page_file_free(pf);
	}
}
END_TEST

START_TEST(a_table_with_rows_is_not_overwritten)
{
	const struct filling f = { PAGES_ID, 3, 50, 9, 0, 0, 0 };
	struct maker *mk = pages_open("rows", 4096, true, PAGE_FILE_LOCK);
	unsigned int t = pages_table(mk, "t", &f);

	pages_ok(maker_exec(mk, "INSERT INTO t(a) VALUES(1)", &err));
	pages_fill(mk, t, &f, 1);
	ck_assert_int_eq(link_pages(mk, &err), -1);
	pages_close(mk);
}
END_TEST

START_TEST(pages_come_behind_those_of_a_large_database)
{
	const struct filling f = { PAGES_ID, 3, 60000, 9, 0, 0, 0 };
	struct maker *mk = pages_open_with(
		"CREATE TABLE zero(a); INSERT INTO zero VALUES(zeroblob(5000000))",
		"large", 4096, true, PAGE_FILE_LOCK);
	unsigned int t = pages_table(mk, "t", &f);

	pages_fill(mk, t, &f, 1);
	pages_ok(link_pages(mk, &err));
	pages_check(mk);
	sqlite3_stmt *st = maker_prepare(
		mk, "SELECT 1 FROM zero WHERE a = zeroblob(5000000)", &err);

	ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
	sqlite3_finalize(st);
	pages_close(mk);
}
END_TEST

static void pages_set_up(void)
{
	scratch_make(dir, sizeof(dir));
}

static void pages_tear_down(void)
{
	scratch_remove(dir);
}

int main(void)
{
	Suite *s = suite_create("pages");
	TCase *t = tcase_create("pages");
	TCase *large = tcase_create("large");

	tcase_set_timeout(t, RUN_TIMEOUT);
	tcase_set_timeout(large, getenv("PAGES_ROWS") ? 3600 : RUN_TIMEOUT);
	tcase_add_checked_fixture(large, pages_set_up, pages_tear_down);
	tcase_add_loop_test(large, large_tables_are_equal, 0, 2);
	tcase_add_checked_fixture(t, pages_set_up, pages_tear_down);
	tcase_add_loop_test(t, tables_of_every_page_size_are_equal, 0, 8);
	tcase_add_test(t, tables_of_few_rows_are_equal);
	tcase_add_test(t, tables_end_anywhere);
	tcase_add_test(t, rows_almost_in_order_are_equal);
	tcase_add_test(t, a_key_that_comes_twice_is_an_error);
	tcase_add_loop_test(t, random_tables_are_equal, 0, 12);
	tcase_add_test(t, the_page_of_the_lock_is_left_out);
	tcase_add_loop_test(t, pages_give_way_to_those_of_sqlite, 0, 3);
	tcase_add_test(t, a_full_disk_ends_it);
	tcase_add_test(t, other_databases_are_refused);
	tcase_add_test(t, a_table_with_rows_is_not_overwritten);
	tcase_add_test(t, pages_come_behind_those_of_a_large_database);
	suite_add_tcase(s, t);
	suite_add_tcase(s, large);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);
	int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed != 0;
}
