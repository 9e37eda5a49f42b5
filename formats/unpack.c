/* unpack.c - reads gzip, zstd, xz and bzip2 files as a stream of plain bytes.
 */
#include "formats/unpack.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/shared_library.h"

/* ---- loads libarchive */

#define ARCHIVE_CALL_NAME(call) "archive_" #call,
static const char *const archive_names[] = { ARCHIVE_CALLS(ARCHIVE_CALL_NAME) };

const struct archive_calls *libarchive_load(struct err *err)
{
	static struct archive_calls calls;
	/* the file name in all versions since 3.1 */
	static const char *const files[] = { "libarchive.so.13", NULL };
	const struct shared_library l = {
		"archives are written and read by",
		files,
		"libarchive13",
		archive_names,
		ARRAY_SIZE(archive_names),
		&calls,
	};

	return shared_library_load(&l, err) ? NULL : &calls;
}

#define UNPACK_BUF ((size_t)128 * 1024)
/* Records that differ only in their time shrink to a 31st with gzip, to a 41st
 * with zstd. Zeros can shrink to a 1,030th and a 30,000th. */
#define UNPACK_ALWAYS ((uint64_t)64 << 20)

struct unpack {
	int fd;
	const char *path;
	bool gzip, other; /* other: neither gzip nor zstd */
	bool eof, inside; /* inside: a compressed stream is incomplete */
	z_stream z;
	ZSTD_DStream *zstd;
	const struct archive_calls
		*lib; /* for xz and bzip2; NULL: not loaded yet */
	struct archive *a;
	const void *part; /* plain bytes that are not returned yet */
	size_t n_part;
	unsigned char *buf;
	size_t pos, len;
	uint64_t taken;
};

static bool unpack_is_other(const void *head)
{
	return !memcmp(head,
		       "\xfd"
		       "7zX",
		       4) ||
	       (!memcmp(head, "BZh", 3) && ((const char *)head)[3] > '0' &&
		((const char *)head)[3] <= '9');
}

bool unpack_knows(const void *head, size_t n)
{
	/* a file of pzstd begins with a frame to be skipped, "\x50" to "\x5f"
	 * and three other bytes */
	return n >= 4 &&
	       (!memcmp(head, "\x1f\x8b\x08", 3) ||
		!memcmp(head, "\x28\xb5\x2f\xfd", 4) ||
		((*(const unsigned char *)head & 0xf0) == 0x50 &&
		 !memcmp((const char *)head + 1, "\x2a\x4d\x18", 3)) ||
		unpack_is_other(head));
}

struct unpack *unpack_new(int fd, const char *path, const void *head, size_t n)
{
	struct unpack *u = mem_new(1, sizeof(*u));

	u->fd = fd;
	u->path = path;
	u->buf = mem_new(UNPACK_BUF, 1);
	u->len = n < UNPACK_BUF ? n : UNPACK_BUF;
	u->taken = u->len;
	memcpy(u->buf, head, u->len);
	u->gzip = u->buf[0] == 0x1f;
	u->other = unpack_is_other(u->buf);
	/* 15 + 16: gzip only, largest window */
	if (u->other)
		return u;
	if (!u->gzip)
		u->zstd = mem_must(ZSTD_createDStream());
	else if (inflateInit2(&u->z, 15 + 16) != Z_OK)
		mem_must(NULL);
	return u;
}

void unpack_free(struct unpack *u)
{
	if (!u)
		return;
	if (u->gzip)
		inflateEnd(&u->z);
	ZSTD_freeDStream(u->zstd);
	if (u->a)
		u->lib->read_free(u->a);
	free_all(u->buf, u);
}

static int unpack_fill(struct unpack *u, struct err *err)
{
	ssize_t got;

	if (u->pos < u->len || u->eof)
		return 0;
	do
		got = read(u->fd, u->buf, UNPACK_BUF);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_set(err, ERR_IO, "%s: cannot read (%m)", u->path);
	u->pos = 0;
	u->len = (size_t)got;
	u->taken += (uint64_t)got;
	u->eof = got == 0;
	return 0;
}

/* Unpacks the next bytes of a gzip file, which may have several streams, one
 * after the other, and zeros behind them, as a copy from a device has. Returns
 * 0, or -1 and *err. */
static int unpack_step_gzip(struct unpack *u, void *out, size_t n, size_t *got,
			    struct err *err)
{
	while (!u->inside && u->pos < u->len && !u->buf[u->pos])
		u->pos++;
	u->z.next_in = u->buf + u->pos;
	u->z.avail_in = (uInt)(u->len - u->pos);
	u->z.next_out = out;
	u->z.avail_out = (uInt)n;
	size_t was = u->pos;
	int rc = inflate(&u->z, Z_NO_FLUSH);

	u->pos = u->len - u->z.avail_in;
	*got = n - u->z.avail_out;
	/* a call without input and output does not show whether the stream is
	 * complete */
	if (*got || u->pos != was)
		u->inside = rc != Z_STREAM_END;
	if (rc == Z_STREAM_END)
		rc = inflateReset(&u->z);
	if (rc == Z_OK || rc == Z_BUF_ERROR)
		return 0;
	return err_set(err, ERR_FORMAT, "%s: gzip data is damaged (%s)",
		       u->path, u->z.msg ? u->z.msg : "no more is known");
}

static int unpack_step_zstd(struct unpack *u, void *out, size_t n, size_t *got,
			    struct err *err)
{
	ZSTD_inBuffer in = { u->buf, u->len, u->pos };
	ZSTD_outBuffer o = { out, n, 0 };
	size_t was = u->pos;
	size_t rc = ZSTD_decompressStream(u->zstd, &o, &in);

	u->pos = in.pos;
	*got = o.pos;
	if (*got || u->pos != was)
		u->inside = rc != 0;
	if (!ZSTD_isError(rc))
		return 0;
	return err_set(err, ERR_FORMAT, "%s: zstd data is damaged (%s)",
		       u->path, ZSTD_getErrorName(rc));
}

/* Passes the rest of buf, or the next part of the file, to libarchive. */
static la_ssize_t unpack_feed(struct archive *a UNUSED, void *arg,
			      const void **buf)
{
	struct unpack *u = arg;
	struct err ignored;

	if (unpack_fill(u, &ignored))
		return -1;
	const size_t n = u->len - u->pos;

	*buf = u->buf + u->pos;
	u->pos = u->len;
	return (la_ssize_t)n;
}

/* Reads xz and bzip2. Bytes before damage are returned first, then the
 * error. */
static int64_t unpack_read_other(struct unpack *u, void *buf, size_t n,
				 struct err *err)
{
	la_int64_t off;
	int rc = 0;

	if (!u->lib && !(u->lib = libarchive_load(err)))
		return -1;
	if (!u->a) {
		struct archive_entry *e;

		u->a = mem_must(u->lib->read_new());
		u->lib->read_support_filter_bzip2(u->a);
		u->lib->read_support_filter_xz(u->a);
		u->lib->read_support_format_raw(u->a);
		rc = u->lib->read_open(u->a, u, NULL, unpack_feed, NULL) ||
				     u->lib->read_next_header(u->a, &e)
			     ? ARCHIVE_FATAL
			     : ARCHIVE_OK;
	}
	if (!rc && u->lib->filter_count(u->a) > 2)
		return err_set(err, ERR_FORMAT,
			       "%s: this is a packed file inside a packed "
			       "file; unpack it first",
			       u->path);
	/* not read_data(): when that fails it drops what it has */
	if (!rc && !u->n_part)
		rc = u->lib->read_data_block(u->a, &u->part, &u->n_part, &off);
	if (!rc || rc == ARCHIVE_EOF) {
		lower_to(n, u->n_part);
		if (!n)
			return 0;
		memcpy(buf, u->part, n);
		u->part = (const char *)u->part + n;
		u->n_part -= n;
		return (int64_t)n;
	}
	const char *why = u->lib->error_string(u->a);

	return err_set(err, ERR_FORMAT, "%s: packed data are damaged (%s)",
		       u->path, why ? why : "no more is known");
}

int64_t unpack_read(struct unpack *u, void *buf, size_t n, bool *cut,
		    struct err *err)
{
	lower_to(n, UNPACK_BUF);
	if (u->other)
		return unpack_read_other(u, buf, n, err);
	for (;;) {
		size_t got = 0;

		if (unpack_fill(u, err))
			return -1;
		if (u->gzip ? unpack_step_gzip(u, buf, n, &got, err)
			    : unpack_step_zstd(u, buf, n, &got, err)) {
			if (!got)
				return -1;
			u->eof = true;
			u->pos = u->len = 0;
			*cut = true;
			return (int64_t)got;
		}
		if (got)
			return (int64_t)got;
		if (u->eof && u->pos == u->len) {
			*cut |= u->inside;
			return 0;
		}
	}
}

uint64_t unpack_taken(const struct unpack *u)
{
	return u->taken;
}

int unpack_check(const char *path, uint64_t packed, uint64_t plain,
		 struct err *err)
{
	if (plain <= UNPACK_ALWAYS || plain / UNPACK_RATIO <= packed)
		return 0;
	return err_set(err, ERR_FORMAT,
		       "%s: the first %" PRIu64 " bytes unpack to more than %d "
		       "times as many, %" PRIu64
		       "; if that is meant, unpack it "
		       "and read that",
		       path, packed, UNPACK_RATIO, plain);
}

unsigned char *unpack_all(int fd, const char *path, size_t max, size_t *len)
{
	unsigned char head[4];
	unsigned char *out = NULL;
	size_t cap = 0;
	size_t n = 0;
	int64_t got;
	bool cut = false;

	if (lseek(fd, 0, SEEK_SET) || read(fd, head, sizeof(head)) != 4 ||
	    !unpack_knows(head, sizeof(head)) || unpack_is_other(head))
		return NULL;
	struct unpack *u = unpack_new(fd, path, head, sizeof(head));
	do {
		mem_grow(out, cap, n + UNPACK_BUF);
		got = unpack_read(u, out + n, cap - n, &cut, NULL);
		if (got > 0)
			n += (size_t)got;
	} while (got > 0 && n < max);
	unpack_free(u);
	if (got || cut) {
		free(out);
		return NULL;
	}
	*len = n;
	return out;
}
