/* packed_row.h - a row in SQLite's record format: the type of each value, then
 * the values ("Record Format" of the documented database file format). */
#pragma once
#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "schema/db/bulk.h"

/* Types of values; 1 to 6 are numbers of 1, 2, 3, 4, 6 and 8 bytes. */
enum {
	PACKED_NULL = 0,
	PACKED_ZERO = 8,
	PACKED_ONE = 9,
	PACKED_BLOB = 12, /* + 2 * length */
	PACKED_TEXT = 13  /* + 2 * length */
};

/* Most bytes of a varint. */
#define VARINT_MAX 9

/* Returns the type of a number from 0 to INT32_MAX, and how many bytes it
 * has. */
static inline unsigned int packed_row_type(uint32_t v, unsigned int *bytes)
{
	unsigned int t = (32 - (unsigned int)__builtin_clz(v | 1)) / 8 + 1;

	*bytes = v < 2 ? 0 : t;
	return v < 2 ? 8 + v : t;
}
/* Writes a number as 8 bytes, of which it keeps as many as its type says, and
 * moves *to behind these. Returns the type. */
static inline unsigned int packed_row_number(unsigned char **to, uint64_t v)
{
	/* byte i of both: of a number with 8 * i to 8 * i + 7 bits, not
	 * counting the sign */
	const uint64_t types = 0x0606050504030201;
	const uint64_t sizes = 0x0808060604030201;

	if (v < 2)
		return PACKED_ZERO + (unsigned int)v;

	uint64_t size = (v >> 63 ? ~v : v) | 1;
	unsigned int bits = 64 - (unsigned int)__builtin_clzll(size);
	unsigned int bytes = sizes >> (bits & 0x38) & 0xff;
	uint64_t big = htobe64(v << (64 - 8 * bytes));

	memcpy(*to, &big, sizeof(big));
	*to += bytes;
	return types >> (bits & 0x38) & 0xff;
}
/* Returns the type of a text or blob. */
static inline uint64_t packed_row_bytes_type(enum cell tag, size_t len)
{
	return (tag == CELL_TEXT ? PACKED_TEXT : PACKED_BLOB) +
	       2 * (uint64_t)len;
}
/* Reads a varint that was written here. Returns how many bytes it has. */
unsigned int packed_row_number_at(const unsigned char *from, uint64_t *out);
/* Returns the bytes of SQLite's varint: 7 bits each, but 8 bits in the ninth.
 */
static inline unsigned int packed_row_varint_bytes(uint64_t v)
{
	return v >> 56 ? VARINT_MAX
		       : (63 - (unsigned int)__builtin_clzll(v | 1)) / 7 + 1;
}
/* Writes a varint, at most VARINT_MAX bytes. Returns their number. */
unsigned int packed_row_long_varint(unsigned char *to, uint64_t v);
static inline unsigned int packed_row_varint(unsigned char *to, uint64_t v)
{
	if (v < 0x80) {
		*to = (unsigned char)v;
		return 1;
	}
	if (v < 0x4000) {
		to[0] = (unsigned char)(v >> 7 | 0x80);
		to[1] = (unsigned char)(v & 0x7f);
		return 2;
	}
	if (v < 0x200000) {
		to[0] = (unsigned char)(v >> 14 | 0x80);
		to[1] = (unsigned char)(v >> 7 | 0x80);
		to[2] = (unsigned char)(v & 0x7f);
		return 3;
	}
	return packed_row_long_varint(to, v);
}
