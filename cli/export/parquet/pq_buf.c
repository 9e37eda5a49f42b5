/* pq_buf.c - bytes of a Parquet file while they are made. */
#include "cli/export/parquet/pq_buf.h"

#include <assert.h>
#include <endian.h>

#include "stitch/base/mem.h"

unsigned int pq_width(uint64_t v)
{
	return v ? 64 - (unsigned int)__builtin_clzll(v) : 0;
}

#define GROUP 8
#define GROUPS_MAX 64 /* groups in one run: its header is 1 or 2 bytes */

/* Packs n numbers, lowest bit first; n * width is a multiple of 8. */
static void pq_put_packed(struct blob *b, const uint64_t *v, size_t n,
			  unsigned int width)
{
	unsigned char *p = blob_room(b, n * width / 8);
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

/* Writes groups of 8 up to the next run of equal numbers. Returns how many
 * numbers it wrote. The last group of all is filled with zeros. */
static size_t pq_put_groups(struct blob *b, const uint32_t *v, size_t n,
			    unsigned int width)
{
	size_t done = 0;

	do
		done += n - done < GROUP ? n - done : GROUP;
	while (done < n && done < GROUP * GROUPS_MAX &&
	       pq_same(v + done, n - done < GROUP ? n - done : GROUP) < GROUP);
	blob_leb(b, (done + GROUP - 1) / GROUP << 1 | 1);
	/* Pack as pq_put_packed() does, but in words of 32 bits: byte by byte
	 * takes twice as long. Zeros fill the last group. */
	size_t groups = (done + GROUP - 1) / GROUP;
	unsigned char *p = blob_room(b, groups * width);
	unsigned char *end = p + groups * width;
	uint64_t acc = 0;
	unsigned int bits = 0;

	for (size_t i = 0; i < done; i++) {
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
	return done;
}

void pq_put_hybrid(struct blob *b, const uint32_t *v, size_t n,
		   unsigned int width)
{
	while (n) {
		size_t same = pq_same(v, n);

		if (same >= GROUP || same == n) {
			uint32_t le = htole32(v[0]);

			blob_leb(b, (uint64_t)same << 1);
			blob_add(b, &le, (width + 7) / 8);
		} else {
			same = pq_put_groups(b, v, n, width);
		}
		v += same;
		n -= same;
	}
}

#define BLOCK 128
#define MINI 32

/* Writes the differences of v[1] to v[n] from the value before each. */
static void pq_put_delta_block(struct blob *b, const uint64_t *v, size_t n)
{
	uint64_t d[BLOCK] = { 0 };
	int64_t low = INT64_MAX;
	size_t minis = (n + MINI - 1) / MINI;

	for (size_t i = 0; i < n; i++) {
		d[i] = v[i + 1] - v[i];
		if ((int64_t)d[i] < low)
			low = (int64_t)d[i];
	}
	for (size_t i = 0; i < n; i++)
		d[i] -= (uint64_t)low;
	blob_zigzag(b, (uint64_t)low);

	size_t at = b->n;

	memset(blob_room(b, BLOCK / MINI), 0, BLOCK / MINI);
	for (size_t m = 0; m < minis; m++) {
		uint64_t all = 0;

		for (size_t i = 0; i < MINI; i++)
			all |= d[m * MINI + i];
		unsigned char *width = b->at + at + m;
		*width = (unsigned char)pq_width(all);
		pq_put_packed(b, d + m * MINI, MINI, *width);
	}
}

void pq_put_delta(struct blob *b, const uint64_t *v, size_t n)
{
	blob_leb(b, BLOCK);
	blob_leb(b, BLOCK / MINI);
	blob_leb(b, n);
	blob_zigzag(b, n ? v[0] : 0);
	for (size_t i = 1; i < n; i += BLOCK)
		pq_put_delta_block(b, v + i - 1, n - i < BLOCK ? n - i : BLOCK);
}

void pq_begin(struct pq_thrift *t, struct blob *out)
{
	*t = (struct pq_thrift){ .out = out };
}

static void pq_field(struct pq_thrift *t, int id, enum pq_kind kind)
{
	int step = id - t->last[t->depth];

	assert(step >= 1 && step <= 15);
	blob_u8(t->out, (unsigned int)step << 4 | kind);
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
	blob_u8(t->out, 0);
	if (t->depth)
		t->depth--;
}

void pq_i8(struct pq_thrift *t, int id, int v)
{
	pq_field(t, id, PQ_I8);
	blob_u8(t->out, (unsigned int)v & 0xff);
}

void pq_int(struct pq_thrift *t, int id, enum pq_kind kind, int64_t v)
{
	pq_field(t, id, kind);
	pq_item_i32(t, v);
}

void pq_bool(struct pq_thrift *t, int id, int v)
{
	pq_field(t, id, v ? PQ_TRUE : PQ_FALSE);
}

void pq_bytes(struct pq_thrift *t, int id, const void *p, size_t n)
{
	pq_field(t, id, PQ_BINARY);
	blob_leb(t->out, n);
	blob_add(t->out, p, n);
}

void pq_text(struct pq_thrift *t, int id, const char *s)
{
	pq_bytes(t, id, s, strlen(s));
}

void pq_list(struct pq_thrift *t, int id, enum pq_kind kind, size_t n)
{
	pq_field(t, id, PQ_LIST);
	if (n < 15) {
		blob_u8(t->out, (unsigned int)n << 4 | kind);
	} else {
		blob_u8(t->out, 0xf0 | kind);
		blob_leb(t->out, n);
	}
}

void pq_item_i32(struct pq_thrift *t, int64_t v)
{
	blob_zigzag(t->out, (uint64_t)v);
}

void pq_item_text(struct pq_thrift *t, const char *s)
{
	blob_leb(t->out, strlen(s));
	blob_add(t->out, s, strlen(s));
}
