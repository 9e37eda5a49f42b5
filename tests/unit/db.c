/* db.c - statements of the main thread, while rows are on their way. */
#include "schema/db/filling.h"

#include <string.h>

#include "schema/db/door.h"
#include "schema/db/rows.h"
#include "schema/db/writer.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "tests/unit/run.h"

#define ROWS 5000 /* some of them in a block that is still open */
#define COUNT "SELECT count(*) FROM t"

static struct err err;

static void db_ok(bool ok)
{
	ck_assert_msg(ok, "%s", err.msg);
}

static struct maker *db_open_with(bool thread)
{
	static const struct bulk_shape shape = { .name = "t",
						 .n_columns = 2,
						 .has_id = true };
	struct maker *mk = mem_new(1, sizeof(*mk));

	mk->db = db_new("");
	ck_assert_int_eq(sqlite3_open_v2("", &mk->db->db,
					 SQLITE_OPEN_READWRITE |
						 SQLITE_OPEN_CREATE |
						 SQLITE_OPEN_NOMUTEX,
					 NULL),
			 SQLITE_OK);
	mk->wr = writer_new(mk->db->db, mk->db->path, thread);
	db_ok(!maker_exec(mk, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)",
			  &err));
	ck_assert_uint_eq(maker_table_add(mk, &shape), 0);
	return mk;
}

static void db_close(struct maker *mk)
{
	filling_end(mk);
	store_close(mk->db);
	free(mk);
}

static void db_put_row(struct maker *mk, uint32_t id, unsigned int value)
{
	struct block *b = maker_packed(mk, 0, 0, &err);

	db_ok(b != NULL);
	struct packing p = packing_begin(b, id, 0);

	packing_int(&p, value);
	packing_end(&p);
}

static void db_put(struct maker *mk, unsigned int n)
{
	static uint32_t id;

	for (unsigned int i = 0; i < n; i++)
		db_put_row(mk, ++id, i);
}

/* What begins a statement. Each returns how many rows it finds, or -1. */
static int64_t db_ask_prepared(struct store *db)
{
	sqlite3_stmt *st = db_prepare(db, COUNT, &err);
	int64_t n = -1;

	if (st && sqlite3_step(st) == SQLITE_ROW)
		n = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return n;
}

static int64_t db_ask_rows(struct store *db)
{
	struct rows *r = rows_open(db, COUNT, NULL, 0, &err);
	int64_t n = r && rows_next(r, &err) == 1 ? rows_int(r, 0) : -1;

	rows_close(r);
	return n;
}

static int64_t db_ask_ints(struct store *db)
{
	static const char *const id = "id";
	struct rows *r = rows_ints_of(db, "t", &id, 1, &err);
	struct int_row row;
	int64_t n = 0;

	while (rows_step_ints(r, &row))
		n++;
	return rows_end(r, &err) ? -1 : n;
}

static int64_t db_ask_executed(struct store *db)
{
	int64_t n;

	return db_exec(db, "CREATE TEMP TABLE n AS " COUNT, &err) ||
			       db_number(db, "SELECT * FROM n", &n, &err)
		       ? -1
		       : n;
}

static const struct {
	const char *name;
	int64_t (*ask)(struct store *db);
	bool thread;
} begins[] = {
	{ "a_prepared_statement_finds_all_rows", db_ask_prepared, true },
	{ "an_executed_statement_finds_all_rows", db_ask_executed, true },
	{ "a_statement_with_rows_finds_all_rows", db_ask_rows, true },
	{ "a_statement_with_numbers_finds_all_rows", db_ask_ints, true },
	{ "without_a_thread_all_rows_are_found_too", db_ask_prepared, false },
};

/* Who reads goes through the door each time that rows were put: a connection
 * from before is refused, and nothing waits for the rows. */
START_TEST(a_statement_finds_all_rows)
{
	struct maker *mk = db_open_with(begins[_i].thread);
	struct store *before = maker_read(mk, &err);

	db_put(mk, ROWS);
	ck_assert_int_eq(begins[_i].ask(before), -1);
	ck_assert_ptr_nonnull(strstr(err.msg, "on their way"));
	ck_assert_ptr_nonnull(mk->table[0]->open);
	ck_assert_int_eq(begins[_i].ask(maker_read(mk, &err)), ROWS);
	ck_assert_ptr_null(mk->table[0]->open);
	db_close(mk);
}
END_TEST

START_TEST(older_rows_go_on_after_the_new_ones_were_waited_for)
{
	struct maker *mk = db_open_with(true);
	struct rows *r = rows_open(maker_read(mk, &err), "VALUES(1), (2)", NULL,
				   0, &err);

	ck_assert_int_eq(rows_next(r, &err), 1);
	db_put(mk, ROWS);
	ck_assert_int_eq(rows_next(r, &err), -1);
	db_ok(maker_read(mk, &err) != NULL);
	ck_assert_int_eq(rows_next(r, &err), 1);
	ck_assert_int_eq(rows_int(r, 0), 2);
	ck_assert_int_eq(sqlite3_total_changes(mk->db->db), ROWS);
	rows_close(r);
	db_close(mk);
}
END_TEST

START_TEST(an_older_statement_runs_after_the_rows_were_waited_for)
{
	struct maker *mk = db_open_with(true);
	sqlite3_stmt *st = maker_prepare(mk, "DELETE FROM t", &err);

	db_put(mk, ROWS);
	ck_assert_int_eq(db_step(mk->db, st, &err), -1);
	db_ok(maker_read(mk, &err) != NULL);
	db_ok(!db_step(mk->db, st, &err));
	sqlite3_finalize(st);
	ck_assert_int_eq(sqlite3_changes(mk->db->db), ROWS);
	db_close(mk);
}
END_TEST

/* The writer's error is that of all later statements. */
START_TEST(a_statement_after_a_row_that_failed_fails)
{
	struct maker *mk = db_open_with(true);

	for (unsigned int i = 0; i < 2; i++)
		db_put_row(mk, 1, i);
	for (int i = 0; i < 2; i++) {
		err.msg[0] = '\0';
		ck_assert_ptr_null(maker_prepare(mk, COUNT, &err));
		ck_assert_ptr_nonnull(strstr(err.msg, "UNIQUE"));
		ck_assert_int_eq(maker_exec(mk, "SELECT 1", &err), -1);
	}
	db_close(mk);
}
END_TEST

static const struct run_table tables[] = {
	RUN_TABLE(a_statement_finds_all_rows, begins),
};

RUN_TABLES("db", tables, older_rows_go_on_after_the_new_ones_were_waited_for,
	   an_older_statement_runs_after_the_rows_were_waited_for,
	   a_statement_after_a_row_that_failed_fails)
