/* wide.h - the 128-bit products of two 64-bit numbers: shifted, divided,
 * compared.
 *
 * Compilers for 32-bit machines have no __int128. There the products are made
 * of halves, and divided bit by bit. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct wide {
	uint64_t hi, lo;
};

/* The same as wide_mul(), on every machine. */
static inline struct wide wide_mul_halves(uint64_t a, uint64_t b)
{
	const uint64_t low = UINT32_MAX;
	uint64_t part = (a & low) * (b & low);
	uint64_t left = (a >> 32) * (b & low) + (part >> 32);
	uint64_t right = (a & low) * (b >> 32) + (left & low);

	return (struct wide){ (a >> 32) * (b >> 32) + (left >> 32) +
				      (right >> 32),
			      right << 32 | (part & low) };
}

/* The same as wide_div(), on every machine. */
static inline uint64_t wide_div_bits(struct wide v, uint64_t d)
{
	if (v.hi >= d)
		return UINT64_MAX;
	for (int i = 0; i < 64; i++) {
		bool over = v.hi >> 63;

		v.hi = v.hi << 1 | v.lo >> 63;
		v.lo <<= 1;
		if (over || v.hi >= d) {
			v.hi -= d;
			v.lo |= 1;
		}
	}
	return v.lo;
}

static inline struct wide wide_mul(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 v = (unsigned __int128)a * b;

	return (struct wide){ (uint64_t)(v >> 64), (uint64_t)v };
#else
	return wide_mul_halves(a, b);
#endif
}

/* Returns v / d, or UINT64_MAX if that is too large or d is 0. */
static inline uint64_t wide_div(struct wide v, uint64_t d)
{
#ifdef __SIZEOF_INT128__
	if (v.hi >= d)
		return UINT64_MAX;
	return (uint64_t)(((unsigned __int128)v.hi << 64 | v.lo) / d);
#else
	return wide_div_bits(v, d);
#endif
}

static inline struct wide wide_add(struct wide v, uint64_t n)
{
	v.lo += n;
	v.hi += v.lo < n;
	return v;
}

/* Returns bits n to n + 63 of v; n is less than 128. */
static inline uint64_t wide_shift(struct wide v, unsigned int n)
{
	if (n >= 64)
		return v.hi >> (n - 64);
	return n ? v.hi << (64 - n) | v.lo >> n : v.lo;
}

/* Returns bits n to n + 63 of the product of two signed numbers. */
static inline uint64_t wide_shift_signed(int64_t a, int64_t b, unsigned int n)
{
	struct wide v = wide_mul((uint64_t)a, (uint64_t)b);

	v.hi -= (a < 0 ? (uint64_t)b : 0) + (b < 0 ? (uint64_t)a : 0);
	return wide_shift(v, n);
}

/* Returns whether a * b is less than c * d. */
static inline bool wide_less(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	struct wide v = wide_mul(a, b);
	struct wide w = wide_mul(c, d);

	return v.hi < w.hi || (v.hi == w.hi && v.lo < w.lo);
}
