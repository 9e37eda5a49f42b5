/* zstd_stream.c - the decoder of the zstd stream that compressed records are.
 */
#include "formats/perf/zstd_stream.h"

#define BLOCK_HEAD 3 /* of zstd's format */

const char *zstd_stream_decode(struct zstd_stream *z, ZSTD_outBuffer *out)
{
	while (out->pos < out->size) {
		size_t had = out->pos;
		size_t at = z->in.pos;
		size_t rc = ZSTD_decompressStream(z->d, out, &z->in);

		if (ZSTD_isError(rc))
			return ZSTD_getErrorName(rc);
		/* after the end of a frame, the decoder would begin another */
		if (out->pos == had && z->in.pos == at)
			break;
		z->wants = rc;
	}
	return NULL;
}

bool zstd_stream_is_open(const struct zstd_stream *z)
{
	return z->wants > BLOCK_HEAD;
}
