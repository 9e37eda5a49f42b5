/* saturate.h - sums and differences that stop at the largest number. */
#pragma once
#include <stdint.h>

/* Returns a + b, or UINT64_MAX if that is too large. */
static inline uint64_t saturating_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Returns a - b, or the nearest number if that is out of range. Times from a
 * capture may be any number, TIME_NONE is the smallest. */
static inline int64_t saturating_apart(int64_t a, int64_t b)
{
	int64_t apart;

	if (!__builtin_sub_overflow(a, b, &apart))
		return apart;
	return a < b ? INT64_MIN : INT64_MAX;
}
