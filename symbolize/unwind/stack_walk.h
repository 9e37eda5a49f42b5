/* stack_walk.h - steps from one frame of a stack dump to its caller. For
 * symbolize/ only. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "stitch/base/bytes.h"
#include "stitch/unwinder.h"
#include "symbolize/cfi/abi.h"

struct unwind_image;
struct unwind_row;

/* The current frame and the stack dump. */
struct stack_walk {
	const struct abi *abi;
	struct bytes dump;
	uint64_t low; /* address of its first byte */
	uint64_t user_mask;
	struct abi_values v; /* registers of the frame; pc is its address */
	/* pc is an instruction (innermost or interrupted frame), not a return
	 * address */
	bool exact;
	bool top;	     /* the link register still belongs to this frame */
	enum unwind_end end; /* set when a step fails: the reason */
	/* As in struct stack_trail_frame, for the last stack_walk_row(). */
	uint64_t ra_at, fp_at;
};

/* Returns -1 if the dump does not have the word at addr. */
static inline int stack_walk_read_word(const struct stack_walk *w,
				       uint64_t addr, uint64_t *out)
{
	uint32_t half;

	if (w->abi->word == 8)
		return bytes_peek_u64(&w->dump, addr - w->low, out);
	if (bytes_peek_u32(&w->dump, addr - w->low, &half))
		return -1;
	*out = half;
	return 0;
}

/* Starts at the innermost frame, with the registers of `in`. Its dump is
 * borrowed while *w is used. */
void stack_walk_start(struct stack_walk *w, const struct abi *abi,
		      const struct unwind_in *in);
/* All steps return 0 with *w set to the caller, or -1 with w->end.
 * UNWIND_COMPLEX: the row is not enough, try stack_walk_rules(). */
int stack_walk_row(struct stack_walk *w, const struct unwind_row *row);
/* Steps by the image's full rules at ELF address vaddr, with all registers. */
int stack_walk_rules(struct stack_walk *w, const struct unwind_image *m,
		     uint64_t vaddr);
/* Steps by the link register, in a function without a frame. */
int stack_walk_link(struct stack_walk *w);
/* Steps by the frame pointer, if it points to what may be a saved FP and a
 * return address. */
int stack_walk_pointer(struct stack_walk *w);

/* ---- trails. A step depends on the frame's registers, on its row, and on the
 * words that are read from the dump. So from a frame on that the previous stack
 * had too, with the same registers, only these words are compared: while they
 * are the same, so are the frames. This takes a fifth of the time. */

/* Most stacks have fewer frames. */
#define STACK_TRAIL_MAX 128

struct stack_trail_frame {
	uint64_t pc, sp, fp;
	bool has_fp;
	/* Where the caller's pc and FP were read; fp_at 0: FP was not. ra_at 0:
	 * the step depends on more than this, or was the last one. */
	uint64_t ra_at, fp_at;
};

struct stack_trail {
	struct stack_trail_frame frame[2][STACK_TRAIL_MAX];
	uint32_t n[2];
	unsigned int own; /* index of the current stack in frame[] and n[] */
	uint32_t at;	  /* position in the previous stack */
	uint64_t epoch;	  /* of the current stack */
	const struct abi *abi;
};

/* Starts a stack. epoch: of struct unwind_in. */
void stack_trail_begin(struct stack_trail *t, const struct stack_walk *w,
		       uint64_t epoch);
/* Steps on from a frame that was called, not interrupted, while the previous
 * stack had the same frames. Adds these to out->ip. */
void stack_trail_follow(struct stack_trail *t, struct stack_walk *w,
			struct unwind_out *out);

/* Adds the current frame of *w. Returns it, with ra_at 0; valid until the next
 * call. */
static inline struct stack_trail_frame *
stack_trail_add(struct stack_trail *t, const struct stack_walk *w)
{
	struct stack_trail_frame *f = &t->frame[t->own][t->n[t->own]];

	/* the last place takes all frames that exceed the room */
	t->n[t->own] += t->n[t->own] < STACK_TRAIL_MAX - 1;
	f->pc = w->v.pc;
	f->sp = w->v.reg[w->abi->sp];
	f->fp = w->v.reg[w->abi->fp];
	f->has_fp = w->v.have >> w->abi->fp & 1;
	f->ra_at = 0;
	return f;
}
