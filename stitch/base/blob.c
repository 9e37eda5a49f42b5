/* blob.c - builds a sequence of bytes in memory. */
#include "stitch/base/blob.h"

#include <endian.h>

#include "stitch/base/mem.h"

#define LEB_MAX 10 /* bytes of 64 bits */

void blob_release(struct blob *b)
{
	free(b->at);
	*b = (struct blob){ 0 };
}

unsigned char *blob_room(struct blob *b, size_t n)
{
	mem_grow(b->at, b->cap, b->n + n);
	b->n += n;
	return b->at + b->n - n;
}

void blob_add(struct blob *b, const void *p, size_t n)
{
	if (n)
		memcpy(blob_room(b, n), p, n);
}

void blob_set(struct blob *b, size_t at, uint64_t v, size_t n)
{
	v = htole64(v);
	memcpy(b->at + at, &v, n);
}

void blob_put(struct blob *b, uint64_t v, size_t n)
{
	v = htole64(v);
	mem_grow(b->at, b->cap, b->n + sizeof(v));
	memcpy(b->at + b->n, &v, sizeof(v));
	b->n += n;
}

void blob_leb(struct blob *b, uint64_t v)
{
	mem_grow(b->at, b->cap, b->n + LEB_MAX);
	for (; v >= 0x80; v >>= 7)
		b->at[b->n++] = (unsigned char)(v | 0x80);
	b->at[b->n++] = (unsigned char)v;
}

void blob_zigzag(struct blob *b, uint64_t v)
{
	blob_leb(b, v << 1 ^ (v >> 63 ? UINT64_MAX : 0));
}
