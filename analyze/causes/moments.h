/* moments.h - what happened at millions of times, in 6 to 12 bytes each: the
 * time, the event that tells it, and two numbers.
 *
 * In each of 256 in a row the same bits are kept: as many as the differences
 * from the least of the row need, but for low bits that are 0 in all of them.
 * They are best added in order, but are read as they were written in any case.
 * What many of them have in common is kept once, and known by a number. */
#pragma once
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "stitch/base/intern.h"

#define MOMENTS_ROW 256
#define MOMENTS_FIELDS 4

struct moment {
	union {
		struct {
			int64_t time, event;
			uint64_t a, b;
		};
		uint64_t field[MOMENTS_FIELDS];
	};
};

struct moments_row {
	uint64_t base[MOMENTS_FIELDS];
	uint8_t *byte; /* items are bits in the order of these */
	uint8_t bits[MOMENTS_FIELDS];
	uint8_t zeros[MOMENTS_FIELDS]; /* low bits that are not kept */
};

/* All zeros is empty. */
struct moments {
	struct moments_row *row; /* but for the open one */
	struct moment *open;	 /* those of the row `at`, as they are */
	size_t n, n_row, cap_row, at;
};

/* Replaces item i, or adds one if i is m->n. */
void moments_put(struct moments *m, size_t i, const struct moment *x);
/* Cuts it to n items. */
void moments_cut(struct moments *m, size_t n);
/* Adds no more: the open row is packed. */
void moments_close(struct moments *m);

#define MOMENTS_BITS 56 /* that the 8 bytes from any bit on surely have */

/* Returns `bits` bits from bit `at` on. */
static inline uint64_t moments_bits(const uint8_t *byte, size_t at,
				    unsigned int bits)
{
	uint64_t x;

	if (__builtin_expect(bits > MOMENTS_BITS, false))
		return moments_bits(byte, at, 32) |
		       moments_bits(byte, at + 32, bits - 32) << 32;
	memcpy(&x, byte + at / 8, sizeof(x));
	return le64toh(x) >> at % 8 & (((uint64_t)1 << bits) - 1);
}

/* Reads field k, which begins at bit *at, and goes behind it. */
static inline uint64_t moments_field(const struct moments_row *r, int k,
				     size_t *at)
{
	size_t from = *at;

	*at += r->bits[k];
	return r->base[k] +
	       (moments_bits(r->byte, from, r->bits[k]) << r->zeros[k]);
}

static inline struct moment moments_get(const struct moments *m, size_t i)
{
	const struct moments_row *r = &m->row[i / MOMENTS_ROW];
	struct moment x;
	size_t at;

	/* not a loop, so that what is not asked for is not read */
	if (m->open && i / MOMENTS_ROW == m->at)
		return m->open[i % MOMENTS_ROW];
	at = i % MOMENTS_ROW *
	     (r->bits[0] + r->bits[1] + r->bits[2] + r->bits[3]);
	x.field[0] = moments_field(r, 0, &at);
	x.field[1] = moments_field(r, 1, &at);
	x.field[2] = moments_field(r, 2, &at);
	x.field[3] = moments_field(r, 3, &at);
	return x;
}
/* Returns the first one of an event, or of a later one, where events ascend;
 * m->n: there is none. */
size_t moments_find(const struct moments *m, int64_t event);
void moments_release(struct moments *m);

/* Numbers of any items, sorted by their owners. All zeros is empty. */
struct lists {
	struct moments number; /* as times */
	size_t *first;	       /* of each owner, and how many there are */
};

/* Those of an owner, or some of them in a row. */
struct numbers {
	const struct lists *of;
	size_t first, n;
};

static inline struct numbers lists_get(const struct lists *l, size_t owner)
{
	return (struct numbers){ l, l->first[owner],
				 l->first[owner + 1] - l->first[owner] };
}
static inline uint32_t numbers_get(const struct numbers *x, size_t i)
{
	size_t k = x->first + i;
	const struct moments_row *r = &x->of->number.row[k / MOMENTS_ROW];
	size_t at = k % MOMENTS_ROW * r->bits[0];

	return (uint32_t)moments_field(r, 0, &at);
}

/* What many have in common: 16 bytes, without padding. */
struct kind {
	uint64_t word[2];
};

/* Returns the number of a kind, the same for equal ones; and that kind. */
static inline uint32_t kinds_add(struct intern *k, const struct kind *x)
{
	return intern_add_bytes(k, x, sizeof(*x));
}
static inline struct kind kinds_get(const struct intern *k, uint64_t number)
{
	struct kind x;

	memcpy(&x, k->string[number], sizeof(x));
	return x;
}
