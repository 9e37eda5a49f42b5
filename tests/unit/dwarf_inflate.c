/* dwarf_inflate.c - lines and inlined functions from compressed sections, which
 * are inflated as far as they are needed: of this program. */
#include "symbolize/dwarf/dwarf.h"

#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/dwarf/dwarf_units.h"
#include "symbolize/elf/elf.h"
#include "symbolize/symbolize.h"
#include "tests/unit/run.h"
#include "tests/unit/scratch.h"

#define PLACES 300

static char dir[64];
static struct symbolizer *sy;
static uint64_t vaddr[PLACES];
static size_t n_known; /* the first ones, of which something is known */

/* Copies of this program, with debug information as it was built and
 * compressed. */
static char plain[128], packed[128];

static void inflate_sort_places(void);

/* Places all over the code; first those of which something is known. */
static void inflate_pick_places(void)
{
	struct elf_file *ef = elf_file_open(plain, NULL);
	struct elf_section text;

	ck_assert(ef && elf_section_find(ef, ".text", &text));
	for (size_t i = 0; i < PLACES; i++)
		vaddr[i] = text.addr + text.size / PLACES * i;
	elf_file_close(ef);
	inflate_sort_places();
}

static void inflate_setup(void)
{
	char cmd[4096 + 512];
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	ck_assert_int_gt(n, 0);
	self[n] = '\0';
	scratch_make(dir, sizeof(dir));
	snprintf(plain, sizeof(plain), "%s/plain", dir);
	snprintf(packed, sizeof(packed), "%s/packed", dir);
	snprintf(cmd, sizeof(cmd),
		 "objcopy --decompress-debug-sections '%s' %s && "
		 "objcopy --compress-debug-sections=zlib %s %s",
		 self, plain, plain, packed);
	ck_assert_int_eq(system(cmd), 0);
	sy = symbolize_new(NULL);
	inflate_pick_places();
}

static void inflate_teardown(void)
{
	symbolize_free(sy);
	scratch_remove(dir);
}

/* What is said of the places, as one text for each; NULL: nothing. */
struct said {
	char *text[PLACES];
	size_t n; /* texts that are not NULL */
};

static char *inflate_text(const struct dwarf *d, size_t i)
{
	const struct dwarf_frame *fr;
	size_t n = dwarf_frames(d, i, &fr);
	char *text = NULL;
	size_t len;

	if (!n)
		return NULL;
	FILE *f = open_memstream(&text, &len);

	for (size_t k = 0; k < n; k++)
		fprintf(f, "%s %s:%u;", fr[k].name ? fr[k].name : "-",
			fr[k].file ? fr[k].file : "-", fr[k].line);
	fclose(f);
	return text;
}

/* Asks for places first..first+n, `each` at once. */
static void inflate_ask(const char *path, size_t first, size_t n, size_t each,
			struct said *s)
{
	struct elf_file *ef = elf_file_open(path, NULL);
	struct dwarf_file *df = ef ? dwarf_open(ef, NULL) : NULL;

	memset(s, 0, sizeof(*s));
	for (size_t i = first; df && i < first + n; i += each) {
		struct dwarf *d = dwarf_lookup(sy, df, vaddr + i, each);

		for (size_t k = 0; k < each; k++) {
			s->text[i + k] = inflate_text(d, k);
			s->n += s->text[i + k] != NULL;
		}
		dwarf_free(d);
	}
	dwarf_close(df);
	elf_file_close(ef);
}

static void inflate_free(struct said *s)
{
	for (size_t i = 0; i < PLACES; i++)
		free(s->text[i]);
}

/* Returns whether all that b says is what a says. */
static bool inflate_agrees(const struct said *a, const struct said *b)
{
	for (size_t i = 0; i < PLACES; i++)
		if (b->text[i] &&
		    (!a->text[i] || strcmp(a->text[i], b->text[i]) != 0))
			return false;
	return true;
}

static void inflate_sort_places(void)
{
	uint64_t all[PLACES];
	struct said s;
	size_t n = 0;

	memcpy(all, vaddr, sizeof(all));
	inflate_ask(plain, 0, PLACES, PLACES, &s);
	for (int known = 1; known >= 0; known--)
		for (size_t i = 0; i < PLACES; i++)
			if (known == (s.text[i] != NULL))
				vaddr[n++] = all[i];
	n_known = s.n;
	inflate_free(&s);
}

static void inflate_compare(size_t first, size_t n, size_t each)
{
	struct said a;
	struct said b;

	inflate_ask(plain, first, n, each, &a);
	inflate_ask(packed, first, n, each, &b);
	ck_assert_uint_gt(a.n, 9);
	ck_assert_uint_eq(a.n, b.n);
	ck_assert(inflate_agrees(&a, &b));
	inflate_free(&a);
	inflate_free(&b);
}

START_TEST(compressed_sections_say_what_plain_ones_say)
{
	inflate_compare(0, PLACES, PLACES);
}
END_TEST

START_TEST(the_order_in_which_places_are_asked_for_does_not_matter)
{
	inflate_compare(0, PLACES, 1);
	inflate_compare(0, PLACES, PLACES / 10);
	inflate_compare(n_known - 10, 10, 5);
	inflate_compare(0, 10, 5);
}
END_TEST

/* ---- damage */

/* Bytes of the compressed copy, and where a section is in it. */
struct damaged {
	char path[128];
	unsigned char *p;
	size_t n;
	size_t off, size; /* of the section, with its header */
	size_t header;	  /* place of its section header */
};

static void inflate_read(struct damaged *m, const char *section)
{
	FILE *f = fopen(packed, "rb");
	struct elf_file *ef = elf_file_open(packed, NULL);
	struct elf_section s;
	ElfW(Ehdr) eh;

	ck_assert(f && ef && elf_section_find(ef, section, &s) &&
		  s.flags & SHF_COMPRESSED);
	fseek(f, 0, SEEK_END);
	m->n = (size_t)ftell(f);
	rewind(f);
	m->p = malloc(m->n);
	ck_assert(m->p && fread(m->p, 1, m->n, f) == m->n);
	memcpy(&eh, m->p, sizeof(eh));
	m->off = s.off;
	m->size = s.size;
	m->header = eh.e_shoff + elf_ndxscn(s.scn) * sizeof(ElfW(Shdr));
	snprintf(m->path, sizeof(m->path), "%s/damaged", dir);
	elf_file_close(ef);
	fclose(f);
}

static void inflate_ask_damaged(const struct damaged *m, size_t each,
				struct said *s)
{
	FILE *f = fopen(m->path, "wb");

	ck_assert(f && fwrite(m->p, 1, m->n, f) == m->n);
	fclose(f);
	inflate_ask(m->path, 0, n_known, each, s);
}

static void inflate_state_size(struct damaged *m, uint64_t size)
{
	ElfW(Chdr) ch;

	memcpy(&ch, m->p + m->off, sizeof(ch));
	ch.ch_size = size;
	memcpy(m->p + m->off, &ch, sizeof(ch));
}

/* Whatever the section states as its size, nothing wrong is said. */
static void inflate_wrong_sizes(const char *section)
{
	struct damaged m;
	struct said a;
	ElfW(Chdr) ch;

	inflate_read(&m, section);
	memcpy(&ch, m.p + m.off, sizeof(ch));
	inflate_ask(plain, 0, PLACES, PLACES, &a);
	const uint64_t sizes[] = { 0,
				   1,
				   11,
				   12,
				   ch.ch_size / 2,
				   ch.ch_size - 1,
				   ch.ch_size + 1,
				   ch.ch_size * 2,
				   UINT32_MAX,
				   UINT64_MAX };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct said b;

		inflate_state_size(&m, sizes[i]);
		inflate_ask_damaged(&m, 1, &b);
		ck_assert_msg(inflate_agrees(&a, &b), "size %zu", i);
		inflate_free(&b);
	}
	inflate_free(&a);
	free(m.p);
}

START_TEST(a_wrong_stated_size_of_units_leads_to_nothing_wrong)
{
	inflate_wrong_sizes(".debug_info");
}
END_TEST

/* Lines of a part that is there are right, those of others are missing. */
START_TEST(a_cut_section_leads_to_nothing_wrong)
{
	struct damaged m;
	struct said a;
	size_t some = 0;

	inflate_read(&m, ".debug_info");
	inflate_ask(plain, 0, PLACES, PLACES, &a);
	for (size_t i = 0; i <= 20; i++) {
		ElfW(Shdr) sh;
		struct said b;

		memcpy(&sh, m.p + m.header, sizeof(sh));
		sh.sh_size = i * m.size / 21;
		memcpy(m.p + m.header, &sh, sizeof(sh));
		inflate_ask_damaged(&m, 1, &b);
		ck_assert_msg(inflate_agrees(&a, &b), "cut %zu", i);
		ck_assert_uint_lt(b.n, a.n);
		some += b.n;
		inflate_free(&b);
	}
	ck_assert_uint_gt(some, 0);
	inflate_free(&a);
	free(m.p);
}
END_TEST

/* The checksum is behind the last byte. */
START_TEST(a_wrong_checksum_of_lines_that_were_all_read_leads_to_nothing)
{
	struct damaged m;
	struct said b;

	inflate_read(&m, ".debug_line");
	m.p[m.off + m.size - 1] ^= 1;
	inflate_ask_damaged(&m, n_known, &b);
	ck_assert_uint_eq(b.n, 0);
	inflate_free(&b);
	free(m.p);
}
END_TEST

/* Bytes that are inflated wrongly may say anything; that must be harmless. */
START_TEST(flipped_bits_are_harmless)
{
	static const char *const section[] = { ".debug_info", ".debug_line",
					       ".debug_abbrev" };
	struct damaged m;
	struct said b;
	uint64_t seed = 7;

	for (int i = 0; i < 60; i++) {
		inflate_read(&m, section[i % 3]);
		for (int k = 0; k <= i / 20; k++) {
			size_t at = (size_t)rnd_below(&seed, m.size);

			m.p[m.off + at] ^= (unsigned char)(1 << (i % 8));
		}
		inflate_ask_damaged(&m, 1, &b);
		inflate_free(&b);
		free(m.p);
	}
}
END_TEST

/* As of a file that begins with a unit of data alone. */
START_TEST(a_unit_without_code_has_no_ranges)
{
	const struct dwarf_unit none = { .n = 0 };
	struct dwarf_units *us = dwarf_units_new(NULL, false);

	ck_assert_ptr_null(dwarf_units_ranges(us, &none));
	dwarf_units_free(us);
}
END_TEST

RUN_WITH("dwarf_inflate", inflate_setup, inflate_teardown,
	 compressed_sections_say_what_plain_ones_say,
	 the_order_in_which_places_are_asked_for_does_not_matter,
	 a_wrong_stated_size_of_units_leads_to_nothing_wrong,
	 a_cut_section_leads_to_nothing_wrong,
	 a_wrong_checksum_of_lines_that_were_all_read_leads_to_nothing,
	 flipped_bits_are_harmless, a_unit_without_code_has_no_ranges)
