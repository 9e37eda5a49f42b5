/* other_reader.c - finds out who else reads a ring of ftrace. */
#include "cli/follow/other_reader.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stitch/base/err.h"

/* Returns whether a descriptor in /proc is that file. The kernel does not tell
 * who has it open. */
static bool other_reader_has(const char *fds, const char *fd,
			     const struct stat *st)
{
	char path[600], to[512];
	struct stat got;

	snprintf(path, sizeof(path), "%.300s/%.255s", fds, fd);
	ssize_t n = readlink(path, to, sizeof(to) - 1);

	if (n < 15 || memcmp(to + n - 15, "/trace_pipe_raw", 15) != 0)
		return false;
	/* the link can be read if the file was opened for reading */
	return !lstat(path, &got) && got.st_mode & S_IRUSR &&
	       !stat(path, &got) && got.st_dev == st->st_dev &&
	       got.st_ino == st->st_ino;
}

static bool other_reader_is(const char *pid, const struct stat *st)
{
	char fds[300];
	const struct dirent *e;
	bool found = false;

	snprintf(fds, sizeof(fds), "/proc/%.255s/fd", pid);
	DIR *d = opendir(fds);

	while (d && !found && (e = readdir(d)) != NULL)
		found = other_reader_has(fds, e->d_name, st);
	if (d)
		closedir(d);
	return found;
}

/* Returns the process that has a file open; 0: none. */
static long other_reader_find(const struct stat *st)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	long found = 0;

	while (d && !found && (e = readdir(d)) != NULL) {
		long pid = strtol(e->d_name, NULL, 10);

		if (isdigit((unsigned char)e->d_name[0]) &&
		    pid != (long)getpid() && other_reader_is(e->d_name, st))
			found = pid;
	}
	if (d)
		closedir(d);
	return found;
}

int other_reader_refuse(int fd, const char *path, struct err *err)
{
	struct stat st;
	long pid = 0;

	if (!flock(fd, LOCK_EX | LOCK_NB) &&
	    (fstat(fd, &st) || !(pid = other_reader_find(&st))))
		return 0;
	if (!pid)
		return err_set(err, ERR_IO,
			       "%s: another 'backstitch follow' reads it; each "
			       "would get only some of the events",
			       path);
	return err_set(err, ERR_IO,
		       "%s: process %ld reads it; each reader would get only "
		       "some of the events: end that process, or follow an "
		       "instance of your own",
		       path, pid);
}
