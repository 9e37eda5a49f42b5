/* path_files.c - at which paths a capture has mapped more than one file. */
#include "stitch/files/path_files.h"

#include "tests/unit/run.h"

struct pair {
	const char *name;
	struct path_file a, b;
	bool several;
};

static const struct pair pairs[] = {
	{ "one_file_twice", { 8, 1, 5, 7 }, { 8, 1, 5, 7 }, false },
	{ "two_inodes", { 8, 1, 5, 7 }, { 8, 1, 6, 7 }, true },
	{ "an_inode_that_was_used_again",
	  { 8, 1, 5, 7 },
	  { 8, 1, 5, 8 },
	  true },
	{ "a_generation_that_is_not_known",
	  { 8, 1, 5, 0 },
	  { 8, 1, 5, 8 },
	  false },
	{ "one_inode_on_two_disks", { 8, 1, 5, 0 }, { 8, 2, 5, 0 }, true },
	{ "devices_of_overlays_as_stat_and_the_kernel_tell",
	  { 0, 40, 5, 0 },
	  { 8, 1, 9, 7 },
	  false },
	{ "two_devices_that_the_kernel_tells",
	  { 0, 40, 5, 3 },
	  { 8, 1, 9, 7 },
	  true },
	{ "no_inode", { 8, 1, 5, 7 }, { 0, 0, 0, 0 }, false },
};

START_TEST(two_files_of_a_path_are_told_apart)
{
	const struct pair *t = &pairs[_i];

	for (int turn = 0; turn < 2; turn++) {
		struct path_files *pf = NULL;

		path_files_add(&pf, "/lib/x", 6, turn ? &t->b : &t->a);
		path_files_add(&pf, "/lib/x", 6, turn ? &t->a : &t->b);
		path_files_add(&pf, "/lib/y", 6, &t->a);
		ck_assert_int_eq(path_files_several(pf, "/lib/x"), t->several);
		ck_assert(!path_files_several(pf, "/lib/y"));
		ck_assert(!path_files_several(pf, "/lib"));
		path_files_free(pf);
	}
}
END_TEST

/* A generation that comes later is compared with those behind it. */
START_TEST(the_first_known_generation_is_kept)
{
	static const struct path_file f[] = {
		{ 8, 1, 5, 0 }, { 8, 1, 5, 7 }, { 8, 1, 5, 0 }, { 8, 1, 5, 8 }
	};
	struct path_files *pf = NULL;

	for (size_t i = 0; i < 4; i++) {
		path_files_add(&pf, "/lib/x", 6, &f[i]);
		ck_assert_int_eq(path_files_several(pf, "/lib/x"), i == 3);
	}
	path_files_free(pf);
}
END_TEST

START_TEST(what_has_no_path_or_inode_is_no_file)
{
	static const struct path_file f = { 8, 1, 5, 7 };
	static const struct path_file none = { 8, 1, 0, 7 };
	struct path_files *pf = NULL;

	path_files_add(&pf, "//anon", 0, &f);
	path_files_add(&pf, "[vdso]", 6, &f);
	path_files_add(&pf, "/lib/x", 6, &none);
	ck_assert_ptr_null(pf);
	ck_assert(!path_files_several(pf, "/lib/x"));
}
END_TEST

static const struct run_table tables[] = {
	RUN_TABLE(two_files_of_a_path_are_told_apart, pairs),
};

RUN_TABLES("path_files", tables, the_first_known_generation_is_kept,
	   what_has_no_path_or_inode_is_no_file)
