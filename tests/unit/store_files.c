/* store_files.c - the store's files: made, replaced, refused, opened, named. */
/* A process for each test: a limit of the size of files stays. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "schema/db/filling.h"
#include "schema/store.h"
#include "schema/write/write.h"
#include "tests/unit/mkstore.h"
#include "tests/unit/run.h"

static void store_files_make_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static void no_leftover_files(int want)
{
	char cmd[160];

	snprintf(cmd, sizeof(cmd), "test $(ls -A '%s' | wc -l) = %d", run.dir,
		 want);
	ck_assert_int_eq(system(cmd), 0);
}

START_TEST(existing_files_are_safe)
{
	struct maker_opts o = { 0 };

	store_files_make_file(run.path, "PERFILE2 is no database");
	ck_assert_ptr_null(maker_create(run.path, &o, run.fr, &err));
	ck_assert_ptr_nonnull(strstr(err.msg, "use -f"));
	o.force = true;
	ck_assert_ptr_null(maker_create(run.path, &o, run.fr, &err));
	ck_assert_ptr_nonnull(strstr(err.msg, "no database"));
	ck_assert_ptr_null(maker_create(run.dir, &o, run.fr, &err));
	ck_assert_ptr_null(maker_create("/dev/null", &o, run.fr, &err));
	ck_assert_ptr_null(maker_create("/nowhere/x.db", &o, run.fr, &err));
	ck_assert_ptr_nonnull(strstr(err.msg, "/nowhere/x.db"));
	no_leftover_files(1);
}
END_TEST

START_TEST(nothing_is_there_until_it_is_finished)
{
	struct maker_opts o = { .force = true };

	open_store(false, false);
	mkstore_fill("app");
	ck_assert_int_eq(access(run.path, F_OK), -1);
	maker_free(run.mk);
	no_leftover_files(0);
	run.events = 0;
	open_store(false, false);
	mkstore_fill("app");
	mkstore_finish();
	store_close(run.db);
	no_leftover_files(1);

	/* a new one replaces it at its end only */
	run.mk = maker_create(run.path, &o, run.fr, &err);
	ck_assert_msg(run.mk != NULL, "%s", err.msg);
	maker_free(run.mk);
	run.mk = NULL;
	run.db = store_open(run.path, &err);
	ck_assert_msg(run.db != NULL, "%s", err.msg);
	mkstore_expect("SELECT count(*) FROM event", "6\n");
}
END_TEST

START_TEST(a_temporary_database_has_pages_and_no_name)
{
	open_store(true, false);
	ck_assert_ptr_nonnull(run.mk->pages);
	no_leftover_files(0);
	mkstore_fill("app");
	mkstore_finish();
	no_leftover_files(0);
	mkstore_expect("SELECT count(*) FROM event", "6\n");
}
END_TEST

START_TEST(a_temporary_database_needs_no_folder)
{
	struct maker_opts o = { .temp_dir = "/nowhere" };

	run.mk = maker_create_temp(&o, run.fr, &err);
	ck_assert_msg(run.mk != NULL, "%s", err.msg);
	ck_assert_ptr_null(run.mk->pages);
	mkstore_finish();
	mkstore_expect("SELECT count(*) FROM event", "0\n");
}
END_TEST

/* A small database stays small, with pages of 4 KiB. */
START_TEST(large_captures_get_large_pages)
{
	struct maker_opts o = { .force = true };

	for (int i = 0; i < 2; i++) {
		o.large = i;
		run.mk = maker_create(run.path, &o, run.fr, &err);
		ck_assert_msg(run.mk != NULL, "%s", err.msg);
		mkstore_finish();
		mkstore_expect("PRAGMA page_size", i ? "16384\n" : "4096\n");
		if (!i)
			store_close(run.db);
	}
}
END_TEST

START_TEST(a_full_disk_is_said)
{
	struct record rec = { .kind = REC_SAMPLE };
	struct fact f = { .kind = FACT_EVENT };
	int rc = 0;

	char raw[128] = "";

	rec.sample.raw = raw;
	rec.sample.raw_len = sizeof(raw);
	open_store(false, _i);
	/* a limit of the file's size (EFBIG) stands for a full disk */
	struct rlimit lim = { 1 << 20, 1 << 20 };

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &lim), 0);
	for (uint32_t i = 1; !rc && i < 200000; i++) {
		f.event = (struct fact_event){ .id = i,
					       .type = 0,
					       .rec = &rec,
					       .cpu = -1,
					       .time = TIME_NONE };
		/* equal payloads are stored once */
		memcpy(raw, &i, sizeof(i));
		rc = store_fact(run.mk, &f, &err);
	}
	ck_assert_int_eq(rc, -1);
	ck_assert_int_eq(err.code, ERR_FULL);
	ck_assert_ptr_nonnull(strstr(err.msg, run.path));
	maker_free(run.mk);
	run.mk = NULL;
	no_leftover_files(0);
}
END_TEST

START_TEST(reading_is_only_reading)
{
	static const char *const bad[] = {
		"DELETE FROM event",
		"CREATE TABLE x(a)",
		"ATTACH 'y.db' AS y",
		"VACUUM INTO 'y.db'",
		"PRAGMA journal_mode=WAL",
		"PRAGMA user_version=17",
		"INSERT INTO meta VALUES(0, 'a', 'b')",
		"BEGIN",
		"SELECT load_extension('x')",
		"SELECT fts3_tokenizer('simple')",
		"SELECT fts3_tokenizer('x', x'00')",
		"SELECT 1; SELECT 2",
		"",
		";",
		"UPDATE sqlite_master SET sql = ''",
		"SELECT nonsense",
		"CREATE TEMP TABLE t(a)",
	};

	open_store(_i, false);
	mkstore_fill("app");
	mkstore_finish();
	if (!_i) {
		store_close(run.db);
		run.db = store_open(run.path, &err);
		ck_assert_msg(run.db != NULL, "%s", err.msg);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct rows *r = rows_open(run.db, bad[i], NULL, 0, &err);

		ck_assert_msg(!r || rows_next(r, &err) < 0, "%s", bad[i]);
		rows_close(r);
	}
	mkstore_expect("SELECT count(*) FROM event -- a comment; here\n;",
		       "6\n");
	mkstore_expect("PRAGMA user_version", "17\n");
	mkstore_expect("SELECT name FROM pragma_table_info('word')",
		       "kind\nid\nname\n");
	mkstore_expect("SELECT value FROM json_each('[4]')", "4\n");
}
END_TEST

static void store_files_patch(long off, const void *p, size_t n)
{
	FILE *f = fopen(run.path, "r+");

	ck_assert_ptr_nonnull(f);
	fseek(f, off, SEEK_SET);
	fwrite(p, 1, n, f);
	fclose(f);
}

START_TEST(files_that_are_not_ours_are_refused)
{
	store_files_make_file(run.path, "");
	ck_assert_ptr_null(store_open(run.path, &err));
	ck_assert_ptr_nonnull(strstr(err.msg, "is empty"));
	store_files_make_file(run.path,
			      "some text that is long enough to be read as a "
			      "header of one hundred bytes, which it is not, "
			      "whatever its length is");
	ck_assert_ptr_null(store_open(run.path, &err));
	ck_assert_ptr_nonnull(strstr(err.msg, "not a backstitch database"));
	unlink(run.path);
	ck_assert_ptr_null(store_open(run.path, &err));
	ck_assert_ptr_null(store_open(run.dir, &err));

	open_store(false, false);
	mkstore_finish();
	store_close(run.db);
	run.db = NULL;
	store_files_patch(60, "\0\0\0\x12", 4);
	ck_assert_ptr_null(store_open(run.path, &err));
	ck_assert_ptr_nonnull(strstr(err.msg,
				     "made by schema 18, this "
				     "program knows up to 17; use a newer "
				     "backstitch"));
	store_files_patch(60, "\0\0\0\1", 4);
	store_files_patch(68, "abcd", 4);
	ck_assert_ptr_null(store_open(run.path, &err));
	ck_assert_ptr_nonnull(
		strstr(err.msg, "is an SQLite database of another program"));
}
END_TEST

static void store_files_expect(const char *sql, const char *want)
{
	run.db = store_open(run.path, &err);
	ck_assert_msg(run.db != NULL, "%s", err.msg);
	mkstore_expect(sql, want);
	store_close(run.db);
	run.db = NULL;
}

/* Runs SQL on the finished database as any program could. */
static void store_files_change(const char *sql)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(run.path, &db), SQLITE_OK);
	int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

	ck_assert_msg(!rc, "%s", sqlite3_errmsg(db));
	sqlite3_close(db);
}

START_TEST(what_an_older_schema_lacks_is_null)
{
	open_store(false, false);
	mkstore_fill("app");
	mkstore_finish();
	store_close(run.db);
	run.db = NULL;
	store_files_change("ALTER TABLE capture RENAME TO c;"
			   "CREATE TABLE capture AS SELECT id, path FROM c;"
			   "DROP TABLE c; DROP TABLE branch;"
			   "DROP VIEW samples; PRAGMA user_version=12");
	store_files_expect("SELECT count(*), count(path), count(host), "
			   "count(rowid) FROM capture",
			   "1|1|0|1\n");
	store_files_expect("SELECT count(*), count(pos) FROM branch", "0|0\n");
	store_files_expect("SELECT count(*) > 0 FROM samples", "1\n");
	ck_assert_ptr_null(maker_open(run.path, run.path, &err));
	ck_assert_ptr_nonnull(strstr(err.msg, "ingest the capture again"));
	store_files_change("PRAGMA user_version=11");
	ck_assert_ptr_null(store_open(run.path, &err));
	ck_assert_ptr_nonnull(strstr(err.msg, "ingest the capture again"));
}
END_TEST

/* SQLite looks for them each time that it begins to read. */
START_TEST(a_file_that_is_planted_after_opening_is_refused)
{
	static const char *const tail[] = { "-wal", "-journal" };

	open_store(false, false);
	mkstore_fill("app");
	mkstore_finish();
	store_close(run.db);
	for (size_t i = 0; i < 2; i++) {
		char name[160];

		run.db = store_open(run.path, &err);
		ck_assert_msg(run.db != NULL, "%s", err.msg);
		snprintf(name, sizeof(name), "%s%s", run.path, tail[i]);
		store_files_make_file(name, "planted");
		struct rows *r =
			rows_open(run.db, "SELECT * FROM event", NULL, 0, &err);

		ck_assert(!r || rows_next(r, &err) < 0);
		rows_close(r);
		ck_assert_msg(strstr(err.msg, name) != NULL, "%s", err.msg);
		store_close(run.db);
		run.db = NULL;
		unlink(name);
	}
	no_leftover_files(1);
}
END_TEST

START_TEST(naming_again_keeps_what_is_there)
{
	open_store(false, false);
	mkstore_fill("app");
	mkstore_finish();
	mkstore_expect("SELECT DISTINCT name FROM internal_label ORDER BY 1",
		       "[app]\n[kernel.kallsyms]_[k]\n");
	store_close(run.db);
	for (int i = 0; i < 2; i++) {
		run.mk = maker_open(run.path, run.path, &err);
		ck_assert_msg(run.mk != NULL, "%s", err.msg);
		mkstore_name_all();
		mkstore_finish();
		mkstore_expect("SELECT count(*), max(id) FROM symbol", "3|3\n");
		mkstore_expect("SELECT count(*) FROM inline_frame", "2\n");
		mkstore_expect(
			"SELECT name FROM internal_label WHERE frame = 2",
			"loop;small_[i];tiny_[i]\n");
		store_close(run.db);
		run.db = NULL;
	}
	no_leftover_files(1);
}
END_TEST

/* Stores names and what the call-site check found. Returns the number of rows
 * that were written. `kind` is that of the first call site. */
static int store_files_name_and_check(enum callsite_kind kind)
{
	const struct store_callsite c[] = { { 1, kind, 0x1000, false },
					    { 2, CALLSITE_NO_CALL, 0, true } };
	const struct store_link l[] = { { 2, 1, CALLSITE_PROVED },
					{ 1, 2, CALLSITE_GAP } };
	const struct store_stack_check k[] = { { 1, 4, 1, 2, 1, 0,
						 CALLSITE_PROVED, 0 },
					       { 2, 1, 0, 0, 0, 0, 0, 0 } };

	run.mk = maker_open(run.path, run.path, &err);
	ck_assert_msg(run.mk != NULL, "%s", err.msg);
	mkstore_name_all();
	ok(store_callsites_begin(run.mk, &err));
	ok(store_callsites_drop(run.mk, &err));
	ok(store_callsites(run.mk, c, 2, &err));
	ok(store_links(run.mk, l, 2, &err));
	ok(store_stack_checks(run.mk, k, 2, &err));
	mkstore_finish();
	int n = sqlite3_total_changes(run.db->db);

	store_close(run.db);
	run.db = NULL;
	return n;
}

START_TEST(what_is_there_already_is_not_written_again)
{
	open_store(false, false);
	mkstore_fill("app");
	mkstore_finish();
	store_close(run.db);
	ck_assert_int_gt(store_files_name_and_check(CALLSITE_DIRECT), 6);
	ck_assert_int_eq(store_files_name_and_check(CALLSITE_DIRECT), 0);
	store_files_expect("SELECT frame, kind, target FROM internal_callsite",
			   "1|1|4096\n2|5|\n");
	/* one row differs: its table is written, the others are not */
	ck_assert_int_eq(store_files_name_and_check(CALLSITE_INDIRECT), 4);
	store_files_expect("SELECT frame, kind, target FROM internal_callsite",
			   "1|2|4096\n2|5|\n");
	store_files_expect(
		"SELECT stack, checked, first FROM internal_stack_check",
		"1|4|2\n2|1|\n");
	store_files_expect("SELECT inner, frame FROM internal_callsite_link",
			   "1|2\n2|1\n");
}
END_TEST

START_TEST(a_damaged_database_is_no_crash)
{
	open_store(false, false);
	mkstore_fill("app");
	mkstore_finish();
	store_close(run.db);
	run.db = NULL;

	FILE *f = fopen(run.path, "r");
	static unsigned char all[1 << 20];
	size_t n = fread(all, 1, sizeof(all), f);
	unsigned int seed = 1;

	fclose(f);
	for (int i = 0; i < 200; i++) {
		for (int j = 0; j < 20; j++) {
			seed = seed * 1103515245 + 12345;
			size_t at = 100 + seed % (n - 100);

			store_files_patch((long)at,
					  (unsigned char[]){
						  (unsigned char)(seed >> 16) },
					  1);
		}
		struct store *db = store_open(run.path, &err);
		struct rows *r = db ? rows_open(db, "SELECT * FROM folded",
						NULL, 0, &err)
				    : NULL;

		while (r && rows_next(r, &err) > 0)
			;
		rows_close(r);
		store_close(db);
		store_files_patch(0, all, n);
	}
}
END_TEST

static const struct run_table loops[] = {
	RUN_TIMES(a_full_disk_is_said, 2), RUN_TIMES(reading_is_only_reading, 2)
};

RUN_TABLES_WITH("store_files", mkstore_set_up, tear_down, loops,
		existing_files_are_safe, nothing_is_there_until_it_is_finished,
		a_temporary_database_has_pages_and_no_name,
		a_temporary_database_needs_no_folder,
		large_captures_get_large_pages,
		files_that_are_not_ours_are_refused,
		what_an_older_schema_lacks_is_null,
		a_file_that_is_planted_after_opening_is_refused,
		naming_again_keeps_what_is_there,
		what_is_there_already_is_not_written_again,
		a_damaged_database_is_no_crash)
