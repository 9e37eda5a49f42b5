/* walk.h - from one frame of a dumped stack to its caller, in the ways there
 * are. Inside symbolize/ only. */
#ifndef SYMBOLIZE_UNWIND_WALK_H
#define SYMBOLIZE_UNWIND_WALK_H
#include <stdbool.h>
#include <stdint.h>

#include "stitch/base/bytes.h"
#include "stitch/unwinder.h"
#include "symbolize/cfi/abi.h"

struct module;
struct row;

/* A frame, and the dump it is in. */
struct walk {
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

void walk_start(struct walk *w, const struct abi *abi,
		const struct unwind_in *in);
/* All of them: 0, and *w is the caller; or -1 and w->end. UNWIND_COMPLEX: a
 * row does not suffice, walk_rules() may. */
int walk_row(struct walk *w, const struct row *row);
/* By the module's rules of ELF address vaddr, with all registers. */
int walk_rules(struct walk *w, const struct module *m, uint64_t vaddr);
/* By link register: of a function without a frame. */
int walk_link(struct walk *w);
/* By frame pointer: what it points to has to look like a frame's end. */
int walk_pointer(struct walk *w);
#endif
