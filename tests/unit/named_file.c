/* named_file.c - tests of stitch/files/named_file.c: what a path from a capture
 * may open. */
#include "stitch/files/named_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stitch/base/err.h"
#include "tests/unit/run.h"

static char dir[] = "/tmp/named_file.XXXXXX";
static char path[128];

static const char *in_dir(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void named_file_set_up(void)
{
	char to[128];
	int fd;

	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	fd = open(in_dir("file"), O_WRONLY | O_CREAT, 0600);
	ck_assert_int_eq(write(fd, "12345", 5), 5);
	close(fd);
	ck_assert_int_eq(mkfifo(in_dir("fifo"), 0600), 0);
	ck_assert_int_eq(symlink("file", in_dir("to-file")), 0);
	ck_assert_int_eq(symlink("fifo", in_dir("to-fifo")), 0);
	snprintf(to, sizeof(to), "/proc/self/environ");
	ck_assert_int_eq(symlink(to, in_dir("to-proc")), 0);
}

static void named_file_tear_down(void)
{
	static const char *const name[] = { "file", "fifo", "to-file",
					    "to-fifo", "to-proc" };

	for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
		unlink(in_dir(name[i]));
	rmdir(dir);
}

static void refused(const char *name, const char *why)
{
	struct err err = { 0 };
	uint64_t size;

	ck_assert_int_eq(named_file_open(name, &size, &err), -1);
	ck_assert_msg(strstr(err.msg, why) != NULL, "%s", err.msg);
}

START_TEST(a_regular_file_is_opened_through_links_and_dots)
{
	static const char *const name[] = { "file", "to-file", "../../tmp/." };
	uint64_t size;
	size_t len;

	for (size_t i = 0; i < 2; i++) {
		int fd = named_file_open(in_dir(name[i]), &size, NULL);

		ck_assert_int_ge(fd, 0);
		ck_assert_uint_eq(size, 5);
		close(fd);
		char *text = named_file_load(in_dir(name[i]), 5, &len);

		ck_assert_uint_eq(len, 5);
		ck_assert_mem_eq(text, "12345", 5);
		free(text);
		ck_assert_ptr_null(named_file_load(in_dir(name[i]), 4, &len));
	}
	refused(in_dir(name[2]), "not a regular file");
}
END_TEST

START_TEST(what_would_block_or_react_is_not_opened)
{
	refused(in_dir("fifo"), "not a regular file");
	refused(in_dir("to-fifo"), "not a regular file");
	refused("/dev/null", "not a regular file");
	refused("/tmp", "not a regular file");
	refused(in_dir("gone"), "No such file");
}
END_TEST

START_TEST(files_of_the_kernel_are_for_the_user_to_name)
{
	uint64_t size;

	if (access("/proc/self/environ", R_OK))
		return;
	refused("/proc/self/environ", "a file of the kernel");
	refused("/proc/self/../version", "a file of the kernel");
	refused(in_dir("to-proc"), "a file of the kernel");
	int fd = named_file_open_any("/proc/self/environ", &size, NULL);

	ck_assert_int_ge(fd, 0);
	close(fd);
}
END_TEST

RUN_WITH("named_file", named_file_set_up, named_file_tear_down,
	 a_regular_file_is_opened_through_links_and_dots,
	 what_would_block_or_react_is_not_opened,
	 files_of_the_kernel_are_for_the_user_to_name)
