/* stack_trail.h - the frames of the stack before, of which the next stack of a
 * thread mostly has the outer ones.
 *
 * Where a step leads to depends on the frame's registers, on its row, and on
 * the words that are read from the dump. So from a frame on that the stack
 * before had too, with the same registers, only these words are compared: while
 * they are the same, so are the frames. This takes a fifth of the time. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "symbolize/unwind/stack_walk.h"

/* Most stacks have fewer frames. */
#define STACK_TRAIL_MAX 128

struct stack_trail_frame {
	uint64_t pc, sp, fp;
	bool has_fp;
	/* Where the caller's pc and FP were read; fp_at 0: FP was not. ra_at 0:
	 * the step depends on more than this, or it was the last one. */
	uint64_t ra_at, fp_at;
};

struct stack_trail {
	struct stack_trail_frame frame[2][STACK_TRAIL_MAX];
	uint32_t n[2];
	unsigned int own; /* index of the stack at hand in frame[] and n[] */
	uint32_t at;	  /* place in the stack before */
	uint64_t epoch;	  /* of the stack at hand */
	const struct abi *abi;
};

/* Begins a stack. epoch: of struct unwind_in. */
void stack_trail_begin(struct stack_trail *t, const struct stack_walk *w,
		       uint64_t epoch);
/* Steps from a frame that was called, not interrupted, while the stack before
 * had the same frames. Adds these to out->ip. */
void stack_trail_follow(struct stack_trail *t, struct stack_walk *w,
			struct unwind_out *out);

/* Adds the frame that *w is at. Returns it, with ra_at 0, until the next call.
 */
static inline struct stack_trail_frame *
stack_trail_add(struct stack_trail *t, const struct stack_walk *w)
{
	struct stack_trail_frame *f = &t->frame[t->own][t->n[t->own]];

	/* the last place is for all that there is no room for */
	t->n[t->own] += t->n[t->own] < STACK_TRAIL_MAX - 1;
	f->pc = w->v.pc;
	f->sp = w->v.reg[w->abi->sp];
	f->fp = w->v.reg[w->abi->fp];
	f->has_fp = w->v.have >> w->abi->fp & 1;
	f->ra_at = 0;
	return f;
}
