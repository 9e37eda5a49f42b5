/* pack.c - compresses bytes as a gzip stream or with zstd, and unpacks gzip
 * streams. */
#include "formats/pack.h"

#include <limits.h>
#include <stdbool.h>
#include <zlib.h>
#include <zstd.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* ---- unpacks a gzip stream in pieces, and checks its end */

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

#define PACK_BUF ((size_t)64 * 1024)

struct pack {
	pack_fn *put;
	void *arg;
	z_stream z;
	bool ready; /* z is initialised; false: there was no memory */
	unsigned char buf[PACK_BUF];
};

static struct pack *pack_new_level(pack_fn *put, void *arg, int level)
{
	struct pack *p = mem_new(1, sizeof(*p));

	p->put = put;
	p->arg = arg;
	/* 15 + 16: gzip only, largest window. The time in the header is 0 by
	 * default. */
	p->ready = deflateInit2(&p->z, level, Z_DEFLATED, 15 + 16, 8,
				Z_DEFAULT_STRATEGY) == Z_OK;
	return p;
}

struct pack *pack_new(pack_fn *put, void *arg)
{
	return pack_new_level(put, arg, Z_DEFAULT_COMPRESSION);
}

struct pack *pack_new_fast(pack_fn *put, void *arg)
{
	return pack_new_level(put, arg, Z_BEST_SPEED);
}

void pack_free(struct pack *p)
{
	if (!p)
		return;
	if (p->ready)
		deflateEnd(&p->z);
	free(p);
}

/* Compresses all input; with Z_FINISH also ends the stream. Returns 0, or -1
 * and *err. */
static int pack_deflate(struct pack *p, int flush, struct err *err)
{
	int rc;

	if (!p->ready)
		return err_set(err, ERR_LIMIT, "no memory to pack the output");
	do {
		p->z.next_out = p->buf;
		p->z.avail_out = PACK_BUF;
		rc = deflate(&p->z, flush);
		if (rc == Z_STREAM_ERROR)
			return err_set(err, ERR_LIMIT,
				       "the output cannot be packed");
		if (p->put(p->arg, p->buf, PACK_BUF - p->z.avail_out, err))
			return -1;
	} while (!p->z.avail_out);
	return 0;
}

int pack_add(struct pack *p, const void *data, size_t n, struct err *err)
{
	const unsigned char *at = data;

	while (n) {
		size_t part = n < INT_MAX ? n : INT_MAX;

		p->z.next_in = (unsigned char *)at;
		p->z.avail_in = (unsigned int)part;
		if (pack_deflate(p, Z_NO_FLUSH, err))
			return -1;
		at += part;
		n -= part;
	}
	return 0;
}

int pack_finish(struct pack *p, struct err *err)
{
	p->z.next_in = NULL;
	p->z.avail_in = 0;
	return pack_deflate(p, Z_FINISH, err);
}

#define LEVEL 3

struct pack_zstd {
	ZSTD_CCtx *ctx;
};

struct pack_zstd *pack_zstd_new(struct err *err)
{
	struct pack_zstd *p = mem_new(1, sizeof(*p));

	p->ctx = ZSTD_createCCtx();
	if (p->ctx)
		return p;
	free(p);
	err_set(err, ERR_LIMIT, "libzstd: no memory");
	return NULL;
}

void pack_zstd_free(struct pack_zstd *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->ctx);
	free(p);
}

size_t pack_zstd_room(size_t n)
{
	return ZSTD_compressBound(n);
}

int pack_zstd_put(struct pack_zstd *p, const void *data, size_t n, void *to,
		  size_t *len, struct err *err)
{
	size_t rc = ZSTD_compressCCtx(p->ctx, to, ZSTD_compressBound(n), data,
				      n, LEVEL);

	if (ZSTD_isError(rc))
		return err_set(err, ERR_LIMIT, "libzstd: %s",
			       ZSTD_getErrorName(rc));
	*len = rc;
	return 0;
}
