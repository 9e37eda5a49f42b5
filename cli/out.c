/* out.c - standard output that remembers why it failed. */
#include "cli/out.h"

#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

#include "stitch/err.h"

static int out_errno;
static char out_buffer[1 << 18];

static ssize_t out_write(void *cookie, const char *buf, size_t size)
{
	size_t done = 0;

	(void)cookie;
	if (out_errno)
		return 0;
	while (done < size) {
		ssize_t n = write(1, buf + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			out_errno = errno;
			return 0;
		}
		done += (size_t)n;
	}
	return (ssize_t)size;
}

void out_init(void)
{
	cookie_io_functions_t io = { .write = out_write };
	FILE *f = fopencookie(NULL, "w", io);

	if (!f)
		return;
	setvbuf(f, out_buffer, isatty(1) ? _IOLBF : _IOFBF, sizeof(out_buffer));
	/* one thread prints: locks would cost a fifth of script's time */
	__fsetlocking(f, FSETLOCKING_BYCALLER);
	stdout = f;
}

bool out_failed(void)
{
	return out_errno != 0;
}

int out_finish(struct err *err)
{
	fflush(stdout);
	if (!out_errno || out_errno == EPIPE)
		return 0;
	return err_set(err, ERR_IO, "standard output: %s", strerror(out_errno));
}
