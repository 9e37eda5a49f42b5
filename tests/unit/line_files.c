/* line_files.c - tests of symbolize/dwarf/line_files.c: checksums of source
 * files, in a program that clang built, and in damaged tables. */
#include "symbolize/dwarf/line_files.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "mkelf.h"
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

/* ---- tables that are written out */

/* A file of a table: of which folder, and 16 times which byte as checksum. */
struct line_source {
	const char *name;
	uint8_t folder, md5;
};

struct line_made {
	uint8_t version, folder_form;
	bool wide;   /* 64-bit DWARF */
	bool packed; /* with zlib */
};

static size_t put_bytes(unsigned char *p, size_t at, const void *b, size_t n)
{
	memcpy(p + at, b, n);
	return at + n;
}

/* Two folders, and files with path, folder, checksum and a block. */
static size_t put_table(unsigned char *p, const struct line_made *m,
			const struct line_source *s, size_t n)
{
	static const uint8_t forms[][2] = {
		{ DW_LNCT_path, DW_FORM_string },
		{ DW_LNCT_directory_index, 0 },
		{ DW_LNCT_MD5, DW_FORM_data16 },
		{ DW_LNCT_timestamp, DW_FORM_block },
	};
	const uint8_t head[] = { m->version, 0, 8, 0 };
	static const char folders[] = "\1\1\x8\2/run\0sub";
	static const uint8_t size[] = {
		[DW_FORM_data1] = 1, [DW_FORM_udata] = 1, [DW_FORM_data2] = 2,
		[DW_FORM_data4] = 4, [DW_FORM_data8] = 8, [DW_FORM_flag] = 1,
	};
	const size_t begin = m->wide ? 12 : 4;
	size_t at = put_bytes(p, begin, head, sizeof(head));

	memset(p + at, 0, 64);
	at += m->wide ? 8 : 4;
	at = put_bytes(p, at, "\1\1\1\xfb\xe\3\0\1", 8);
	at = put_bytes(p, at, folders, sizeof(folders));
	p[at++] = sizeof(forms) / sizeof(*forms);
	at = put_bytes(p, at, forms, sizeof(forms));
	p[at - sizeof(forms) + 3] = m->folder_form;
	p[at++] = (uint8_t)n;
	for (size_t i = 0; i < n; i++) {
		at = put_bytes(p, at, s[i].name, strlen(s[i].name) + 1);
		memset(p + at, 0, 8);
		p[at] = s[i].folder;
		at += size[m->folder_form];
		memset(p + at, s[i].md5, MD5_SIZE);
		at = put_bytes(p, at + MD5_SIZE, "\2xx", 3);
	}
	if (m->wide)
		mkelf_put64(p, mkelf_put32(p, 0, UINT32_MAX), at - begin);
	else
		mkelf_put32(p, 0, (uint32_t)(at - begin));
	return at;
}

/* The tables of a program with these bytes in .debug_line. */
static struct line_files *made_tables(const unsigned char *p, size_t n,
				      bool packed)
{
	static char dir[64];
	unsigned char room[2048];
	uLongf len = sizeof(room) - sizeof(Elf64_Chdr);
	const Elf64_Chdr ch = { .ch_type = htole32(ELFCOMPRESS_ZLIB),
				.ch_size = htole64(n),
				.ch_addralign = htole64(1) };
	struct mkelf m = { .extra_name = ".debug_line",
			   .extra = p,
			   .extra_len = n };
	char path[96];

	if (packed) {
		memcpy(room, &ch, sizeof(ch));
		ck_assert_int_eq(compress(room + sizeof(ch), &len, p, n), Z_OK);
		m.extra = room;
		m.extra_len = sizeof(ch) + len;
		m.extra_flags = SHF_COMPRESSED;
	}
	scratch_make(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/program", dir);
	mkelf(path, &m);
	look_below(dir);
	struct line_files *f = open_tables("/program");

	scratch_remove(dir);
	return f;
}

static void has_md5(struct line_files *f, const char *path, int md5)
{
	const uint8_t *got = line_files_md5(f, path);

	ck_assert_msg(!got == !md5, "%s", path);
	for (int i = 0; got && i < MD5_SIZE; i++)
		ck_assert_int_eq(got[i], md5);
}

START_TEST(names_and_folders_of_each_form)
{
	static const struct line_made made[] = {
		{ .version = 5, .folder_form = DW_FORM_data1 },
		{ .version = 5, .folder_form = DW_FORM_data2 },
		{ .version = 5, .folder_form = DW_FORM_data4, .wide = true },
		{ .version = 5, .folder_form = DW_FORM_data8 },
		{ .version = 5, .folder_form = DW_FORM_udata, .packed = true },
	};
	static const struct line_source s[] = {
		{ "a.c", 0, 1 }, { "b.h", 1, 2 },   { "/abs.h", 1, 3 },
		{ "a.c", 0, 1 }, { "two.c", 0, 5 }, { "two.c", 0, 6 },
	};
	unsigned char p[1024];

	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++) {
		size_t n = put_table(p, &made[i], s, sizeof(s) / sizeof(*s));
		struct line_files *f = made_tables(p, n, made[i].packed);

		has_md5(f, "/run/a.c", 1);
		has_md5(f, "/run/sub/b.h", 2);
		has_md5(f, "/abs.h", 3);
		/* which of the two was compiled is not known */
		has_md5(f, "/run/two.c", 0);
		line_files_close(f);
	}
}
END_TEST

START_TEST(tables_of_other_versions_and_forms_are_stepped_over)
{
	static const struct line_made old = { .version = 4,
					      .folder_form = DW_FORM_data1 };
	static const struct line_made odd = { .version = 5,
					      .folder_form = DW_FORM_flag };
	static const struct line_made sound = { .version = 5,
						.folder_form = DW_FORM_data1 };
	static const struct line_source s[] = { { "a.c", 0, 1 } };
	static const struct line_source other[] = { { "b.c", 0, 2 } };
	unsigned char p[1024];
	size_t n = put_table(p, &old, s, 1);

	n += put_table(p + n, &odd, s, 1);
	n += put_table(p + n, &sound, other, 1);
	struct line_files *f = made_tables(p, n, false);

	has_md5(f, "/run/a.c", 0);
	has_md5(f, "/run/b.c", 2);
	line_files_close(f);
	/* the last one is cut short */
	f = made_tables(p, n - 1, false);
	has_md5(f, "/run/b.c", 0);
	line_files_close(f);
}
END_TEST

RUN_WITH("line_files", line_files_set_up, line_files_tear_down,
	 clang_tells_the_checksum_of_each_file, gcc_tells_none,
	 damaged_tables_are_read_to_where_they_are_sound,
	 names_and_folders_of_each_form,
	 tables_of_other_versions_and_forms_are_stepped_over)
