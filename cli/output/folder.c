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
#include <unistd.h>

#include "stitch/base/err.h"

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

int folder_write(const char *path, folder_write_fn *write, void *arg,
		 struct err *err)
{
	size_t len = strlen(path);
	char temp[PATH_MAX];
	char made[PATH_MAX + 8];
	int rc;

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (folder_check(path, err))
		return -1;
	if (len > sizeof(temp) - 8)
		return err_set(err, ERR_USAGE,
			       "the name of the folder is too "
			       "long");
	snprintf(temp, sizeof(temp), "%.*s.XXXXXX", (int)len, path);
	if (!mkdtemp(temp))
		return err_set(err, ERR_IO, "%s: %s", temp, strerror(errno));
	snprintf(made, sizeof(made), "%s/trace", temp);
	rc = write(made, arg, err);
	if (!rc && rename(made, path))
		rc = err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	if (rc)
		folder_remove(made);
	rmdir(temp);
	return rc;
}
