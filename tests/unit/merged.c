/* merged.c - databases that are removed while they are read. */
#include "cli/merged.h"

#include "schema/merge/merge.h"
#include "stitch/base/mem.h"
#include "tests/unit/mkstore.h"
#include "tests/unit/run.h"

static void merged_add(struct merged_paths *list, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", run.dir, name);
	*mem_add(list->path, list->n, list->cap) = mem_strdup(path);
}

static void merged_begin(void)
{
	mkstore_set_up();
	open_store(false, false);
	ok(store_finish(run.db, run.lg, &err));
	store_close(run.db);
	run.db = NULL;
}

START_TEST(a_database_that_was_removed_is_left_out)
{
	struct merged_paths list = { NULL, 0, 0 };
	struct merge_counts counts;

	merged_add(&list, "gone1.db");
	merged_add(&list, "x.db");
	merged_add(&list, "gone2.db");
	ok(merged_make(&list, NULL, false, &run.db, &counts, &err));
	ck_assert_ptr_nonnull(run.db);
	ck_assert_uint_eq(list.n, 1);
	ck_assert_str_eq(list.path[0], run.path);
	merged_paths_release(&list);
}
END_TEST

START_TEST(with_none_left_there_is_an_error)
{
	struct merged_paths list = { NULL, 0, 0 };
	struct merge_counts counts;

	merged_add(&list, "gone1.db");
	merged_add(&list, "gone2.db");
	ck_assert_int_eq(
		merged_make(&list, NULL, false, &run.db, &counts, &err), -1);
	ck_assert_ptr_null(run.db);
	ck_assert_uint_eq(list.n, 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "gone1.db"));
	merged_paths_release(&list);
}
END_TEST

RUN_WITH("merged", merged_begin, tear_down,
	 a_database_that_was_removed_is_left_out,
	 with_none_left_there_is_an_error)
