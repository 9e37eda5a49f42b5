/* other_reader.c - finds out who else reads the rings of ftrace. */
#include "cli/follow/other_reader.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* The files in question. */
struct other_reader {
	struct stat *st;
	size_t n;
};

/* Returns whether a descriptor in /proc is one of the files. The kernel does
 * not tell who has a file open. */
static bool other_reader_has(const struct other_reader *o, const char *fds,
			     const char *fd)
{
	char path[600], to[512];
	struct stat got;

	snprintf(path, sizeof(path), "%.300s/%.255s", fds, fd);
	ssize_t n = readlink(path, to, sizeof(to) - 1);

	/* the link can be read if the file was opened for reading */
	if (n < 15 || memcmp(to + n - 15, "/trace_pipe_raw", 15) != 0 ||
	    lstat(path, &got) || !(got.st_mode & S_IRUSR) || stat(path, &got))
		return false;
	for (size_t i = 0; i < o->n; i++)
		if (got.st_dev == o->st[i].st_dev &&
		    got.st_ino == o->st[i].st_ino)
			return true;
	return false;
}

static bool other_reader_is(const struct other_reader *o, const char *pid)
{
	char fds[300];
	const struct dirent *e;
	bool found = false;

	snprintf(fds, sizeof(fds), "/proc/%.255s/fd", pid);
	DIR *d = opendir(fds);

	while (d && !found && (e = readdir(d)) != NULL)
		found = other_reader_has(o, fds, e->d_name);
	if (d)
		closedir(d);
	return found;
}

/* Returns the process that has one of the files open; 0: none. */
static long other_reader_find(const struct other_reader *o)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	long found = 0;

	while (d && !found && (e = readdir(d)) != NULL) {
		long pid = strtol(e->d_name, NULL, 10);

		if (isdigit((unsigned char)e->d_name[0]) &&
		    pid != (long)getpid() && other_reader_is(o, e->d_name))
			found = pid;
	}
	if (d)
		closedir(d);
	return found;
}

int other_reader_refuse(const int *fd, size_t n, const char *name,
			struct err *err)
{
	struct other_reader o = { .st = mem_new(n, sizeof(*o.st)) };
	bool locked = true;

	for (size_t i = 0; locked && i < n; i++) {
		locked = !flock(fd[i], LOCK_EX | LOCK_NB);
		if (!fstat(fd[i], &o.st[o.n]))
			o.n++;
	}
	long pid = locked ? other_reader_find(&o) : 0;

	free(o.st);
	if (!locked)
		return err_set(err, ERR_IO,
			       "%s: another 'backstitch follow' reads it; each "
			       "would get only some of the events",
			       name);
	if (!pid)
		return 0;
	return err_set(err, ERR_IO,
		       "%s: process %ld reads its trace_pipe_raw; each reader "
		       "would get only some of the events: end that process, "
		       "or follow an instance of your own",
		       name, pid);
}
