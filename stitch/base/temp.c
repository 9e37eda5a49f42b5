/* temp.c - temporary files without a name. */
#include "stitch/base/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stitch/base/mem.h"

/* Some file systems, such as NFS, lack O_TMPFILE: creates a file with a name
 * there and removes the name at once. */
static int temp_open_named(const char *dir)
{
	static const char base[] = "/backstitch-XXXXXX";
	size_t len = strlen(dir) + sizeof(base);
	char *name = mem_new(len, 1);

	snprintf(name, len, "%s%s", dir, base);
	int fd = mkostemp(name, O_CLOEXEC);
	int error = errno;

	if (fd >= 0)
		unlink(name);
	free(name);
	errno = error;
	return fd;
}

int temp_open(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd >= 0 ? fd : temp_open_named(dir);
}
