/* callee_reach.h - finds the functions that may run in place of a called one,
 * because it jumps to them and leaves no frame.
 *
 * One of them made the frame that holds a return address. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALLEE_REACH_MAX 8

struct callsite_file;

struct callee_reach {
	uint64_t start[CALLEE_REACH_MAX]; /* the called function is the first */
	size_t n;
	bool open;  /* there may be others, for example after a jump through a
		       register */
	bool frame; /* one of them has code that sets the frame pointer */
};

/* Finds the functions that the one at ELF address `to` may jump to, while the
 * file is open. The result is open for an unknown function, and on machines
 * other than x86-64. O(bytes of the functions). */
void callee_reach_find(const struct callsite_file *f, uint64_t to,
		       struct callee_reach *out);
/* Returns whether the code at an offset of the file is in one of these
 * functions, or may be. */
bool callee_reach_has(const struct callsite_file *f,
		      const struct callee_reach *r, uint64_t off);
