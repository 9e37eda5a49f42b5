/* symbolize_dwarf.c - source lines and inlined functions: of this program. */
#include "symbolize/dwarf/dwarf.h"

#include <check.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stitch/tasks/frame.h"
#include "symbolize/elf/elf.h"
#include "symbolize/symbolize.h"
#include "tests/unit/run.h"

static uint64_t here[4]; /* return addresses, see dwarf_mark() */
static int lines[8];	 /* of the calls, and of the calls of the callers */

/* Where the caller goes on: not inlined, so that there is a call. */
static void __attribute__((noinline)) dwarf_mark(int i)
{
	here[i] = (uintptr_t)__builtin_return_address(0);
	__asm__ volatile("" ::: "memory");
}

static inline void __attribute__((always_inline)) inner(int i)
{
	lines[2 * i] = __LINE__ + 1;
	dwarf_mark(i);
	__asm__ volatile("" ::: "memory");
}

static inline void __attribute__((always_inline)) dwarf_middle(int i)
{
	lines[2 * i + 1] = __LINE__ + 1;
	inner(i);
}

static void __attribute__((noinline)) dwarf_plain(void)
{
	lines[0] = __LINE__ + 1;
	dwarf_mark(0);
	__asm__ volatile("" ::: "memory");
}

static int in_outer;

static void __attribute__((noinline)) outer(void)
{
	in_outer = __LINE__ + 1;
	dwarf_middle(1);
	__asm__ volatile("" ::: "memory");
}

static int first_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(uint64_t *)arg = info->dlpi_addr;
	return 1;
}

/* The program itself; NULL when it was built without debug information. */
static struct elf_file *self(uint64_t *bias)
{
	struct elf_file *ef = elf_file_open("/proc/self/exe", NULL);

	ck_assert_ptr_nonnull(ef);
	dl_iterate_phdr(first_object, bias);
	dwarf_plain();
	outer();
	if (dwarf_has(ef))
		return ef;
	elf_file_close(ef);
	return NULL;
}

static void dwarf_is(const struct dwarf_frame *fr, const char *name, int line)
{
	if (name)
		ck_assert_str_eq(fr->name, name);
	else
		ck_assert_ptr_null(fr->name);
	ck_assert_str_eq(strrchr(fr->file, '/') + 1, "symbolize_dwarf.c");
	ck_assert_int_eq((int)fr->line, line);
}

START_TEST(inlined_functions_come_from_the_innermost_outwards)
{
	const struct dwarf_frame *fr;
	uint64_t bias = 0;
	struct elf_file *ef = self(&bias);

	if (!ef)
		return;
	/* In any order, and some that are no code. */
	const uint64_t vaddr[] = { here[1] - 1 - bias, 0, UINT64_MAX,
				   here[0] - 1 - bias, here[1] - 1 - bias };
	struct symbolizer *sy = symbolize_new(NULL);
	struct dwarf_file *df = dwarf_open(ef, NULL);
	ck_assert_ptr_nonnull(df);
	struct dwarf *d = dwarf_lookup(sy, df, vaddr, 5);
	dwarf_close(df);
	ck_assert_ptr_nonnull(d);
	ck_assert(!dwarf_gave_up(d));
	for (size_t i = 0; i < 5; i += 4) {
		ck_assert_uint_eq(dwarf_frames(d, i, &fr), 3);
		dwarf_is(&fr[0], "inner", lines[2]);
		dwarf_is(&fr[1], "dwarf_middle", lines[3]);
		dwarf_is(&fr[2], NULL, in_outer);
	}
	ck_assert_uint_eq(dwarf_frames(d, 1, &fr), 0);
	ck_assert_uint_eq(dwarf_frames(d, 2, &fr), 0);
	ck_assert_uint_eq(dwarf_frames(d, 3, &fr), 1);
	dwarf_is(&fr[0], NULL, lines[0]);
	dwarf_free(d);
	symbolize_free(sy);
	elf_file_close(ef);
}
END_TEST

static struct symbol told[8];
static size_t n_told;

static int symbolize_dwarf_keep(void *arg, const struct symbol *sym,
				struct err *err)
{
	(void)arg;
	(void)err;
	ck_assert_uint_lt(n_told, 8);
	told[n_told] = *sym;
	told[n_told].name = strdup(sym->name ? sym->name : "-");
	told[n_told++].file = NULL;
	return 0;
}

static void dwarf_test_look(const struct code_place *code, bool no_inline)
{
	static char path[4096];
	struct image_report rep;
	struct symbolizer *sy = symbolize_new(&(struct symbolize_opts){
		.no_live = true, .no_inline = no_inline });
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	struct image img = { .kind = IMAGE_FILE, .path = path };

	ck_assert_int_gt(len, 0);
	path[len] = '\0';
	while (n_told)
		free((char *)told[--n_told].name);
	ck_assert_int_eq(symbolize_image(sy, &img, code, 1,
					 symbolize_dwarf_keep, NULL, &rep,
					 NULL),
			 0);
	report_release(&rep);
	symbolize_free(sy);
}

START_TEST(of_a_return_address_the_call_is_told)
{
	uint64_t bias = 0;
	struct elf_file *ef = self(&bias);
	const struct segment *seg;

	if (!ef)
		return;
	for (seg = ef->seg; here[1] - bias - seg->vaddr >= seg->filesz; seg++)
		;
	const struct code_place code = { .off = here[1] - bias - seg->vaddr +
						seg->off,
					 .after_call = true };
	dwarf_test_look(&code, false);
	ck_assert_uint_eq(n_told, 3);
	ck_assert_str_eq(told[0].name, "inner");
	ck_assert_str_eq(told[1].name, "dwarf_middle");
	ck_assert_str_eq(told[2].name, "outer");
	ck_assert_int_eq((int)told[2].line, in_outer);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(told[i].depth, i);
		ck_assert_uint_eq(told[i].off, code.off);
	}

	dwarf_test_look(&code, true);
	ck_assert_uint_eq(n_told, 1);
	ck_assert_str_eq(told[0].name, "outer");
	ck_assert_uint_eq(told[0].depth, 0);
	ck_assert_uint_eq(told[0].line, 0);
	while (n_told)
		free((char *)told[--n_told].name);
	elf_file_close(ef);
}
END_TEST

RUN("symbolize_dwarf", inlined_functions_come_from_the_innermost_outwards,
    of_a_return_address_the_call_is_told)
