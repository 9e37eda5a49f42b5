/* packed_row.c - a row in SQLite's record format. */
#include "schema/db/packed_row.h"

#include <stdlib.h>
#include <string.h>

#include "schema/db/bulk.h"
#include "stitch/base/mem.h"

/* Room for the header, which is made after the values: a length of at most 2
 * bytes, and a type of at most 9 bytes for each column. */
#define PACKED_HEAD (2 + VARINT_MAX * BULK_COLUMNS)
/* A number is written as 8 bytes, of which the next value keeps as many as its
 * type says. */
#define PACKED_SLACK 8

unsigned int packed_row_long_varint(unsigned char *to, uint64_t v)
{
	unsigned int n = packed_row_varint_bytes(v);

	if (n == VARINT_MAX) {
		to[8] = (unsigned char)v;
		v >>= 8;
		for (unsigned int i = 8; i-- > 0; v >>= 7)
			to[i] = (unsigned char)(v & 0x7f) | 0x80;
		return n;
	}
	for (unsigned int i = n; i-- > 0; v >>= 7)
		to[i] = (unsigned char)(v & 0x7f) | (i + 1 < n ? 0x80 : 0);
	return n;
}

unsigned int packed_row_number_at(const unsigned char *from, uint64_t *out)
{
	uint64_t v = 0;
	unsigned int n = 0;

	do {
		if (n == VARINT_MAX - 1) {
			*out = v << 8 | from[n];
			return VARINT_MAX;
		}
		v = v << 7 | (from[n] & 0x7f);
	} while (from[n++] & 0x80);
	*out = v;
	return n;
}

static uint64_t packed_row_bytes(unsigned char **to, const struct block *b,
				 uint64_t cell)
{
	size_t len = cell & 0xffffffff;

	memcpy(*to, (const char *)b->word + (cell >> 32), len);
	*to += len;
	return 2 * (uint64_t)len;
}

static enum cell packed_row_tag(const uint64_t *row, unsigned int i)
{
	return (enum cell)(row[i / 32] >> (i % 32 * 2) & 3);
}

/* Stores a row whose tags are one word and whose types are one byte each, which
 * is so unless it has long text: then the types need no room of their own
 * before it is known how many bytes they have. Returns false if it is not so.
 */
static bool packed_row_short(struct packed_row *pr, const struct block *b,
			     const uint64_t *row, unsigned int how)
{
	const uint64_t *cell = row + 1;
	unsigned int n = b->stride - 1;
	uint64_t tags = *row;

	if (how & PACKED_TRIM)
		n = tags ? (63 - (unsigned int)__builtin_clzll(tags)) / 2 + 1
			 : 1;
	if (how & PACKED_KEY)
		tags &= ~(uint64_t)3;

	unsigned char *to = pr->buf + PACKED_HEAD;
	unsigned char *t = to - n;

	pr->at = t - 1;
	t[-1] = (unsigned char)(n + 1);
	for (; n; n--, cell++, tags >>= 2) {
		enum cell tag = (enum cell)(tags & 3);

		if (tag == CELL_NULL) {
			*t++ = PACKED_NULL;
		} else if (tag == CELL_INT) {
			*t++ = (unsigned char)packed_row_number(&to, *cell);
		} else {
			uint64_t type =
				tag == CELL_TEXT ? PACKED_TEXT : PACKED_BLOB;

			type += packed_row_bytes(&to, b, *cell);
			if (type >= 0x80)
				return false;
			*t++ = (unsigned char)type;
		}
	}
	pr->len = (size_t)(to - pr->at);
	return true;
}

void packed_row_make(struct packed_row *pr, const struct block *b,
		     const uint64_t *row, unsigned int how)
{
	unsigned int n = b->table->shape.n_columns;
	const uint64_t *cell = row + (b->stride - n);
	unsigned char type[PACKED_HEAD];
	unsigned char *t = type;

	pr->buf = mem_grow(pr->buf, &pr->cap,
			   (size_t)b->size + PACKED_HEAD + PACKED_SLACK, 1);
	if (b->stride == n + 1 && packed_row_short(pr, b, row, how))
		return;
	unsigned char *to = pr->buf + PACKED_HEAD;

	while (how & PACKED_TRIM && n > 1 &&
	       packed_row_tag(row, n - 1) == CELL_NULL)
		n--;
	for (unsigned int i = 0; i < n; i++) {
		enum cell tag = how & PACKED_KEY && !i ? CELL_NULL
						       : packed_row_tag(row, i);

		if (tag == CELL_NULL)
			*t++ = PACKED_NULL;
		else if (tag == CELL_INT)
			*t++ = (unsigned char)packed_row_number(&to, cell[i]);
		else
			t += packed_row_varint(
				t,
				(tag == CELL_TEXT ? PACKED_TEXT : PACKED_BLOB) +
					packed_row_bytes(&to, b, cell[i]));
	}
	/* the header goes before the values; its length counts its own bytes */
	size_t head = (size_t)(t - type);
	unsigned char *at = pr->buf + PACKED_HEAD - head;

	memcpy(at, type, head);
	if (head + 1 < 0x80) {
		*--at = (unsigned char)(head + 1);
	} else {
		at -= 2;
		packed_row_varint(at, head + 2);
	}
	pr->at = at;
	pr->len = (size_t)(to - at);
}

void packed_row_release(struct packed_row *pr)
{
	free(pr->buf);
}
