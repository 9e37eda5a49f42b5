/* put_bytes.h - bytes put one behind the other, numbers in either byte order,
 * for tests and for the programs that make captures. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* n bytes at d, which the caller frees. rec is where the record or page at hand
 * begins, data where the records of a file do. */
struct pb {
	unsigned char *d;
	size_t n, cap, rec, data;
	bool big;
};

static inline void pb_raw(struct pb *b, const void *p, size_t n)
{
	if (!n)
		return;
	if (b->cap - b->n < n) {
		b->cap = (b->cap + n) * 2;
		b->d = realloc(b->d, b->cap);
		if (!b->d)
			abort();
	}
	memcpy(b->d + b->n, p, n);
	b->n += n;
}

static inline void pb_num(struct pb *b, uint64_t v, int len)
{
	unsigned char raw[8];

	for (int i = 0; i < len; i++)
		raw[b->big ? len - 1 - i : i] = (unsigned char)(v >> 8 * i);
	pb_raw(b, raw, (size_t)len);
}

static inline void pb_u16(struct pb *b, uint16_t v)
{
	pb_num(b, v, 2);
}

static inline void pb_u32(struct pb *b, uint32_t v)
{
	pb_num(b, v, 4);
}

static inline void pb_u64(struct pb *b, uint64_t v)
{
	pb_num(b, v, 8);
}

static inline void pb_u64s(struct pb *b, const uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		pb_u64(b, v[i]);
}

/* Writes v over what stands at `at`. */
static inline void pb_patch(struct pb *b, size_t at, uint64_t v, int len)
{
	size_t n = b->n;

	b->n = at;
	pb_num(b, v, len);
	b->n = n;
}

static inline void pb_zeros(struct pb *b, size_t n)
{
	while (n--)
		pb_num(b, 0, 1);
}

/* Zeros up to a multiple of `to`. */
static inline void pb_pad(struct pb *b, size_t to)
{
	pb_zeros(b, (to - b->n % to) % to);
}

/* A string, its 0 and zeros up to a multiple of `to` bytes of its own. */
static inline void pb_str_to(struct pb *b, const char *s, size_t to)
{
	size_t n = strlen(s) + 1;

	pb_raw(b, s, n);
	pb_zeros(b, (to - n % to) % to);
}
