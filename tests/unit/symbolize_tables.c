/* symbolize_tables.c - where a file's unwind tables may be, and in what form.
 */
#include "symbolize/unwind/unwind_images.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "mkelf.h"
#include "run.h"
#include "stitch/base/bytes.h"
#include "stitch/record.h"
#include "stitch/tasks/frame.h"
#include "stitch/unwinder.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/cfi/unwind_rows.h"
#include "symbolize/symbolize.h"
#include "symbolize/unwind/unwind.h"
#include "tests/unit/scratch.h"

#define ID "abcdefghijklmnopqrst"
#define ID_PATH ".build-id/61/62636465666768696a6b6c6d6e6f7071727374.debug"

static char dir[64];
static struct symbolizer *sy;
static struct frames *fr;
static struct unwind_images *ms;

static void tables_setup(void)
{
	scratch_make(dir, sizeof(dir));
	sy = symbolize_new(
		&(struct symbolize_opts){ .symfs = dir, .no_live = true });
	fr = frames_new();
	ms = unwind_images_new(sy, fr);
}

static void tables_teardown(void)
{
	unwind_images_free(ms);
	frames_free(fr);
	symbolize_free(sy);
	scratch_remove(dir);
}

/* .debug_frame with one function, the second 0x100 bytes of the text, whose
 * CFA is SP + off. */
static size_t debug_frame(unsigned char *p, unsigned char off)
{
	static const unsigned char cie[12] = { 1,    0, 1, 0x78, 16,
					       0x0c, 7, 8, 0x90, 1 };
	size_t n = mkelf_put32(p, 0, 16);

	n = mkelf_put32(p, n, UINT32_MAX);
	memcpy(p + n, cie, sizeof(cie));
	n = mkelf_put32(p, n + sizeof(cie), 4 + 16 + 4);
	n = mkelf_put32(p, n, 0);
	n = mkelf_put64(p, n, MKELF_TEXT + 0x100);
	n = mkelf_put64(p, n, 0x100);
	memcpy(p + n, "\x0e\0\0\0", 4);
	p[n + 1] = off;
	return n + 4;
}

static void tables_make_file(const char *path, const char *id,
			     const char *section, uint64_t flags,
			     const void *data, size_t n)
{
	const struct mkelf m = { .id = id,
				 .extra = data,
				 .extra_len = n,
				 .extra_name = section,
				 .extra_flags = flags };
	char full[256];

	snprintf(full, sizeof(full), "%s/%s", dir, path);
	mkelf(full, &m);
}

static struct unwind_image *open_prog(const char *id)
{
	struct image img = { .kind = IMAGE_FILE, .path = "/prog" };

	if (id) {
		memcpy(img.id, id, 20);
		img.id_len = 20;
	}
	return unwind_images_of(ms, frames_image(fr, &img));
}

static void says(const struct unwind_image *m, int64_t cfa)
{
	const struct unwind_row *row;

	ck_assert_ptr_nonnull(m->cfi[UNWIND_IMAGE_TABLES - 1]);
	row = unwind_images_row(m, MKELF_TEXT + 0x140);
	ck_assert_ptr_nonnull(row);
	ck_assert_int_eq(unwind_row_kind(row), ROW_SP);
	ck_assert_int_eq(row->cfa, cfa);
}

START_TEST(debug_frame_of_the_file_itself)
{
	unsigned char frame[128];

	tables_make_file("prog", ID, ".debug_frame", 0, frame,
			 debug_frame(frame, 40));
	struct unwind_image *m = open_prog(ID);

	says(m, 40);
	ck_assert(!unwind_images_more_tables(m));
}
END_TEST

static void debug_folder(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/.build-id", dir);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/.build-id/61", dir);
	ck_assert_int_eq(mkdir(path, 0755), 0);
}

START_TEST(debug_frame_of_a_stripped_file_is_in_its_debug_file)
{
	unsigned char frame[128];

	debug_folder();
	tables_make_file("prog", ID, NULL, 0, NULL, 0);
	tables_make_file(ID_PATH, ID, ".debug_frame", 0, frame,
			 debug_frame(frame, 48));
	struct unwind_image *m = open_prog(ID);

	ck_assert_ptr_null(m->cfi[UNWIND_IMAGE_TABLES - 1]);
	ck_assert(unwind_images_more_tables(m));
	says(m, 48);
	ck_assert(!unwind_images_more_tables(m));
}
END_TEST

/* ---- threads */

#define TABLES_MAPPED 0x7f0000000000u

static int tables_find(void *arg, uint64_t addr, struct unwind_map *map)
{
	*map = (struct unwind_map){ .start = TABLES_MAPPED,
				    .end = TABLES_MAPPED + 0x10000,
				    .image = *(const uint32_t *)arg,
				    .exec = true };
	return addr >= map->start && addr < map->end;
}

static const uint64_t no_caller[8];

/* A stack of the function that debug_frame() knows. */
static struct unwind_in tables_stack_of(uint32_t *image,
					const struct regs *regs)
{
	return (struct unwind_in){
		.regs = regs,
		.user_mask = UINT64_MAX,
		.stack = no_caller,
		.len = sizeof(no_caller),
		.dumped = true,
		.machine = EM_X86_64,
		.find = tables_find,
		.arg = image,
		.epoch = *image + 1ull,
	};
}

/* Begins the stack `in`, and ends it when the thread has followed it: it takes
 * them in order, so it has when it has followed one that came later. */
static struct unwind_job *tables_followed(struct unwinder *uw,
					  const struct unwind_in *in,
					  const struct unwind_in *later)
{
	uint64_t ip[1024];
	bool dated;

	for (int i = 0; i < 10000; i++) {
		struct unwind_out out = { .ip = ip, .max = 1024 };
		struct unwind_job *j = uw->ops->begin(uw, in, false);
		struct unwind_job *k = uw->ops->begin(uw, later, false);

		ck_assert(j && k);
		usleep(1000);
		if (uw->ops->finish(uw, k, &out, &dated))
			return j;
		uw->ops->finish(uw, j, &out, &dated);
	}
	ck_abort_msg("the thread does nothing");
	return NULL;
}

/* What missing_caller.c says depends on the tables that earlier samples led to,
 * so threads, which are ahead of the samples, add none. */
START_TEST(threads_leave_debug_files_to_the_main_thread)
{
	const uint64_t v[9] = {
		[7] = 0x7ffe00001000u, [8] = TABLES_MAPPED + MKELF_OFF + 0x140
	};
	const struct regs regs = { v, 0x1ff, 9, 2 };
	struct image prog = { .kind = IMAGE_FILE, .path = "/prog" };
	const struct image other = { .kind = IMAGE_FILE, .path = "/other" };
	struct unwinder *uw = unwind_new(sy, fr);
	struct unwind_images *set = unwind_get_images(uw);
	unsigned char frame[128];
	uint64_t ip[1024];
	struct unwind_out out = { .ip = ip, .max = 1024 };
	bool dated;

	prog.id_len = sizeof(prog.id);
	memcpy(prog.id, ID, sizeof(prog.id));
	debug_folder();
	tables_make_file("prog", ID, NULL, 0, NULL, 0);
	tables_make_file(ID_PATH, ID, ".debug_frame", 0, frame,
			 debug_frame(frame, 48));
	tables_make_file("other", NULL, ".debug_frame", 0, frame,
			 debug_frame(frame, 48));
	ck_assert(!uw->ops->begin);
	unwind_use_threads(uw, 1);
	uint32_t stripped = frames_image(fr, &prog);
	uint32_t whole = frames_image(fr, &other);
	const struct unwind_image *m = unwind_images_of(set, stripped);
	const struct unwind_in asks = tables_stack_of(&stripped, &regs);
	const struct unwind_in asks_not = tables_stack_of(&whole, &regs);

	unwind_images_of(set, whole);
	struct unwind_job *j = tables_followed(uw, &asks, &asks_not);

	ck_assert(!uw->ops->finish(uw, j, &out, &dated));
	ck_assert(!m->asked && !m->cfi[UNWIND_IMAGE_TABLES - 1]);
	/* made before there was another table */
	j = tables_followed(uw, &asks_not, &asks_not);
	uw->ops->unwind(uw, &asks, &out);
	ck_assert_int_eq(out.end, UNWIND_OUTERMOST);
	ck_assert_ptr_nonnull(m->cfi[UNWIND_IMAGE_TABLES - 1]);
	ck_assert(!uw->ops->finish(uw, j, &out, &dated));
	/* and now */
	j = tables_followed(uw, &asks, &asks_not);
	ck_assert(uw->ops->finish(uw, j, &out, &dated));
	ck_assert_int_eq(out.end, UNWIND_OUTERMOST);
	uw->ops->free(uw);
}
END_TEST

START_TEST(a_debug_file_of_another_build_says_nothing)
{
	unsigned char frame[128];

	debug_folder();
	tables_make_file("prog", ID, NULL, 0, NULL, 0);
	tables_make_file(ID_PATH, "another build, 20 by", ".debug_frame", 0,
			 frame, debug_frame(frame, 48));
	struct unwind_image *m = open_prog(ID);

	ck_assert(!unwind_images_more_tables(m));
	ck_assert_ptr_null(m->cfi[UNWIND_IMAGE_TABLES - 1]);
}
END_TEST

/* Behind the head of a compressed section: its length; size: what it says that
 * it unpacks to. */
static size_t tables_pack(unsigned char *out, size_t room, uint32_t type,
			  uint64_t size, const unsigned char *data, size_t n)
{
	const Elf64_Chdr ch = { .ch_type = htole32(type),
				.ch_size = htole64(size),
				.ch_addralign = htole64(1) };
	size_t len = room - sizeof(ch);

	memcpy(out, &ch, sizeof(ch));
	if (type == ELFCOMPRESS_ZLIB) {
		uLongf z = len;

		ck_assert_int_eq(compress(out + sizeof(ch), &z, data, n), Z_OK);
		len = z;
	} else {
		len = ZSTD_compress(out + sizeof(ch), len, data, n, 3);
		ck_assert(!ZSTD_isError(len));
	}
	return sizeof(ch) + len;
}

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

START_TEST(a_compressed_section_is_unpacked)
{
	unsigned char frame[128], packed[1024];
	size_t n = debug_frame(frame, 56);

	n = tables_pack(packed, sizeof(packed), ELFCOMPRESS_ZLIB, n, frame, n);
	tables_make_file("prog", NULL, ".debug_frame", SHF_COMPRESSED, packed,
			 n);
	says(open_prog(NULL), 56);
}
END_TEST

/* libelf unpacks it since 0.189. Before, it is as if it were not there. */
START_TEST(a_section_packed_by_zstd_is_unpacked_or_left_out)
{
	unsigned char frame[128], packed[1024];
	size_t n = debug_frame(frame, 56);

	n = tables_pack(packed, sizeof(packed), ELFCOMPRESS_ZSTD, n, frame, n);
	tables_make_file("prog", NULL, ".debug_frame", SHF_COMPRESSED, packed,
			 n);
	struct unwind_image *m = open_prog(NULL);

	if (m->cfi[UNWIND_IMAGE_TABLES - 1])
		says(m, 56);
}
END_TEST

START_TEST(a_compressed_section_that_lies_about_its_size_is_left_out)
{
	static const uint64_t lie[] = { 0,	    1,		4096,
					1ull << 31, 1ull << 40, UINT64_MAX };
	unsigned char frame[128], packed[1024];

	for (size_t i = 0; i < sizeof(lie) / sizeof(*lie); i++) {
		size_t n = debug_frame(frame, 56);
		struct image img = { .kind = IMAGE_FILE, .ino = i + 1 };
		char path[16];

		snprintf(path, sizeof(path), "/prog%zu", i);
		img.path = path;
		n = tables_pack(packed, sizeof(packed), ELFCOMPRESS_ZLIB,
				lie[i], frame, n);
		tables_make_file(path, NULL, ".debug_frame", SHF_COMPRESSED,
				 packed, n);
		struct unwind_image *m =
			unwind_images_of(ms, frames_image(fr, &img));

		ck_assert_ptr_nonnull(m);
		ck_assert_ptr_null(m->cfi[UNWIND_IMAGE_TABLES - 1]);
	}
}
END_TEST

/* The inode tells a program from one that was built later, where both were
 * on this machine. */
START_TEST(a_file_that_was_replaced_since_is_not_the_one_that_ran)
{
	struct symbolizer *here = symbolize_new(&(struct symbolize_opts){
		.no_live = true, .same_machine = true });
	struct unwind_images *own = unwind_images_new(here, fr);
	struct image img = { .kind = IMAGE_FILE };
	char path[128];
	struct stat st;

	tables_make_file("prog", ID, NULL, 0, NULL, 0);
	snprintf(path, sizeof(path), "%s/prog", dir);
	ck_assert_int_eq(stat(path, &st), 0);
	img.path = path;
	img.maj = major(st.st_dev);
	img.min = minor(st.st_dev);
	img.ino = st.st_ino;
	ck_assert_ptr_nonnull(unwind_images_of(own, frames_image(fr, &img)));
	img.ino++;
	ck_assert_ptr_null(unwind_images_of(own, frames_image(fr, &img)));
	/* of another file system; only files on a disk have the device that is
	 * in records */
	img.min++;
	ck_assert(img.maj ? !unwind_images_of(own, frames_image(fr, &img))
			  : unwind_images_of(own, frames_image(fr, &img)) !=
				    NULL);
	/* the disk has another number now */
	img.ino--;
	ck_assert_ptr_nonnull(unwind_images_of(own, frames_image(fr, &img)));
	/* its build-id is what counts */
	img.ino++;
	img.min--;
	img.id_len = 20;
	memcpy(img.id, ID, 20);
	ck_assert_ptr_nonnull(unwind_images_of(own, frames_image(fr, &img)));
	unwind_images_free(own);
	symbolize_free(here);
}
END_TEST

/* Each of many FDEs names another CIE, and each of these reaches to the end:
 * all of them together would be as much work as the square of the size. */
START_TEST(entries_within_entries_take_no_longer_than_their_bytes)
{
	enum {
		N = 60000,
		EACH = 16
	};
	static unsigned char table[N * EACH + N * 28];
	struct timespec t0, t1;
	size_t n = 0;

	for (size_t i = 0; i < N; i++) {
		unsigned char *p = table + n;

		/* its instructions jump over the head of the next one */
		mkelf_put32(p, 0, (uint32_t)(N * EACH - n - 4));
		memcpy(p + 8, "\1\0\1\x78\x10\x16\6\15", 8);
		n += EACH;
	}
	for (size_t i = 0; i < N; i++) {
		n = mkelf_put32(table, n, 24);
		n = mkelf_put32(table, n, (uint32_t)(n - i * EACH));
		n = mkelf_put64(table, n, MKELF_TEXT);
		n = mkelf_put64(table, n, 16) + 4;
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
	struct cfi *c = cfi_memory(EM_X86_64, table, n, MKELF_TEXT + 0x10000,
				   bytes_must_swap(false));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
	ck_assert_ptr_nonnull(c);
	cfi_close(c);
	ck_assert_int_lt(t1.tv_sec - t0.tv_sec, 2);
}
END_TEST

/* However far apart they are: of those that begin at or before an address, the
 * last one, if it reaches beyond it. */
START_TEST(the_function_of_an_address_is_the_last_that_begins_before_it)
{
	enum {
		N = 100
	};
	uint64_t seed = 1;

	for (unsigned int bits = 5; bits < 64; bits++) {
		unsigned char table[16 + N * 28] = { 0 };
		uint64_t start[N], end[N], from, to;
		size_t n = mkelf_put32(table, 0, 12) + 4;

		memcpy(table + n, "\1\0\1\x78\x10", 5);
		n = 16;
		for (size_t i = 0; i < N; i++) {
			start[i] = rnd_below(&seed, (uint64_t)1 << bits);
			end[i] = start[i] + 1 +
				 rnd_below(&seed, (uint64_t)1 << bits / 2);
			n = mkelf_put32(table, n, 24);
			n = mkelf_put32(table, n, (uint32_t)n);
			n = mkelf_put64(table, n, start[i]);
			n = mkelf_put64(table, n, end[i] - start[i]) + 4;
		}
		struct cfi *c = cfi_memory(EM_X86_64, table, n, 0,
					   bytes_must_swap(false));

		must(c && cfi_functions(c) == N);
		for (size_t k = 0; k < 4 * N; k++) {
			const uint64_t at =
				k % 2 ? start[k / 4] + k % 4 - 2
				      : rnd_below(&seed, (uint64_t)2 << bits);
			size_t best = N;

			for (size_t i = 0; i < N; i++)
				if (start[i] <= at &&
				    (best == N || start[i] >= start[best]))
					best = i;
			bool in = best < N && at < end[best];

			must(cfi_function(c, at, &from, &to) == in);
			must(!in || (from == start[best] && to == end[best]));
		}
		cfi_close(c);
	}
}
END_TEST

RUN_WITH("tables", tables_setup, tables_teardown,
	 debug_frame_of_the_file_itself,
	 debug_frame_of_a_stripped_file_is_in_its_debug_file,
	 threads_leave_debug_files_to_the_main_thread,
	 a_debug_file_of_another_build_says_nothing,
	 a_compressed_section_is_unpacked,
	 a_section_packed_by_zstd_is_unpacked_or_left_out,
	 a_compressed_section_that_lies_about_its_size_is_left_out,
	 a_file_that_was_replaced_since_is_not_the_one_that_ran,
	 entries_within_entries_take_no_longer_than_their_bytes,
	 the_function_of_an_address_is_the_last_that_begins_before_it)
