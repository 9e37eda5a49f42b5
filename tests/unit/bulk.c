/* bulk.c - blocks of rows that one statement inserts. */
#include "schema/db/insert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/db/packing.h"
#include "tests/unit/run.h"

#define NONE INT64_MIN

static sqlite3 *db;
static struct bulk_table *table;

static void bulk_start(const char *columns, unsigned int n)
{
	const struct bulk_shape shape = { "t", NULL, n, true, PAGES_NONE };
	char sql[2048];

	ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
	snprintf(sql, sizeof(sql), "CREATE TABLE t(id INTEGER PRIMARY KEY%s)",
		 columns);
	ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	table = bulk_table_new(&shape);
}

static void bulk_stop(void)
{
	bulk_table_free(table);
	sqlite3_close(db);
}

static void bulk_test_insert(struct block *b)
{
	ck_assert_int_eq(insert_block(db, b), SQLITE_OK);
	block_free(b);
}

/* A block of n rows of two numbers each. */
static void bulk_put(const int64_t (*v)[2], size_t n)
{
	static uint32_t id;
	struct block *b = block_make(table, BLOCK_USUAL);

	if (table->next_id == 1)
		id = 0;
	for (size_t i = 0; i < n; i++) {
		struct packing p = packing_begin(b, ++id, 0);

		for (unsigned int k = 0; k + 1 < table->shape.n_columns; k++)
			packing_known(&p, v[i][k] != NONE, v[i][k]);
		packing_end(&p);
	}
	bulk_test_insert(b);
}

static void bulk_expect(const char *sql, const char *want)
{
	sqlite3_stmt *st;

	ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
	ck_assert_str_eq((const char *)sqlite3_column_text(st, 0), want);
	sqlite3_finalize(st);
}

#define ALL                                                                    \
	"SELECT group_concat(id||':'||ifnull(a,'-')||ifnull(b,'-'),' ') FROM t"

START_TEST(value_of_each_row_is_its_own)
{
	bulk_start(",a,b", 3);
	bulk_put((const int64_t[][2]){ { 7, NONE }, { 7, NONE } }, 2);
	bulk_put((const int64_t[][2]){ { 1, NONE }, { NONE, 5 } }, 2);
	bulk_put((const int64_t[][2]){ { 3, 6 }, { 3, 0 } }, 2);
	bulk_expect(ALL, "1:7- 2:7- 3:1- 4:-5 5:36 6:30");
	bulk_stop();
}
END_TEST

START_TEST(text_of_one_block_is_not_that_of_the_next)
{
	bulk_start(",a,b", 3);
	for (uint32_t k = 0; k < 3; k++) {
		struct block *b = block_make(table, BLOCK_USUAL);

		for (uint32_t i = 1; i <= 2; i++) {
			struct packing p = packing_begin(b, k * 2 + i, 1);

			if (k)
				packing_bytes(&p, RECORD_TEXT,
					      k == 1 ? "x" : "y", 1);
			else
				packing_int(&p, 9);
			packing_end(&p);
		}
		bulk_test_insert(b);
	}
	bulk_expect(ALL, "1:9- 2:9- 3:x- 4:x- 5:y- 6:y-");
	bulk_stop();
}
END_TEST

START_TEST(many_columns_have_their_values)
{
	char columns[1024] = "";
	size_t n = 0;
	struct block *b;

	for (unsigned int i = 1; i < 70; i++)
		n += (size_t)snprintf(columns + n, sizeof(columns) - n, ",c%u",
				      i);
	bulk_start(columns, 70);
	b = block_make(table, BLOCK_USUAL);
	for (uint32_t id = 1; id <= 2; id++) {
		struct packing p = packing_begin(b, id, 0);

		for (unsigned int i = 1; i < 70; i++)
			packing_int(&p, i);
		packing_end(&p);
	}
	bulk_test_insert(b);
	bulk_expect(
		"SELECT sum(c1)||' '||sum(c63)||' '||sum(c64)||' '||sum(c69)"
		" FROM t",
		"2 126 128 138");
	bulk_stop();
}
END_TEST

START_TEST(column_that_is_added_later_is_stored)
{
	bulk_start(",a", 2);
	bulk_put((const int64_t[][2]){ { 7, NONE }, { 7, NONE } }, 2);
	ck_assert_int_eq(sqlite3_exec(db, "ALTER TABLE t ADD COLUMN b", NULL,
				      NULL, NULL),
			 SQLITE_OK);
	table->shape.n_columns++;
	bulk_table_reset(table);
	bulk_put((const int64_t[][2]){ { 7, 3 }, { 7, 3 } }, 2);
	bulk_put((const int64_t[][2]){ { 7, 4 }, { 7, NONE } }, 2);
	bulk_expect(ALL, "1:7- 2:7- 3:73 4:73 5:74 6:7-");
	bulk_stop();
}
END_TEST

RUN("bulk", value_of_each_row_is_its_own,
    text_of_one_block_is_not_that_of_the_next, many_columns_have_their_values,
    column_that_is_added_later_is_stored)
