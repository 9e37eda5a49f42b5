/* empty.c - a database that begins with the pages of an empty one is the one
 * that SQL makes. */
#include "schema/db/empty.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/run.h"
#include "tests/unit/scratch.h"

static char dir[64];

static void empty_sql(sqlite3 *conn, const char *sql)
{
	char *message = NULL;

	sqlite3_exec(conn, sql, NULL, NULL, &message);
	ck_assert_msg(!message, "%s", message);
}

/* Makes a database with some rows in `path`. */
static void empty_fill(const char *path, uint32_t page_size, bool pages)
{
	sqlite3 *conn;
	int fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);

	ck_assert_int_ge(fd, 0);
	close(fd);
	if (pages)
		ck_assert_int_eq(empty_write(path, page_size), 0);
	ck_assert_int_eq(sqlite3_open(path, &conn), SQLITE_OK);
	if (pages)
		empty_sql(conn, "PRAGMA secure_delete=OFF; BEGIN");
	else
		ck_assert_int_eq(empty_by_sql(conn, page_size), SQLITE_OK);
	empty_sql(conn, "INSERT INTO meta VALUES(0, 'a', 'b');"
			"CREATE TABLE ev_new(a, b);"
			"INSERT INTO ev_new VALUES(1, zeroblob(50000));"
			"COMMIT; PRAGMA integrity_check");
	sqlite3_close(conn);
}

/* Returns all bytes of a file, to be freed. */
static char *empty_read(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	char *p = malloc(4 << 20);

	ck_assert(f && p);
	*n = fread(p, 1, 4 << 20, f);
	fclose(f);
	return p;
}

static void empty_compare(uint32_t size)
{
	char by_sql[128];
	char by_pages[128];
	size_t n;
	size_t m;

	snprintf(by_sql, sizeof(by_sql), "%s/sql.db", dir);
	snprintf(by_pages, sizeof(by_pages), "%s/pages.db", dir);
	empty_fill(by_sql, size, false);
	empty_fill(by_pages, size, true);
	char *a = empty_read(by_sql, &n);
	char *b = empty_read(by_pages, &m);

	ck_assert_uint_gt(n, 50000);
	ck_assert_mem_eq(a, "SQLite format 3", 16);
	ck_assert_uint_eq(n, m);
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(a[i] == b[i], "byte %zu differs", i);
	free(a);
	free(b);
}

START_TEST(small_pages_are_byte_for_byte_what_sql_makes)
{
	empty_compare(EMPTY_SMALL_PAGE);
}
END_TEST

START_TEST(large_pages_are_byte_for_byte_what_sql_makes)
{
	empty_compare(EMPTY_LARGE_PAGE);
}
END_TEST

START_TEST(a_file_that_cannot_be_written_gives_the_reason)
{
	ck_assert_int_eq(empty_write("/dev/full", EMPTY_SMALL_PAGE), ENOSPC);
	ck_assert_int_eq(empty_write("/none/there", EMPTY_SMALL_PAGE), ENOENT);
}
END_TEST

static void empty_setup(void)
{
	scratch_make(dir, sizeof(dir));
}

static void empty_teardown(void)
{
	scratch_remove(dir);
}

RUN_WITH("empty", empty_setup, empty_teardown,
	 small_pages_are_byte_for_byte_what_sql_makes,
	 large_pages_are_byte_for_byte_what_sql_makes,
	 a_file_that_cannot_be_written_gives_the_reason)
