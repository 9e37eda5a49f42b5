/* rnd.h - random numbers, the same on every machine: splitmix64. */
#pragma once
#include <stdint.h>

static inline uint64_t rnd(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Below n; 0 if n is 0. */
static inline uint64_t rnd_below(uint64_t *state, uint64_t n)
{
	return n ? rnd(state) % n : 0;
}
