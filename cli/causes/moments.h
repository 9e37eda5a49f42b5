/* moments.h - what happened at millions of times, in 8 to 12 bytes each: the
 * time, the event that tells it, and two numbers.
 *
 * In each of 128 in a row the same bits are kept: as many as the differences
 * from the least of the row need. They are best added in order, but are read as
 * they were written in any case. What many of them have in common is kept once,
 * and known by a number. */
#pragma once
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "stitch/base/intern.h"

#define MOMENTS_ROW 128
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
	x.field[0] = r->base[0] + moments_bits(r->byte, at, r->bits[0]);
	at += r->bits[0];
	x.field[1] = r->base[1] + moments_bits(r->byte, at, r->bits[1]);
	at += r->bits[1];
	x.field[2] = r->base[2] + moments_bits(r->byte, at, r->bits[2]);
	at += r->bits[2];
	x.field[3] = r->base[3] + moments_bits(r->byte, at, r->bits[3]);
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

	return (uint32_t)(r->base[0] +
			  moments_bits(r->byte, k % MOMENTS_ROW * r->bits[0],
				       r->bits[0]));
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
