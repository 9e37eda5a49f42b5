/* accident.h - random numbers that come again with the same seed (xorshift64).
 */
#pragma once
#include <stdint.h>

static uint64_t accident; /* seed it with anything but 0 */

static inline uint64_t random_below(uint64_t n)
{
	accident ^= accident << 13;
	accident ^= accident >> 7;
	accident ^= accident << 17;
	return n ? accident % n : 0;
}
