/* line_rows.c - tests of symbolize/dwarf/line_table.c: what the line tables of
 * hostile files would take, and that damaged ones are stepped over. */
#include "symbolize/dwarf/line_table.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "mkelf.h"
#include "stitch/base/mem.h"
#include "symbolize/elf/elf.h"
#include "tests/rnd.h"
#include "tests/unit/scratch.h"

#define ROW 112

/* A section while it is written. */
struct made_lines {
	unsigned char *p;
	size_t n, cap;
	size_t table, head; /* where their lengths are */
};

static void put_lines(struct made_lines *m, const void *p, size_t n)
{
	mem_append(m->p, m->n, m->cap, p, n);
}

static void put_lines_byte(struct made_lines *m, int byte, size_t n)
{
	mem_grow(m->p, m->cap, m->n + n);
	memset(m->p + m->n, byte, n);
	m->n += n;
}

/* Begins a table up to its lists: twelve opcodes below the special ones. */
static void begin_table(struct made_lines *m, uint8_t version)
{
	m->table = m->n;
	put_lines(m, "\0\0\0\0", 4);
	put_lines(m, (const uint8_t[]){ version, 0, 8, 0 },
		  version == 5 ? 4 : 2);
	m->head = m->n;
	put_lines(m, "\0\0\0\0\1\1\1\xfb\xe", version >= 4 ? 9 : 8);
	put_lines(m, "\xd\0\1\1\1\1\0\0\0\1\0\0\1", 13);
}

static void end_lists(struct made_lines *m)
{
	mkelf_put32(m->p, m->head, (uint32_t)(m->n - m->head - 4));
}

static void end_table(struct made_lines *m)
{
	put_lines(m, "\0\1\1", 3); /* the end of a sequence */
	mkelf_put32(m->p, m->table, (uint32_t)(m->n - m->table - 4));
}

/* One folder with a name of that many bytes, and n files. */
static void put_lists(struct made_lines *m, uint8_t version, size_t folder,
		      size_t n)
{
	begin_table(m, version);
	if (version == 5)
		put_lines(m, "\1\1\x8\1", 4);
	put_lines_byte(m, 'd', folder);
	put_lines(m, "\0", version == 5 ? 1 : 2);
	if (version == 5)
		put_lines(m, "\1\1\x8", 3);
	for (int i = 0; version == 5 && i < 2; i++) {
		put_lines(m,
			  &(uint8_t){ i ? (uint8_t)(n >> 7)
					: (uint8_t)(n | 0x80) },
			  1);
	}
	for (size_t i = 0; i < n; i++)
		put_lines(m, "f\0\0\0", version == 5 ? 2 : 5);
	if (version < 5)
		put_lines(m, "", 1);
	end_lists(m);
}

static uint64_t bytes_of(const struct made_lines *m, uint64_t off,
			 const char *folder)
{
	struct mkelf e = { .extra_name = ".debug_line",
			   .extra = m->p,
			   .extra_len = m->n };
	char dir[64];
	char path[96];

	scratch_make(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/program", dir);
	mkelf(path, &e);
	struct elf_file *ef = elf_file_open(path, NULL);
	uint64_t n = line_rows_bytes(ef, off, folder);

	elf_file_close(ef);
	scratch_remove(dir);
	return n;
}

START_TEST(each_row_of_a_long_program_counts)
{
	for (uint8_t version = 2; version <= 5; version++) {
		struct made_lines m = { .n = 0 };

		put_lists(&m, version, 3, 1);

		/* steps that make no row, and one that does */
		for (int i = 0; i < 100000; i++)
			put_lines(&m, "\2\x81\1\3\x7f\6\1", 7);
		put_lines_byte(&m, 0x20, 5000000);
		end_table(&m);
		uint64_t n = bytes_of(&m, 0, NULL);

		ck_assert_uint_gt(n, 5100001ul * ROW);
		ck_assert_uint_lt(n, 5100001ul * ROW + 1000);
		free(m.p);
	}
}
END_TEST

START_TEST(each_path_has_its_folder)
{
	for (uint8_t version = 4; version <= 5; version++) {
		struct made_lines m = { .n = 0 };

		put_lists(&m, version, 100000, 10000);
		end_table(&m);
		ck_assert_uint_gt(bytes_of(&m, 0, NULL), 1000000000ul);
		free(m.p);
	}
}
END_TEST

START_TEST(the_program_may_name_files)
{
	struct made_lines m = { .n = 0 };

	put_lists(&m, 4, 100000, 1);
	for (int i = 0; i < 7000; i++)
		put_lines(&m, "\0\6\3f\0\1\0\0", 8);
	end_table(&m);
	ck_assert_uint_gt(bytes_of(&m, 0, NULL), 700000000ul);
	free(m.p);
}
END_TEST

START_TEST(the_table_of_the_unit_is_asked)
{
	struct made_lines m = { .n = 0 };

	put_lists(&m, 4, 3, 1);
	end_table(&m);
	size_t second = m.n;

	put_lists(&m, 4, 3, 1);
	put_lines_byte(&m, 0x20, 1000);
	end_table(&m);
	ck_assert_uint_lt(bytes_of(&m, 0, NULL), 1000);
	ck_assert_uint_gt(bytes_of(&m, second, NULL), 1000 * ROW);
	ck_assert_uint_eq(bytes_of(&m, m.n, NULL), 0);
	ck_assert_uint_eq(bytes_of(&m, UINT64_MAX, NULL), 0);
	/* of a folder that no compiler has run in */
	char *folder = mem_new(1, 5000);

	memset(folder, 'x', 4999);
	ck_assert_uint_eq(bytes_of(&m, 0, folder), UINT64_MAX);
	free(folder);
	free(m.p);
}
END_TEST

START_TEST(any_bytes_end)
{
	uint64_t seed = 1;

	for (uint8_t version = 2; version <= 5; version++) {
		struct made_lines m = { .n = 0 };

		put_lists(&m, version, 30, 130);
		for (int i = 0; i < 10000; i++)
			put_lines(&m, "\2\x81\1\3\x7f\6\1", 7);
		end_table(&m);
		for (int i = 0; i < 100; i++) {
			struct made_lines cut = {
				.p = mem_dup(m.p, m.n),
				.n = i % 3 ? m.n : rnd_below(&seed, m.n),
			};

			for (int k = 0; k <= i % 5; k++)
				cut.p[rnd_below(&seed, i % 2 ? 200 : m.n)] =
					(unsigned char)rnd(&seed);
			bytes_of(&cut, 0, NULL);
			free(cut.p);
		}
		free(m.p);
	}
}
END_TEST

RUN("line_rows", each_row_of_a_long_program_counts, each_path_has_its_folder,
    the_program_may_name_files, the_table_of_the_unit_is_asked, any_bytes_end)
