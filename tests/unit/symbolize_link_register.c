/* symbolize_link_register.c - where the return address of AArch64 code is, and
 * what may be inferred from it. */
#include "symbolize/unwind/unwind.h"

#include <check.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mkelf.h"
#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/record.h"
#include "stitch/unwinder.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/elf/elf.h"
#include "symbolize/symbolize.h"
#include "tests/unit/scratch.h"

#define SYMFS "tests/captures/symfs-arm64"
/* In small_def: a leaf; a function at its entry and behind its stp; behind
 * _start's .cfi_undefined; a stub of the plt, and the head of the plt. */
#define LEAF 0xb20
#define ENTRY 0xbc0
#define SAVED 0xbc4
#define START 0xa04
#define STUB 0x814
#define PLT 0x7f0
#define MAPPED 0xaaaac0de0000u
#define LINK 0xaaaac0de0bd0u

static char dir[64];
static char path[256];

static void leaf_setup(void)
{
	scratch_make(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/prog", dir);
}

static void leaf_teardown(void)
{
	scratch_remove(dir);
}

/* One CIE (8-byte addresses, code in units of 4, the return address in ra),
 * one FDE of [0x1000, 0x1100) with these instructions. */
static const char *section = ".eh_frame";

static struct elf_file *with_fde(const unsigned char *prog, size_t len,
				 unsigned char ra)
{
	unsigned char f[512] = { 12, 0, 0, 0, 0, 0, 0, 0, 1, 0, 4, 0x78, ra };
	uint32_t size = 4 + 16 + (uint32_t)len;
	uint32_t back = 20;
	const struct mkelf m = { .extra = f,
				 .extra_len = 20 + size,
				 .extra_name = section };
	unsigned char machine[2] = { EM_AARCH64, 0 };
	int fd;

	if (strcmp(section, ".eh_frame") != 0) {
		memset(f + 4, 0xff, 4);
		back = 0;
	}
	mkelf_put32(f, 16, size);
	mkelf_put32(f, 20, back);
	mkelf_put64(f, 24, 0x1000);
	mkelf_put64(f, 32, 0x100);
	memcpy(f + 40, prog, len);
	mkelf(path, &m);
	fd = open(path, O_WRONLY);
	ck_assert_int_eq(pwrite(fd, machine, 2, 18), 2);
	close(fd);
	struct elf_file *ef = elf_file_open(path, NULL);
	ck_assert_ptr_nonnull(ef);
	return ef;
}

/* Where the rules have the return address of AArch64 code. */
enum cfi_link {
	CFI_NONE,  /* not covered, or damaged */
	CFI_KEPT,  /* in the link register, as at the function's entry */
	CFI_MOVED, /* elsewhere, or there is no caller */
};

static enum cfi_link cfi_link(const struct cfi *c, uint64_t vaddr)
{
	struct cfi_rules r;

	if (!cfi_rules(c, vaddr, &r))
		return CFI_NONE;
	return r.ra == 30 && !r.interrupted && r.reg[30].kind <= RULE_SAME
		       ? CFI_KEPT
		       : CFI_MOVED;
}

static enum cfi_link leaf_ask(const unsigned char *prog, size_t len,
			      unsigned char ra, uint64_t vaddr)
{
	struct elf_file *ef = with_fde(prog, len, ra);
	struct cfi *c = cfi_open(ef, section);

	ck_assert_ptr_nonnull(c);
	enum cfi_link link = cfi_link(c, vaddr);
	cfi_close(c);
	elf_file_close(ef);
	return link;
}

#define ASK(vaddr, ...)                                                        \
	leaf_ask((const unsigned char[]){ __VA_ARGS__ },                       \
		 sizeof((const unsigned char[]){ __VA_ARGS__ }), 30, vaddr)

START_TEST(nothing_said_means_kept)
{
	ck_assert_int_eq(ASK(0x1000, 0), CFI_KEPT);
	ck_assert_int_eq(ASK(0x10ff, 0), CFI_KEPT);
	ck_assert_int_eq(ASK(0x0fff, 0), CFI_NONE);
	ck_assert_int_eq(ASK(0x1100, 0), CFI_NONE);
}
END_TEST

START_TEST(saved_and_restored)
{
	/* advance 4; x30 at cfa-8; advance 8; restore x30 */
	ck_assert_int_eq(ASK(0x1003, 0x41, 0x9e, 1, 0x42, 0xde), CFI_KEPT);
	ck_assert_int_eq(ASK(0x1004, 0x41, 0x9e, 1, 0x42, 0xde), CFI_MOVED);
	ck_assert_int_eq(ASK(0x100b, 0x41, 0x9e, 1, 0x42, 0xde), CFI_MOVED);
	ck_assert_int_eq(ASK(0x100c, 0x41, 0x9e, 1, 0x42, 0xde), CFI_KEPT);
	/* another register */
	ck_assert_int_eq(ASK(0x1080, 0x41, 0x9d, 1), CFI_KEPT);
}
END_TEST

START_TEST(states_are_remembered)
{
	/* remember; x30 at cfa-8; advance 4; restore state */
	ck_assert_int_eq(ASK(0x1000, 0x0a, 0x9e, 1, 0x41, 0x0b), CFI_MOVED);
	ck_assert_int_eq(ASK(0x1004, 0x0a, 0x9e, 1, 0x41, 0x0b), CFI_KEPT);
	/* none was remembered */
	ck_assert_int_eq(ASK(0x1000, 0x0b), CFI_NONE);
}
END_TEST

START_TEST(each_way_to_move_it_counts)
{
	ck_assert_int_eq(ASK(0x1000, 0x05, 30, 1), CFI_MOVED);
	ck_assert_int_eq(ASK(0x1000, 0x07, 30), CFI_MOVED);
	ck_assert_int_eq(ASK(0x1000, 0x09, 30, 9), CFI_MOVED);
	ck_assert_int_eq(ASK(0x1000, 0x10, 30, 1, 0x30), CFI_MOVED);
	ck_assert_int_eq(ASK(0x1000, 0x11, 30, 0x7f), CFI_MOVED);
	ck_assert_int_eq(ASK(0x1000, 0x14, 30, 1), CFI_MOVED);
	ck_assert_int_eq(ASK(0x1000, 0x16, 30, 1, 0x30), CFI_MOVED);
	ck_assert_int_eq(ASK(0x1000, 0x07, 30, 0x08, 30), CFI_KEPT);
	ck_assert_int_eq(ASK(0x1000, 0x07, 30, 0x06, 30), CFI_KEPT);
	/* signing it does not move it */
	ck_assert_int_eq(ASK(0x1000, 0x2d), CFI_KEPT);
	/* its CFA is of no interest */
	ck_assert_int_eq(
		ASK(0x1000, 0x0c, 31, 16, 0x0e, 32, 0x0d, 29, 0x0f, 1, 0x30),
		CFI_KEPT);
}
END_TEST

START_TEST(long_advances)
{
	ck_assert_int_eq(ASK(0x107f, 0x02, 0x20, 0x07, 30), CFI_KEPT);
	ck_assert_int_eq(ASK(0x1080, 0x02, 0x20, 0x07, 30), CFI_MOVED);
	ck_assert_int_eq(ASK(0x107f, 0x03, 0x20, 0, 0x07, 30), CFI_KEPT);
	ck_assert_int_eq(ASK(0x1080, 0x03, 0x20, 0, 0x07, 30), CFI_MOVED);
	ck_assert_int_eq(ASK(0x107f, 0x04, 0x20, 0, 0, 0, 0x07, 30), CFI_KEPT);
	ck_assert_int_eq(ASK(0x1080, 0x04, 0x20, 0, 0, 0, 0x07, 30), CFI_MOVED);
	ck_assert_int_eq(
		ASK(0x107f, 0x01, 0x80, 0x10, 0, 0, 0, 0, 0, 0, 0x07, 30),
		CFI_KEPT);
	ck_assert_int_eq(
		ASK(0x1080, 0x01, 0x80, 0x10, 0, 0, 0, 0, 0, 0, 0x07, 30),
		CFI_MOVED);
}
END_TEST

START_TEST(damage_says_nothing)
{
	unsigned char deep[100];

	memset(deep, 0x0a, sizeof(deep));
	ck_assert_int_eq(leaf_ask(deep, sizeof(deep), 30, 0x1000), CFI_NONE);
	ck_assert_int_eq(ASK(0x1000, 0x3f), CFI_NONE);
	ck_assert_int_eq(ASK(0x1000, 0x9e), CFI_NONE);
	ck_assert_int_eq(ASK(0x1000, 0x0f, 100, 1), CFI_NONE);
	ck_assert_int_eq(ASK(0x1000, 0x04, 1, 1), CFI_NONE);
	ck_assert_int_eq(ASK(0x1000, 0x07, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
			     0xff, 0xff, 0xff, 0xff, 0xff),
			 CFI_NONE);
}
END_TEST

START_TEST(another_return_address_register)
{
	ck_assert_int_eq(leaf_ask((const unsigned char[]){ 0 }, 1, 31, 0x1000),
			 CFI_MOVED);
}
END_TEST

START_TEST(debug_frame_serves_where_there_is_no_other)
{
	section = ".debug_frame";
	ck_assert_int_eq(ASK(0x1003, 0x41, 0x9e, 1), CFI_KEPT);
	ck_assert_int_eq(ASK(0x1004, 0x41, 0x9e, 1), CFI_MOVED);
	section = ".eh_frame";
}
END_TEST

/* What libdw, which works out all registers, says. */
static enum cfi_link leaf_by_libdw(Dwarf_CFI *d, uint64_t vaddr)
{
	Dwarf_Frame *f;
	Dwarf_Op mem[3];
	Dwarf_Op *op;
	size_t n;

	if (dwarf_cfi_addrframe(d, vaddr, &f))
		return CFI_NONE;
	ck_assert_int_eq(dwarf_frame_register(f, 30, mem, &op, &n), 0);
	free(f);
	return !op && !n ? CFI_KEPT : CFI_MOVED;
}

START_TEST(every_address_is_as_libdw_has_it)
{
	static const char *const file[] = { SYMFS "/wl/small_def",
					    SYMFS "/wl/libs_def.so" };
	size_t n[3] = { 0 };

	for (size_t i = 0; i < 2; i++) {
		struct elf_file *ef = elf_file_open(file[i], NULL);
		ck_assert_ptr_nonnull(ef);
		struct cfi *c = cfi_open(ef, section);
		Dwarf_CFI *d = dwarf_getcfi_elf(ef->elf);

		for (uint64_t a = 0; a < 0x1400; a += 4) {
			ck_assert_int_eq(cfi_link(c, a), leaf_by_libdw(d, a));
			n[cfi_link(c, a)]++;
		}
		dwarf_cfi_end(d);
		cfi_close(c);
		elf_file_close(ef);
	}
	ck_assert_uint_gt(n[CFI_KEPT], 100);
	ck_assert_uint_gt(n[CFI_MOVED], 200);
}
END_TEST

static struct image small_def(void)
{
	static const unsigned char id[20] = { 0xad, 0x58, 0x68, 0xab, 0xbd,
					      0xad, 0x61, 0x95, 0x0b, 0xfc,
					      0x58, 0xf6, 0xbd, 0x20, 0x19,
					      0xb2, 0xa8, 0x4d, 0x9e, 0xc1 };
	struct image img = { .kind = IMAGE_FILE,
			     .path = "/wl/small_def",
			     .id_len = 20 };

	memcpy(img.id, id, 20);
	return img;
}

static uint64_t leaf_mapped = 0x10000;

static int leaf_find(void *arg, uint64_t addr, struct unwind_map *map)
{
	*map = (struct unwind_map){ .start = MAPPED,
				    .end = MAPPED + leaf_mapped,
				    .image = *(uint32_t *)arg,
				    .exec = true };
	return addr >= map->start && addr < map->end;
}

static int callers(struct unwinder *uw, const struct unwind_in *in,
		   uint64_t *ip, uint32_t max)
{
	struct unwind_out out = { .ip = ip, .max = max };

	uw->ops->unwind(uw, in, &out);
	return (int)out.n;
}

/* Where unwound() looks for images. */
static const char *symfs = SYMFS;

/* How many addresses there are at this offset of the image, asked twice. */
static int unwound(const struct image *img, uint64_t off, uint64_t lr)
{
	const struct symbolize_opts o = { .symfs = symfs, .no_live = true };
	struct symbolizer *sy = symbolize_new(&o);
	struct frames *fr = frames_new();
	struct unwinder *uw = unwind_new(sy, fr);
	uint32_t id = frames_image(fr, img);
	const struct regs regs = { &lr, 1ull << 30, 1, 2 };
	const struct unwind_in in = {
		.regs = &regs,
		.pc = MAPPED + off,
		.user_mask = ~(uint64_t)0x007f000000000000,
		.machine = EM_AARCH64,
		.find = leaf_find,
		.arg = &id,
	};
	uint64_t ip[2] = { 0, 0 };
	int n = callers(uw, &in, ip, 2);

	ck_assert_uint_eq(ip[0], MAPPED + off);
	ck_assert_uint_eq(ip[1], n == 2 ? LINK - 1 : 0);
	ck_assert_int_eq(callers(uw, &in, ip, 2), n);
	ck_assert_int_eq(callers(uw, &in, ip, 1), 1);
	uw->ops->free(uw);
	frames_free(fr);
	symbolize_free(sy);
	return n;
}

START_TEST(a_leaf_has_a_caller)
{
	struct image img = small_def();

	ck_assert_int_eq(unwound(&img, LEAF, LINK), 2);
	ck_assert_int_eq(unwound(&img, ENTRY, LINK), 2);
	ck_assert_int_eq(unwound(&img, SAVED, LINK), 1);
	ck_assert_int_eq(unwound(&img, START, LINK), 1);
	/* no such code, nothing mapped, nothing in the register */
	ck_assert_int_eq(unwound(&img, 0x9000, LINK), 1);
	ck_assert_int_eq(unwound(&img, 0x20000, LINK), 1);
	ck_assert_int_eq(unwound(&img, LEAF, 0), 1);
}
END_TEST

START_TEST(authentication_bits_are_cleared)
{
	struct image img = small_def();

	ck_assert_int_eq(unwound(&img, LEAF, LINK | 0x0055000000000000), 2);
}
END_TEST

START_TEST(stubs_have_no_table_but_a_caller)
{
	struct image img = small_def();

	ck_assert_int_eq(unwound(&img, STUB, LINK), 2);
	ck_assert_int_eq(unwound(&img, STUB + 8, LINK), 2);
	ck_assert_int_eq(unwound(&img, PLT, LINK), 1);
}
END_TEST

START_TEST(code_of_another_build_id_is_never_used)
{
	struct image img = small_def();

	img.id[7]++;
	ck_assert_int_eq(unwound(&img, LEAF, LINK), 1);
	img.id_len = 0;
	ck_assert_int_eq(unwound(&img, LEAF, LINK), 1);
	img = small_def();
	img.path = "/wl/none";
	ck_assert_int_eq(unwound(&img, LEAF, LINK), 1);
	img = small_def();
	img.kind = IMAGE_ANON;
	ck_assert_int_eq(unwound(&img, LEAF, LINK), 1);
}
END_TEST

/* The recorder may have read it from another file. */
START_TEST(a_build_id_that_was_read_needs_a_mapping_of_its_length)
{
	struct image img = small_def();

	img.ino = 5;
	ck_assert_int_eq(unwound(&img, LEAF, LINK), 2);
	leaf_mapped = 0x50000;
	ck_assert_int_eq(unwound(&img, LEAF, LINK), 1);
	img.ino = 0;
	ck_assert_int_eq(unwound(&img, LEAF, LINK), 2);
	leaf_mapped = 0x10000;
}
END_TEST

/* clock_gettime calls nothing; getrandom does; sigreturn is not called. The
 * vdso is the kernel's and not shipped: asked where the shared captures are. */
START_TEST(the_vdso_is_judged_by_its_code)
{
	const struct image img = { .kind = IMAGE_VDSO, .path = "[vdso]" };
	char shared[4096];

	snprintf(shared, sizeof(shared), "%s/captures/arm64/symfs",
		 getenv("BACKSTITCH_SHARED"));
	symfs = shared;

	ck_assert_int_eq(unwound(&img, 0x320, LINK), 2);
	ck_assert_int_eq(unwound(&img, 0x388, LINK), 2);
	ck_assert_int_eq(unwound(&img, 0x840, LINK), 1);
	ck_assert_int_eq(unwound(&img, 0xa00, LINK), 1);
	ck_assert_int_eq(unwound(&img, 0x820, LINK), 1);
	ck_assert_int_eq(unwound(&img, 0x828, LINK), 1);
	symfs = SYMFS;
}
END_TEST

START_TEST(no_more_than_so_many_files_stay_open)
{
	const struct symbolize_opts o = { .symfs = SYMFS, .no_live = true };
	struct symbolizer *sy = symbolize_new(&o);
	struct frames *fr = frames_new();
	struct unwinder *uw = unwind_new(sy, fr);
	uint64_t lr = LINK;
	const struct regs regs = { &lr, 1ull << 30, 1, 2 };
	struct unwind_in in = { .regs = &regs,
				.user_mask = UINT64_MAX,
				.machine = EM_AARCH64,
				.find = leaf_find };
	struct image img = small_def();
	uint64_t ip[2];

	for (unsigned int i = 0; i < 400; i++) {
		img.ino = i % 200;
		uint32_t id = frames_image(fr, &img);

		in.arg = &id;
		in.pc = MAPPED + LEAF + 4 * (i / 200);
		ck_assert_int_eq(callers(uw, &in, ip, 2), 2);
	}
	int fd = open("/dev/null", O_RDONLY);
	ck_assert_int_lt(fd, 100);
	close(fd);
	uw->ops->free(uw);
	frames_free(fr);
	symbolize_free(sy);
}
END_TEST

static bool vdso_is_here(void)
{
	const char *shared = getenv("BACKSTITCH_SHARED");
	char vdso[4096];

	snprintf(vdso, sizeof(vdso), "%s/captures/arm64/symfs/[vdso]",
		 shared ? shared : "");
	return !access(vdso, R_OK);
}

int main(void)
{
	Suite *s = suite_create("leaf");
	TCase *t = tcase_create("tables");

	tcase_add_checked_fixture(t, leaf_setup, leaf_teardown);
	tcase_add_test(t, nothing_said_means_kept);
	tcase_add_test(t, saved_and_restored);
	tcase_add_test(t, states_are_remembered);
	tcase_add_test(t, each_way_to_move_it_counts);
	tcase_add_test(t, long_advances);
	tcase_add_test(t, damage_says_nothing);
	tcase_add_test(t, another_return_address_register);
	tcase_add_test(t, debug_frame_serves_where_there_is_no_other);
	tcase_add_test(t, every_address_is_as_libdw_has_it);
	suite_add_tcase(s, t);
	t = tcase_create("callers");
	tcase_add_test(t, a_leaf_has_a_caller);
	tcase_add_test(t, authentication_bits_are_cleared);
	tcase_add_test(t, stubs_have_no_table_but_a_caller);
	tcase_add_test(t, code_of_another_build_id_is_never_used);
	tcase_add_test(t,
		       a_build_id_that_was_read_needs_a_mapping_of_its_length);
	if (vdso_is_here())
		tcase_add_test(t, the_vdso_is_judged_by_its_code);
	tcase_add_test(t, no_more_than_so_many_files_stay_open);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
