/* jit_frame.h - frames in code that a process made at run time. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct frames;
struct jit_code;
struct jit_view;
struct region;

struct jit_at {
	const struct jit_view *view;
	const struct region *region; /* the mapping of addr; NULL: none */
	uint64_t addr;
	int64_t t; /* on the timeline */
};

/* Returns the id of the frame, or 0 if no such code was there or a file mapped
 * later covers it. Sets *ever if such code was there at any time. */
uint32_t jit_frame(struct frames *fr, const struct jit_at *at, uint32_t flags,
		   bool *ever);
/* Returns the code at the address; NULL if there is none, or several. */
const struct jit_code *jit_code_at(const struct frames *fr,
				   const struct jit_at *at, bool *ever);
/* Returns a number that grows with t. While it is the same, so are all answers
 * of jit_frame(). */
uint32_t jit_gen(const struct jit_view *v, int64_t t);
