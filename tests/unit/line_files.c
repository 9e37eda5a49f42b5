/* line_files.c - tests of symbolize/dwarf/line_files.c: checksums of source
 * files, in a program that clang built, and in damaged tables. */
#include "symbolize/dwarf/line_files.h"

#include <libelf.h>
#include <stdio.h>
#include <string.h>

#include "stitch/base/md5.h"
#include "stitch/base/mem.h"
#include "stitch/tasks/frame.h"
#include "symbolize/symbolize.h"
#include "tests/rnd.h"
#include "tests/slurp.h"
#include "tests/unit/scratch.h"

#define CAPTURES "tests/captures"
#define SYMFS CAPTURES "/symfs"
#define CLANG "/wl/lines-clang"

static struct symbolizer *sy;

static void look_below(const char *dir)
{
	const struct symbolize_opts o = { .symfs = dir, .no_live = true };

	symbolize_free(sy);
	sy = symbolize_new(&o);
}

static void line_files_set_up(void)
{
	look_below(SYMFS);
}

static void line_files_tear_down(void)
{
	symbolize_free(sy);
	sy = NULL;
}

static struct line_files *open_tables(const char *path)
{
	const struct image img = { .kind = IMAGE_FILE, .path = path };

	return line_files_open(sy, &img);
}

static void has_md5_of(struct line_files *f, const char *path,
		       const char *source)
{
	const uint8_t *md5 = line_files_md5(f, path);
	uint8_t want[MD5_SIZE];
	size_t len;
	unsigned char *text = slurp_slurp(source, &len);

	ck_assert_ptr_nonnull(md5);
	md5_of(text, len, want);
	ck_assert_mem_eq(md5, want, MD5_SIZE);
	free(text);
}

START_TEST(clang_tells_the_checksum_of_each_file)
{
	struct line_files *f = open_tables(CLANG);

	has_md5_of(f, "/wl/lines.c", CAPTURES "/lines.c");
	has_md5_of(f, "/wl/./lines.h", CAPTURES "/lines.h");
	ck_assert_ptr_null(line_files_md5(f, "/wl/other.c"));
	line_files_close(f);
}
END_TEST

START_TEST(gcc_tells_none)
{
	struct line_files *f = open_tables("/wl/lines-gcc");

	ck_assert_ptr_null(line_files_md5(f, "/wl/lines.c"));
	line_files_close(f);
	f = open_tables("/nowhere/program");
	ck_assert_ptr_null(line_files_md5(f, "/wl/lines.c"));
	line_files_close(f);
	line_files_close(NULL);
}
END_TEST

START_TEST(damaged_tables_are_read_to_where_they_are_sound)
{
	char dir[64];
	char path[96];
	size_t len;
	unsigned char *bytes = slurp_slurp(SYMFS CLANG, &len);
	uint64_t seed = 5;
	size_t found = 0;

	scratch_make(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/program", dir);
	look_below(dir);
	for (size_t i = 0; i < 2000; i++) {
		unsigned char *copy = mem_dup(bytes, len);
		FILE *out = fopen(path, "w");

		for (unsigned int k = 0; k <= i % 3; k++)
			copy[64 + rnd_below(&seed, len - 64)] =
				(unsigned char)rnd(&seed);
		fwrite(copy, 1, i % 5 ? len : rnd_below(&seed, len), out);
		fclose(out);
		free(copy);

		struct line_files *f = open_tables("/program");

		found += line_files_md5(f, "/wl/lines.c") != NULL;
		line_files_close(f);
	}
	/* most bytes are not of the tables */
	ck_assert_uint_gt(found, 1000);
	free(bytes);
	scratch_remove(dir);
}
END_TEST

RUN_WITH("line_files", line_files_set_up, line_files_tear_down,
	 clang_tells_the_checksum_of_each_file, gcc_tells_none,
	 damaged_tables_are_read_to_where_they_are_sound)
