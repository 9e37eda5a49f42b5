/* folder.c - output that is a folder. */
#include "cli/output/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stitch/base/err.h"
#include "stitch/base/new_file.h"
#include "stitch/base/path.h"

static bool folder_is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

int folder_check(const char *path, struct err *err)
{
	const struct dirent *e;
	DIR *d = opendir(path);

	if (!d && errno == ENOENT)
		return 0;
	if (!d)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	while ((e = readdir(d)) && folder_is_dots(e->d_name))
		;
	closedir(d);
	return e ? err_set(err, ERR_USAGE,
			   "%s: is there and not empty; the export makes a "
			   "folder",
			   path)
		 : 0;
}

/* Removes a folder that has files only. */
static void folder_remove(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		if (!folder_is_dots(e->d_name))
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(path);
}

/* The folder that is written is TEMP/trace. */
static void folder_remove_temp(const char *temp)
{
	char made[PATH_MAX + 8];

	snprintf(made, sizeof(made), "%s/trace", temp);
	folder_remove(made);
	rmdir(temp);
}

/* mem.c ends the program when memory is exhausted, so nobody else can. */
static char folder_temp[PATH_MAX];
static pid_t folder_owner;

static void folder_at_exit(void)
{
	if (*folder_temp && getpid() == folder_owner)
		folder_remove_temp(folder_temp);
}

static void folder_remember(const char *temp)
{
	if (!folder_owner)
		atexit(folder_at_exit);
	folder_owner = getpid();
	snprintf(folder_temp, sizeof(folder_temp), "%s", temp);
}

/* Removes what killed runs left beside path, unless another machine or pid
 * namespace has it locked. */
static void folder_remove_dead(const char *path)
{
	size_t len = (size_t)(path_base(path) - path);
	char dir[PATH_MAX];
	char temp[PATH_MAX + NAME_MAX];
	const struct dirent *e;

	snprintf(dir, sizeof(dir), "%.*s", len ? (int)len : 2,
		 len ? path : "./");
	DIR *d = opendir(dir);

	while (d && (e = readdir(d))) {
		if (!new_file_owner_is_gone(e->d_name, path_base(path)))
			continue;
		int fd = openat(dirfd(d), e->d_name,
				O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd < 0)
			continue;
		snprintf(temp, sizeof(temp), "%s%s", dir, e->d_name);
		if (!flock(fd, LOCK_EX | LOCK_NB))
			folder_remove_temp(temp);
		close(fd);
	}
	if (d)
		closedir(d);
}

/* Makes a folder NAME.PID-N.tmp and locks it. Returns a descriptor, or -1 and
 * errno. */
static int folder_make_temp(const char *path, char *temp, size_t size)
{
	int rc = -1;
	int fd;

	for (unsigned int i = 0; rc && i < 1000; i++) {
		snprintf(temp, size, "%s.%ld-%u.tmp", path, (long)getpid(), i);
		rc = mkdir(temp, 0700);
		if (rc && errno != EEXIST)
			break;
	}
	fd = rc ? -1 : open(temp, O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

int folder_write(const char *path, folder_write_fn *write, void *arg,
		 struct err *err)
{
	size_t len = strlen(path);
	char plain[PATH_MAX - 48];
	char temp[PATH_MAX];
	char made[PATH_MAX + 8];
	int rc;

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (folder_check(path, err))
		return -1;
	if (len >= sizeof(plain))
		return err_set(err, ERR_USAGE,
			       "the name of the folder is too "
			       "long");
	snprintf(plain, sizeof(plain), "%.*s", (int)len, path);
	folder_remove_dead(plain);
	int fd = folder_make_temp(plain, temp, sizeof(temp));

	if (fd < 0)
		return err_set(err, ERR_IO, "%s: %s", temp, strerror(errno));
	folder_remember(temp);
	snprintf(made, sizeof(made), "%s/trace", temp);
	rc = write(made, arg, err);
	if (!rc && rename(made, path))
		rc = err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	folder_remove_temp(temp);
	*folder_temp = '\0';
	close(fd);
	return rc;
}
