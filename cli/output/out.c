/* out.c - standard output that keeps the reason of a failed write. */
#include "cli/output/out.h"

#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output/pager.h"
#include "stitch/base/err.h"

static int out_errno;
static char out_buffer[1 << 18];

/* Writes to the pager if there is one, else to standard output. */
static void out_put_now(const char *buf, size_t size)
{
	size_t done = 0;

	while (!out_errno && done < size) {
		ssize_t n = write(pager_fd(), buf + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			out_errno = errno;
		else
			done += (size_t)n;
	}
}

/* Writes the bytes that were kept for a pager. Returns false if there are
 * none. */
static bool out_put_kept(void)
{
	size_t n;
	char *kept = pager_kept(&n);

	if (!kept)
		return false;
	out_put_now(kept, n);
	free(kept);
	return true;
}

static ssize_t out_take(void *cookie, const char *buf, size_t size)
{
	(void)cookie;
	if (out_errno)
		return 0;
	/* pager_keep() may return the kept bytes, which then end with buf */
	if (!pager_keep(buf, size) && !out_put_kept())
		out_put_now(buf, size);
	return out_errno ? 0 : (ssize_t)size;
}

void out_init(void)
{
	cookie_io_functions_t io = { .write = out_take };
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

void out_settle(void)
{
	fflush(stdout);
	out_put_kept();
	pager_end();
}

int out_finish(struct err *err)
{
	out_settle();
	if (!out_errno || out_errno == EPIPE)
		return 0;
	return err_set(err, ERR_IO, "standard output: %s", strerror(out_errno));
}

int out_write(const char *path, out_write_fn *write, void *arg, struct err *err)
{
	struct stat st;
	FILE *out;
	int rc;

	/* main() says why standard output cannot be written */
	if (!path || !strcmp(path, "-")) {
		rc = write(stdout, arg, err);
		return rc && out_failed() ? 0 : rc;
	}
	out = fopen(path, "we");
	if (!out)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	bool plain = !fstat(fileno(out), &st) && S_ISREG(st.st_mode);
	rc = write(out, arg, err);
	if (fclose(out) && !rc)
		rc = err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	/* removes an incomplete file, but not a device */
	if (rc && plain)
		unlink(path);
	return rc;
}
