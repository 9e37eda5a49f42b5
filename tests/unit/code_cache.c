/* code_cache.c - what is known of the code of a file: the same the second time,
 * until the file changes. */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "mkelf.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/code_cache.h"
#include "symbolize/symbolize.h"
#include "tests/unit/run.h"
#include "tests/unit/scratch.h"

static const char id_a[] = "abcdefghijklmnopqrst";
static char dir[64], cache[128], prog[128];

static void code_cache_setup(void)
{
	scratch_make(dir, sizeof(dir));
	snprintf(cache, sizeof(cache), "%s/cache", dir);
	snprintf(prog, sizeof(prog), "%s/prog", dir);
	mkelf(prog, &(struct mkelf){ .id = id_a });
}

static void code_cache_teardown(void)
{
	scratch_remove(dir);
}

/* Asks about two addresses and .text, and notes what is not known. Returns how
 * many of these were. */
static int ask(void)
{
	static const uint64_t vaddr[] = { 0x1234, 0x1000 };
	struct symbolizer *sy =
		symbolize_new(&(struct symbolize_opts){ .cache = cache });
	struct elf_file *ef = elf_file_open(prog, NULL);
	struct code_cache *c = code_cache_of(sy, ef);
	uint64_t hash = 0;
	int known = 0;

	must(c && code_cache_of(sy, ef) == c);
	for (unsigned int i = 0; i < 2; i++) {
		unsigned int said = 0;

		if (!code_cache_find(c, vaddr[i], &said)) {
			code_cache_note(c, vaddr[i], 3 + i);
			code_cache_note(c, vaddr[i], 3 + i);
			continue;
		}
		must(said == 3 + i);
		known++;
	}
	if (code_cache_find_text(c, &hash)) {
		must(hash == UINT64_MAX);
		known++;
	} else {
		code_cache_note_text(c, UINT64_MAX);
		must(code_cache_find_text(c, &hash));
	}
	elf_file_close(ef);
	symbolize_free(sy);
	return known;
}

/* The only file of the cache; "": there is none. */
static const char *code_cache_file(void)
{
	static char path[512];
	char folder[256];

	snprintf(folder, sizeof(folder), "%s/names/61", cache);
	DIR *d = opendir(folder);

	path[0] = '\0';
	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_name[0] != '.')
			snprintf(path, sizeof(path), "%s/%s", folder,
				 e->d_name);
	if (d)
		closedir(d);
	return path;
}

START_TEST(the_second_run_knows_what_the_first_found)
{
	ck_assert_int_eq(ask(), 0);
	ck_assert_int_eq(ask(), 3);
	ck_assert_int_eq(ask(), 3);
}
END_TEST

START_TEST(a_file_that_changed_is_asked_again)
{
	static const struct mksym more = { "more", MKELF_TEXT, 1, 0 };

	ask();
	mkelf(prog, &(struct mkelf){ .id = id_a, .sym = &more, .n_sym = 1 });
	ck_assert_int_eq(ask(), 0);
	ck_assert_int_eq(ask(), 3);
}
END_TEST

START_TEST(a_file_without_a_build_id_is_not_kept)
{
	mkelf(prog, &(struct mkelf){ .n_sym = 0 });
	ck_assert_int_eq(ask(), 0);
	ck_assert_int_eq(ask(), 0);
	ck_assert_str_eq(code_cache_file(), "");
}
END_TEST

static void code_cache_write(const char *path, const void *p, size_t n)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	must(fd >= 0 && write(fd, p, n) == (ssize_t)n);
	close(fd);
}

START_TEST(a_damaged_one_is_ignored_and_replaced)
{
	unsigned char buf[512];

	ask();
	int fd = open(code_cache_file(), O_RDONLY);
	ssize_t len = read(fd, buf, sizeof(buf));

	close(fd);
	must(len > 64 && len < (ssize_t)sizeof(buf));
	for (ssize_t i = 0; i < len; i++) {
		buf[i] ^= 0x20;
		code_cache_write(code_cache_file(), buf, (size_t)len);
		must(ask() == 0 && ask() == 3);
		buf[i] ^= 0x20;
		code_cache_write(code_cache_file(), buf, (size_t)i);
		must(ask() == 0 && ask() == 3);
	}
}
END_TEST

START_TEST(places_in_another_order_are_no_cache)
{
	uint64_t places[] = { 1 << CODE_CACHE_BITS, 1 << CODE_CACHE_BITS };
	unsigned char buf[512];

	ask();
	int fd = open(code_cache_file(), O_RDONLY);
	ssize_t len = read(fd, buf, sizeof(buf));

	close(fd);
	must(len > 64 && len < (ssize_t)sizeof(buf));
	/* without the time of the file, which is that of no file */
	memset(buf + 24, 0, (size_t)len - 24);
	ck_assert(code_cache_is_sound(buf + 16, (size_t)len - 16) == false);
	memcpy(buf + len - 16, places, sizeof(places));
	ck_assert(!code_cache_is_sound(buf + 16, (size_t)len - 16));
	places[1] = 2 << CODE_CACHE_BITS;
	memcpy(buf + len - 16, places, sizeof(places));
	ck_assert(code_cache_is_sound(buf + 16, (size_t)len - 16));
	ck_assert(!code_cache_is_sound(buf + 16, (size_t)len - 17));
	/* other rules */
	buf[16] ^= 1;
	ck_assert(!code_cache_is_sound(buf + 16, (size_t)len - 16));
}
END_TEST

RUN_WITH("code_cache", code_cache_setup, code_cache_teardown,
	 the_second_run_knows_what_the_first_found,
	 a_file_that_changed_is_asked_again,
	 a_file_without_a_build_id_is_not_kept,
	 a_damaged_one_is_ignored_and_replaced,
	 places_in_another_order_are_no_cache)
