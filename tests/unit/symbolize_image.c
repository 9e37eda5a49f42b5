/* symbolize_image.c - which file names an image, and which never may. */
#include "symbolize/symbolize.h"

#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>
#include <sys/stat.h>

#include "mkelf.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/tasks/frame.h"
#include "tests/unit/scratch.h"
#include "tests/unit/run.h"

#define FUNC GELF_ST_INFO(STB_GLOBAL, STT_FUNC)

static const char id_a[] = "abcdefghijklmnopqrst";
static const char id_b[] = "ABCDEFGHIJKLMNOPQRST";
static const struct mksym two[] = {
	{ "alpha", MKELF_TEXT + 0x10, 0x20, FUNC },
	{ "_ZN1a4betaEv", MKELF_TEXT + 0x40, 0x10, FUNC },
};
static const struct mksym one[] = {
	{ "gamma", MKELF_TEXT + 0x10, 0x20, FUNC },
};

/* as long as `two` */
static const struct mksym long_one[] = {
	{ "gamma", MKELF_TEXT + 0x10, 0x20, FUNC },
	{ "delta", MKELF_TEXT + 0x40, 0x10, FUNC },
};

static char dir[64];
static char path[256];
static char got[4096]; /* "name+symoff how;" for each offset */
static struct image_report rep;

static const char *image_test_at(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void folder(const char *name)
{
	ck_assert_int_eq(mkdir(image_test_at(name), 0755), 0);
}

static void image_setup(void)
{
	scratch_make(dir, sizeof(dir));
}

static void image_teardown(void)
{
	scratch_remove(dir);
}

static int image_collect(void *arg, const struct symbol *sym, struct err *err)
{
	size_t n = strlen(got);

	(void)arg;
	(void)err;
	if (!sym->name)
		snprintf(got + n, sizeof(got) - n, "-;");
	else
		snprintf(got + n, sizeof(got) - n, "%s+%d/%d %s%s;", sym->name,
			 (int)(sym->off - sym->start), (int)sym->size, sym->how,
			 sym->unverified ? "?" : "");
	return 0;
}

/* The names of MKELF_OFF + 0x10, 0x2f, 0x30, 0x44 of an image. */
static const char *names(const struct symbolize_opts *o,
			 const struct image *img)
{
	static const struct code_place code[] = { { .off = MKELF_OFF + 0x10 },
						  { .off = MKELF_OFF + 0x2f },
						  { .off = MKELF_OFF + 0x30 },
						  { .off = MKELF_OFF + 0x44 } };
	struct symbolizer *sy = symbolize_new(o);
	struct err err = { .code = ERR_NONE };

	got[0] = '\0';
	ck_assert_int_eq(symbolize_image(sy, img, code, 4, image_collect, NULL,
					 &rep, &err),
			 0);
	report_release(&rep);
	symbolize_free(sy);
	return got;
}

static struct image image_image(const char *p, const char *id)
{
	struct image img = { .kind = IMAGE_FILE, .path = p };

	if (id) {
		memcpy(img.id, id, 20);
		img.id_len = 20;
	}
	return img;
}

#define TWO(how)                                                               \
	"alpha+0/32 " how ";alpha+31/32 " how ";-;a::beta()+4/16 " how ";"

START_TEST(the_same_build_id_gives_names_and_none_gives_unverified_ones)
{
	struct symbolize_opts o = { .symfs = dir, .no_live = true };
	struct image img = image_image("/prog", id_a);

	mkelf(image_test_at("prog"),
	      &(struct mkelf){ .sym = two, .n_sym = 2, .id = id_a });
	ck_assert_str_eq(names(&o, &img), TWO("symtab"));
	ck_assert_str_eq(image_status_word(rep.status), "named");
	ck_assert_str_eq(rep.file, image_test_at("prog"));
	img.id_len = 0;
	ck_assert_str_eq(names(&o, &img), TWO("symtab?"));
	ck_assert_str_eq(image_status_word(rep.status), "unverified");
}
END_TEST

START_TEST(another_build_id_is_never_used)
{
	struct symbolize_opts o = { .symfs = dir, .no_live = true };
	struct image img = image_image("/prog", id_b);

	mkelf(image_test_at("prog"),
	      &(struct mkelf){ .sym = two, .n_sym = 2, .id = id_a });
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	ck_assert_str_eq(image_status_word(rep.status), "other build-id");
	ck_assert_str_eq(rep.file, "");
	mkelf(image_test_at("prog"), &(struct mkelf){ .sym = two, .n_sym = 2 });
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	img.path = "/not there";
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	ck_assert_str_eq(image_status_word(rep.status), "no file");
}
END_TEST

/* Lisp and Wine map code of files of their own. */
START_TEST(a_file_that_is_no_elf_file)
{
	struct symbolize_opts o = { .symfs = dir, .no_live = true };
	struct image img = image_image("/lisp.core", NULL);
	FILE *f = fopen(image_test_at("lisp.core"), "w");

	ck_assert_ptr_nonnull(f);
	fputs("LCBS code", f);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	ck_assert_str_eq(image_status_word(rep.status), "no ELF file");
	/* what was mapped had a build-id, so it was another file */
	img = image_image("/lisp.core", id_a);
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	ck_assert_str_eq(image_status_word(rep.status), "no file");
}
END_TEST

static int64_t image_ns(const struct statx_timestamp *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

/* Makes a file of build-id a, and its image as it is recorded here: *born is
 * 0 where file systems do not tell. */
static struct image image_recorded(const char *id, int64_t *born)
{
	struct image img = image_image(image_test_at("prog"), id);
	struct statx st;

	mkelf(path, &(struct mkelf){ .sym = two, .n_sym = 2, .id = id_a });
	ck_assert_int_eq(
		statx(AT_FDCWD, path, 0, STATX_BASIC_STATS | STATX_BTIME, &st),
		0);
	img.maj = st.stx_dev_major;
	img.min = st.stx_dev_minor;
	img.ino = st.stx_ino;
	*born = st.stx_mask & STATX_BTIME ? image_ns(&st.stx_btime) : 0;
	return img;
}

#define SECOND INT64_C(1000000000)

/* perf reads the build-ids of its table by path, when the recording ends. */
START_TEST(a_file_that_came_while_it_was_recorded_is_not_the_mapped_one)
{
	int64_t born;
	struct image img = image_recorded(id_a, &born);
	const struct {
		int64_t from, to;
		const char *names, *status;
	} when[] = {
		{ born - SECOND, born + SECOND, "-;-;-;-;", "replaced" },
		/* the same file was installed again, later */
		{ born - 2 * SECOND, born - SECOND, TWO("symtab"), "named" },
		/* it was there before: of another machine of that name? */
		{ born + SECOND, born + 2 * SECOND, "-;-;-;-;", "replaced" },
		/* the capture is a copy */
		{ 0, 0, TWO("symtab?"), "unverified" },
	};

	for (size_t i = 0; born && i < ARRAY_SIZE(when); i++) {
		struct symbolize_opts o = { .no_live = true,
					    .same_machine = true,
					    .recorded_from = when[i].from,
					    .recorded_to = when[i].to };
		struct image other = img;

		ck_assert_str_eq(names(&o, &img), TWO("symtab"));
		ck_assert_str_eq(image_status_word(rep.status), "named");
		other.ino++;
		ck_assert_str_eq(names(&o, &other), when[i].names);
		ck_assert_str_eq(image_status_word(rep.status), when[i].status);
		/* of a container, or a copy: only files on a disk have the
		 * device that is in records */
		other.min++;
		ck_assert_str_eq(names(&o, &other), !img.maj ? TWO("symtab")
						    : when[i].from
							    ? "-;-;-;-;"
							    : TWO("symtab?"));
		/* the disk may have another number now */
		other.ino--;
		ck_assert_str_eq(names(&o, &other), TWO("symtab"));
		/* with the kernel's build-id there is no inode */
		other = img;
		other.maj = other.min = 0;
		other.ino = 0;
		ck_assert_str_eq(names(&o, &other), TWO("symtab"));
		/* on another machine */
		other = img;
		other.ino++;
		o.same_machine = false;
		ck_assert_str_eq(names(&o, &other), TWO("symtab"));
		ck_assert_str_eq(image_status_word(rep.status), "named");
	}
}
END_TEST

START_TEST(a_file_of_another_length_than_what_was_mapped_names_nothing)
{
	static const struct image_part right = { 1, MKELF_OFF, 0x1000, 0 };
	static const struct image_part longer = { 1, MKELF_OFF, 0x3000, 0 };
	static const struct image_part halves[] = {
		{ 1, MKELF_OFF, 0x800, 0 },
		{ 1, MKELF_OFF + 0x800, 0x800, 0 },
	};
	struct symbolize_opts o = { .symfs = dir,
				    .cache = dir,
				    .no_live = true };
	struct image img = image_image("/prog", id_a);

	mkelf(image_test_at("prog"),
	      &(struct mkelf){ .sym = two, .n_sym = 2, .id = id_a });
	/* the build-id was read from the path, after the mapping */
	o.ids_read = true;
	for (int i = 0; i < 2; i++) { /* with the cache, too */
		img.part = &right;
		img.n_part = 1;
		ck_assert_str_eq(names(&o, &img), TWO("symtab"));
		ck_assert_str_eq(rep.identity, "read: build-id of the path");
		img.part = &longer;
		ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
		ck_assert_str_eq(image_status_word(rep.status), "replaced");
		ck_assert_ptr_null(rep.identity);
		img.part = halves;
		ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
		img.n_part = 2;
		ck_assert_str_eq(names(&o, &img), TWO("symtab"));
		ck_assert_str_eq(image_status_word(rep.status), "named");
	}
	/* that of the mapping's record is proof */
	o.ids_read = false;
	img.part = &longer;
	img.n_part = 1;
	ck_assert_str_eq(names(&o, &img), TWO("symtab"));
	ck_assert_str_eq(rep.identity, "proved: build-id");
}
END_TEST

START_TEST(without_a_build_id_a_file_may_not_be_newer_than_the_recording)
{
	int64_t born;
	struct image img = image_recorded(NULL, &born);
	struct symbolize_opts o = { .no_live = true,
				    .same_machine = true,
				    .recorded_from = born - 2 * SECOND,
				    .recorded_to = born - SECOND };

	if (!born)
		return;
	ck_assert_str_eq(names(&o, &img), TWO("symtab?"));
	o.recorded_before = born - SECOND;
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	ck_assert_str_eq(image_status_word(rep.status), "replaced");
	o.recorded_before = 0;
	img.ino++;
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	ck_assert_str_eq(image_status_word(rep.status), "replaced");
	ck_assert_str_eq(rep.file, "");
	/* whenever the recording was */
	o.recorded_from += 4 * SECOND;
	o.recorded_to += 4 * SECOND;
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	o.recorded_from = o.recorded_to = 0;
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	/* nobody knows whether the machine or the file is another one: the
	 * addresses that ran tell, and here there are none */
	o.same_machine = false;
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	img.ino--;
	ck_assert_str_eq(names(&o, &img), TWO("symtab?"));
	ck_assert_str_eq(image_status_word(rep.status), "unverified");
}
END_TEST

/* The build-id of the capture is that of the new file. */
START_TEST(the_old_build_of_a_replaced_file_may_be_given)
{
	int64_t born;
	struct image img = image_recorded(id_a, &born);
	char old[128];
	const char *const dirs[] = { old, NULL };
	struct symbolize_opts o = { .no_live = true,
				    .same_machine = true,
				    .debug_dirs = dirs,
				    .recorded_from = born - SECOND,
				    .recorded_to = born + SECOND };

	if (!born)
		return;
	snprintf(old, sizeof(old), "%s/old", dir);
	folder("old");
	mkelf(image_test_at("old/prog"),
	      &(struct mkelf){ .sym = long_one, .n_sym = 2, .id = id_b });
	img.path = image_test_at("prog");
	img.ino++;
	ck_assert_str_eq(names(&o, &img),
			 "gamma+0/32 symtab?;gamma+31/32 symtab?;-;"
			 "delta+4/16 symtab?;");
	ck_assert_str_eq(image_status_word(rep.status), "unverified");
}
END_TEST

START_TEST(a_given_file_without_the_addresses_that_ran_is_refused)
{
	int64_t born;
	struct image img = image_recorded(id_a, &born);
	char old[128];
	const char *const dirs[] = { old, NULL };
	struct symbolize_opts o = { .no_live = true,
				    .same_machine = true,
				    .debug_dirs = dirs,
				    .recorded_from = born - SECOND,
				    .recorded_to = born + SECOND };

	if (!born)
		return;
	snprintf(old, sizeof(old), "%s/old", dir);
	folder("old");
	mkelf(image_test_at("old/prog"),
	      &(struct mkelf){ .sym = one, .n_sym = 1, .id = id_b });
	img.path = image_test_at("prog");
	img.ino++;
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	ck_assert_str_eq(image_status_word(rep.status), "replaced");
}
END_TEST

START_TEST(a_short_recorded_build_id_may_be_padded_with_zeros)
{
	char eight[20] = "abcdefgh";
	struct symbolize_opts o = { .symfs = dir, .no_live = true };
	struct image img = image_image("/prog", eight);

	mkelf(image_test_at("prog"),
	      &(struct mkelf){ .sym = two, .n_sym = 2, .id = eight });
	img.id_len = 8;
	ck_assert_str_eq(names(&o, &img), TWO("symtab"));
	img.id[7] = 'x';
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
}
END_TEST

START_TEST(a_stripped_file_has_no_symbols_but_segments)
{
	struct symbolize_opts o = { .symfs = dir, .no_live = true };
	struct image img = image_image("/prog", id_a);

	mkelf(image_test_at("prog"), &(struct mkelf){ .id = id_a });
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	ck_assert_str_eq(image_status_word(rep.status), "no symbols");
	ck_assert_str_eq(rep.file, image_test_at("prog"));
}
END_TEST

START_TEST(a_path_cannot_climb_out_of_symfs)
{
	char inner[128];
	struct image img = image_image("/../prog", NULL);

	folder("in");
	snprintf(inner, sizeof(inner), "%s/in", dir);
	struct symbolize_opts o = { .symfs = inner, .no_live = true };
	mkelf(image_test_at("prog"), &(struct mkelf){ .sym = two, .n_sym = 2 });
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	img.path = "/a/..";
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	mkelf(image_test_at("in/..prog"),
	      &(struct mkelf){ .sym = two, .n_sym = 2 });
	img.path = "/..prog";
	ck_assert_str_eq(names(&o, &img), TWO("symtab?"));
}
END_TEST

START_TEST(a_fifo_and_a_folder_are_not_opened)
{
	struct symbolize_opts o = { .symfs = dir, .no_live = true };
	struct image img = image_image("/fifo", NULL);

	ck_assert_int_eq(mkfifo(image_test_at("fifo"), 0644), 0);
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	ck_assert_str_eq(image_status_word(rep.status), "no file");
	folder("folder");
	img.path = "/folder";
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
}
END_TEST

START_TEST(a_debug_file_is_found_by_build_id)
{
	const char *const dirs[] = { dir, NULL };
	struct symbolize_opts o = { .symfs = dir,
				    .debug_dirs = dirs,
				    .no_live = true };
	struct image img = image_image("/prog", id_a);

	folder(".build-id");
	folder(".build-id/61");
	mkelf(image_test_at("prog"), &(struct mkelf){ .id = id_a });
	mkelf(image_test_at(
		      ".build-id/61/62636465666768696a6b6c6d6e6f7071727374.debug"),
	      &(struct mkelf){ .sym = two, .n_sym = 2, .id = id_b });
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	mkelf(path, &(struct mkelf){ .sym = two, .n_sym = 2, .id = id_a });
	ck_assert_str_eq(names(&o, &img), TWO("debug"));
	ck_assert_str_eq(image_status_word(rep.status), "named");
	/* A capture without build-id: that of the file leads there. */
	img.id_len = 0;
	ck_assert_str_eq(names(&o, &img), TWO("debug?"));
}
END_TEST

START_TEST(perfs_cache_has_the_file_in_a_folder_or_is_the_file)
{
	struct symbolize_opts o = { .symfs = "/nowhere",
				    .home = dir,
				    .no_live = true };
	struct image img = image_image("/prog", id_a);

	folder(".debug");
	folder(".debug/.build-id");
	folder(".debug/.build-id/61");
	mkelf(image_test_at(
		      ".debug/.build-id/61/62636465666768696a6b6c6d6e6f7071727374"),
	      &(struct mkelf){ .sym = two, .n_sym = 2, .id = id_a });
	ck_assert_str_eq(names(&o, &img), TWO("symtab"));
	ck_assert_int_eq(unlink(path), 0);
	folder(".debug/.build-id/61/62636465666768696a6b6c6d6e6f7071727374");
	mkelf(image_test_at(
		      ".debug/.build-id/61/62636465666768696a6b6c6d6e6f7071727374/"
		      "elf"),
	      &(struct mkelf){ .sym = two, .n_sym = 2, .id = id_a });
	ck_assert_str_eq(names(&o, &img), TWO("symtab"));
}
END_TEST

START_TEST(a_stripped_copy_in_the_cache_does_not_hide_the_symbols)
{
	struct symbolize_opts o = { .home = dir, .no_live = true };
	char prog[128];

	snprintf(prog, sizeof(prog), "%s/prog", dir);

	struct image img = image_image(prog, id_a);

	folder(".debug");
	folder(".debug/.build-id");
	folder(".debug/.build-id/61");
	mkelf(image_test_at(
		      ".debug/.build-id/61/62636465666768696a6b6c6d6e6f7071727374"),
	      &(struct mkelf){ .id = id_a });
	mkelf(prog, &(struct mkelf){ .sym = two, .n_sym = 2, .id = id_b });
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	mkelf(prog, &(struct mkelf){ .sym = two, .n_sym = 2, .id = id_a });
	ck_assert_str_eq(names(&o, &img), TWO("symtab"));
	ck_assert_str_eq(image_status_word(rep.status), "named");
}
END_TEST

static uint32_t file_crc(const char *p)
{
	static unsigned char buf[1 << 16];
	FILE *f = fopen(p, "r");
	size_t n = fread(buf, 1, sizeof(buf), f);

	fclose(f);
	return lzma_crc32(buf, n, 0);
}

START_TEST(a_debug_link_is_taken_when_its_checksum_is_right)
{
	struct symbolize_opts o = { .symfs = dir, .no_live = true };
	struct image img = image_image("/prog", NULL);
	char link[16] = "p.debug";

	folder(".debug");
	mkelf(image_test_at(".debug/p.debug"),
	      &(struct mkelf){ .sym = two, .n_sym = 2 });
	uint32_t crc = file_crc(path);
	crc = htole32(crc);
	memcpy(link + 8, &crc, 4);
	mkelf(image_test_at("prog"),
	      &(struct mkelf){ .extra = link,
			       .extra_len = 12,
			       .extra_name = ".gnu_debuglink" });
	ck_assert_str_eq(names(&o, &img), TWO("debug?"));
	link[8]++;
	mkelf(image_test_at("prog"),
	      &(struct mkelf){ .extra = link,
			       .extra_len = 12,
			       .extra_name = ".gnu_debuglink" });
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	/* A name with a slash leads elsewhere: not taken at all. */
	memcpy(link, "../x.dbg", 9);
	mkelf(image_test_at("prog"),
	      &(struct mkelf){ .extra = link,
			       .extra_len = 16,
			       .extra_name = ".gnu_debuglink" });
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
}
END_TEST

START_TEST(packed_debug_data_names_static_functions)
{
	static unsigned char in[1 << 16];
	static unsigned char out[1 << 16];
	struct symbolize_opts o = { .symfs = dir, .no_live = true };
	struct image img = image_image("/prog", id_a);
	size_t n = 0;

	mkelf(image_test_at("mini"), &(struct mkelf){ .sym = one, .n_sym = 1 });
	FILE *f = fopen(path, "r");
	size_t len = fread(in, 1, sizeof(in), f);
	fclose(f);
	ck_assert_int_eq(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, in,
						 len, out, &n, sizeof(out)),
			 LZMA_OK);
	mkelf(image_test_at("prog"),
	      &(struct mkelf){ .id = id_a,
			       .extra = out,
			       .extra_len = n,
			       .extra_name = ".gnu_debugdata" });
	ck_assert_str_eq(names(&o, &img),
			 "gamma+0/32 debugdata;gamma+31/32 debugdata;-;-;");
	/* Cut in the middle: nothing, and no harm. */
	mkelf(image_test_at("prog"),
	      &(struct mkelf){ .id = id_a,
			       .extra = out,
			       .extra_len = n / 2,
			       .extra_name = ".gnu_debugdata" });
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
}
END_TEST

/* A stripped or hostile file. The sanitizer refuses a search in NULL. */
START_TEST(stubs_without_relocations_are_no_names)
{
	static const unsigned char plt[32] = { 0xff, 0x25,	  0x10, 0,   0,
					       0,    [16] = 0xff, 0x25, 0x10 };
	struct symbolize_opts o = { .symfs = dir, .no_live = true };
	struct image img = image_image("/prog", id_a);

	mkelf(image_test_at("prog"),
	      &(struct mkelf){ .id = id_a,
			       .extra = plt,
			       .extra_len = sizeof(plt),
			       .extra_name = ".plt.sec",
			       .extra_flags = SHF_ALLOC | SHF_EXECINSTR });
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
}
END_TEST

START_TEST(code_that_the_capture_names_has_that_name)
{
	struct symbolize_opts o = { .no_live = true };
	struct image img = { .kind = IMAGE_BPF,
			     .path = "bpf_prog_1234_x",
			     .start = 0xffffffffc0000000,
			     .len = 0x1040 };

	ck_assert_str_eq(names(&o, &img),
			 "bpf_prog_1234_x+4112/4160 ksymbol;"
			 "bpf_prog_1234_x+4143/4160 ksymbol;"
			 "bpf_prog_1234_x+4144/4160 ksymbol;-;");
	ck_assert_str_eq(image_status_word(rep.status), "named");
	img.kind = IMAGE_ANON;
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	ck_assert_str_eq(image_status_word(rep.status), "no names");
}
END_TEST

static void write_text(const char *p, const char *text)
{
	FILE *f = fopen(p, "w");

	fputs(text, f);
	fclose(f);
}

static const char kallsyms[] = "ffffffff81000000 T _stext\n"
			       "ffffffff81000000 T _text\n"
			       "ffffffff81001000 t first\n"
			       "ffffffff81001020 t __do_sys_x\n"
			       "ffffffff81001020 T __x64_sys_x\n"
			       "ffffffff81001020 T __noinstr_text_end\n"
			       "ffffffff81001040 t last\n"
			       "rubbish\n"
			       "ffffffff81001044 t\n"
			       "fffffffff81001044 t too_long\n"
			       "ffffffffc0001000 t my_open\t[my_mod]\n"
			       "ffffffffc0001044 t my_read\t[my_mod]\n"
			       "ffffffffc0002000 t other\t[other]";

START_TEST(kallsyms_names_the_kernel_and_shifts_another_boot)
{
	char file[128];
	struct image img = { .kind = IMAGE_KERNEL,
			     .path = "[kernel.kallsyms]",
			     .start = 0xffffffff81000000,
			     .len = 0x100000 };

	snprintf(file, sizeof(file), "%s/kallsyms", dir);
	write_text(file, kallsyms);
	struct symbolize_opts o = { .kallsyms = file, .no_live = true };
	const char *want = "first+16/32 kallsyms;__x64_sys_x+15/32 kallsyms;"
			   "__x64_sys_x+16/32 kallsyms;";
	ck_assert(!strncmp(names(&o, &img), want, strlen(want)));
	ck_assert_ptr_nonnull(strstr(got, "last+4/"));
	ck_assert_str_eq(image_status_word(rep.status), "named");
	img.start = 0xffffffff9d000000;
	want = "first+16/32 kallsyms?;__x64_sys_x+15/32 kallsyms?;";
	ck_assert(!strncmp(names(&o, &img), want, strlen(want)));
	ck_assert_str_eq(image_status_word(rep.status), "unverified");
}
END_TEST

START_TEST(kallsyms_names_a_module_only_from_its_own_symbols)
{
	char file[128];
	struct image img = { .kind = IMAGE_MODULE,
			     .len = 0x2000,
			     .path = "/lib/modules/7.2/extra/my-mod.ko.xz",
			     .start = 0xffffffffc0000000 };

	snprintf(file, sizeof(file), "%s/kallsyms", dir);
	write_text(file, kallsyms);
	struct symbolize_opts o = { .kallsyms = file, .no_live = true };
	ck_assert_str_eq(names(&o, &img),
			 "my_open+16/68 kallsyms;my_open+47/68 kallsyms;"
			 "my_open+48/68 kallsyms;my_read+0/4028 kallsyms;");
	ck_assert_str_eq(image_status_word(rep.status), "named");
	img.path = "[third]";
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	ck_assert_str_eq(image_status_word(rep.status), "no symbols");
}
END_TEST

/* Where this machine shows no kernel addresses, nothing can be named. */
START_TEST(the_running_kernel_names_no_other_machines_kernel)
{
	struct image img = { .kind = IMAGE_KERNEL,
			     .path = "[kernel.kallsyms]",
			     .start = 0x1000,
			     .len = 0x100000 };
	struct symbolize_opts o = { .same_machine = false };

	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	/* The same machine, but a kernel at another place: another boot. */
	o.same_machine = true;
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	ck_assert_str_eq(image_status_word(rep.status), "no file");
	img.start = 0;
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
}
END_TEST

START_TEST(a_kallsyms_that_cannot_be_read_is_an_error)
{
	struct image img = { .kind = IMAGE_KERNEL, .start = 1 };
	struct symbolizer *sy = symbolize_new(
		&(struct symbolize_opts){ .kallsyms = "/not there" });
	struct err err;

	ck_assert_int_eq(symbolize_image(sy, &img, NULL, 0, image_collect, NULL,
					 &rep, &err),
			 -1);
	ck_assert_str_eq(err.msg, "/not there: No such file or directory");
	report_release(&rep);
	symbolize_free(sy);

	char file[128];
	snprintf(file, sizeof(file), "%s/kallsyms", dir);
	write_text(file, "0000000000000000 T _text\n\x1f\x8b\n");
	sy = symbolize_new(&(struct symbolize_opts){ .kallsyms = file });
	ck_assert_int_eq(symbolize_image(sy, &img, NULL, 0, image_collect, NULL,
					 &rep, &err),
			 -1);
	ck_assert_ptr_nonnull(strstr(err.msg, "no symbols with addresses"));
	report_release(&rep);
	symbolize_free(sy);
}
END_TEST

START_TEST(vmlinux_is_counted_from_text_and_proved_by_its_build_id)
{
	static const struct mksym k[] = {
		{ "_text", MKELF_TEXT - MKELF_OFF, 0, FUNC },
		{ "alpha", MKELF_TEXT + 0x10, 0x20, FUNC },
	};
	struct image img = { .kind = IMAGE_KERNEL,
			     .path = "[kernel.kallsyms]",
			     .start = 0xffffffff9d000000,
			     .id_len = 20 };
	char file[128];

	memcpy(img.id, id_a, 20);
	snprintf(file, sizeof(file), "%s/vmlinux", dir);
	mkelf(file, &(struct mkelf){ .sym = k, .n_sym = 2, .id = id_a });
	struct symbolize_opts o = { .vmlinux = file, .no_live = true };
	names(&o, &img);
	ck_assert(!strncmp(got, "alpha+0/32 symtab;alpha+31/32 symtab;", 37));
	ck_assert_str_eq(image_status_word(rep.status), "named");
	img.id[0]++;
	ck_assert_str_eq(names(&o, &img), "-;-;-;-;");
	ck_assert_str_eq(image_status_word(rep.status), "other build-id");
}
END_TEST

/* A relocatable file; its symbols count from where its section is put. */
START_TEST(a_module_known_by_its_name_is_found_in_the_folder_of_its_kernel)
{
	static const struct mksym k[] = {
		{ "alpha", 0x10, 0x20, FUNC },
		{ "beta", 0x40, 0x10, FUNC },
	};
	struct image img = { .kind = IMAGE_MODULE,
			     .path = "[snd_x]",
			     .start = 0xffffffffc0400000,
			     .id_len = 20 };
	const struct code_place code[] = { { .off = 0x10 }, { .off = 0x41 } };
	struct symbolize_opts o = { .symfs = dir,
				    .release = "9.9",
				    .no_live = true };

	memcpy(img.id, id_a, 20);
	folder("lib");
	folder("lib/modules");
	folder("lib/modules/9.9");
	folder("lib/modules/9.9/net");
	write_text(image_test_at("lib/modules/9.9/modules.dep"),
		   "net/other.ko:\nnet/snd-x.ko: net/other.ko\n");
	mkelf(image_test_at("lib/modules/9.9/net/snd-x.ko"),
	      &(struct mkelf){ .sym = k, .n_sym = 2, .id = id_a });
	int fd = open(path, O_WRONLY);
	ck_assert_int_eq((int)pwrite(fd, "\1", 1, 16), 1); /* ET_REL */
	close(fd);
	for (int i = 0; i < 2; i++) {
		struct symbolizer *sy = symbolize_new(&o);

		got[0] = '\0';
		ck_assert_int_eq(symbolize_image(sy, &img, code, 2,
						 image_collect, NULL, &rep,
						 NULL),
				 0);
		ck_assert_str_eq(got, i ? "-;-;"
					: "alpha+0/32 symtab;"
					  "beta+1/16 symtab;");
		ck_assert_str_eq(image_status_word(rep.status),
				 i ? "no file" : "named");
		report_release(&rep);
		symbolize_free(sy);
		o.release = "9.8";
	}
}
END_TEST

RUN_WITH("image", image_setup, image_teardown,
	 the_same_build_id_gives_names_and_none_gives_unverified_ones,
	 another_build_id_is_never_used, a_file_that_is_no_elf_file,
	 a_file_that_came_while_it_was_recorded_is_not_the_mapped_one,
	 a_file_of_another_length_than_what_was_mapped_names_nothing,
	 without_a_build_id_a_file_may_not_be_newer_than_the_recording,
	 the_old_build_of_a_replaced_file_may_be_given,
	 a_given_file_without_the_addresses_that_ran_is_refused,
	 a_short_recorded_build_id_may_be_padded_with_zeros,
	 a_stripped_file_has_no_symbols_but_segments,
	 a_path_cannot_climb_out_of_symfs, a_fifo_and_a_folder_are_not_opened,
	 a_debug_file_is_found_by_build_id,
	 perfs_cache_has_the_file_in_a_folder_or_is_the_file,
	 a_stripped_copy_in_the_cache_does_not_hide_the_symbols,
	 a_debug_link_is_taken_when_its_checksum_is_right,
	 packed_debug_data_names_static_functions,
	 stubs_without_relocations_are_no_names,
	 code_that_the_capture_names_has_that_name,
	 kallsyms_names_the_kernel_and_shifts_another_boot,
	 kallsyms_names_a_module_only_from_its_own_symbols,
	 the_running_kernel_names_no_other_machines_kernel,
	 a_kallsyms_that_cannot_be_read_is_an_error,
	 vmlinux_is_counted_from_text_and_proved_by_its_build_id,
	 a_module_known_by_its_name_is_found_in_the_folder_of_its_kernel)
