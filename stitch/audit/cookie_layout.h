/* cookie_layout.h - which bits of a cookie are CPU and counter. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum cookie_layout {
	LAYOUT_AUTO,   /* perf: LAYOUT_KERNEL as long as all cookies fit, else
			* opaque; others: opaque */
	LAYOUT_KERNEL, /* cpu + 1 in the low half, odd counter in the high
			* half; swapped on big-endian */
	LAYOUT_CPU48,  /* 2024 drafts: (cpu << 48) + counter in steps of 1, so
			* that a counter may carry into the CPU */
	LAYOUT_LOWCPU, /* counter << 12 | cpu, or another number of bits */
	LAYOUT_PAIR,   /* cpu in the low half, counter in the high one */
	LAYOUT_OPAQUE,
};

struct cookie_shape {
	enum cookie_layout layout;
	uint8_t cpu_at, cpu_bits;
	uint8_t count_at, count_bits;
	uint8_t bias; /* value for CPU 0 */
	uint8_t step; /* 2: counters are odd */
	bool carries; /* the counter may carry into the CPU */
};

#define COOKIE_SHAPES 5

/* Returns the word that --cookie-layout takes, or NULL. */
const char *cookie_layout_name(unsigned int layout);
/* Reads such a word, or "lowcpu:BITS", the number of bits that hold the CPU.
 * Returns 0 and *layout, an enum cookie_layout with BITS << 8; or -1. */
int cookie_layout_parse(const char *word, unsigned int *layout);
/* Fills the shapes that a layout from cookie_layout_parse() may mean; of the
 * others, layout tells them apart. */
void cookie_shapes(struct cookie_shape *shape, unsigned int layout);
