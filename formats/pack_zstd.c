/* pack_zstd.c - compresses blocks of bytes with zstd. */
#include "formats/pack.h"

#include <zstd.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"

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
