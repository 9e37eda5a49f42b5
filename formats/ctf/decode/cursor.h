/* cursor.h - reads numbers of any size at any bit of a packet.
 *
 * All positions count from the packet's first bit, as alignment does. The
 * first bit of a little-endian number is the least significant one of its
 * byte, that of a big-endian number the most significant one. */
#pragma once
#include "stitch/base/bytes.h"

struct ctf_cursor {
	struct bytes b; /* the packet, from its first byte */
	uint64_t at;	/* the next bit; may be beyond the end */
	uint64_t end;	/* bits that may be read, at most those of b */
};

/* Returns whether this many bits are left. */
static inline bool ctf_cursor_has(const struct ctf_cursor *c, uint64_t bits)
{
	return c->at <= c->end && bits <= c->end - c->at;
}

static inline void ctf_cursor_align(struct ctf_cursor *c, uint64_t bits)
{
	c->at = (c->at + bits - 1) & ~(bits - 1);
}

/* Returns whether this machine has the byte order `big`. */
static inline bool ctf_cursor_is_native(bool big)
{
	return big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* Reads 8, 16, 32 or 64 bits at a whole byte and moves past them. Returns -1 if
 * they are not there. */
static inline int ctf_cursor_whole(struct ctf_cursor *c, uint32_t bits,
				   bool swap, uint64_t *out)
{
	uint64_t off = c->at / 8;
	uint64_t v64 = 0;
	uint32_t v32;
	uint16_t v16;
	uint8_t v8;
	int rc;

	switch (bits) {
	case 8:
		rc = bytes_peek(&c->b, off, &v8, sizeof(v8));
		v64 = rc ? 0 : v8;
		break;
	case 16:
		rc = bytes_peek(&c->b, off, &v16, sizeof(v16));
		v64 = rc ? 0 : swap ? __builtin_bswap16(v16) : v16;
		break;
	case 32:
		rc = bytes_peek(&c->b, off, &v32, sizeof(v32));
		v64 = rc ? 0 : swap ? __builtin_bswap32(v32) : v32;
		break;
	default:
		rc = bytes_peek(&c->b, off, &v64, sizeof(v64));
		v64 = swap ? __builtin_bswap64(v64) : v64;
		break;
	}
	*out = v64;
	c->at += bits;
	return rc;
}

/* Reads 1 to 64 bits byte by byte. The caller has checked that they are
 * there. */
static inline uint64_t ctf_cursor_packed(const struct ctf_cursor *c,
					 uint32_t bits, bool big)
{
	uint32_t shift = (uint32_t)(c->at % 8);
	uint32_t n = (shift + bits + 7) / 8;
	uint32_t cut = big ? 8 * n - shift - bits : shift;
	uint64_t v = 0;
	uint8_t byte = 0;

	/* cut is never 0 if the bits extend over nine bytes */
	for (uint32_t i = 0; i < n; i++) {
		uint32_t up = 8 * (big ? n - 1 - i : i);

		bytes_peek(&c->b, c->at / 8 + i, &byte, 1);
		v |= up < cut ? (uint64_t)byte >> (cut - up)
			      : (uint64_t)byte << (up - cut);
	}
	return v & (UINT64_MAX >> (64 - bits));
}

/* Reads 1 to 64 bits that are within 8 bytes, if these can be read, and moves
 * past them. Otherwise returns false and reads nothing. */
static inline bool ctf_cursor_word(struct ctf_cursor *c, uint32_t bits,
				   bool big, uint64_t *out)
{
	const uint32_t shift = (uint32_t)(c->at % 8);
	uint64_t v;

	if (shift + bits > 64 || bytes_peek(&c->b, c->at / 8, &v, sizeof(v)))
		return false;
	if (!ctf_cursor_is_native(big))
		v = __builtin_bswap64(v);
	*out = big ? v << shift >> (64 - bits)
		   : v << (64 - shift - bits) >> (64 - bits);
	c->at += bits;
	return true;
}

/* Reads 1 to 64 bits and moves past them. Returns -1 if they are not there. */
static inline int ctf_cursor_number(struct ctf_cursor *c, uint32_t bits,
				    bool big, uint64_t *out)
{
	if (!ctf_cursor_has(c, bits))
		return -1;
	if (c->at % 8 == 0 &&
	    (bits == 8 || bits == 16 || bits == 32 || bits == 64))
		return ctf_cursor_whole(c, bits, !ctf_cursor_is_native(big),
					out);
	if (ctf_cursor_word(c, bits, big, out))
		return 0;
	*out = ctf_cursor_packed(c, bits, big);
	c->at += bits;
	return 0;
}
