/* input.c - opens the bytes of a capture: mapped if possible, otherwise as a
 * stream. */
#include "formats/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/unpack.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/files/named_file.h"
#include "stitch/files/new_file.h"
#include "stitch/files/write_all.h"

/* Records that wait to be ordered are mostly closer to each other than this. */
#define PASS_BYTES ((uint64_t)64 << 20)
#define COPY_BUF ((size_t)128 * 1024)

static int input_open_fd(const char *path, struct err *err)
{
	bool named = strcmp(path, "-") != 0;
	int fd = named ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
		       : dup(STDIN_FILENO);

	if (fd >= 0 && named) {
		/* Wait for the first writer of a FIFO with poll(), because a
		 * signal handler can end that by changing the descriptor, while
		 * open() would be restarted after each signal. Linux reports no
		 * end of file before there was a writer. */
		struct pollfd p = { .fd = fd, .events = POLLIN };
		struct stat st;

		if (!fstat(fd, &st) && S_ISFIFO(st.st_mode))
			while (poll(&p, 1, -1) < 0 && errno == EINTR)
				;
		fcntl(fd, F_SETFL, O_RDONLY);
	}
	if (fd >= 0)
		return fd;
	if (errno == EACCES)
		return err_set(err, ERR_IO,
			       "%s: not allowed to read it (it may belong to "
			       "root: try sudo, or chown it)",
			       path);
	return err_set(err, ERR_IO, "%s: cannot open it (%m)", path);
}

FILE *input_stream(const char *path, struct err *err)
{
	int fd = input_open_fd(path, err);

	return fd < 0 ? NULL : mem_must(fdopen(fd, "r"));
}

/* Reads between 1 and n bytes. Returns their number, 0 at the end, or -1 and
 * *err. */
static int64_t input_read_some(int fd, const char *path, void *buf, size_t n,
			       struct err *err)
{
	ssize_t got;

	do
		got = read(fd, buf, n);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_set(err, ERR_IO, "%s: cannot read (%m)", path);
	return got;
}

static int64_t input_read_full(int fd, const char *path, void *buf, size_t n,
			       struct err *err)
{
	size_t have = 0;

	while (have < n) {
		int64_t got = input_read_some(fd, path, (char *)buf + have,
					      n - have, err);

		if (got < 0)
			return -1;
		if (!got)
			break;
		have += (size_t)got;
	}
	return (int64_t)have;
}

static int input_write_all(int fd, const void *buf, size_t n, uint64_t done,
			   const char *dir, struct err *err)
{
	if (!write_all(fd, buf, n))
		return 0;
	return err_set(err, ERR_IO,
		       "%s: cannot write the temporary copy after %" PRIu64
		       " bytes (%m); set TMPDIR to a folder with space",
		       dir, done);
}

static int input_map(struct input *in, int fd, uint64_t len, struct err *err)
{
	if (!len)
		return err_set(err, ERR_FORMAT, "%s: file is empty", in->path);
	void *p = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);

	if (p == MAP_FAILED)
		return err_set(err, ERR_IO, "%s: cannot map it (%m)", in->path);
	madvise(p, len, MADV_SEQUENTIAL);
	in->data = p;
	in->len = len;
	return 0;
}

/* Copies the head and the rest of fd to the file `to`, unpacked if they are
 * compressed, and maps the copy. If the input ends early, the copy is used as
 * far as it goes: the format's reader finds and reports the place. Returns 0,
 * or -1 and *err. */
static int input_copy_to(struct input *in, int fd, const char *dir, int to,
			 struct err *err)
{
	struct unpack *u =
		unpack_knows(in->head, in->n_head)
			? unpack_new(fd, in->path, in->head, in->n_head)
			: NULL;
	char *buf = mem_new(COPY_BUF, 1);
	uint64_t done = u ? 0 : in->n_head;
	bool failed = input_write_all(to, in->head, (size_t)done, 0, dir, err);
	int64_t got = 0;
	bool cut = false;

	while (!failed) {
		got = u ? unpack_read(u, buf, COPY_BUF, &cut, err)
			: input_read_some(fd, in->path, buf, COPY_BUF, err);
		if (got <= 0)
			break;
		failed = input_write_all(to, buf, (size_t)got, done, dir, err);
		done += (uint64_t)got;
		if (u && !failed)
			failed = unpack_check(in->path, unpack_taken(u), done,
					      err);
	}
	free(buf);
	unpack_free(u);
	if (failed || (got < 0 && (!u || !done)))
		return -1;
	in->cut = cut || got < 0;
	if (u && !done)
		return err_set(err, ERR_FORMAT,
			       "%s: the compressed file is empty", in->path);
	return input_map(in, to, done, err);
}

static int input_copy(struct input *in, int fd, const char *dir,
		      struct err *err)
{
	if (!dir)
		dir = "/tmp";
	int to = temp_open(dir);

	if (to < 0)
		return err_set(err, ERR_IO,
			       "%s: cannot make a temporary file (%m); set "
			       "TMPDIR to a folder with space",
			       dir);
	int rc = input_copy_to(in, fd, dir, to, err);

	close(to);
	return rc;
}

int input_spool(struct input *in, const char *temp_dir, struct err *err)
{
	if (in->data)
		return 0;
	int rc = input_copy(in, in->fd, temp_dir, err);

	close(in->fd);
	in->fd = -1;
	return rc;
}

/* Opens a stream. `nothing`: the message for an empty one. Returns 0, or -1 and
 * *err. */
static int input_open_stream(struct input *in, int fd, const char *temp_dir,
			     const char *nothing, struct err *err)
{
	int64_t got =
		input_read_full(fd, in->path, in->head, sizeof(in->head), err);

	if (got < 0)
		return -1;
	in->n_head = (uint32_t)got;
	if (!got)
		return err_set(err, ERR_FORMAT, "%s: %s", in->path, nothing);
	if (unpack_knows(in->head, in->n_head))
		return input_copy(in, fd, temp_dir, err);
	in->fd = fd;
	return 0;
}

/* Opens a regular file from offset 0 or, for stdin, from any offset. Returns 0,
 * or -1 and *err. */
static int input_open_regular(struct input *in, int fd, uint64_t size,
			      const char *temp_dir, struct err *err)
{
	/* files of tracefs have size 0; reading them makes the contents */
	if (!size)
		return input_open_stream(in, fd, temp_dir, "file is empty",
					 err);
	ssize_t got = pread(fd, in->head, sizeof(in->head), 0);

	in->n_head = got > 0 ? (uint32_t)got : 0;
	if (unpack_knows(in->head, in->n_head)) {
		lseek(fd, in->n_head, SEEK_SET);
		return input_copy(in, fd, temp_dir, err);
	}
	return input_map(in, fd, size, err);
}

/* Opens only a regular file, and sets *size. Returns the descriptor, or -1 and
 * *err. */
typedef int input_named_fn(const char *path, uint64_t *size, struct err *err);

/* named NULL: path is an argument of the user, so "-" is stdin. */
static int input_open_as(struct input *in, const char *path,
			 input_named_fn *named, const char *temp_dir,
			 struct err *err)
{
	struct stat st;
	uint64_t size;
	int rc = -1;

	memset(in, 0, sizeof(*in));
	in->fd = -1;
	in->path = mem_strdup(named || strcmp(path, "-") ? path : "stdin");
	int fd = named ? named(path, &size, err) : input_open_fd(path, err);

	if (fd < 0)
		goto out;
	if (fstat(fd, &st))
		err_set(err, ERR_IO, "%s: cannot read its status (%m)", path);
	else if (S_ISREG(st.st_mode))
		rc = input_open_regular(in, fd, (uint64_t)st.st_size, temp_dir,
					err);
	else if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) ||
		 (S_ISCHR(st.st_mode) && !isatty(fd)))
		rc = input_open_stream(in, fd, temp_dir, "nothing came in",
				       err);
	else
		err_set(err, ERR_FORMAT, "%s: is %s, needs to be a file",
			in->path,
			S_ISDIR(st.st_mode) ? "a folder"
			: isatty(fd)	    ? "a terminal"
					    : "a device");
out:
	if (fd >= 0 && in->fd != fd)
		close(fd);
	if (rc)
		input_close(in);
	return rc;
}

int input_open(struct input *in, const char *path, const char *temp_dir,
	       struct err *err)
{
	return input_open_as(in, path, NULL, temp_dir, err);
}

int input_open_named(struct input *in, const char *path, const char *temp_dir,
		     struct err *err)
{
	return input_open_as(in, path, named_file_open, temp_dir, err);
}

int input_open_adjacent(struct input *in, const char *path, struct err *err)
{
	return input_open_as(in, path, named_file_open_any, NULL, err);
}

void input_close(struct input *in)
{
	if (in->data)
		munmap((void *)in->data, in->len);
	if (in->fd >= 0)
		close(in->fd);
	free(in->path);
	memset(in, 0, sizeof(*in));
	in->fd = -1;
}

void input_pass(struct input *in, uint64_t off)
{
	if (!in->data || off > in->len || off < in->passed ||
	    off - in->passed < 2 * PASS_BYTES)
		return;
	/* a hint: it does not matter if the system refuses it */
	madvise((void *)(in->data + in->passed), PASS_BYTES, MADV_DONTNEED);
	in->passed += PASS_BYTES;
}

void input_pass_all(struct input *in)
{
	if (in->data)
		madvise((void *)(in->data + in->passed), in->len - in->passed,
			MADV_DONTNEED);
	in->passed = in->len;
}

int64_t input_read(struct input *in, void *buf, size_t n, struct err *err)
{
	return input_read_some(in->fd, in->path, buf, n, err);
}

/* Reads the first bytes, unpacked if they are compressed. Returns their number,
 * or -1 and *err. */
static int64_t input_peek_file(int fd, const char *path, void *buf, size_t n,
			       struct err *err)
{
	int64_t got = input_read_full(fd, path, buf, n, err);

	if (got <= 0 || !unpack_knows(buf, (size_t)got))
		return got;
	void *head OWNED = mem_dup(buf, (size_t)got);
	struct unpack *u = unpack_new(fd, path, head, (size_t)got);
	size_t have = 0;
	bool cut = false;

	for (got = 0; have < n; have += (size_t)got) {
		got = unpack_read(u, (char *)buf + have, n - have, &cut, err);
		if (got <= 0)
			break;
	}
	unpack_free(u);
	return have ? (int64_t)have : got;
}

/* Reads the first bytes of a pipe, which stay in it. Waits for at least one.
 * Returns their number, or 0 on failure. */
static int64_t input_peek_pipe(int fd, const char *path, void *buf, size_t n,
			       struct err *err)
{
	ssize_t got = 0;
	int to[2];

	if (pipe2(to, O_CLOEXEC))
		return 0;
	do
		got = tee(fd, to[1], n, 0);
	while (got < 0 && errno == EINTR);
	close(to[1]);
	if (got > 0)
		got = input_peek_file(to[0], path, buf, n, err);
	close(to[0]);
	return got > 0 ? got : 0;
}

int64_t input_peek(const char *path, void *buf, size_t n, struct err *err)
{
	struct stat st = { 0 };
	int64_t got = 0;

	/* bytes that are read here would be missing later */
	if (strcmp(path, "-") != 0 && !stat(path, &st) && S_ISFIFO(st.st_mode))
		return err_set(err, ERR_FORMAT,
			       "%s: a FIFO, needs to be a file; give it as "
			       "standard input: - <%s",
			       path, path);
	int fd = input_open_fd(path, err);

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		off_t was = lseek(fd, 0, SEEK_CUR);

		lseek(fd, 0, SEEK_SET);
		got = input_peek_file(fd, path, buf, n, err);
		lseek(fd, was, SEEK_SET);
	} else if (!strcmp(path, "-") && S_ISFIFO(st.st_mode)) {
		got = input_peek_pipe(fd, path, buf, n, err);
	}
	close(fd);
	/* editors and PowerShell put this mark before a text */
	if (got >= 3 && !memcmp(buf, TEXT_MARK, 3)) {
		got -= 3;
		memmove(buf, (char *)buf + 3, (size_t)got);
	}
	return got;
}
