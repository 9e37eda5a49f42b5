/* page_format.h - the bytes of a database file: everything that is used of
 * SQLite's documented file format ("Database File Format": "The Database
 * Header", "B-tree Pages", "Record Format"). */
#pragma once
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Offsets in the header of the file, before the B-tree on page 1. */
enum {
	HEAD_PAGE_SIZE = 16,
	HEAD_WRITES = 18, /* both are 1 if the journal is no WAL */
	HEAD_READS = 19,
	HEAD_RESERVED = 20,
	HEAD_CHANGES = 24,
	HEAD_PAGES = 28,
	HEAD_AUTOVACUUM = 52,
	HEAD_ENCODING = 56,
	HEAD_VERSION = 60,
	HEAD_APPLICATION = 68,
	HEAD_VALID_FOR = 92,
	HEAD_SIZE = 100
};

/* Types of pages. */
enum {
	PAGE_INDEX_INNER = 2,
	PAGE_TABLE_INNER = 5,
	PAGE_INDEX_LEAF = 10,
	PAGE_TABLE_LEAF = 13
};

/* Offsets in a page, and bytes before the places of its cells. */
enum {
	PAGE_CELLS = 3,
	PAGE_TOP = 5,
	PAGE_RIGHT = 8, /* only of inner pages */
	PAGE_LEAF_HEAD = 8,
	PAGE_INNER_HEAD = 12
};

#define PAGE_POINTER 4	/* bytes of a page number */
#define PAGE_CELL_MIN 4 /* a cell must have room for a free block */

/* Types of values; 1 to 6 are numbers of 1, 2, 3, 4, 6 and 8 bytes. */
enum {
	RECORD_NULL = 0,
	RECORD_REAL = 7, /* a double */
	RECORD_ZERO = 8,
	RECORD_BLOB = 12, /* + 2 * length */
	RECORD_TEXT = 13  /* + 2 * length */
};

/* Most bytes of a varint. */
#define VARINT_MAX 9
/* Bytes after a page or a row that record_int() may read. */
#define RECORD_SLACK 8

/* ---- big-endian numbers */

/* Returns a number of n bytes. */
static inline uint64_t record_be(const unsigned char *p, size_t n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | *p++;
	return v;
}
static inline void page_put16(unsigned char *to, uint32_t v)
{
	to[0] = (unsigned char)(v >> 8);
	to[1] = (unsigned char)v;
}
static inline void page_put32(unsigned char *to, uint32_t v)
{
	v = htobe32(v);
	memcpy(to, &v, sizeof(v));
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
	for (size_t i = 0; i < VARINT_MAX && p + i < end; i++) {
		if (i == VARINT_MAX - 1) {
			*out = *out << 8 | p[i];
			return VARINT_MAX;
		}
		*out = *out << 7 | (p[i] & 0x7f);
		if (!(p[i] & 0x80))
			return i + 1;
	}
	return 0;
}
/* Returns the bytes of a varint: 7 bits each, but 8 bits in the ninth. */
static inline unsigned int record_varint_len(uint64_t v)
{
	return v >> 56 ? VARINT_MAX
		       : (63 - (unsigned int)__builtin_clzll(v | 1)) / 7 + 1;
}
/* Writes a varint, at most VARINT_MAX bytes. Returns their number. */
static inline unsigned int record_put_varint(unsigned char *to, uint64_t v)
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
	const unsigned int n = record_varint_len(v);
	unsigned int i = n;

	if (n == VARINT_MAX) {
		to[--i] = (unsigned char)v;
		v >>= 8;
	}
	for (; i-- > 0; v >>= 7)
		to[i] = (unsigned char)(v & 0x7f) | (i + 1 < n ? 0x80 : 0);
	return n;
}

/* Returns the length in bytes of a value of a type. */
static inline size_t record_type_len(uint64_t type)
{
	static const unsigned char len[] = {
		0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0
	};

	if (type < sizeof(len))
		return len[type];
	return (size_t)((type - RECORD_BLOB) / 2);
}
/* Returns whether a type is that of a whole number. */
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
		return (int64_t)type - RECORD_ZERO;
	memcpy(&v, p, sizeof(v));
	return (int64_t)be64toh(v) >> (64 - 8 * len);
}
/* Writes a number as 8 bytes, of which its type determines how many are kept,
 * and moves *to past these. Returns the type. */
static inline unsigned int record_put_int(unsigned char **to, uint64_t v)
{
	/* byte i of both: of a number with 8 * i to 8 * i + 7 bits, not
	 * counting the sign */
	const uint64_t types = 0x0606050504030201;
	const uint64_t sizes = 0x0808060604030201;

	if (v < 2)
		return RECORD_ZERO + (unsigned int)v;

	uint64_t size = (v >> 63 ? ~v : v) | 1;
	unsigned int bits = 64 - (unsigned int)__builtin_clzll(size);
	unsigned int bytes = sizes >> (bits & 0x38) & 0xff;
	uint64_t big = htobe64(v << (64 - 8 * bytes));

	memcpy(*to, &big, sizeof(big));
	*to += bytes;
	return types >> (bits & 0x38) & 0xff;
}

/* Return the least and the most bytes of a row in its cell, in pages of `size`
 * bytes: for the leaves of a table or of an index. */
static inline size_t record_least(size_t size)
{
	return (size - 12) * 32 / 255 - 23;
}
static inline size_t record_most(size_t size, bool table)
{
	return table ? size - 35 : (size - 12) * 64 / 255 - 23;
}
/* Returns how many bytes of a row of len are in the leaf of a table; the others
 * are in overflow pages. */
static inline size_t record_local(uint64_t len, size_t size)
{
	size_t least = record_least(size);
	size_t most = record_most(size, true);
	size_t local;

	if (len <= most)
		return (size_t)len;
	local = least + (size_t)((len - least) % (size - PAGE_POINTER));
	return local <= most ? local : least;
}
/* Returns the bytes of a page by the header of its file. */
static inline uint32_t page_size_of(const unsigned char *head)
{
	uint32_t size = (uint32_t)record_be(head + HEAD_PAGE_SIZE, 2);

	return size == 1 ? 65536 : size; /* which does not fit in 16 bits */
}
/* Returns whether a file is complete without a WAL, its pages have no reserved
 * bytes, and its text is UTF-8. */
static inline bool page_head_is_plain(const unsigned char *head)
{
	return head[HEAD_WRITES] == 1 && head[HEAD_READS] == 1 &&
	       !head[HEAD_RESERVED] && record_be(head + HEAD_ENCODING, 4) == 1;
}
