/* symbolize_name_cache.c - names remembered on disk: the same, until files
 * change. */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <utime.h>

#include "mkelf.h"
#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "symbolize/symbolize.h"
#include "tests/unit/run.h"
#include "tests/unit/scratch.h"

#define FUNC GELF_ST_INFO(STB_GLOBAL, STT_FUNC)
#define PATH_MAX_HERE 512

static const char id_a[] = "abcdefghijklmnopqrst";
static const struct mksym alpha[] = {
	{ "alpha", MKELF_TEXT + 0x10, 0x20, FUNC },
	{ "_ZN1a4betaEv", MKELF_TEXT + 0x40, 0x10, FUNC },
};
static const struct mksym gamma_[] = {
	{ "gamma", MKELF_TEXT + 0x10, 0x20, FUNC },
};

static char dir[64];
static char cache[128];
static char got[4096];
static struct image_report rep;

static const char *memo_at(const char *name)
{
	static char path[PATH_MAX_HERE];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static int memo_collect(void *arg, const struct symbol *sym, struct err *err)
{
	size_t n = strlen(got);

	(void)arg;
	(void)err;
	snprintf(got + n, sizeof(got) - n, "%s+%d %s;",
		 sym->name ? sym->name : "-", (int)(sym->off - sym->start),
		 sym->how ? sym->how : "");
	return 0;
}

static const char *names_of(struct code_place a, struct code_place b)
{
	const struct code_place code[] = { a, b };
	struct symbolizer *sy = symbolize_new(&(struct symbolize_opts){
		.symfs = dir, .cache = cache, .no_live = true });
	struct image img = { .kind = IMAGE_FILE, .path = "/prog" };

	memcpy(img.id, id_a, 20);
	img.id_len = 20;
	got[0] = '\0';
	ck_assert_int_eq(symbolize_image(sy, &img, code, 2, memo_collect, NULL,
					 &rep, NULL),
			 0);
	report_release(&rep);
	symbolize_free(sy);
	return got;
}

static const char *names_at(uint64_t a, uint64_t b)
{
	return names_of((struct code_place){ .off = MKELF_OFF + a },
			(struct code_place){ .off = MKELF_OFF + b });
}

static void program(const struct mksym *sym, size_t n)
{
	mkelf(memo_at("prog"),
	      &(struct mkelf){ .sym = sym, .n_sym = n, .id = id_a });
}

static void memo_setup(void)
{
	scratch_make(dir, sizeof(dir));
	snprintf(cache, sizeof(cache), "%s/cache", dir);
	program(alpha, 2);
}

static void memo_teardown(void)
{
	scratch_remove(dir);
}

/* The only memo; "" when there is none. */
static const char *memo_path(void)
{
	static char path[PATH_MAX_HERE];
	char folder[256];
	DIR *d;

	path[0] = '\0';
	snprintf(folder, sizeof(folder), "%s/names/61", cache);
	d = opendir(folder);
	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_name[0] != '.')
			snprintf(path, sizeof(path), "%s/%s", folder,
				 e->d_name);
	if (d)
		closedir(d);
	return path;
}

#define ONE "a::beta()+4 symtab;"
#define BOTH "alpha+0 symtab;" ONE

START_TEST(the_second_time_says_the_same)
{
	ck_assert_str_eq(names_at(0x10, 0x44), BOTH);
	ck_assert_str_ne(memo_path(), "");
	ck_assert_str_eq(names_at(0x10, 0x44), BOTH);
	ck_assert_str_eq(image_status_word(rep.status), "named");
	ck_assert_str_eq(rep.file, memo_at("prog"));
	ck_assert_str_eq(rep.note, "");
	/* one known, one not, and one without a name, in their order */
	ck_assert_str_eq(names_at(0x11, 0x44),
			 "alpha+1 symtab;a::beta()+4 symtab;");
	ck_assert_str_eq(names_at(0x11, 0x30), "alpha+1 symtab;-+4144 ;");
	ck_assert_str_eq(names_at(0x11, 0x30), "alpha+1 symtab;-+4144 ;");
}
END_TEST

/* The first instruction behind a call is asked for as such by annotate, and as
 * a return address by ingest. */
START_TEST(an_instruction_that_follows_a_call_is_known_as_both)
{
	const struct code_place insn = { .off = MKELF_OFF + 0x44 };
	const struct code_place called = { .off = insn.off,
					   .after_call = true };
	struct stat once, again;

	ck_assert_str_eq(names_of(insn, called), ONE ONE);
	ck_assert_int_eq(stat(memo_path(), &once), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_str_eq(names_of(called, insn), ONE ONE);
		ck_assert_str_eq(names_of(insn, insn), ONE ONE);
	}
	ck_assert_int_eq(stat(memo_path(), &again), 0);
	ck_assert_uint_eq(again.st_ino, once.st_ino);
	ck_assert_int_eq(again.st_size, once.st_size);
}
END_TEST

/* Proof that it is the memo that answers: the file is not what it was, but
 * looks like it. */
START_TEST(the_file_is_not_read_again)
{
	struct stat st;

	names_at(0x10, 0x44);
	ck_assert_int_eq(stat(memo_at("prog"), &st), 0);
	int fd = open(memo_at("prog"), O_WRONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq((int)pwrite(fd, "????", 4, 0), 4);
	const struct timespec times[2] = { st.st_atim, st.st_mtim };
	ck_assert_int_eq(futimens(fd, times), 0);
	close(fd);
	ck_assert_str_eq(names_at(0x10, 0x44), BOTH);
}
END_TEST

START_TEST(a_file_with_the_same_build_id_and_other_names_is_told)
{
	names_at(0x10, 0x44);
	program(gamma_, 1);
	ck_assert_str_eq(names_at(0x10, 0x44), "gamma+0 symtab;-+4164 ;");
	ck_assert_ptr_nonnull(strstr(rep.note, "differ from before"));
	ck_assert_str_eq(names_at(0x10, 0x44), "gamma+0 symtab;-+4164 ;");
	ck_assert_str_eq(rep.note, "");
}
END_TEST

START_TEST(other_bytes_with_the_same_build_id_are_told)
{
	const struct mksym more[] = {
		alpha[0],
		alpha[1],
		{ "delta", MKELF_TEXT + 0x80, 0x10, FUNC },
	};

	names_at(0x10, 0x44);
	program(more, 3);
	ck_assert_str_eq(names_at(0x10, 0x44), BOTH);
	ck_assert_ptr_nonnull(strstr(rep.note, "changed, with the same"));
	ck_assert_str_eq(names_at(0x10, 0x44), BOTH);
	ck_assert_str_eq(rep.note, "");
}
END_TEST

START_TEST(a_file_that_was_only_touched_is_not_told)
{
	const struct utimbuf t = { 1, 1 };

	names_at(0x10, 0x44);
	ck_assert_int_eq(utime(memo_at("prog"), &t), 0);
	ck_assert_str_eq(names_at(0x10, 0x44), BOTH);
	ck_assert_str_eq(rep.note, "");
}
END_TEST

START_TEST(one_of_another_version_is_written_anew)
{
	for (const char *version = "\1\177"; *version; version++) {
		names_at(0x10, 0x44);
		int fd = open(memo_path(), O_WRONLY);
		ck_assert_int_ge(fd, 0);
		ck_assert_int_eq((int)pwrite(fd, version, 1, 7), 1);
		close(fd);
		ck_assert_str_eq(names_at(0x10, 0x44), BOTH);
		ck_assert_str_eq(rep.note, "");
	}
}
END_TEST

START_TEST(a_better_file_that_turns_up_is_used)
{
	ck_assert_int_eq(mkdir(memo_at(".build-id"), 0755), 0);
	ck_assert_int_eq(mkdir(memo_at(".build-id/61"), 0755), 0);
	mkelf(memo_at("prog"), &(struct mkelf){ .id = id_a });
	ck_assert_str_eq(names_at(0x10, 0x44), "-+4112 ;-+4164 ;");
	mkelf(memo_at(".build-id/61/62636465666768696a6b6c6d6e6f7071727374.debug"),
	      &(struct mkelf){ .sym = alpha, .n_sym = 2, .id = id_a });
	ck_assert_str_eq(names_at(0x10, 0x44),
			 "alpha+0 debug;a::beta()+4 debug;");
}
END_TEST

static void memo_write_all(const char *path, const unsigned char *p, size_t n)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	must(fd >= 0 && write(fd, p, n) == (ssize_t)n);
	close(fd);
}

START_TEST(a_damaged_one_is_ignored_and_told)
{
	unsigned char buf[8192];
	char path[PATH_MAX_HERE];

	names_at(0x10, 0x44);
	snprintf(path, sizeof(path), "%s", memo_path());
	int fd = open(path, O_RDONLY);
	ssize_t len = read(fd, buf, sizeof(buf));
	close(fd);
	must(len > 100 && len < (ssize_t)sizeof(buf));
	for (ssize_t i = 0; i < len; i += 7) {
		buf[i] ^= 0x20;
		memo_write_all(path, buf, (size_t)len);
		must(!strcmp(names_at(0x10, 0x44), BOTH));
		/* byte 7 is the version */
		must(!rep.note[0] == (i == 7));
		must(i == 7 || strstr(rep.note, "damaged, ignored"));
		buf[i] ^= 0x20;
		memo_write_all(path, buf, (size_t)i);
		must(!strcmp(names_at(0x10, 0x44), BOTH));
		must(!i || strstr(rep.note, "damaged, ignored"));
	}
	/* and it is whole again */
	names_at(0x10, 0x44);
	must(!rep.note[0]);
}
END_TEST

static size_t memo_count(void)
{
	char folder[256];
	size_t n = 0;
	DIR *d;

	snprintf(folder, sizeof(folder), "%s/names/61", cache);
	d = opendir(folder);
	for (struct dirent *e; d && (e = readdir(d));)
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

static void memo_ask(const struct symbolize_opts *o)
{
	const struct code_place code = { .off = MKELF_OFF + 0x10 };
	struct image img = { .kind = IMAGE_FILE, .path = "/prog" };
	struct symbolizer *sy = symbolize_new(o);

	memcpy(img.id, id_a, 20);
	img.id_len = 20;
	got[0] = '\0';
	ck_assert_int_eq(symbolize_image(sy, &img, &code, 1, memo_collect, NULL,
					 &rep, NULL),
			 0);
	report_release(&rep);
	symbolize_free(sy);
}

/* What changes a name or where it is looked for. */
START_TEST(each_way_to_ask_has_a_memo_of_its_own)
{
	static const char *const folders[] = { "/no", NULL };
	const struct symbolize_opts plain = { .symfs = dir, .cache = cache };
	struct symbolize_opts o[] = { plain, plain, plain, plain,
				      plain, plain, plain, plain };

	o[1].no_demangle = true;
	o[2].no_inline = true;
	o[3].no_live = true;
	o[4].kallsyms = "/no";
	o[5].home = "/no";
	o[6].debug_dirs = folders;
	o[7].no_inline = o[7].no_live = true;
	for (size_t i = 0; i < sizeof(o) / sizeof(*o); i++) {
		memo_ask(&o[i]);
		ck_assert_uint_eq(memo_count(), i + 1);
	}
}
END_TEST

START_TEST(what_a_server_may_say_has_a_memo_of_its_own)
{
	struct symbolize_opts o = { .symfs = dir, .cache = cache };

	/* with debug information of its own: none is fetched */
	mkelf(memo_at("prog"), &(struct mkelf){ .sym = alpha,
						.n_sym = 2,
						.id = id_a,
						.extra = "",
						.extra_len = 1,
						.extra_name = ".debug_info" });
	unsetenv("DEBUGINFOD_URLS");
	memo_ask(&o);
	o.fetch_seconds = 1;
	memo_ask(&o);
	ck_assert_uint_eq(memo_count(), 2);
}
END_TEST

START_TEST(the_oldest_go_when_there_are_too_many)
{
	char old[PATH_MAX_HERE];
	const struct code_place code = { .off = MKELF_OFF + 0x10 };
	struct symbolize_opts o = { .symfs = dir,
				    .cache = cache,
				    .cache_max = 1 << 20,
				    .no_live = true };
	struct image img = { .kind = IMAGE_FILE, .path = "/prog" };

	memcpy(img.id, id_a, 20);
	img.id_len = 20;
	for (int i = 0; i < 6; i++) {
		char symfs[80];

		/* each in a folder of its own, for another memo each */
		snprintf(symfs, sizeof(symfs), "%.60s%.*s", dir, i + 1,
			 "////////");
		o.symfs = symfs;
		struct symbolizer *sy = symbolize_new(&o);
		ck_assert_int_eq(symbolize_image(sy, &img, &code, 1,
						 memo_collect, NULL, &rep,
						 NULL),
				 0);
		report_release(&rep);
		symbolize_free(sy);
		if (!i) {
			snprintf(old, sizeof(old), "%s", memo_path());
			ck_assert_str_ne(old, "");
			const struct utimbuf t = { 1, 1 };
			ck_assert_int_eq(utime(old, &t), 0);
			/* of six memos, room for three */
			struct stat st;

			ck_assert_int_eq(stat(old, &st), 0);
			o.cache_max = 3 * (uint64_t)st.st_size + 100;
		}
	}
	ck_assert_int_ne(access(old, F_OK), 0);
	ck_assert_str_ne(memo_path(), "");
}
END_TEST

RUN_WITH("symbolize_name_cache", memo_setup, memo_teardown,
	 an_instruction_that_follows_a_call_is_known_as_both,
	 the_second_time_says_the_same, the_file_is_not_read_again,
	 a_file_with_the_same_build_id_and_other_names_is_told,
	 other_bytes_with_the_same_build_id_are_told,
	 a_file_that_was_only_touched_is_not_told,
	 one_of_another_version_is_written_anew,
	 a_better_file_that_turns_up_is_used, a_damaged_one_is_ignored_and_told,
	 each_way_to_ask_has_a_memo_of_its_own,
	 what_a_server_may_say_has_a_memo_of_its_own,
	 the_oldest_go_when_there_are_too_many)
