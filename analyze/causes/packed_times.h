/* packed_times.h - millions of items in 6 to 12 bytes each: a time, the event
 * that reports it, and two numbers; and the times at which a list of losses
 * end.
 *
 * Items are packed in rows of 256. For each field a row keeps a base value, and
 * for each item the difference from that base, in as many bits as the largest
 * difference needs; low bits that are 0 in all differences are left out. Items
 * take least space if they are added in order, but they need not be. Data that
 * many items share is kept once, under a number. */
#pragma once
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "stitch/base/intern.h"

#define PACKED_TIMES_ROW 256
#define PACKED_TIMES_FIELDS 4

struct packed_time {
	union {
		struct {
			int64_t time, event;
			uint64_t a, b;
		};
		uint64_t field[PACKED_TIMES_FIELDS];
	};
};

struct packed_times_row {
	uint64_t base[PACKED_TIMES_FIELDS];
	uint8_t *byte; /* the fields of the items in order, each with `bits`
			* bits */
	uint8_t bits[PACKED_TIMES_FIELDS];
	uint8_t zeros[PACKED_TIMES_FIELDS]; /* low bits that are left out */
};

/* All zeros is empty. */
struct packed_times {
	struct packed_times_row *row; /* the packed rows */
	struct packed_time *open; /* items of row `at`, unpacked; NULL: none */
	size_t n, n_row, cap_row, at;
};

/* Replaces item i, or adds one if i is m->n. */
void packed_times_put(struct packed_times *m, size_t i,
		      const struct packed_time *x);
/* Removes all items from number n on. */
void packed_times_cut(struct packed_times *m, size_t n);
/* Packs the open row. Nothing may be added afterwards. */
void packed_times_close(struct packed_times *m);

/* The least number of bits in an 8-byte load, from any bit of its first
 * byte. */
#define PACKED_TIMES_BITS 56

/* Returns `bits` bits from bit `at` on. */
static inline uint64_t packed_times_bits(const uint8_t *byte, size_t at,
					 unsigned int bits)
{
	uint64_t x;

	if (__builtin_expect(bits > PACKED_TIMES_BITS, false))
		return packed_times_bits(byte, at, 32) |
		       packed_times_bits(byte, at + 32, bits - 32) << 32;
	memcpy(&x, byte + at / 8, sizeof(x));
	return le64toh(x) >> at % 8 & (((uint64_t)1 << bits) - 1);
}

/* Returns field k, which begins at bit *at, and moves *at past it. */
static inline uint64_t packed_times_field(const struct packed_times_row *r,
					  int k, size_t *at)
{
	size_t from = *at;

	*at += r->bits[k];
	return r->base[k] +
	       (packed_times_bits(r->byte, from, r->bits[k]) << r->zeros[k]);
}

static inline struct packed_time packed_times_get(const struct packed_times *m,
						  size_t i)
{
	const struct packed_times_row *r = &m->row[i / PACKED_TIMES_ROW];
	struct packed_time x;
	size_t at;

	/* unrolled: the compiler drops fields that the caller ignores */
	if (m->open && i / PACKED_TIMES_ROW == m->at)
		return m->open[i % PACKED_TIMES_ROW];
	at = i % PACKED_TIMES_ROW *
	     (r->bits[0] + r->bits[1] + r->bits[2] + r->bits[3]);
	x.field[0] = packed_times_field(r, 0, &at);
	x.field[1] = packed_times_field(r, 1, &at);
	x.field[2] = packed_times_field(r, 2, &at);
	x.field[3] = packed_times_field(r, 3, &at);
	return x;
}
/* Returns the index of the first item of an event, or of a later event; m->n:
 * there is none. Events must ascend. */
size_t packed_times_find(const struct packed_times *m, int64_t event);
void packed_times_release(struct packed_times *m);

/* Numbers of items, grouped by the items' owners. All zeros is empty. */
struct lists {
	struct packed_times number; /* the numbers, in the field `time` */
	size_t *first; /* by owner: index of its first number; after the last
			* owner: the count of all numbers */
};

/* The numbers of one owner, or a consecutive part of them. */
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
	const struct packed_times_row *r =
		&x->of->number.row[k / PACKED_TIMES_ROW];
	size_t at = k % PACKED_TIMES_ROW * r->bits[0];

	return (uint32_t)packed_times_field(r, 0, &at);
}

/* Data that many items share: 16 bytes, without padding. */
struct kind {
	uint64_t word[2];
};

/* Returns the number of a kind; equal kinds have the same number. kinds_get()
 * returns the kind of a number. */
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

/* Order of calls: loss_ends_init(), loss_ends_put() for each, in any order,
 * loss_ends_seal(); then questions, of O(log n). */

/* A tree of the ends of losses: latest[size + i] is the end of loss i, and
 * latest[i] the later of latest[2i] and latest[2i + 1]; INT64_MIN: no loss. All
 * zeros needs no release. */
struct loss_ends {
	size_t n, size;
	int64_t *latest;
};

void loss_ends_init(struct loss_ends *e, size_t n);
void loss_ends_release(struct loss_ends *e);
void loss_ends_put(struct loss_ends *e, size_t i, int64_t end);
void loss_ends_seal(struct loss_ends *e);
/* Returns the first loss from i on that ends at or after a time; e->n: none. */
size_t loss_ends_find(const struct loss_ends *e, size_t i, int64_t time);
/* Returns the latest end of losses i to j - 1. */
int64_t loss_ends_latest(const struct loss_ends *e, size_t i, size_t j);
