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

#include "cli/process/signals.h"
#include "stitch/base/err.h"
#include "stitch/base/owned.h"
#include "stitch/files/new_file.h"
#include "stitch/files/path.h"

static bool folder_is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

#define FOLDER_PATH (PATH_MAX - 48) /* room for the name of a temporary one */
/* Levels of folders in an export or an archive that are removed. */
#define FOLDER_DEPTH 16

/* A signal handler calls it, so it does not use readdir(), which allocates. */
void folder_remove(int dir, const char *name, unsigned int depth)
{
	int fd OWNED_FD = openat(
		dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_Alignas(struct dirent64) char buf[2048];
	ssize_t n;

	while (fd >= 0 && (n = getdents64(fd, buf, sizeof(buf))) > 0) {
		const struct dirent64 *e;

		for (ssize_t at = 0; at < n; at += e->d_reclen) {
			e = (const struct dirent64 *)(buf + at);
			if (!folder_is_dots(e->d_name) &&
			    unlinkat(fd, e->d_name, 0) && depth)
				folder_remove(fd, e->d_name, depth - 1);
		}
	}
	unlinkat(dir, name, AT_REMOVEDIR);
}

/* Waits until a file of a folder is on the disk. Returns 0, or -1 and errno. */
static int folder_flush_file(int folder, const char *name)
{
	int fd OWNED_FD = openat(folder, name, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1 : new_file_flush(fd);
}

/* Flushes a folder and its content likewise. Returns 0, or -1 and errno. */
static int folder_flush(const char *path, unsigned int depth)
{
	DIR *d OWNED_DIR = opendir(path);
	char inner[PATH_MAX];
	const struct dirent *e;
	int rc = 0;

	if (!d)
		return -1;
	while (!rc && (e = readdir(d))) {
		if (folder_is_dots(e->d_name))
			continue;
		snprintf(inner, sizeof(inner), "%.3800s/%s", path, e->d_name);
		rc = e->d_type == DT_DIR && depth
			     ? folder_flush(inner, depth - 1)
			     : folder_flush_file(dirfd(d), e->d_name);
	}
	if (!rc)
		rc = new_file_flush(dirfd(d));
	return rc;
}

/* The folders of folder_write() and folder_to_read(), "": none. They are global
 * so that they are removed when a signal, or mem.c without memory, ends the
 * program. A child process does not own them. */
static char folder_made[PATH_MAX], folder_read[PATH_MAX];
static pid_t folder_owner;

static void folder_drop_one(char *temp)
{
	if (*temp && getpid() == folder_owner)
		folder_remove(AT_FDCWD, temp, FOLDER_DEPTH);
	*temp = '\0';
}

void folder_drop(void)
{
	folder_drop_one(folder_made);
	folder_drop_one(folder_read);
}

/* Removes the temporary folders of killed runs next to path, unless they are
 * locked by a run on another machine or in another PID namespace. */
static void folder_remove_dead(const char *path)
{
	size_t len = (size_t)(path_base(path) - path);
	char dir[PATH_MAX];
	char temp[PATH_MAX + NAME_MAX];
	const struct dirent *e;

	snprintf(dir, sizeof(dir), "%.*s", len ? (int)len : 2,
		 len ? path : "./");
	DIR *d OWNED_DIR = opendir(dir);

	while (d && (e = readdir(d))) {
		if (!new_file_owner_is_gone(e->d_name, path_base(path)))
			continue;
		int fd OWNED_FD = openat(dirfd(d), e->d_name,
					 O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		struct stat st;

		if (fd < 0)
			continue;
		snprintf(temp, sizeof(temp), "%s%s", dir, e->d_name);
		if (!fstat(fd, &st) && st.st_uid == geteuid() &&
		    !flock(fd, LOCK_EX | LOCK_NB))
			folder_remove(AT_FDCWD, temp, FOLDER_DEPTH);
	}
}

/* Copies path without slashes at its end. Returns 0, or -1 and *err. */
static int folder_plain(const char *path, char plain[FOLDER_PATH],
			struct err *err)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (len >= FOLDER_PATH)
		return err_set(err, ERR_USAGE,
			       "the name of the folder is too long");
	snprintf(plain, FOLDER_PATH, "%.*s", (int)len, path);
	return 0;
}

const char *folder_for_temp(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

int folder_check(const char *path, struct err *err)
{
	char plain[FOLDER_PATH];
	const struct dirent *e;

	if (folder_plain(path, plain, err))
		return -1;
	/* also the remains of a run that was killed after rename() */
	folder_remove_dead(plain);
	DIR *d OWNED_DIR = opendir(path);

	if (!d && errno == ENOENT)
		return 0;
	if (!d)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	while ((e = readdir(d)) && folder_is_dots(e->d_name))
		;
	return e ? err_set(err, ERR_USAGE,
			   "%s: is there and not empty; the export makes a "
			   "folder",
			   path)
		 : 0;
}

/* Makes a folder NAME.PID-N.tmp, which is removed when the program ends.
 * Returns its descriptor, which holds a lock on it, or -1 and *err. */
static int folder_make(const char *plain, char made[PATH_MAX], struct err *err)
{
	char temp[PATH_MAX];
	int ret = -1;

	for (unsigned int i = 0; ret && i < 1000; i++) {
		snprintf(temp, sizeof(temp), "%s.%ld-%u.tmp", plain,
			 (long)getpid(), i);
		ret = mkdir(temp, 0700);
		if (ret && errno != EEXIST)
			break;
	}
	int fd = ret ? -1 : open(temp, O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		flock(fd, LOCK_EX | LOCK_NB);
	} else if (!ret) {
		int error = errno;

		rmdir(temp);
		errno = error;
	}

	if (fd < 0)
		return err_set(err, ERR_IO, "%s: %s", temp, strerror(errno));
	if (!folder_owner)
		atexit(folder_drop);
	signals_cleans(folder_drop);
	folder_owner = getpid();
	memcpy(made, temp, sizeof(temp));
	return fd;
}

const char *folder_to_read(int *fd, struct err *err)
{
	char base[FOLDER_PATH];

	snprintf(base, sizeof(base), "%.4000s/backstitch-archive",
		 folder_for_temp());
	folder_remove_dead(base);
	folder_drop_one(folder_read);
	*fd = folder_make(base, folder_read, err);
	return *fd < 0 ? NULL : folder_read;
}

void folder_was_read(void)
{
	folder_drop_one(folder_read);
}

int folder_write(const char *path, folder_write_fn *write, void *arg,
		 struct err *err)
{
	char plain[FOLDER_PATH];
	char made[PATH_MAX + 8];

	if (folder_plain(path, plain, err) || folder_check(plain, err))
		return -1;
	int fd OWNED_FD = folder_make(plain, folder_made, err);

	if (fd < 0)
		return -1;
	snprintf(made, sizeof(made), "%s/trace", folder_made);
	int rc = write(made, arg, err);
	if (!rc && (folder_flush(made, FOLDER_DEPTH) || rename(made, path) ||
		    new_file_flush_folder(plain)))
		rc = err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	folder_drop_one(folder_made);
	return rc;
}
