/* bytes.c - reads numbers from untrusted bytes and never reads past their
 * end. */
#include "stitch/base/bytes.h"

#include <inttypes.h>

#include "stitch/base/err.h"

int bytes_short(const struct bytes *b, uint64_t n, struct err *err)
{
	return err_at(err, b->path, bytes_off(b),
		      "needs %" PRIu64 " bytes, has %zu", n, bytes_left(b));
}

int bytes_u64s(struct bytes *b, uint64_t *out, uint64_t n, struct err *err)
{
	if (!n)
		return 0;
	if (bytes_peek_u64s(b, 0, out, n))
		return bytes_short(b, n > UINT64_MAX / 8 ? UINT64_MAX : n * 8,
				   err);
	b->pos += n * sizeof(*out);
	return 0;
}

const uint64_t *bytes_u64s_there(struct bytes *b, uint64_t n)
{
	const void *at = b->pos;

	if (b->swap || n > bytes_left(b) / sizeof(uint64_t) ||
	    (uintptr_t)at % _Alignof(uint64_t))
		return NULL;
	b->pos += n * sizeof(uint64_t);
	return at;
}

int bytes_str(struct bytes *b, const char **out, struct err *err)
{
	const void *nul = memchr(b->pos, 0, bytes_left(b));

	if (!nul)
		return err_at(err, b->path, bytes_off(b),
			      "string of %zu bytes has no end", bytes_left(b));
	*out = (const char *)b->pos;
	b->pos = (const unsigned char *)nul + 1;
	return 0;
}
