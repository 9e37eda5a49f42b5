/* bundle.c - tests of formats/bundle.c: archives as tar reads them, the same
 * bytes in each form, and what is refused. */
/* A process for each test: a limit of the size of files stays. */
#include "formats/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/unpack.h"
#include "stitch/base/err.h"
#include "tests/unit/scratch.h"

#define MUCH ((size_t)1 << 20)
#define BLOCK 512

static char dir[64];

/* The C library's pread() is hidden by this one: files end at file_end, if that
 * is not 0, and some calls are interrupted. */
static off_t file_end;
static int interrupts;

ssize_t pread(int fd, void *buf, size_t n, off_t off)
{
	if (interrupts) {
		interrupts--;
		errno = EINTR;
		return -1;
	}
	if (file_end && (off_t)n > file_end - off)
		n = off < file_end ? (size_t)(file_end - off) : 0;
	return syscall(SYS_pread64, fd, buf, n, off);
}

static void bundle_setup(void)
{
	scratch_make(dir, sizeof(dir));
}

static void bundle_teardown(void)
{
	scratch_remove(dir);
}

static const char *bundle_test_path(const char *name)
{
	static char path[2][128];
	static int i;

	i = !i;
	snprintf(path[i], sizeof(path[i]), "%s/%s", dir, name);
	return path[i];
}

/* A file of n bytes 'x', open for reading. */
static int some_file(const char *name, size_t n, mode_t mode)
{
	int fd = open(bundle_test_path(name), O_RDWR | O_CREAT | O_EXCL, mode);

	ck_assert_int_ge(fd, 0);
	for (size_t i = 0; i < n; i++)
		must(write(fd, "x", 1) == 1);
	return fd;
}

/* Returns the bytes of the archive with its compression taken off. */
static unsigned char *plain(const char *name, size_t *len)
{
	int fd = open(bundle_test_path(name), O_RDONLY);
	unsigned char *data;
	ssize_t n;

	ck_assert_int_ge(fd, 0);
	data = unpack_all(fd, name, MUCH, len);
	if (!data) {
		data = malloc(MUCH);
		n = pread(fd, data, MUCH, 0);
		ck_assert_int_gt(n, 0);
		*len = (size_t)n;
	}
	close(fd);
	return data;
}

/* A text and a program of 1000 bytes. */
static void make(const char *name)
{
	struct err err = { 0 };
	uint64_t bytes = 7;
	int fd = open(bundle_test_path("program"), O_RDONLY);
	struct bundle *b = bundle_create(bundle_test_path(name), false, &err);

	ck_assert_msg(b != NULL, "%s", err.msg);
	ck_assert_int_eq(bundle_add_text(b, "README", "read me\n", &err), 0);
	ck_assert_int_eq(
		bundle_add_file(b, "bin/program", fd, "program", &bytes, &err),
		0);
	ck_assert_uint_eq(bytes, 1007);
	ck_assert_int_eq(access(bundle_test_path(name), F_OK), -1);
	ck_assert_int_eq(bundle_finish(b, &err), 0);
	bundle_free(b);
	close(fd);
}

/* An entry has no owner and no time, which would tell who made it. */
static void check_entry(const unsigned char *at, const char *name,
			const char *mode, const char *size)
{
	ck_assert_str_eq((const char *)at, name);
	ck_assert_mem_eq(at + 100, mode, 6);
	ck_assert_mem_eq(at + 108, "000000 \000000000 ", 14);
	ck_assert_mem_eq(at + 124, size, 11);
	ck_assert_mem_eq(at + 136, "00000000000", 11);
	ck_assert_int_eq(at[156], '0');
	ck_assert_mem_eq(at + 257, "ustar\00000", 8);
}

START_TEST(entries_have_name_mode_and_size_but_no_owner_or_time)
{
	size_t len;

	close(some_file("program", 1000, 0700));
	make("a.tar");
	unsigned char *data = plain("a.tar", &len);

	ck_assert_uint_eq(len, 7 * BLOCK);
	check_entry(data, "README", "000644", "00000000010");
	ck_assert_mem_eq(data + BLOCK, "read me\n", 9);
	check_entry(data + 2 * BLOCK, "bin/program", "000755", "00000001750");
	for (size_t i = 0; i < 2 * BLOCK; i++)
		must(data[3 * BLOCK + i] == (i < 1000 ? 'x' : 0));
	for (size_t i = 5 * BLOCK; i < len; i++)
		must(!data[i]);
	free(data);
}
END_TEST

START_TEST(each_form_has_the_same_entries_and_gives_the_same_bytes_again)
{
	static const struct {
		const char *name, *again, *head;
	} forms[] = {
		{ "a.tar.gz", "b.tar.gz", "\x1f\x8b\x08\0\0\0\0\0" },
		{ "a.tgz", "b.tgz", "\x1f\x8b\x08\0\0\0\0\0" },
		{ "a.tar.zst", "b.tar.zst", "\x28\xb5\x2f\xfd" },
		{ "a.tar.xz", "b.tar.xz", "\xfd\x37zXZ" },
	};
	size_t len, tar_len, again_len;

	close(some_file("program", 1000, 0700));
	make("a.tar");
	unsigned char *tar = plain("a.tar", &tar_len);

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		const char *name = forms[i].name;
		char head[8] = { 0 };

		ck_assert(bundle_is_name(name));
		make(name);
		make(forms[i].again);
		int fd = open(bundle_test_path(name), O_RDONLY);

		ck_assert_int_eq(read(fd, head, sizeof(head)), 8);
		close(fd);
		ck_assert_mem_eq(head, forms[i].head, 4);
		unsigned char *data = plain(name, &len);
		unsigned char *again = plain(forms[i].again, &again_len);

		ck_assert_uint_eq(len, again_len);
		ck_assert_mem_eq(data, again, len);
		/* xz is not among what unpack.c reads */
		if (strcmp(name, "a.tar.xz") != 0) {
			ck_assert_uint_eq(len, tar_len);
			ck_assert_mem_eq(data, tar, len);
		}
		free(again);
		free(data);
	}
	free(tar);
}
END_TEST

START_TEST(a_file_that_shrinks_is_filled_with_zeros)
{
	struct err err = { 0 };
	uint64_t bytes = 0;
	size_t len;
	int fd = some_file("file", 700, 0600);
	struct bundle *b =
		bundle_create(bundle_test_path("a.tar"), false, &err);

	ck_assert_ptr_nonnull(b);
	file_end = 300;
	interrupts = 1;
	ck_assert_int_eq(bundle_add_file(b, "file", fd, "file", &bytes, &err),
			 0);
	file_end = 0;
	ck_assert_int_eq(interrupts, 0);
	ck_assert_uint_eq(bytes, 700);
	close(fd);
	ck_assert_int_eq(bundle_finish(b, &err), 0);
	bundle_free(b);
	unsigned char *data = plain("a.tar", &len);

	ck_assert_uint_eq(len, 5 * BLOCK);
	check_entry(data, "file", "000644", "00000001274");
	for (size_t i = 0; i < 2 * BLOCK; i++)
		must(data[BLOCK + i] == (i < 300 ? 'x' : 0));
	free(data);
}
END_TEST

START_TEST(what_cannot_be_read_is_an_error_and_leaves_no_file)
{
	struct err err = { 0 };
	uint64_t bytes = 0;
	struct bundle *b =
		bundle_create(bundle_test_path("a.tar"), false, &err);
	int fd = open(dir, O_RDONLY | O_DIRECTORY);

	ck_assert_ptr_nonnull(b);
	ck_assert_int_eq(bundle_add_file(b, "x", -1, "gone", &bytes, &err), -1);
	ck_assert_str_eq(err.msg, "gone: Bad file descriptor");
	ck_assert_int_eq(bundle_add_file(b, "x", fd, "folder", &bytes, &err),
			 -1);
	ck_assert_str_eq(err.msg, "folder: Is a directory");
	ck_assert_uint_eq(bytes, 0);
	close(fd);
	bundle_free(b);
	ck_assert_int_eq(access(bundle_test_path("a.tar"), F_OK), -1);
}
END_TEST

START_TEST(names_of_no_form_and_files_that_exist_are_refused)
{
	struct err err = { 0 };
	struct bundle *b;

	ck_assert(!bundle_is_name(".tar"));
	ck_assert(!bundle_is_name("a.zip"));
	ck_assert_ptr_null(bundle_create("a.zip", true, &err));
	ck_assert_int_eq(err.code, ERR_USAGE);
	ck_assert_ptr_nonnull(strstr(err.msg, "a.zip: an archive is called"));
	close(some_file("a.tar", 3, 0600));
	ck_assert_ptr_null(
		bundle_create(bundle_test_path("a.tar"), false, &err));
	ck_assert_ptr_nonnull(strstr(err.msg, "exists"));
	b = bundle_create(bundle_test_path("a.tar"), true, &err);
	ck_assert_ptr_nonnull(b);
	bundle_free(b);
	bundle_free(NULL);

	struct stat st;

	ck_assert_int_eq(stat(bundle_test_path("a.tar"), &st), 0);
	ck_assert_int_eq(st.st_size, 3);
}
END_TEST

/* A limit of the file's size stands for a full disk. */
START_TEST(a_full_disk_is_an_error_that_names_the_archive)
{
	struct err err = { 0 };
	uint64_t bytes = 0;
	struct rlimit lim;
	int fd = some_file("big", 100000, 0600);
	struct bundle *b =
		bundle_create(bundle_test_path("a.tar"), false, &err);

	ck_assert_ptr_nonnull(b);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &lim), 0);
	lim.rlim_cur = 20000;
	ck_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &lim), 0);
	ck_assert_int_eq(bundle_add_file(b, "big", fd, "big", &bytes, &err),
			 -1);
	ck_assert_int_eq(err.code, ERR_IO);
	ck_assert_ptr_nonnull(strstr(err.msg, "/a.tar: "));
	ck_assert_int_eq(bundle_finish(b, &err), -1);
	bundle_free(b);
	close(fd);
	ck_assert_int_eq(access(bundle_test_path("a.tar"), F_OK), -1);
}
END_TEST

RUN_WITH("bundle", bundle_setup, bundle_teardown,
	 entries_have_name_mode_and_size_but_no_owner_or_time,
	 each_form_has_the_same_entries_and_gives_the_same_bytes_again,
	 a_file_that_shrinks_is_filled_with_zeros,
	 what_cannot_be_read_is_an_error_and_leaves_no_file,
	 names_of_no_form_and_files_that_exist_are_refused,
	 a_full_disk_is_an_error_that_names_the_archive)
