/* bytes.h - read numbers from untrusted bytes without ever leaving them.
 *
 * Every reader of a capture or an ELF file goes through here. Nothing is
 * assumed about alignment: perf's COMPRESSED and FEATURE records have odd
 * sizes, so everything behind them is unaligned. */
#ifndef STITCH_BASE_BYTES_H
#define STITCH_BASE_BYTES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct err;

/* A window on a file; pos <= end always holds. Borrowed, never owned. */
struct bytes {
	const unsigned char *pos, *end;
	const unsigned char *base; /* for offsets in messages */
	uint64_t base_off;	   /* file offset of base */
	const char *path;
	bool swap; /* the file's byte order is not ours */
};

void bytes_init(struct bytes *b, const void *data, size_t len, const char *path,
		uint64_t off, bool swap);

static inline size_t bytes_left(const struct bytes *b)
{
	return (size_t)(b->end - b->pos);
}

/* Where pos is in the file. */
static inline uint64_t bytes_off(const struct bytes *b)
{
	return b->base_off + (uint64_t)(b->pos - b->base);
}

/* -1 and "path+0xoff: needs n bytes, has m". */
int bytes_short(const struct bytes *b, uint64_t n, struct err *err);

/* All of these: 0 and advance, or -1 with bytes_short() and no move. (The
 * ', -1' lets the compiler see that *out is set whenever 0 comes back.) */
static inline int bytes_u8(struct bytes *b, uint8_t *out, struct err *err)
{
	if (__builtin_expect(bytes_left(b) < 1, 0))
		return bytes_short(b, 1, err), -1;
	*out = *b->pos++;
	return 0;
}

static inline int bytes_u16(struct bytes *b, uint16_t *out, struct err *err)
{
	uint16_t v;

	if (__builtin_expect(bytes_left(b) < sizeof(v), 0))
		return bytes_short(b, sizeof(v), err), -1;
	memcpy(&v, b->pos, sizeof(v));
	b->pos += sizeof(v);
	*out = b->swap ? __builtin_bswap16(v) : v;
	return 0;
}

static inline int bytes_u32(struct bytes *b, uint32_t *out, struct err *err)
{
	uint32_t v;

	if (__builtin_expect(bytes_left(b) < sizeof(v), 0))
		return bytes_short(b, sizeof(v), err), -1;
	memcpy(&v, b->pos, sizeof(v));
	b->pos += sizeof(v);
	*out = b->swap ? __builtin_bswap32(v) : v;
	return 0;
}

static inline int bytes_i32(struct bytes *b, int32_t *out, struct err *err)
{
	uint32_t v;

	if (bytes_u32(b, &v, err))
		return -1;
	*out = (int32_t)v;
	return 0;
}

static inline int bytes_u64(struct bytes *b, uint64_t *out, struct err *err)
{
	uint64_t v;

	if (__builtin_expect(bytes_left(b) < sizeof(v), 0))
		return bytes_short(b, sizeof(v), err), -1;
	memcpy(&v, b->pos, sizeof(v));
	b->pos += sizeof(v);
	*out = b->swap ? __builtin_bswap64(v) : v;
	return 0;
}

/* The number that starts off bytes behind pos, without moving: 0 and *out, or
 * -1 (no message) when not all of it is inside. */
static inline int bytes_peek_u16(const struct bytes *b, uint64_t off,
				 uint16_t *out)
{
	uint16_t v;

	if (__builtin_expect(
		    off > bytes_left(b) || bytes_left(b) - off < sizeof(v), 0))
		return -1;
	memcpy(&v, b->pos + off, sizeof(v));
	*out = b->swap ? __builtin_bswap16(v) : v;
	return 0;
}

static inline int bytes_peek_u32(const struct bytes *b, uint64_t off,
				 uint32_t *out)
{
	uint32_t v;

	if (__builtin_expect(
		    off > bytes_left(b) || bytes_left(b) - off < sizeof(v), 0))
		return -1;
	memcpy(&v, b->pos + off, sizeof(v));
	*out = b->swap ? __builtin_bswap32(v) : v;
	return 0;
}

static inline int bytes_peek_u64(const struct bytes *b, uint64_t off,
				 uint64_t *out)
{
	uint64_t v;

	if (__builtin_expect(
		    off > bytes_left(b) || bytes_left(b) - off < sizeof(v), 0))
		return -1;
	memcpy(&v, b->pos + off, sizeof(v));
	*out = b->swap ? __builtin_bswap64(v) : v;
	return 0;
}

/* n u64s into out, which has room for them; n is checked against what is
 * left before anything is multiplied. */
int bytes_u64s(struct bytes *b, uint64_t *out, uint64_t n, struct err *err);
static inline int bytes_skip(struct bytes *b, uint64_t n, struct err *err)
{
	if (__builtin_expect(n > bytes_left(b), 0))
		return bytes_short(b, n, err), -1;
	b->pos += n;
	return 0;
}

/* The next n bytes as a window of their own, with the same path and order. */
static inline int bytes_take(struct bytes *b, uint64_t n, struct bytes *out,
			     struct err *err)
{
	if (__builtin_expect(n > bytes_left(b), 0))
		return bytes_short(b, n, err), -1;
	/* Field by field: pos was moved a moment ago, and a processor waits
	 * for that before it copies pos and its neighbour as one. */
	out->base = b->base;
	out->pos = b->pos;
	out->end = b->pos + n;
	out->base_off = b->base_off;
	out->path = b->path;
	out->swap = b->swap;
	b->pos += n;
	return 0;
}

/* A string that must end with a 0 inside the window; *out is borrowed from
 * it and pos is behind the 0. */
int bytes_str(struct bytes *b, const char **out, struct err *err);
#endif
