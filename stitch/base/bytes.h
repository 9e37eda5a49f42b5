/* bytes.h - reads numbers from untrusted bytes and never reads past their end.
 *
 * Every reader of a capture or an ELF file uses these functions. They assume no
 * alignment: perf's COMPRESSED and FEATURE records have odd sizes, so
 * everything that follows them is unaligned. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct err;

/* A window on a file. pos <= end always holds. The memory is borrowed. */
struct bytes {
	const unsigned char *pos, *end;
	const unsigned char *base; /* for the offsets in messages */
	uint64_t base_off;	   /* file offset of base */
	const char *path;
	bool swap; /* the file has the other byte order */
};

/* Returns whether this host must swap numbers of that byte order. */
static inline bool bytes_must_swap(bool big)
{
	return big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static inline void bytes_init(struct bytes *b, const void *data, size_t len,
			      const char *path, uint64_t off, bool swap)
{
	/* memcpy() and similar functions must not get NULL, even for length 0,
	 * so an empty window without memory points to a string. */
	b->pos = b->base = data ? data : (const void *)"";
	b->end = b->pos + (data ? len : 0);
	b->base_off = off;
	b->path = path;
	b->swap = swap;
}

static inline size_t bytes_left(const struct bytes *b)
{
	return (size_t)(b->end - b->pos);
}

/* Returns the file offset of pos. */
static inline uint64_t bytes_off(const struct bytes *b)
{
	return b->base_off + (uint64_t)(b->pos - b->base);
}

/* Sets *err to "path+0xoff: needs n bytes, has m" and returns -1. */
int bytes_short(const struct bytes *b, uint64_t n, struct err *err);

/* Copies the n bytes at pos + off without moving pos. Returns -1, without a
 * message, if not all of them are inside the window. */
static inline int bytes_peek(const struct bytes *b, uint64_t off, void *out,
			     size_t n)
{
	if (__builtin_expect(off > bytes_left(b) || bytes_left(b) - off < n, 0))
		return -1;
	memcpy(out, b->pos + off, n);
	return 0;
}

/* Each of the following functions returns 0 and advances pos, or calls
 * bytes_short(), returns -1 and leaves pos unchanged. (The ', -1' lets the
 * compiler see that *out is set whenever 0 is returned.) */
static inline int bytes_u8(struct bytes *b, uint8_t *out, struct err *err)
{
	if (__builtin_expect(bytes_left(b) < 1, 0))
		return bytes_short(b, 1, err), -1;
	*out = *b->pos++;
	return 0;
}

/* For numbers of several bytes; `peek` is as bytes_peek(). */
#define BYTES_NUMBER(read, peek, type, swapped)                                \
	static inline int read(struct bytes *b, type *out, struct err *err)    \
	{                                                                      \
		type v;                                                        \
                                                                               \
		if (__builtin_expect(bytes_left(b) < sizeof(v), 0))            \
			return bytes_short(b, sizeof(v), err), -1;             \
		memcpy(&v, b->pos, sizeof(v));                                 \
		b->pos += sizeof(v);                                           \
		*out = b->swap ? swapped(v) : v;                               \
		return 0;                                                      \
	}                                                                      \
	static inline int peek(const struct bytes *b, uint64_t off, type *out) \
	{                                                                      \
		if (bytes_peek(b, off, out, sizeof(*out)))                     \
			return -1;                                             \
		*out = b->swap ? swapped(*out) : *out;                         \
		return 0;                                                      \
	}                                                                      \
	struct bytes
BYTES_NUMBER(bytes_u16, bytes_peek_u16, uint16_t, __builtin_bswap16);
BYTES_NUMBER(bytes_u32, bytes_peek_u32, uint32_t, __builtin_bswap32);
BYTES_NUMBER(bytes_u64, bytes_peek_u64, uint64_t, __builtin_bswap64);

static inline int bytes_i32(struct bytes *b, int32_t *out, struct err *err)
{
	uint32_t v;

	if (bytes_u32(b, &v, err))
		return -1;
	*out = (int32_t)v;
	return 0;
}

/* Prefetches the bytes at pos + off, if they are in the window. */
static inline void bytes_prefetch(const struct bytes *b, uint64_t off)
{
	if (off < bytes_left(b))
		__builtin_prefetch(b->pos + off);
}

/* Like bytes_peek_u64() for n numbers; n is compared with the bytes left before
 * it is multiplied. */
static inline int bytes_peek_u64s(const struct bytes *b, uint64_t off,
				  uint64_t *out, uint64_t n)
{
	if (n > bytes_left(b) / sizeof(*out) ||
	    bytes_peek(b, off, out, n * sizeof(*out)))
		return -1;
	for (uint64_t i = 0; b->swap && i < n; i++)
		out[i] = __builtin_bswap64(out[i]);
	return 0;
}

/* Reads n numbers into out, which must have room for them. Compares n with the
 * bytes left before it multiplies. */
int bytes_u64s(struct bytes *b, uint64_t *out, uint64_t n, struct err *err);
/* Returns a pointer to the next n numbers in the window, or NULL if they cannot
 * be used in place: then use bytes_u64s(). */
const uint64_t *bytes_u64s_there(struct bytes *b, uint64_t n);
static inline int bytes_skip(struct bytes *b, uint64_t n, struct err *err)
{
	if (__builtin_expect(n > bytes_left(b), 0))
		return bytes_short(b, n, err), -1;
	b->pos += n;
	return 0;
}

/* Makes *out a window on the next n bytes, with the same path and byte
 * order. */
static inline int bytes_take(struct bytes *b, uint64_t n, struct bytes *out,
			     struct err *err)
{
	if (__builtin_expect(n > bytes_left(b), 0))
		return bytes_short(b, n, err), -1;
	/* Copy field by field: pos was written a moment ago, and the processor
	 * would stall if it copied pos and its neighbour with one load. */
	out->base = b->base;
	out->pos = b->pos;
	out->end = b->pos + n;
	out->base_off = b->base_off;
	out->path = b->path;
	out->swap = b->swap;
	b->pos += n;
	return 0;
}

/* Makes *out a window on the n bytes at pos + off, without moving pos. Returns
 * -1, without a message, if not all of them are inside the window. */
static inline int bytes_window(const struct bytes *b, uint64_t off, uint64_t n,
			       struct bytes *out)
{
	if (__builtin_expect(off > bytes_left(b) || bytes_left(b) - off < n, 0))
		return -1;
	out->base = b->base;
	out->pos = b->pos + off;
	out->end = out->pos + n;
	out->base_off = b->base_off;
	out->path = b->path;
	out->swap = b->swap;
	return 0;
}

/* Reads a string, whose final 0 must be inside the window. *out points into the
 * window; pos moves after the 0. */
int bytes_str(struct bytes *b, const char **out, struct err *err);
