/* unxz.c - decompresses xz data in memory. */
#include "symbolize/files/unxz.h"

#include <lzma.h>

#include "stitch/base/mem.h"

#define XZ_MEMORY ((uint64_t)160 << 20) /* kernels need 128 MiB and some */

void *unxz(const void *in, size_t in_len, size_t *out_len)
{
	lzma_stream z = LZMA_STREAM_INIT;
	unsigned char *out = NULL;
	size_t cap = 0;
	size_t n = 0;
	lzma_ret rc = LZMA_OK;

	if (lzma_stream_decoder(&z, XZ_MEMORY, 0) != LZMA_OK)
		return NULL;
	z.next_in = in;
	z.avail_in = in_len;
	while (rc == LZMA_OK && n < UNPACKED_MAX) {
		mem_grow(out, cap, n + 65536);
		z.next_out = out + n;
		z.avail_out = cap - n;
		rc = lzma_code(&z, LZMA_FINISH);
		n = cap - z.avail_out;
	}
	lzma_end(&z);
	if (rc != LZMA_STREAM_END || !n) {
		free(out);
		return NULL;
	}
	*out_len = n;
	return out;
}
