/* database_times.c - the times of a database are read without SQLite, and
 * damage is only a reason to ask SQLite. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "schema/db/db.h"
#include "schema/merge/merge.h"
#include "tests/unit/mkstore.h"
#include "tests/unit/run.h"

static int64_t database_times_number(const char *sql)
{
	int64_t v = -1;

	ok(db_number(run.db, sql, &v, &err));
	return v;
}

static void database_times_make(void)
{
	open_store(false, false);
	mkstore_fill("app");
	ok(store_meta_number(run.mk, 0, "wall_offset_ns", 1234567890123456789,
			     &err));
	for (int i = 0; i < 300; i++) {
		char key[64];

		/* so that meta has several pages */
		snprintf(key, sizeof(key), "stack column ev_number_%d.stack",
			 i);
		ok(store_meta_number(run.mk, -1, key, 1, &err));
	}
	mkstore_finish();
}

START_TEST(times_are_those_that_sql_tells)
{
	struct database_times p;

	database_times_make();
	ck_assert(database_times_read(run.path, &p));
	ck_assert_int_eq(p.first, database_times_number(
					  "SELECT min(first_ns) FROM capture"));
	ck_assert_int_eq(p.last, database_times_number(
					 "SELECT max(last_ns) FROM capture"));
	ck_assert(p.has_wall);
	ck_assert_int_eq(p.wall, 1234567890123456789);
	ck_assert(!database_times_read("/nonexistent", &p));
}
END_TEST

START_TEST(damage_is_no_more_than_that)
{
	static unsigned char byte[1 << 20];
	uint32_t state = 1;
	struct database_times p;
	ssize_t n;
	int fd;

	database_times_make();
	fd = open(run.path, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	n = read(fd, byte, sizeof(byte));
	close(fd);
	ck_assert_int_gt(n, 8192);
	for (int i = 0; i < 3000; i++) {
		unsigned char old[8];
		size_t at[8];

		for (int k = 0; k < 8; k++) {
			state = state * 1664525u + 1013904223u;
			/* the first pages, and their headers, most of all */
			at[k] = (state >> 8) % (k < 4 ? 400 : (size_t)n);
			at[k] += k == 3 ? 4096 * (state >> 28) : 0;
			at[k] %= (size_t)n;
			old[k] = byte[at[k]];
			if (at[k] > 99)
				byte[at[k]] = (unsigned char)(state >> 20);
		}
		fd = open(run.path, O_WRONLY | O_TRUNC);
		ck_assert_int_eq(write(fd, byte, (size_t)n), n);
		close(fd);
		database_times_read(run.path, &p);
		for (int k = 8; k--;)
			byte[at[k]] = old[k];
	}
}
END_TEST

RUN_WITH("peek", mkstore_set_up, tear_down, times_are_those_that_sql_tells,
	 damage_is_no_more_than_that)
