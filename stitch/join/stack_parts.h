/* stack_parts.h - stacks that several unwinders made, put together.
 *
 * A process with an interpreter logs one part for its own code and one for the
 * interpreter's, innermost first. Where a part says at which address of the
 * parts before it goes in (its first frame is the caller of that one), it goes
 * in there; else it goes behind all, and that is not proved. A part that is
 * not the last is held until the next comes, or until another record of the
 * thread shows that none does: stack_parts_take() gives it out then. */
#ifndef STITCH_JOIN_STACK_PARTS_H
#define STITCH_JOIN_STACK_PARTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/join/join_data.h"

struct frames;
struct rec_chain;

/* A frame and the address it was recorded as. */
struct stack_part_frame {
	uint32_t frame;
	uint64_t ip;
};

struct stack_part_hold {
	uint32_t slot; /* of the thread */
	struct join_chain chain;
	uint16_t part, parts; /* the last one that came, of how many */
	struct stack_part_frame *at;
	size_t n, cap;
};

#define STACK_PARTS_HELD 64

/* All zeros is empty. */
struct stack_parts {
	struct stack_part_hold hold[STACK_PARTS_HELD];
	size_t n;
};

void stack_parts_release(struct stack_parts *ps);
/* Takes one more part: *jc is it, with its own frames in jc->uraw. True: *jc
 * has become all of the stack, or of what there is room to hold. False: it is
 * held. Call stack_parts_take() for the thread before, unless this part is one
 * more of what is held of it: stack_parts_wants(). */
bool stack_parts_add(struct stack_parts *ps, struct frames *fr, uint32_t slot,
		     const struct rec_chain *c, struct join_chain *jc);
bool stack_parts_wants(const struct stack_parts *ps, uint32_t slot,
		       const struct rec_chain *c, const struct join_chain *jc);
/* What is held of a thread (TASKS_NONE: of any), as far as it came. False:
 * nothing. *slot: whose. */
bool stack_parts_take(struct stack_parts *ps, struct frames *fr, uint32_t *slot,
		      struct join_chain *jc);
#endif
