/* saturate.h - sums that stop at the largest number. */
#ifndef STITCH_BASE_SATURATE_H
#define STITCH_BASE_SATURATE_H
#include <stdint.h>

/* Returns a + b, or UINT64_MAX if that is too large. */
static inline uint64_t saturating_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}
#endif
