/* record_read.h - numbers of pages and rows as SQLite writes them ("B-tree
 * Pages" and "Record Format" of its documented file format). */
#pragma once
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes behind a page that record_int() may read. */
#define RECORD_SLACK 8

/* Type of a value that is a double. */
#define RECORD_REAL 7

/* Types of pages. */
enum {
	PAGE_INDEX_INNER = 2,
	PAGE_TABLE_INNER = 5,
	PAGE_INDEX_LEAF = 10,
	PAGE_TABLE_LEAF = 13
};

/* Returns a big-endian number of n bytes. */
static inline uint64_t record_be(const unsigned char *p, size_t n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | *p++;
	return v;
}

/* Reads a varint before end. Returns how many bytes it has, 0: none. */
static inline size_t record_varint(const unsigned char *p,
				   const unsigned char *end, uint64_t *out)
{
	if (end - p >= 2 && !(p[0] & p[1] & 0x80)) {
		bool two = p[0] & 0x80;

		*out = two ? (uint64_t)(p[0] & 0x7f) << 7 | p[1] : p[0];
		return 1 + (size_t)two;
	}
	*out = 0;
	for (size_t i = 0; i < 9 && p + i < end; i++) {
		if (i == 8) {
			*out = *out << 8 | p[i];
			return 9;
		}
		*out = *out << 7 | (p[i] & 0x7f);
		if (!(p[i] & 0x80))
			return i + 1;
	}
	return 0;
}

/* Returns how many bytes a value of a type has. */
static inline size_t record_type_len(uint64_t type)
{
	static const unsigned char len[] = {
		0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0
	};

	if (type < sizeof(len))
		return len[type];
	return (size_t)((type - 12) / 2);
}

/* Whether a type is that of a whole number. */
static inline bool record_is_int(uint64_t type)
{
	return type < 10 && (0x37e >> type & 1);
}

/* Returns the value of a whole number of len bytes. Eight bytes can be read. */
static inline int64_t record_int(uint64_t type, const unsigned char *p,
				 size_t len)
{
	uint64_t v;

	if (!len)
		return (int64_t)type - 8;
	memcpy(&v, p, sizeof(v));
	return (int64_t)be64toh(v) >> (64 - 8 * len);
}

/* Returns how many bytes of a row of len are in the leaf of a table, whose
 * pages have `size` bytes; the others are in overflow pages. */
static inline size_t record_local(uint64_t len, size_t size)
{
	size_t least = (size - 12) * 32 / 255 - 23;
	size_t most = size - 35;
	size_t local;

	if (len <= most)
		return (size_t)len;
	local = least + (size_t)((len - least) % (size - 4));
	return local <= most ? local : least;
}
