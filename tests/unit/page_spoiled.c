/* page_spoiled.c - a spoiled database is answered as SQLite answers, or
 * refused.
 *
 * Databases of each form that SQLite can give one are spoiled where a B-tree
 * has its heads, places, lengths and links; then each table is read by SQLite
 * and by the readers of pages, value by value. The last line of a failure has
 * the seed that makes it again. */
#include <fcntl.h>
#include <inttypes.h>

#include "schema/db/db.h"
#include "schema/db/rows.h"
#include "schema/db/page_rows.h"
#include "stitch/base/table.h"
#include "tests/unit/mkstore.h"
#include "tests/unit/run.h"

#define BYTES_MAX ((size_t)4 << 20)
#define TABLES_MAX 64
#define ROWS_MOST 20000 /* of a tree with a circle, there is no end */
#define TABLES 8	/* that are read of one that is spoiled */
/* databases of each form */
#define SPOILED (run_long() ? 1000 : 60)

/* A table of the sound database, and its columns, the key first. */
struct spoiled_table {
	char name[64];
	char column[PAGE_ROWS_COLUMNS][64];
	size_t n;
};

static struct spoiled_table table[TABLES_MAX];
static size_t n_table;
static unsigned char sound[BYTES_MAX], spoiled[BYTES_MAX];
static size_t n_sound;

/* ---- databases */

#define EACH(n)                                                                \
	"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c "      \
	"WHERE n < " #n ") "
#define VALUES                                                                 \
	"SELECT n * 3, n * n, CASE n % 6 WHEN 0 THEN NULL WHEN 1 THEN 'word'"  \
	" || n WHEN 2 THEN n / 7.0 WHEN 3 THEN zeroblob(n % 40) WHEN 4 THEN "  \
	"printf('%*d', n % 50 * 90, n) ELSE -(1 << (n % 64)) END FROM c"

/* What is done to a database of ours. */
static const struct {
	const char *name, *before, *after;
	int reserve; /* bytes at the end of each page */
} forms[] = {
	{ "plain", "", "", 0 },
	{ "pages_of_512", "PRAGMA page_size = 512", "", 0 },
	{ "pages_of_65536", "PRAGMA page_size = 65536", "", 0 },
	{ "bytes_reserved", "PRAGMA page_size = 1024", "", 32 },
	{ "auto_vacuum", "PRAGMA page_size = 1024; PRAGMA auto_vacuum = FULL",
	  "DELETE FROM t WHERE id % 9 < 4", 0 },
	{ "incremental", "PRAGMA auto_vacuum = INCREMENTAL",
	  "DELETE FROM t WHERE id % 900 < 400; PRAGMA incremental_vacuum(2)",
	  0 },
	{ "free_pages", "PRAGMA page_size = 1024",
	  "DELETE FROM t WHERE id BETWEEN 900 AND 4000;" EACH(
		  300) "INSERT INTO t SELECT n * 3 + 900, n, NULL FROM c",
	  0 },
	{ "text_of_16_bits", "PRAGMA encoding = 'UTF-16be'", "", 0 },
	{ "altered", "PRAGMA page_size = 2048",
	  "ALTER TABLE t ADD COLUMN more; ALTER TABLE t RENAME a TO aa;"
	  "INSERT INTO t VALUES(-7, 1, 2, 3); ALTER TABLE u DROP COLUMN a",
	  0 },
	{ "computed", "",
	  "CREATE TABLE g(id INTEGER PRIMARY KEY, a, b AS (a + 1), c AS (a + "
	  "2) STORED); INSERT INTO g(id, a) SELECT id, a FROM t;"
	  "CREATE TABLE w(id INTEGER PRIMARY KEY, a) WITHOUT ROWID;"
	  "INSERT INTO w SELECT id, a FROM t;"
	  "CREATE INDEX t_b ON t(b, a)",
	  0 },
};

static void spoiled_exec(sqlite3 *db, const char *text)
{
	char *why = NULL;

	ck_assert_msg(sqlite3_exec(db, text, NULL, NULL, &why) == SQLITE_OK,
		      "%s", why);
}

/* Makes a database of ours in that form, and reads it into sound[]. */
static void spoiled_make(int form)
{
	sqlite3 *db = NULL;
	char text[400];
	ssize_t n;
	int fd;

	open_store(false, false);
	mkstore_fill("app");
	mkstore_finish();
	store_close(run.db);
	run.db = NULL;
	ck_assert_int_eq(sqlite3_open(run.path, &db), SQLITE_OK);
	spoiled_exec(
		db,
		"CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);"
		"CREATE TABLE u(a INTEGER, b);" EACH(
			1500) "INSERT INTO t " VALUES
			      ";" EACH(
				      200) "INSERT INTO u SELECT n, n || 'x' FROM c");
	if (!strcmp(forms[form].name, "text_of_16_bits")) {
		/* a database has one encoding from its first table on */
		sqlite3_close(db);
		unlink(run.path);
		ck_assert_int_eq(sqlite3_open(run.path, &db), SQLITE_OK);
		spoiled_exec(db, forms[form].before);
		spoiled_exec(
			db,
			"CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);" EACH(
				900) "INSERT INTO t " VALUES);
	} else if (*forms[form].before) {
		snprintf(text, sizeof(text), "%s; VACUUM", forms[form].before);
		if (forms[form].reserve) {
			int reserve = forms[form].reserve;

			sqlite3_file_control(db, "main",
					     SQLITE_FCNTL_RESERVE_BYTES,
					     &reserve);
		}
		spoiled_exec(db, text);
	}
	spoiled_exec(db, forms[form].after);
	sqlite3_close(db);
	fd = open(run.path, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	n = read(fd, sound, sizeof(sound));
	close(fd);
	ck_assert(n > 512 && (size_t)n < sizeof(sound));
	n_sound = (size_t)n;
}

/* Lists the tables of the database as it is. */
static void spoiled_list(void)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;

	n_table = 0;
	ck_assert_int_eq(
		sqlite3_open_v2(run.path, &db, SQLITE_OPEN_READONLY, NULL),
		SQLITE_OK);
	ck_assert_int_eq(
		sqlite3_prepare_v2(
			db,
			"SELECT m.name, c.name, c.type = 'INTEGER' AND c.pk AND"
			" (SELECT sum(pk > 0) FROM pragma_table_xinfo(m.name))"
			" = 1 FROM sqlite_master m, pragma_table_xinfo(m.name)"
			" c WHERE m.type = 'table' AND c.name NOT IN ('from', 'to') ORDER BY m.name, c.pk = 0,"
			" c.cid",
			-1, &st, NULL),
		SQLITE_OK);
	while (sqlite3_step(st) == SQLITE_ROW) {
		const char *name = db_column_text(st, 0);
		struct spoiled_table *t = n_table ? &table[n_table - 1] : NULL;

		if (!t || strcmp(t->name, name) != 0) {
			ck_assert_uint_lt(n_table, TABLES_MAX);
			t = &table[n_table++];
			snprintf(t->name, sizeof(t->name), "%s", name);
			t->n = 0;
			if (!sqlite3_column_int(st, 2))
				snprintf(t->column[t->n++], 64, "rowid");
		}
		if (t->n < PAGE_ROWS_COLUMNS)
			snprintf(t->column[t->n++], 64, "%s",
				 db_column_text(st, 1));
	}
	sqlite3_finalize(st);
	sqlite3_close(db);
}

/* ---- spoiling */

static uint64_t state;

static uint32_t spoiled_u16(size_t at)
{
	return (uint32_t)spoiled[at] << 8 | spoiled[at + 1];
}

static void spoiled_put(size_t at, size_t bytes, uint64_t v)
{
	while (bytes-- > 0 && at + bytes < n_sound) {
		spoiled[at + bytes] = (unsigned char)v;
		v >>= 8;
	}
}

static size_t spoiled_page_size(void)
{
	size_t size = (size_t)sound[16] << 8 | sound[17];

	return size == 1 ? 65536 : size;
}

/* Changes one thing of a page of a B-tree: its head, a place of a cell, or a
 * cell's first bytes, which are lengths, ids, links and types of values. */
static void spoiled_page(size_t size)
{
	const uint64_t pages = n_sound / size;
	const uint64_t page = rnd_below(&state, pages);
	const size_t at = page * size + (page ? 0 : 100);
	const size_t head = spoiled[at] == 5 || spoiled[at] == 2 ? 12 : 8;
	const uint32_t cells = spoiled_u16(at + 3);
	const uint64_t one = rnd_below(&state, cells ? cells : 1);
	const size_t place = at + head + 2 * one;
	const size_t cell = page * size + spoiled_u16(place);

	switch (rnd_below(&state, 10)) {
	case 0: /* the type */
		spoiled[at] = "\5\15\2\12\0\1"[rnd_below(&state, 6)];
		break;
	case 1: /* number of cells */
		spoiled_put(at + 3, 2, cells + rnd_below(&state, 3) - 1);
		break;
	case 2: /* free block, content, fragments */
		spoiled_put(at + 1 + rnd_below(&state, 7), 1, rnd(&state));
		break;
	case 3: /* the last page, or another one */
		spoiled_put(at + 8, 4, rnd_below(&state, pages + 2));
		break;
	case 4: /* a cell is another one */
		spoiled_put(
			place, 2,
			spoiled_u16(at + head +
				    2 * rnd_below(&state, cells ? cells : 1)));
		break;
	case 5: /* or anywhere */
		spoiled_put(place, 2, rnd(&state));
		break;
	case 6: /* another page below */
		spoiled_put(cell, 4, rnd_below(&state, pages + 2));
		break;
	default:
		for (uint64_t n = 1 + rnd_below(&state, 2); n--;)
			spoiled_put(cell + rnd_below(&state, 9), 1,
				    rnd_below(&state, 2)
					    ? rnd(&state)
					    : rnd_below(&state, 16));
	}
}

/* Spoils the database in one to three ways. */
static size_t spoiled_spoil(uint64_t seed)
{
	const size_t size = spoiled_page_size();
	size_t len = n_sound;

	state = seed;
	memcpy(spoiled, sound, n_sound);
	for (uint64_t n = 1 + rnd_below(&state, 3); n--;) {
		switch (rnd_below(&state, 12)) {
		case 0: /* the file's head */
			spoiled_put(16 + rnd_below(&state, 84), 1, rnd(&state));
			break;
		case 1: /* any byte */
			spoiled_put(rnd_below(&state, n_sound), 1, rnd(&state));
			break;
		case 2: /* the end of the file */
			len = size * rnd_below(&state, n_sound / size) +
			      rnd_below(&state, 2) * rnd_below(&state, size);
			break;
		case 3: /* a page is a copy of another one */
			memcpy(spoiled +
				       size * rnd_below(&state, n_sound / size),
			       spoiled +
				       size * rnd_below(&state, n_sound / size),
			       size);
			break;
		default:
			spoiled_page(size);
		}
	}
	return len;
}

static void spoiled_write(const unsigned char *data, size_t len)
{
	int fd = open(run.path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, len), (ssize_t)len);
	close(fd);
}

/* ---- reading */

/* What a reader tells of a table: rc is 0, or -1 if it refused. */
struct spoiled_told {
	uint64_t hash, n;
	int rc;
};

static void spoiled_take(struct spoiled_told *to, enum value_kind kind,
			 int64_t num, const void *bytes, size_t len)
{
	to->hash = hash_u64(to->hash ^ (uint64_t)kind);
	to->hash = hash_u64(to->hash ^ (uint64_t)num);
	if (bytes)
		to->hash = hash_content(bytes, len, to->hash);
}

static char *spoiled_sql(const struct spoiled_table *t, const char *where)
{
	static char text[PAGE_ROWS_COLUMNS * 70 + 200];
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += (size_t)snprintf(
			text + n, sizeof(text) - n,
			!strcmp(t->column[i], "rowid") ? "%s%s" : "%s\"%s\"",
			i ? ", " : "SELECT ", t->column[i]);
	snprintf(text + n, sizeof(text) - n, " FROM \"%s\"%s", t->name, where);
	return text;
}

/* By SQLite; ids that do not increase are an error, as for rows_ints_of(). The
 * values are those of rows, or only what rows of whole numbers have. */
static struct spoiled_told
spoiled_by_sql(sqlite3 *db, const struct spoiled_table *t, bool ints)
{
	struct spoiled_told to = { .rc = -1 };
	sqlite3_stmt *st = NULL;
	int64_t last = INT64_MIN;
	char where[120] = "";

	/* rows of whole numbers are asked for from an id on */
	if (ints)
		snprintf(where, sizeof(where),
			 " WHERE \"%s\" > -9223372036854775807 - 1",
			 t->column[0]);
	if (sqlite3_prepare_v2(db, spoiled_sql(t, where), -1, &st, NULL))
		return to;
	while (to.n < ROWS_MOST && sqlite3_step(st) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(st, 0);

		if (id <= last || sqlite3_column_type(st, 0) != SQLITE_INTEGER)
			goto out;
		last = id;
		for (int i = 0; i < (int)t->n; i++) {
			int type = sqlite3_column_type(st, i);
			const void *bytes = NULL;
			size_t len = 0;
			double real = 0;

			if (type == SQLITE_TEXT)
				bytes = sqlite3_column_text(st, i);
			else if (type == SQLITE_BLOB)
				bytes = sqlite3_column_blob(st, i);
			else if (type == SQLITE_FLOAT)
				real = sqlite3_column_double(st, i);
			if (bytes)
				len = (size_t)sqlite3_column_bytes(st, i);
			if (type == SQLITE_INTEGER)
				spoiled_take(&to, VALUE_INT,
					     sqlite3_column_int64(st, i), NULL,
					     0);
			else if (type == SQLITE_TEXT && (!ints || len < 256))
				spoiled_take(&to, VALUE_TEXT, 0, bytes,
					     ints ? strnlen(bytes, len) : len);
			else if (type == SQLITE_BLOB && !ints)
				spoiled_take(&to, VALUE_BLOB, 0, bytes, len);
			else if (type == SQLITE_FLOAT && !ints)
				spoiled_take(&to, VALUE_REAL, 0, &real,
					     sizeof(real));
			else
				spoiled_take(&to, VALUE_NULL, 0, NULL, 0);
		}
		to.n++;
	}
	if (sqlite3_errcode(db) == SQLITE_DONE || to.n == ROWS_MOST)
		to.rc = 0;
out:
	sqlite3_finalize(st);
	return to;
}

static struct spoiled_told spoiled_by_values(struct store *db,
					     const struct spoiled_table *t)
{
	struct spoiled_told to = { .rc = -1 };
	struct err why = { 0 };
	struct rows *r = rows_open(db, spoiled_sql(t, ""), NULL, 0, &why);
	int64_t last = INT64_MIN;
	int rc = -1;

	if (r)
		rows_by_pages(r, t->name);
	while (r && to.n < ROWS_MOST && (rc = rows_next(r, &why)) > 0) {
		if (rows_value(r, 0).kind != VALUE_INT ||
		    rows_int(r, 0) <= last) {
			rc = -1;
			break;
		}
		last = rows_int(r, 0);
		for (size_t i = 0; i < t->n; i++) {
			struct value v = rows_value(r, i);

			if (v.kind == VALUE_REAL)
				spoiled_take(&to, v.kind, 0, &v.real,
					     sizeof(v.real));
			else
				spoiled_take(&to, v.kind,
					     v.kind == VALUE_INT ? v.num : 0,
					     v.text, v.len);
		}
		to.n++;
	}
	to.rc = rc < 0 ? -1 : 0;
	rows_close(r);
	return to;
}

static struct spoiled_told spoiled_by_ints(struct store *db,
					   const struct spoiled_table *t)
{
	const char *column[PAGE_ROWS_COLUMNS];
	struct spoiled_told to = { .rc = -1 };
	struct err why = { 0 };
	struct int_row row;
	struct rows *r;
	int rc = -1;

	for (size_t i = 0; i < t->n; i++)
		column[i] = t->column[i];
	r = rows_ints_of(db, t->name, column, t->n, &why);
	while (r && to.n < ROWS_MOST &&
	       (rc = rows_next_ints(r, &row, &why)) > 0) {
		for (size_t i = 0; i < t->n; i++) {
			const char *text = rows_word(r, &row, i);

			if (row.known >> i & 1)
				spoiled_take(&to, VALUE_INT, row.v[i], NULL, 0);
			else if (text)
				spoiled_take(&to, VALUE_TEXT, 0, text,
					     strlen(text));
			else
				spoiled_take(&to, VALUE_NULL, 0, NULL, 0);
		}
		to.n++;
	}
	to.rc = rc < 0 ? -1 : 0;
	rows_close(r);
	return to;
}

/* What came of them; an answer is one without an error. */
static struct {
	uint64_t tables, same, refused, both_refuse, only_ours, other;
} count;

static void spoiled_compare(const struct spoiled_told *sql,
			    const struct spoiled_told *own, bool ints,
			    const struct spoiled_table *t, uint64_t seed)
{
	const bool same = own->n == sql->n && own->hash == sql->hash;

	count.tables++;
	if (own->rc)
		*(sql->rc ? &count.both_refuse : &count.refused) += 1;
	else
		*(sql->rc ? &count.only_ours
		  : same  ? &count.same
			  : &count.other) += 1;
	if (!own->rc && (sql->rc || !same))
		printf("%s of %s, seed %" PRIu64 ": %" PRIu64
		       " rows; by SQLite %" PRIu64 "%s\n",
		       ints ? "numbers" : "values", t->name, seed, own->n,
		       sql->n, sql->rc ? " and an error" : "");
}

/* Compares what is told of all tables, or of some, among them the largest. */
static void spoiled_read(uint64_t seed, bool all)
{
	static struct db_taking taking;
	struct store db = { .path = run.path, .taking = &taking };

	taking.known = false;
	if (sqlite3_open_v2(run.path, &db.db, SQLITE_OPEN_READONLY, NULL) ==
	    SQLITE_OK) {
		for (size_t i = 0; i < (all ? n_table : TABLES); i++) {
			const bool large = i % 4 == 0 && i / 4 < n_table;
			const struct spoiled_table *t =
				&table[all     ? i
				       : large ? n_table - 1 - i / 4
					       : rnd_below(&state, n_table)];

			for (int ints = 0; ints < 2; ints++) {
				struct spoiled_told sql =
					spoiled_by_sql(db.db, t, ints);
				struct spoiled_told own =
					ints ? spoiled_by_ints(&db, t)
					     : spoiled_by_values(&db, t);

				spoiled_compare(&sql, &own, ints, t, seed);
			}
		}
	}
	sqlite3_close(db.db);
}

START_TEST(answers_are_sqlites_or_none)
{
	memset(&count, 0, sizeof(count));
	spoiled_make(_i);
	spoiled_list();
	spoiled_read(0, true);
	ck_assert_uint_eq(count.same + count.both_refuse, count.tables);
	ck_assert_uint_gt(count.same, count.tables * 3 / 4);
	for (int seed = 1; seed <= SPOILED; seed++) {
		if (SANITIZERS_ADDRESS && !turn_is((uint64_t)seed, 5))
			continue;
		spoiled_write(spoiled, spoiled_spoil((uint64_t)seed));
		spoiled_read((uint64_t)seed, false);
	}
	printf("%s: %" PRIu64 " tables, %" PRIu64 " same, %" PRIu64
	       " refused by ours only, %" PRIu64 " by both, %" PRIu64
	       " by SQLite only, %" PRIu64 " other\n",
	       forms[_i].name, count.tables, count.same, count.refused,
	       count.both_refuse, count.only_ours, count.other);
	ck_assert_uint_eq(count.other, 0);
	ck_assert_uint_eq(count.only_ours, 0);
	ck_assert_uint_gt(count.same, count.tables / 4);
}
END_TEST

static const struct run_table all_forms[] = { RUN_TABLE(
	answers_are_sqlites_or_none, forms) };

RUN_TABLES_WITH("page_spoiled", mkstore_set_up, tear_down, all_forms)
