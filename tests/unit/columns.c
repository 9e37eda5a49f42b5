/* columns.c - tests that the names of columns are those that SQLite gives. */
#include <ctype.h>
#include <stdio.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "schema/db/db.h"
#include "schema/db/rows.h"
#include "stitch/base/mem.h"
#include "symbolize/names/demangle.h"
#include "tests/unit/mkstore.h"
#include "tests/unit/run.h"

/* What stands in the gaps of queries, all of them. */
static const struct sql_gap filled[] = {
	{ "filter", "1" },
	{ "wanted", "1" },
	{ "order", "" },
	{ "table", "event_fields" },
	{ "type", "1" },
	{ "name", "event_fields" },
	{ "expression", "1" },
	{ "key", "1" },
	{ "columns", "event_id, pid" },
	{ "condition", "1" },
	{ "fields", "" },
	{ "ev_table", "" },
	{ "of_type", "1" },
	{ "types", "1" },
	{ "event_cgroup", "SELECT 1 AS event_id, 1 AS cgroup" },
	{ "images",
	  "SELECT 1 AS id, '' AS path, 0 AS other, 0 AS gone, 0 AS copy, "
	  "'' AS identity" },
};

/* As columns.awk does: Thread name -> thread_name, #type -> type. */
static void plain_name(const char *s, char *out, size_t size)
{
	size_t n = 0;

	for (; *s && n + 2 < size; s++)
		if (isalnum((unsigned char)*s))
			out[n++] = (char)tolower((unsigned char)*s);
		else if (n && out[n - 1] != '_')
			out[n++] = '_';
	if (n && out[n - 1] == '_')
		n--;
	out[n] = 0;
}

static void columns_compare(const struct query_columns *q, const char *sql)
{
	sqlite3_stmt *st = db_prepare(run.db, sql, &err);
	char want[1024], name[128], *save = NULL;
	int n = 0;

	ck_assert_msg(st != NULL, "%s: %s", q->query, err.msg);
	snprintf(want, sizeof(want), "%s", q->columns);
	for (char *w = strtok_r(want, " ", &save); w;
	     w = strtok_r(NULL, " ", &save), n++) {
		if (!strcmp(w, "...")) {
			n = sqlite3_column_count(st);
			break;
		}
		ck_assert_msg(n < sqlite3_column_count(st), "%s", q->query);
		plain_name(sqlite3_column_name(st, n), name, sizeof(name));
		ck_assert_msg(!strcmp(name, w), "%s: column %d is %s, not %s",
			      q->query, n, name, w);
	}
	ck_assert_msg(n == sqlite3_column_count(st), "%s: %d columns, not %d",
		      q->query, sqlite3_column_count(st), n);
	sqlite3_finalize(st);
}

static void open_empty(void)
{
	static const char *const id = "id";

	open_store(true, false);
	mkstore_finish();
	ok(store_functions(run.db, demangle_name, &err));
	/* what writes is only prepared here, but that has to be allowed */
	sqlite3_set_authorizer(run.db->db, NULL, NULL);
	ok(db_exec(run.db, "PRAGMA query_only=OFF", &err));
	rows_close(rows_ints_of(run.db, "event", &id, 1, &err));
	ok(db_exec(run.db, store_sql("heat"), &err));
	ok(db_exec(run.db, store_sql("shared_id"), &err));
	ok(db_exec(run.db, store_sql("several"), &err));
	ok(db_exec(run.db, store_sql("merge_boots"), &err));
	ok(db_exec(run.db, store_sql("merge_join_begin"), &err));
	ok(db_exec(run.db, store_sql("merge_verdicts_begin"), &err));
	ok(db_exec(run.db, store_sql("settle_begin"), &err));
	ok(db_exec(run.db, store_sql("settle_lines"), &err));
	ok(db_exec(run.db, store_sql("settle_cpus"), &err));
	ok(db_exec(run.db, sql_file("served"), &err));
	ok(db_exec(run.db,
		   "CREATE TEMP VIEW event_fields AS SELECT 1 AS event_id, "
		   "1 AS pid, 1 AS prev_pid, 1 AS prev_state, 1 AS next_pid",
		   &err));
}

START_TEST(columns_have_the_names_of_the_generated_table)
{
	open_empty();
	for (const struct query_columns *q = query_columns; q->query; q++) {
		char *sql =
			store_sql_fill(q->query, filled, ARRAY_SIZE(filled));

		columns_compare(q, sql);
		free(sql);
	}
}
END_TEST

/* A text of a user in a gap cannot open another one, and what nothing fills
 * stays for SQLite to refuse. */
START_TEST(a_gap_is_filled_once)
{
	const struct sql_gap gap[] = {
		{ "expression", "'{fields}{'" },
		{ "of_type", "" },
	};
	char *sql = store_sql_fill("weight_rows", gap, ARRAY_SIZE(gap));

	ck_assert_ptr_nonnull(strstr(sql, "('{fields}{'\n"));
	ck_assert_ptr_nonnull(strstr(sql, "cgroup {fields}\n"));
	ck_assert_ptr_nonnull(strstr(sql, "WHERE  AND {wanted})"));
	free(sql);
}
END_TEST

/* Blocks of rows hold what single rows do: at and around their ends, with
 * gaps in the ids, NULL and values that are no numbers. */
START_TEST(rows_of_a_block_are_those_of_the_table)
{
	static const unsigned int rows[] = { 0, 1, 511, 512, 513, 1024, 1600 };
	struct rows *r;
	struct int_row row;

	open_store(true, true);
	ok(db_exec(mkstore_read(),
		   "CREATE TEMP TABLE t(id INTEGER PRIMARY KEY, a, b)", &err));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char sql[256];
		int64_t n = 0;

		snprintf(sql, sizeof(sql),
			 "DELETE FROM t; WITH RECURSIVE c(n) AS (SELECT 1 "
			 "UNION ALL SELECT n + 1 FROM c WHERE n < %u) INSERT "
			 "INTO t SELECT n * 3, CASE WHEN n %% 2 THEN n END, "
			 "'x' || n FROM c WHERE %u",
			 rows[i], rows[i]);
		ok(db_exec(mkstore_read(), sql, &err));
		r = rows_ints(mkstore_read(),
			      "SELECT 1 FROM t WHERE id > ?1 "
			      "AND take_ints(id, a, b)",
			      &err);
		ck_assert_ptr_nonnull(r);
		while (rows_next_ints(r, &row, &err) > 0) {
			n++;
			ck_assert_int_eq(row.v[0], n * 3);
			ck_assert_int_eq(row.v[1], n % 2 ? n : 0);
			ck_assert_uint_eq(row.known, n % 2 ? 3 : 1);
			ck_assert_ptr_null(rows_word(r, &row, 1));
			snprintf(sql, sizeof(sql), "x%" PRId64, n);
			ck_assert_str_eq(rows_word(r, &row, 2), sql);
		}
		ck_assert_int_eq(n, rows[i]);
		rows_close(r);
	}
}
END_TEST

/* Rows are found by ascending ids, those that are not there too. */
START_TEST(rows_of_a_block_are_found_by_their_ids)
{
	struct rows *r;
	struct int_row row;

	open_store(true, true);
	ok(db_exec(mkstore_read(),
		   "CREATE TEMP TABLE t AS WITH RECURSIVE c(n) AS (SELECT 1 "
		   "UNION ALL SELECT n + 1 FROM c WHERE n < 1300) "
		   "SELECT n * 2 AS id, CASE n WHEN 600 THEN "
		   "printf('%300d', n) WHEN 601 THEN 'S' END AS a FROM c",
		   &err));
	r = rows_ints(mkstore_read(),
		      "SELECT 1 FROM t WHERE id > ?1 "
		      "AND take_ints(id, a)",
		      &err);
	ck_assert_ptr_nonnull(r);
	for (int64_t id = 1; id < 2700; id += id < 1190 ? 7 : 1) {
		bool has = id % 2 == 0 && id <= 2600;

		ck_assert_int_eq(rows_seek_ints(r, id, &row, &err), has);
		if (!has)
			continue;
		ck_assert_int_eq(row.v[0], id);
		/* a text that is no word is none */
		if (id == 1202)
			ck_assert_str_eq(rows_word(r, &row, 1), "S");
		else
			ck_assert_ptr_null(rows_word(r, &row, 1));
	}
	rows_close(r);
}
END_TEST

/* Ids that are no numbers are all greater than any number. */
START_TEST(rows_of_a_block_have_increasing_ids)
{
	static const struct {
		const char *ids;
		int good; /* rows before the error */
	} table[] = {
		{ "'x'", 0 },
		{ "x''", 0 },
		{ "n + 0.5", 0 },
		{ "(n + 1) / 2", 0 },
		{ "-n", 0 },
		{ "CASE WHEN n < 600 THEN n ELSE 'x' END", 512 },
		{ "CASE WHEN n < 513 THEN n ELSE 512 END", 512 },
	};

	open_store(true, true);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct int_row row;
		char sql[256];
		int rc;
		int n = 0;

		snprintf(sql, sizeof(sql),
			 "CREATE TEMP TABLE t AS WITH RECURSIVE c(n) AS (SELECT"
			 " 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1300) "
			 "SELECT %s AS id FROM c",
			 table[i].ids);
		ok(db_exec(mkstore_read(), sql, &err));
		struct rows *r = rows_ints(
			mkstore_read(),
			"SELECT 1 FROM t WHERE id > ?1 AND take_ints(id)",
			&err);

		ck_assert_ptr_nonnull(r);
		while ((rc = rows_next_ints(r, &row, &err)) > 0 && n < 5000)
			n++;
		ck_assert_msg(rc == -1 && n == table[i].good, "%s: %d after %d",
			      table[i].ids, rc, n);
		ck_assert(strstr(err.msg, "rows are not in order"));
		rows_close(r);
		ok(db_exec(mkstore_read(), "DROP TABLE t", &err));
	}
}
END_TEST

RUN_WITH("columns", mkstore_set_up, tear_down,
	 columns_have_the_names_of_the_generated_table, a_gap_is_filled_once,
	 rows_of_a_block_are_those_of_the_table,
	 rows_of_a_block_are_found_by_their_ids,
	 rows_of_a_block_have_increasing_ids)
