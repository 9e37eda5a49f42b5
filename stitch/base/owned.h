/* owned.h - closes files at the end of a variable's scope: the macros follow
 * its name, like OWNED of mem.h. errno is kept. */
#pragma once
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define OWNED_FD __attribute__((cleanup(owned_close_fd)))
#define OWNED_DIR __attribute__((cleanup(owned_close_dir)))
#define OWNED_FILE __attribute__((cleanup(owned_close_file)))

static inline void owned_close_fd(const int *fd)
{
	int error = errno;

	if (*fd >= 0)
		close(*fd);
	errno = error;
}

static inline void owned_close_dir(DIR *const *d)
{
	int error = errno;

	if (*d)
		closedir(*d);
	errno = error;
}

static inline void owned_close_file(FILE *const *f)
{
	int error = errno;

	if (*f)
		fclose(*f);
	errno = error;
}
