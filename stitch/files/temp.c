/* temp.c - temporary files without a name. */
#include "stitch/files/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "stitch/base/mem.h"

int temp_open(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	/* Some file systems, such as NFS, lack O_TMPFILE: creates a file with a
	 * name there and removes the name at once. */
	char *name = mem_printf("%s/backstitch-XXXXXX", dir);

	fd = mkostemp(name, O_CLOEXEC);
	int error = errno;

	if (fd >= 0)
		unlink(name);
	free(name);
	errno = error;
	return fd;
}
