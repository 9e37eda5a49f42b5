/* callee_reach.h - the functions that may run in place of a called one, as it
 * goes on to them by jumps, so that no frame of it is left.
 *
 * The frame that holds a return address was made by one of them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALLEE_REACH_MAX 8

struct callsite_file;

struct callee_reach {
	uint64_t start[CALLEE_REACH_MAX]; /* the called one is the first */
	size_t n;
	bool open;  /* there may be others, as after a jump by a register */
	bool frame; /* one of them has code that sets the frame pointer */
};

/* Finds those of the function at ELF address `to`, while the file is open. All
 * of an unknown function is open, and of a machine other than x86-64. O(bytes
 * of the functions). */
void callee_reach_find(const struct callsite_file *f, uint64_t to,
		       struct callee_reach *out);
/* Returns whether the code at an offset of the file is in one of them, or may
 * be. */
bool callee_reach_has(const struct callsite_file *f,
		      const struct callee_reach *r, uint64_t off);
