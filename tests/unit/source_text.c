/* source_text.c - tests of analyze/names/source_text.c: which files are
 * believed to be the compiled ones. */
#include "analyze/names/source_text.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stitch/base/md5.h"
#include "tests/unit/scratch.h"

#define BUILT 1000000000
#define TEXT "int a;\n\tint b; \r\n\nlast"

static char dir[64];
static char place[160];
static struct sources *sources;

/* Looks below a folder, too; it is that of the caller. */
static void source_look_below(const char *folder)
{
	static const char *below;

	below = folder;
	sources_free(sources);
	sources = sources_new(&below, 1, false);
}

static const char *put(const char *name, const char *text, size_t len,
		       int64_t written)
{
	const struct timespec at[2] = { { .tv_sec = written },
					{ .tv_sec = written } };

	snprintf(place, sizeof(place), "%s/%s", dir, name);
	int fd = open(place, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_eq(write(fd, text, len), (ssize_t)len);
	ck_assert_int_eq(futimens(fd, at), 0);
	close(fd);
	return place;
}

static const char *put_text(const char *name, int64_t written)
{
	return put(name, TEXT, strlen(TEXT), written);
}

static void source_set_up(void)
{
	char sub[96];

	scratch_make(dir, sizeof(dir));
	snprintf(sub, sizeof(sub), "%s/src", dir);
	ck_assert_int_eq(mkdir(sub, 0700), 0);
	sources = sources_new(NULL, 0, false);
}

static void source_tear_down(void)
{
	sources_free(sources);
	scratch_remove(dir);
}

static const struct source_file *get(const char *path, const uint8_t *md5,
				     uint32_t last)
{
	const struct source_proof p = { .md5 = md5,
					.built = BUILT,
					.last = last };

	return sources_get(sources, path, &p);
}

START_TEST(a_file_as_old_as_the_program_is_believed)
{
	const struct source_file *f = get(put_text("a.c", BUILT), NULL, 4);

	ck_assert_str_eq(f->found, place);
	ck_assert_str_eq(f->how,
			 "not newer than the program, which has no MD5 of it: "
			 "not proved");
	ck_assert_str_eq(source_line(f, 1), "int a;");
	ck_assert_str_eq(source_line(f, 2), "        int b; ");
	ck_assert_str_eq(source_line(f, 3), "");
	ck_assert_str_eq(source_line(f, 4), "last");
	ck_assert_ptr_null(source_line(f, 5));
	ck_assert_ptr_null(source_line(f, 0));
}
END_TEST

START_TEST(others_get_it_by_its_md5_or_from_a_named_folder)
{
	const char *below[] = { dir };
	uint8_t md5[MD5_SIZE];

	sources_free(sources);
	sources = sources_new(below, 0, true);
	const struct source_file *f = get(put_text("a.py", BUILT), NULL, 4);

	ck_assert_ptr_null(f->found);
	ck_assert_ptr_null(source_line(f, 1));
	ck_assert_ptr_nonnull(strstr(f->how, "has no MD5 in the program"));
	md5_of(TEXT, strlen(TEXT), md5);
	ck_assert_str_eq(get(place, md5, 4)->how, "MD5 as recorded");
	sources_free(sources);
	sources = sources_new(below, 1, true);
	put_text("src/b.c", BUILT);
	ck_assert_str_eq(get("/other/src/b.c", NULL, 4)->found, place);
	/* the folder is not the file's */
	ck_assert_ptr_null(get("/etc/hostname.c", NULL, 1)->found);
}
END_TEST

START_TEST(a_newer_file_is_not_shown)
{
	const struct source_file *f = get(put_text("a.c", BUILT + 1), NULL, 1);

	ck_assert_ptr_null(f->found);
	ck_assert_ptr_null(source_line(f, 1));
	ck_assert_ptr_nonnull(strstr(f->how, "is newer than the program"));
}
END_TEST

START_TEST(a_newer_file_in_a_named_folder_is_shown_and_told)
{
	source_look_below(dir);
	put_text("src/a.c", BUILT + 1);
	const struct source_file *f = get("/other/place/src/a.c", NULL, 4);

	ck_assert_str_eq(f->found, place);
	ck_assert_str_eq(f->how, "newer than the program: lines may differ");
}
END_TEST

START_TEST(the_longest_end_of_a_path_wins)
{
	source_look_below(dir);
	put_text("a.c", BUILT);
	put_text("src/a.c", BUILT);
	ck_assert_str_eq(get("/x/./y/../src//a.c", NULL, 1)->found, place);
	ck_assert_ptr_nonnull(
		strstr(get("/x/lib/a.c", NULL, 1)->found, "/a.c"));
}
END_TEST

START_TEST(no_path_leads_out_of_a_named_folder)
{
	char sub[96];

	snprintf(sub, sizeof(sub), "%s/src", dir);
	source_look_below(sub);
	put_text("a.c", BUILT);
	ck_assert_ptr_null(get("../a.c", NULL, 1)->found);
	ck_assert_str_eq(get("b/../../a.c", NULL, 1)->how, "not found");
}
END_TEST

START_TEST(a_recorded_md5_decides_alone)
{
	uint8_t md5[MD5_SIZE];

	md5_of(TEXT, strlen(TEXT), md5);
	ck_assert_str_eq(get(put_text("a.c", BUILT + 9), md5, 1)->how,
			 "MD5 as recorded");
	md5[3] ^= 1;
	ck_assert_ptr_null(get(put_text("b.c", BUILT), md5, 1)->found);
	source_look_below(dir);
	ck_assert_ptr_nonnull(strstr(get("c/b.c", md5, 1)->how, "another MD5"));
}
END_TEST

START_TEST(another_program_has_its_own_version_of_a_path)
{
	const struct source_proof newer = { .built = BUILT + 9, .last = 1 };
	uint8_t md5[MD5_SIZE];

	md5_of(TEXT, strlen(TEXT), md5);
	ck_assert_ptr_nonnull(get(put_text("a.c", BUILT + 9), md5, 1)->found);
	ck_assert_ptr_null(get(place, NULL, 1)->found);
	ck_assert_str_eq(sources_get(sources, place, &newer)->found, place);
	md5[3] ^= 1;
	ck_assert_ptr_null(get(place, md5, 1)->found);
	md5[3] ^= 1;
	ck_assert_ptr_nonnull(get(place, md5, 4)->found);
}
END_TEST

START_TEST(a_shorter_file_is_another)
{
	const struct source_file *f = get(put_text("a.c", BUILT), NULL, 5);

	ck_assert_ptr_null(f->found);
	f = get(put_text("b.c", BUILT), NULL, 4);
	ck_assert_ptr_nonnull(f->found);
	ck_assert_ptr_eq(get(place, NULL, 5), f);
	ck_assert_ptr_null(f->found);
	ck_assert_str_eq(f->how, "has fewer lines than the compiled file");
}
END_TEST

START_TEST(what_is_no_source_is_not_read)
{
	ck_assert_ptr_null(get(put_text("id_rsa", BUILT), NULL, 1)->found);
	ck_assert_ptr_null(get(put_text("notes.txt", BUILT), NULL, 1)->found);
	ck_assert_ptr_null(get(put("z.c", "a\0b\n", 4, BUILT), NULL, 1)->found);
	ck_assert_ptr_null(get("/dev/zero.c", NULL, 1)->found);
}
END_TEST

START_TEST(a_long_line_is_cut_between_characters)
{
	char text[1001];

	for (size_t i = 0; i < 500; i++)
		memcpy(text + 2 * i, "\xc3\xa4", 2);
	const char *line =
		source_line(get(put("a.c", text, 1000, BUILT), NULL, 1), 1);

	ck_assert_uint_le(strlen(line), 400);
	ck_assert_uint_eq(strlen(line) % 2, 0);
}
END_TEST

RUN_WITH("source_text", source_set_up, source_tear_down,
	 a_file_as_old_as_the_program_is_believed,
	 others_get_it_by_its_md5_or_from_a_named_folder,
	 a_newer_file_is_not_shown,
	 a_newer_file_in_a_named_folder_is_shown_and_told,
	 the_longest_end_of_a_path_wins, no_path_leads_out_of_a_named_folder,
	 a_recorded_md5_decides_alone,
	 another_program_has_its_own_version_of_a_path,
	 a_shorter_file_is_another, what_is_no_source_is_not_read,
	 a_long_line_is_cut_between_characters)
