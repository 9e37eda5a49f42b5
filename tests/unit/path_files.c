/* path_files.c - at which paths a capture has mapped more than one file, and
 * the mappings of perf from which that is known. */
#include "stitch/base/path_files.h"

#include <string.h>

#include "formats/perf/plain.h"
#include "stitch/base/bytes.h"
#include "tests/unit/run.h"

#define MAP_NAME 72

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
	path_files_merge(&pf, NULL);
	ck_assert_ptr_null(pf);
}
END_TEST

START_TEST(halves_of_a_file_have_the_files_of_both)
{
	static const struct path_file a = { 8, 1, 5, 7 }, b = { 8, 1, 6, 7 };
	struct path_files *one = NULL, *two = NULL;

	path_files_add(&one, "/lib/x", 6, &a);
	path_files_add(&one, "/lib/y", 6, &a);
	path_files_add(&two, "/lib/y", 6, &a);
	path_files_add(&two, "/lib/x", 6, &b);
	path_files_add(&two, "/lib/z", 6, &a);
	path_files_add(&two, "/lib/z", 6, &b);
	path_files_merge(&one, two);
	ck_assert(path_files_several(one, "/lib/x"));
	ck_assert(!path_files_several(one, "/lib/y"));
	ck_assert(path_files_several(one, "/lib/z"));
	ck_assert(!path_files_several(two, "/lib/x"));
	path_files_free(one);
	path_files_free(two);
}
END_TEST

/* Puts a record MMAP2 without its header; ino is its lowest byte. */
static void put_mmap2(unsigned char *rec, size_t size, unsigned char ino,
		      const char *name, size_t len)
{
	memset(rec, 0, size);
	rec[40] = 8;
	rec[48] = ino;
	memcpy(rec + MAP_NAME, name, len);
}

static bool take_two(uint16_t misc, uint16_t size, size_t there,
		     const char *name, size_t len)
{
	unsigned char rec[128];
	struct path_files *pf = NULL;

	for (unsigned char ino = 1; ino < 3; ino++) {
		struct bytes b;

		put_mmap2(rec, sizeof(rec), ino, name, len);
		bytes_init(&b, rec, there, "", 0, false);
		perf_plain_take_map(&pf, &b, misc, size);
		ck_assert_uint_eq(bytes_left(&b), there);
	}
	bool several = path_files_several(pf, "/lib/x");

	path_files_free(pf);
	return several;
}

START_TEST(a_mapping_of_perf_has_device_inode_and_path)
{
	ck_assert(take_two(PM_USER, 80, 80, "/lib/x", 7));
	ck_assert(take_two(PM_USER, 80, 128, "/lib/x", 7));
	/* a name that is not ended, ends with its record */
	ck_assert(take_two(PM_USER, 78, 78, "/lib/xyz", 8));
	/* it has a build-id; it is the kernel's; it is cut off */
	ck_assert(!take_two(PM_USER | PM_BIT14, 80, 80, "/lib/x", 7));
	ck_assert(!take_two(PM_KERNEL, 80, 80, "/lib/x", 7));
	for (size_t n = 0; n < 80; n++)
		ck_assert(!take_two(PM_USER, 80, n, "/lib/x", 7));
	for (uint16_t n = 0; n < 78; n++)
		ck_assert(!take_two(PM_USER, n, 80, "/lib/x", 7));
}
END_TEST

static const struct run_table tables[] = {
	RUN_TABLE(two_files_of_a_path_are_told_apart, pairs),
};

RUN_TABLES("path_files", tables, the_first_known_generation_is_kept,
	   what_has_no_path_or_inode_is_no_file,
	   halves_of_a_file_have_the_files_of_both,
	   a_mapping_of_perf_has_device_inode_and_path)
