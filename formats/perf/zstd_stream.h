/* zstd_stream.h - the decoder of the zstd stream that compressed records are.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <zstd.h>

struct zstd_stream {
	ZSTD_DStream *d; /* the owner makes and frees it */
	ZSTD_inBuffer in;
	/* What the decoder wants next: 0 or the head of a block after a flush,
	 * which ends each compressed record but those that were full. */
	size_t wants;
};

/* Decodes until *out is full, or the input is used up. Returns NULL, or why the
 * input is damaged: nothing after it can be decoded. */
const char *zstd_stream_decode(struct zstd_stream *z, ZSTD_outBuffer *out);
/* Returns whether the input so far ends inside a block. */
bool zstd_stream_is_open(const struct zstd_stream *z);
