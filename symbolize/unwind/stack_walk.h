/* stack_walk.h - from one frame of a dumped stack to its caller, in the ways
 * there are. Inside symbolize/ only. */
#ifndef SYMBOLIZE_UNWIND_STACK_WALK_H
#define SYMBOLIZE_UNWIND_STACK_WALK_H
#include <stdbool.h>
#include <stdint.h>

#include "stitch/base/bytes.h"
#include "stitch/unwinder.h"
#include "symbolize/cfi/abi.h"

struct unwind_image;
struct unwind_row;

/* A frame, and the dump it is in. */
struct stack_walk {
	const struct abi *abi;
	struct bytes dump;
	uint64_t low; /* address of its first byte */
	uint64_t user_mask;
	struct abi_values v; /* the frame's; pc is its address */
	bool exact;	     /* pc is that of an instruction: the first, and
			      * what a signal interrupted; else behind a call */
	bool top;	     /* the link register is still the frame's own */
	enum unwind_end end; /* after a step that failed: why */
};

void stack_walk_start(struct stack_walk *w, const struct abi *abi,
		      const struct unwind_in *in);
/* All of them: 0, and *w is the caller; or -1 and w->end. UNWIND_COMPLEX: a
 * row does not suffice, stack_walk_rules() may. */
int stack_walk_row(struct stack_walk *w, const struct unwind_row *row);
/* By the module's rules of ELF address vaddr, with all registers. */
int stack_walk_rules(struct stack_walk *w, const struct unwind_image *m,
		     uint64_t vaddr);
/* By link register: of a function without a frame. */
int stack_walk_link(struct stack_walk *w);
/* By frame pointer: what it points to has to look like a frame's end. */
int stack_walk_pointer(struct stack_walk *w);
#endif
