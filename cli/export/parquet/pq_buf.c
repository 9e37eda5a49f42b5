/* pq_buf.c - bytes of a Parquet file while they are made. */
#include "cli/export/parquet/pq_buf.h"

#include <assert.h>
#include <endian.h>

#include "stitch/base/mem.h"

void pq_buf_release(struct pq_buf *b)
{
	free(b->data);
	*b = (struct pq_buf){ NULL, 0, 0 };
}

unsigned char *pq_buf_take(struct pq_buf *b, size_t n)
{
	unsigned char *p;

	if (b->cap - b->len < n)
		mem_grow(b->data, b->cap, b->len + n);
	p = b->data + b->len;
	b->len += n;
	return p;
}

void pq_put_bytes(struct pq_buf *b, const void *p, size_t n)
{
	if (n)
		memcpy(pq_buf_take(b, n), p, n);
}

void pq_put_byte(struct pq_buf *b, unsigned int v)
{
	*pq_buf_take(b, 1) = (unsigned char)v;
}

void pq_put_u32(struct pq_buf *b, uint32_t v)
{
	v = htole32(v);
	pq_put_bytes(b, &v, sizeof(v));
}

void pq_put_u64(struct pq_buf *b, uint64_t v)
{
	v = htole64(v);
	pq_put_bytes(b, &v, sizeof(v));
}

static void pq_put_varint(struct pq_buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		pq_put_byte(b, (v & 0x7f) | 0x80);
	pq_put_byte(b, (unsigned int)v);
}

static void pq_put_zigzag(struct pq_buf *b, int64_t v)
{
	pq_put_varint(b, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

unsigned int pq_width(uint64_t v)
{
	return v ? 64 - (unsigned int)__builtin_clzll(v) : 0;
}

/* ---- runs and packed groups */

#define GROUP 8
#define GROUPS_MAX 64 /* in one run: its header then has two bytes at most */

/* Packs n numbers, lowest bit first; n * width is a multiple of 8. */
static void pq_put_packed(struct pq_buf *b, const uint64_t *v, size_t n,
			  unsigned int width)
{
	unsigned char *p = pq_buf_take(b, n * width / 8);
	uint64_t acc = 0;
	unsigned int bits = 0;

	for (size_t i = 0; i < n; i++) {
		/* at most 7 bits are left of the last one */
		uint64_t more = bits ? v[i] >> (64 - bits) : 0;

		acc |= v[i] << bits;
		for (bits += width; bits >= 8; bits -= 8) {
			*p++ = (unsigned char)acc;
			acc = acc >> 8 | more << 56;
			more >>= 8;
		}
	}
}

static size_t pq_same(const uint32_t *v, size_t n)
{
	size_t i = 1;

	while (i < n && v[i] == v[0])
		i++;
	return i;
}

/* The same for numbers of 32 bits; behind the last there are zeros up to a
 * group. Whole words go out: byte by byte it takes twice as long. */
static void pq_put_packed_u32(struct pq_buf *b, const uint32_t *v, size_t n,
			      unsigned int width)
{
	size_t groups = (n + GROUP - 1) / GROUP;
	unsigned char *p = pq_buf_take(b, groups * width);
	unsigned char *end = p + groups * width;
	uint64_t acc = 0;
	unsigned int bits = 0;

	for (size_t i = 0; i < n; i++) {
		acc |= (uint64_t)v[i] << bits;
		bits += width;
		if (bits >= 32) {
			uint32_t le = htole32((uint32_t)acc);

			memcpy(p, &le, sizeof(le));
			p += sizeof(le);
			acc >>= 32;
			bits -= 32;
		}
	}
	for (; p < end; acc >>= 8)
		*p++ = (unsigned char)acc;
}

/* Puts groups of 8 up to the next run of equal numbers. Returns how many
 * numbers that were. The last group of all is filled with zeros. */
static size_t pq_put_groups(struct pq_buf *b, const uint32_t *v, size_t n,
			    unsigned int width)
{
	size_t done = 0;

	do
		done += n - done < GROUP ? n - done : GROUP;
	while (done < n && done < GROUP * GROUPS_MAX &&
	       pq_same(v + done, n - done < GROUP ? n - done : GROUP) < GROUP);
	pq_put_varint(b, (done + GROUP - 1) / GROUP << 1 | 1);
	pq_put_packed_u32(b, v, done, width);
	return done;
}

void pq_put_hybrid(struct pq_buf *b, const uint32_t *v, size_t n,
		   unsigned int width)
{
	while (n) {
		size_t same = pq_same(v, n);

		if (same >= GROUP || same == n) {
			uint32_t le = htole32(v[0]);

			pq_put_varint(b, (uint64_t)same << 1);
			pq_put_bytes(b, &le, (width + 7) / 8);
		} else {
			same = pq_put_groups(b, v, n, width);
		}
		v += same;
		n -= same;
	}
}

#define BLOCK 128
#define MINI 32

/* Puts the differences of v[1] to v[n] from the value before each. */
static void pq_put_delta_block(struct pq_buf *b, const uint64_t *v, size_t n)
{
	uint64_t d[BLOCK] = { 0 };
	int64_t low = INT64_MAX;
	size_t minis = (n + MINI - 1) / MINI;
	unsigned char *width;

	for (size_t i = 0; i < n; i++) {
		d[i] = v[i + 1] - v[i];
		if ((int64_t)d[i] < low)
			low = (int64_t)d[i];
	}
	for (size_t i = 0; i < n; i++)
		d[i] -= (uint64_t)low;
	pq_put_zigzag(b, low);

	size_t at = b->len;

	memset(pq_buf_take(b, BLOCK / MINI), 0, BLOCK / MINI);
	for (size_t m = 0; m < minis; m++) {
		uint64_t all = 0;

		for (size_t i = 0; i < MINI; i++)
			all |= d[m * MINI + i];
		width = b->data + at + m;
		*width = (unsigned char)pq_width(all);
		pq_put_packed(b, d + m * MINI, MINI, *width);
	}
}

void pq_put_delta(struct pq_buf *b, const uint64_t *v, size_t n)
{
	pq_put_varint(b, BLOCK);
	pq_put_varint(b, BLOCK / MINI);
	pq_put_varint(b, n);
	pq_put_zigzag(b, n ? (int64_t)v[0] : 0);
	for (size_t i = 1; i < n; i += BLOCK)
		pq_put_delta_block(b, v + i - 1, n - i < BLOCK ? n - i : BLOCK);
}

/* ---- thrift */

enum pq_kind {
	PQ_TRUE = 1,
	PQ_FALSE = 2,
	PQ_I8 = 3,
	PQ_I16 = 4,
	PQ_I32 = 5,
	PQ_I64 = 6,
	PQ_BINARY = 8,
	PQ_LIST = 9,
	PQ_STRUCT = 12
};

void pq_begin(struct pq_thrift *t, struct pq_buf *out)
{
	*t = (struct pq_thrift){ .out = out };
}

static void pq_field(struct pq_thrift *t, int id, enum pq_kind kind)
{
	int step = id - t->last[t->depth];

	assert(step >= 1 && step <= 15);
	pq_put_byte(t->out, (unsigned int)step << 4 | kind);
	t->last[t->depth] = id;
}

void pq_struct_item(struct pq_thrift *t)
{
	assert(t->depth < PQ_DEPTH - 1);
	t->last[++t->depth] = 0;
}

void pq_struct(struct pq_thrift *t, int id)
{
	pq_field(t, id, PQ_STRUCT);
	pq_struct_item(t);
}

void pq_end(struct pq_thrift *t)
{
	pq_put_byte(t->out, 0);
	if (t->depth)
		t->depth--;
}

void pq_i8(struct pq_thrift *t, int id, int v)
{
	pq_field(t, id, PQ_I8);
	pq_put_byte(t->out, (unsigned int)v & 0xff);
}

void pq_i16(struct pq_thrift *t, int id, int v)
{
	pq_field(t, id, PQ_I16);
	pq_put_zigzag(t->out, v);
}

void pq_i32(struct pq_thrift *t, int id, int64_t v)
{
	pq_field(t, id, PQ_I32);
	pq_put_zigzag(t->out, v);
}

void pq_i64(struct pq_thrift *t, int id, int64_t v)
{
	pq_field(t, id, PQ_I64);
	pq_put_zigzag(t->out, v);
}

void pq_bool(struct pq_thrift *t, int id, int v)
{
	pq_field(t, id, v ? PQ_TRUE : PQ_FALSE);
}

void pq_bytes(struct pq_thrift *t, int id, const void *p, size_t n)
{
	pq_field(t, id, PQ_BINARY);
	pq_put_varint(t->out, n);
	pq_put_bytes(t->out, p, n);
}

void pq_text(struct pq_thrift *t, int id, const char *s)
{
	pq_bytes(t, id, s, strlen(s));
}

void pq_list(struct pq_thrift *t, int id, enum pq_item kind, size_t n)
{
	pq_field(t, id, PQ_LIST);
	if (n < 15) {
		pq_put_byte(t->out, (unsigned int)n << 4 | kind);
	} else {
		pq_put_byte(t->out, 0xf0 | kind);
		pq_put_varint(t->out, n);
	}
}

void pq_item_i32(struct pq_thrift *t, int64_t v)
{
	pq_put_zigzag(t->out, v);
}

void pq_item_text(struct pq_thrift *t, const char *s)
{
	pq_put_varint(t->out, strlen(s));
	pq_put_bytes(t->out, s, strlen(s));
}
