/* jit_frame.h - frames in code that a process made itself: which image, and
 * where in it. */
#ifndef STITCH_TASKS_JIT_FRAME_H
#define STITCH_TASKS_JIT_FRAME_H
#include <stdbool.h>
#include <stdint.h>

struct frames;
struct jit_code;
struct jit_view;
struct region;

struct jit_at {
	const struct jit_view *view;
	const struct region *region; /* mapped there; NULL: nothing */
	uint64_t addr;
	int64_t t; /* on the timeline */
};

/* Frame id; 0: no such code was there, or it was covered by a file mapped
 * later. *ever: there is some at another time. */
uint32_t jit_frame(struct frames *fr, const struct jit_at *at, uint32_t flags,
		   bool *ever);
/* The one code that it would be in; NULL: none, or one of several. */
const struct jit_code *jit_code_at(const struct frames *fr,
				   const struct jit_at *at, bool *ever);
/* A number that grows with t; while it stays the same, so do all frames. */
uint32_t jit_gen(const struct jit_view *v, int64_t t);
#endif
