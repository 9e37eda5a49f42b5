/* open_regular.c - opens files whose paths may be from a capture. */
#include "symbolize/elf/open_regular.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"

int open_regular_file(const char *path, uint64_t *size, struct err *err)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(err, ERR_IO, "%s: not a regular file", path);
	}
	*size = (uint64_t)st.st_size;
	return fd;
}

void *open_regular_read(int fd, uint64_t size, size_t *len)
{
	unsigned char *buf = mem_new((size_t)size, 1);
	size_t n = 0;

	while (n < size) {
		ssize_t got = read(fd, buf + n, (size_t)size - n);

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	*len = n;
	return buf;
}
