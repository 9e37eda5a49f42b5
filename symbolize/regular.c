/* regular.c - opens files whose paths may be from a capture. */
#include "symbolize/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stitch/err.h"

int regular_open(const char *path, uint64_t *size, struct err *err)
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
