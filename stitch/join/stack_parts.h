/* stack_parts.h - stacks that several unwinders made, put together.
 *
 * A process with an interpreter logs one part for its own code and one for the
 * interpreter's, innermost first. Where a part says at which address of the
 * parts before it goes in (its first frame is the caller of that one), it goes
 * in there; else it goes behind all, and that is not proved. A part that is
 * not the last is held until the next comes, or until another record of the
 * thread shows that none does: parts_take() gives it out then. */
#ifndef STITCH_JOIN_STACK_PARTS_H
#define STITCH_JOIN_STACK_PARTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/join/join_data.h"

struct frames;
struct rec_chain;

/* A frame and the address it was recorded as. */
struct part_frame {
	uint32_t frame;
	uint64_t ip;
};

struct part_hold {
	uint32_t slot; /* of the thread */
	struct join_chain chain;
	uint16_t part, parts; /* the last one that came, of how many */
	struct part_frame *at;
	size_t n, cap;
};

#define PARTS_HELD 64

/* All zeros is empty. */
struct parts {
	struct part_hold hold[PARTS_HELD];
	size_t n;
};

void parts_release(struct parts *ps);
/* Takes one more part: *jc is it, with its own frames in jc->uraw. True: *jc
 * has become all of the stack, or of what there is room to hold. False: it is
 * held. Call parts_take() for the thread before, unless this part is one more
 * of what is held of it: parts_wants(). */
bool parts_add(struct parts *ps, struct frames *fr, uint32_t slot,
	       const struct rec_chain *c, struct join_chain *jc);
bool parts_wants(const struct parts *ps, uint32_t slot,
		 const struct rec_chain *c, const struct join_chain *jc);
/* What is held of a thread (TASKS_NONE: of any), as far as it came. False:
 * nothing. *slot: whose. */
bool parts_take(struct parts *ps, struct frames *fr, uint32_t *slot,
		struct join_chain *jc);
#endif
