/* database_set.c - databases that are removed while they are read. */
#include "cli/open/database_set.h"

#include "schema/merge/merge.h"
#include "stitch/base/mem.h"
#include "tests/unit/mkstore.h"
#include "tests/unit/run.h"

static const struct database_choice all;

static void database_set_add(struct database_set *list, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", run.dir, name);
	*mem_add(list->path, list->n, list->cap) = mem_strdup(path);
}

static void database_set_begin(void)
{
	mkstore_set_up();
	open_store(false, false);
	mkstore_finish();
	store_close(run.db);
	run.db = NULL;
}

START_TEST(a_database_that_was_removed_is_left_out)
{
	struct database_set list = { NULL, 0, 0 };
	struct merge_counts counts;

	database_set_add(&list, "gone1.db");
	database_set_add(&list, "x.db");
	database_set_add(&list, "gone2.db");
	ok(database_set_make(&list, &all, NULL, false, &run.db, &counts, &err));
	ck_assert_ptr_nonnull(run.db);
	ck_assert_uint_eq(list.n, 1);
	ck_assert_str_eq(list.path[0], run.path);
	database_set_release(&list);
}
END_TEST

START_TEST(with_none_left_there_is_an_error)
{
	struct database_set list = { NULL, 0, 0 };
	struct merge_counts counts;

	database_set_add(&list, "gone1.db");
	database_set_add(&list, "gone2.db");
	ck_assert_int_eq(database_set_make(&list, &all, NULL, false, &run.db,
					   &counts, &err),
			 -1);
	ck_assert_ptr_null(run.db);
	ck_assert_uint_eq(list.n, 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "gone1.db"));
	database_set_release(&list);
}
END_TEST

RUN_WITH("merged", database_set_begin, tear_down,
	 a_database_that_was_removed_is_left_out,
	 with_none_left_there_is_an_error)
