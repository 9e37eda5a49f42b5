/* gunzip.c - unpacks a gzip stream that comes in pieces, and proves its end. */
#include "formats/gunzip.h"

#include <limits.h>
#include <stdbool.h>
#include <zlib.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define GUNZIP_BUF ((size_t)64 * 1024)

struct gunzip {
	pack_fn *put;
	void *arg;
	z_stream z;
	bool ended;
	unsigned char buf[GUNZIP_BUF];
};

struct gunzip *gunzip_new(pack_fn *put, void *arg)
{
	struct gunzip *g = mem_new(1, sizeof(*g));

	g->put = put;
	g->arg = arg;
	/* 15 + 16: gzip only, largest window */
	if (inflateInit2(&g->z, 15 + 16) != Z_OK)
		mem_must(NULL);
	return g;
}

void gunzip_free(struct gunzip *g)
{
	if (!g)
		return;
	inflateEnd(&g->z);
	free(g);
}

static int gunzip_part(struct gunzip *g, const void *data, size_t n,
		       struct err *err)
{
	int rc;

	g->z.next_in = (unsigned char *)data;
	g->z.avail_in = (uInt)n;
	do {
		if (g->ended)
			return err_set(err, ERR_FORMAT,
				       "bytes after the end of gzip data");
		g->z.next_out = g->buf;
		g->z.avail_out = GUNZIP_BUF;
		rc = inflate(&g->z, Z_NO_FLUSH);
		if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
			return err_set(
				err, ERR_FORMAT, "gzip data is damaged (%s)",
				g->z.msg ? g->z.msg : "no more is known");
		g->ended = rc == Z_STREAM_END;
		if (g->z.avail_out < GUNZIP_BUF &&
		    g->put(g->arg, g->buf, GUNZIP_BUF - g->z.avail_out, err))
			return -1;
	} while (g->z.avail_in || !g->z.avail_out);
	return 0;
}

int gunzip_add(struct gunzip *g, const void *data, size_t n, struct err *err)
{
	const unsigned char *at = data;

	while (n) {
		size_t part = n < INT_MAX ? n : INT_MAX;

		if (gunzip_part(g, at, part, err))
			return -1;
		at += part;
		n -= part;
	}
	return 0;
}

int gunzip_finish(const struct gunzip *g, struct err *err)
{
	return g->ended ? 0
			: err_set(err, ERR_FORMAT, "gzip data is cut short");
}
