/* new_file.c - test of stitch/files/new_file.c: files that replace others. */
#include "stitch/files/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stitch/base/err.h"
#include "tests/unit/scratch.h"

/* The C library's linkat() is hidden by this one: each call fails with the
 * errors of the list, the last of which stays; 0 makes the link. */
static const int *link_errors;
static int links;

int linkat(int from_dir, const char *from, int to_dir, const char *to, int how)
{
	char file[512];
	ssize_t n = readlink(from, file, sizeof(file) - 1);

	(void)from_dir;
	(void)how;
	links++;
	errno = *link_errors;
	if (errno && link_errors[1] >= 0)
		link_errors++;
	if (errno)
		return -1;
	ck_assert_int_gt(n, 0);
	/* an empty file stands for the one without a name */
	int fd = openat(to_dir, to, O_CREAT | O_EXCL | O_WRONLY, 0600);

	ck_assert_int_ge(fd, 0);
	return close(fd);
}

static char dir[64], path[96];

static void new_file_setup(void)
{
	scratch_make(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/out", dir);
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs("old", f);
	ck_assert_int_eq(fclose(f), 0);
	links = 0;
}

static void new_file_teardown(void)
{
	scratch_remove(dir);
}

/* Returns what new_file_finish() returns, with the size of the file after it.
 */
static int replaced(const int *errors, struct err *err, off_t *size)
{
	struct new_file *nf = new_file_open(path, true, err);
	struct stat st;

	ck_assert_ptr_nonnull(nf);
	link_errors = errors;
	fputs("new one", new_file_stream(nf));
	int ret = new_file_finish(nf, err);

	new_file_free(nf);
	ck_assert_int_eq(stat(path, &st), 0);
	*size = st.st_size;
	return ret;
}

START_TEST(a_temporary_name_that_is_taken_is_followed_by_another)
{
	struct err err;
	off_t size;

	ck_assert_int_eq(
		replaced((int[]){ EEXIST, EEXIST, EEXIST, 0, -1 }, &err, &size),
		0);
	ck_assert_int_eq(links, 4);
	ck_assert_int_eq(size, 0);
}
END_TEST

START_TEST(a_link_that_fails_otherwise_is_tried_once)
{
	struct err err;
	off_t size;

	ck_assert_int_eq(replaced((int[]){ EEXIST, EIO, -1 }, &err, &size), -1);
	ck_assert_int_eq(links, 2);
	ck_assert_ptr_nonnull(strstr(err.msg, strerror(EIO)));
	ck_assert_int_eq(size, 3);
}
END_TEST

RUN_WITH("new_file", new_file_setup, new_file_teardown,
	 a_temporary_name_that_is_taken_is_followed_by_another,
	 a_link_that_fails_otherwise_is_tried_once)
