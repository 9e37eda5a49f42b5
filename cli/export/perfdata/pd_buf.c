/* pd_buf.c - bytes of a perf.data file, little-endian. */
#include "cli/export/perfdata/pd_buf.h"

#include "stitch/base/mem.h"

unsigned char *pd_buf_room(struct pd_buf *b, size_t n)
{
	mem_grow(b->at, b->cap, b->n + n);
	b->n += n;
	return b->at + b->n - n;
}

void pd_set(struct pd_buf *b, size_t at, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		b->at[at + i] = (unsigned char)(v >> (8 * i));
}

void pd_put(struct pd_buf *b, uint64_t v, size_t n)
{
	pd_buf_room(b, n);
	pd_set(b, b->n - n, v, n);
}

void pd_bytes(struct pd_buf *b, const void *p, size_t n)
{
	if (n)
		memcpy(pd_buf_room(b, n), p, n);
}

void pd_text(struct pd_buf *b, const char *s, size_t max, size_t align)
{
	size_t len = strnlen(s, max);
	size_t all = (len + align) / align * align;
	unsigned char *p = pd_buf_room(b, all);

	memcpy(p, s, len);
	memset(p + len, 0, all - len);
}

void pd_string(struct pd_buf *b, const char *s)
{
	size_t at = b->n;

	pd_u32(b, 0);
	pd_text(b, s, PD_NAME_MAX, 64);
	pd_set(b, at, b->n - at - 4, 4);
}
