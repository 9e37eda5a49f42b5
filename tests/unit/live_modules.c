/* live_modules.c - whether modules are still those that were read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolize/names/live_modules.h"
#include "tests/unit/run.h"
#include "tests/unit/scratch.h"

static char scratch[64], list[128], folder[128];

static void modules_are(const char *text)
{
	FILE *f = fopen(list, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static void modules_begin(void)
{
	char path[256];

	scratch_make(scratch, sizeof(scratch));
	snprintf(list, sizeof(list), "%s/modules", scratch);
	snprintf(folder, sizeof(folder), "%s/module", scratch);
	mkdir(folder, 0700);
	snprintf(path, sizeof(path), "%s/ext4", folder);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/nf_tables", folder);
	mkdir(path, 0700);
}

static void modules_end(void)
{
	scratch_remove(scratch);
}

#define EXT4 "ext4 1085440 1 - Live 0xffffffffc0a4b000\n"
#define TABLES "nf_tables 372736 0 - Live 0xffffffffc0b00000\n"

/* Returns whether the modules are the same after a change of the list. */
static bool same_as(const char *text)
{
	modules_are(EXT4 TABLES);
	char *before = live_modules_read(list, folder);

	modules_are(text);
	char *after = live_modules_read(list, folder);
	bool same = before && after && !strcmp(before, after);

	free(before);
	free(after);
	return same;
}

START_TEST(users_of_a_module_do_not_matter)
{
	ck_assert(same_as(EXT4 TABLES));
	ck_assert(same_as("ext4 1085440 7 jbd2,mbcache, Live "
			  "0xffffffffc0a4b000 (E)\n" TABLES));
}
END_TEST

START_TEST(a_module_that_comes_or_goes_or_moves_is_seen)
{
	ck_assert(!same_as(EXT4));
	ck_assert(!same_as(TABLES EXT4));
	ck_assert(
		!same_as("ext4 1085440 1 - Live 0xffffffffc0a4c000\n" TABLES));
	ck_assert(
		!same_as("ext4 1085441 1 - Live 0xffffffffc0a4b000\n" TABLES));
	ck_assert(!same_as(
		"ext4 1085440 1 - Loading 0xffffffffc0a4b000\n" TABLES));
	ck_assert(!same_as(EXT4 TABLES "xfs 1 0 - Live 0xffffffffc0c00000\n"));
	ck_assert(!same_as("ext4\n"));
}
END_TEST

START_TEST(a_module_that_is_loaded_again_is_seen)
{
	char path[256], other[256];

	modules_are(EXT4 TABLES);
	char *before = live_modules_read(list, folder);

	ck_assert_ptr_nonnull(before);
	snprintf(path, sizeof(path), "%s/ext4", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	mkdir(other, 0700);
	ck_assert_int_eq(rmdir(path), 0);
	ck_assert_int_eq(rename(other, path), 0);
	char *after = live_modules_read(list, folder);

	ck_assert_ptr_nonnull(after);
	ck_assert_str_ne(before, after);
	free(before);
	free(after);
}
END_TEST

START_TEST(a_module_is_found_by_its_whole_name)
{
	modules_are(EXT4 TABLES);
	char *text = live_modules_read(list, folder);

	ck_assert(live_modules_has(text, "ext4"));
	ck_assert(live_modules_has(text, "nf_tables"));
	ck_assert(!live_modules_has(text, "tables"));
	ck_assert(!live_modules_has(text, "nf"));
	ck_assert(!live_modules_has(text, "1085440"));
	ck_assert(!live_modules_has(NULL, "ext4"));
	free(text);
}
END_TEST

START_TEST(without_a_list_nothing_is_known)
{
	ck_assert_ptr_null(live_modules_read("/none/modules", folder));
}
END_TEST

RUN_WITH("live_modules", modules_begin, modules_end,
	 users_of_a_module_do_not_matter,
	 a_module_that_comes_or_goes_or_moves_is_seen,
	 a_module_that_is_loaded_again_is_seen,
	 a_module_is_found_by_its_whole_name, without_a_list_nothing_is_known)
