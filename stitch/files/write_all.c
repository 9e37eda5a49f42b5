/* write_all.c - writes all bytes of a buffer, however many calls it takes. */
#include "stitch/files/write_all.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

/* Writes all n bytes. at: from offset off on, not at the position of fd. */
static int write_all_from(int fd, const void *buf, size_t n, bool at, off_t off)
{
	const unsigned char *p = buf;

	while (n) {
		ssize_t done = at ? pwrite(fd, p, n, off) : write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (!done)
			errno = ENOSPC;
		if (done <= 0)
			return -1;
		p += done;
		off += done;
		n -= (size_t)done;
	}
	return 0;
}

int write_all(int fd, const void *buf, size_t n)
{
	return write_all_from(fd, buf, n, false, 0);
}

int write_all_at(int fd, const void *buf, size_t n, uint64_t off)
{
	return write_all_from(fd, buf, n, true, (off_t)off);
}
