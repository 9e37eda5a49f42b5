/* db.c - statements of the main thread, while rows are on their way. */
#include "schema/db/db.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "schema/db/rows.h"
#include "schema/db/writer.h"
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

static struct store *db_open_with(bool thread)
{
	static const struct bulk_shape shape = { .name = "t",
						 .n_columns = 2,
						 .has_id = true };
	struct store *db = mem_new(1, sizeof(*db));

	db->path = mem_strdup("");
	ck_assert_int_eq(sqlite3_open_v2("", &db->db,
					 SQLITE_OPEN_READWRITE |
						 SQLITE_OPEN_CREATE |
						 SQLITE_OPEN_NOMUTEX,
					 NULL),
			 SQLITE_OK);
	db->wr = writer_new(db->db, db->path, thread);
	db_ok(!db_exec(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", &err));
	ck_assert_uint_eq(db_table_add(db, &shape), 0);
	return db;
}

static void db_put_row(struct store *db, uint32_t id, unsigned int value)
{
	struct block *b = db_packed(db, 0, 0, &err);

	db_ok(b != NULL);
	struct packing p = packing_begin(b, id, 0);

	packing_int(&p, value);
	packing_end(&p);
}

static void db_put(struct store *db, unsigned int n)
{
	static uint32_t id;

	for (unsigned int i = 0; i < n; i++)
		db_put_row(db, ++id, i);
}

static int64_t db_ask_prepared(struct store *db)
{
	sqlite3_stmt *st = db_prepare(db, COUNT, &err);

	db_ok(st != NULL);
	ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
	int64_t n = sqlite3_column_int64(st, 0);

	sqlite3_finalize(st);
	return n;
}

static int64_t db_ask_rows(struct store *db)
{
	struct rows *r = rows_open(db, COUNT, NULL, 0, &err);

	db_ok(r && rows_next(r, &err) == 1);
	int64_t n = rows_int(r, 0);

	rows_close(r);
	return n;
}

static int64_t db_ask_executed(struct store *db)
{
	db_ok(!db_exec(db, "CREATE TEMP TABLE n AS " COUNT, &err));

	int64_t n = 0;

	db_ok(!db_number(db, "SELECT * FROM n", &n, &err));
	return n;
}

/* What begins a statement, and returns how many rows it finds. */
static const struct {
	const char *name;
	int64_t (*ask)(struct store *db);
	bool thread;
} begins[] = {
	{ "a_prepared_statement_finds_all_rows", db_ask_prepared, true },
	{ "an_executed_statement_finds_all_rows", db_ask_executed, true },
	{ "a_statement_with_rows_finds_all_rows", db_ask_rows, true },
	{ "without_a_thread_all_rows_are_found_too", db_ask_prepared, false },
};

START_TEST(a_statement_finds_all_rows)
{
	struct store *db = db_open_with(begins[_i].thread);

	db_put(db, ROWS);
	ck_assert_int_eq(begins[_i].ask(db), ROWS);
	db_close(db);
}
END_TEST

START_TEST(older_rows_go_on_when_new_ones_are_there)
{
	struct store *db = db_open_with(true);
	struct rows *r = rows_open(db, "VALUES(1), (2)", NULL, 0, &err);

	ck_assert_int_eq(rows_next(r, &err), 1);
	db_put(db, ROWS);
	ck_assert_int_eq(rows_next(r, &err), 1);
	ck_assert_int_eq(rows_int(r, 0), 2);
	ck_assert_int_eq(sqlite3_total_changes(db->db), ROWS);
	rows_close(r);
	db_close(db);
}
END_TEST

START_TEST(an_older_statement_stops_the_program)
{
	const struct rlimit none = { 0, 0 };
	int status = 0;
	const pid_t pid = fork();

	if (!pid) {
		struct store *db = db_open_with(true);
		sqlite3_stmt *st = db_prepare(db, "DELETE FROM t", &err);

		setrlimit(RLIMIT_CORE, &none);
		ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
		db_put(db, 1);
		db_step(db, st, &err);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGABRT);
}
END_TEST

START_TEST(an_older_statement_runs_after_the_rows_are_waited_for)
{
	struct store *db = db_open_with(true);
	sqlite3_stmt *st = db_prepare(db, "DELETE FROM t", &err);

	db_put(db, ROWS);
	db_ok(!db_drain(db, &err));
	db_ok(!db_step(db, st, &err));
	sqlite3_finalize(st);
	ck_assert_int_eq(sqlite3_changes(db->db), ROWS);
	db_close(db);
}
END_TEST

/* The writer's error is that of all later statements. */
START_TEST(a_statement_after_a_row_that_failed_fails)
{
	struct store *db = db_open_with(true);

	for (unsigned int i = 0; i < 2; i++)
		db_put_row(db, 1, i);
	for (int i = 0; i < 2; i++) {
		err.msg[0] = '\0';
		ck_assert_ptr_null(db_prepare(db, COUNT, &err));
		ck_assert_ptr_nonnull(strstr(err.msg, "UNIQUE"));
		ck_assert_int_eq(db_exec(db, "SELECT 1", &err), -1);
	}
	db_close(db);
}
END_TEST

static const struct run_table tables[] = {
	RUN_TABLE(a_statement_finds_all_rows, begins),
};

RUN_TABLES("db", tables, older_rows_go_on_when_new_ones_are_there,
	   an_older_statement_stops_the_program,
	   an_older_statement_runs_after_the_rows_are_waited_for,
	   a_statement_after_a_row_that_failed_fails)
