/* unwinders.h - keeps track of when processes that unwind themselves logged
 * stacks.
 *
 * Such a process answers a request (a nonce) by logging its own stack. Its
 * stacks before and after an unanswered request show the reason. Times are
 * counts of nonces and stacks, so that captures without times work as well. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/join/join_data.h"

struct cookies;
struct frames;
struct rec_chain;

/* A process with an interpreter logs a part for its own code and a part for the
 * interpreted code, innermost first. A part may name an address of an earlier
 * part whose caller is the part's first frame: it is inserted there. Otherwise
 * it is appended, and the stack is unproved. An incomplete stack is held until
 * its next part comes, or until another record of the thread shows that none
 * follows: then stack_parts_take() returns it. */

/* A frame, and the recorded address. */
struct stack_part_frame {
	uint32_t frame;
	uint64_t ip;
};

struct stack_part_hold {
	uint32_t slot; /* slot of the thread */
	struct join_chain chain;
	uint16_t part, parts; /* number of the last part, and of all parts */
	struct stack_part_frame *at;
	size_t n, cap;
};

#define STACK_PARTS_HELD 64

/* All zeros: empty. */
struct stack_parts {
	struct stack_part_hold hold[STACK_PARTS_HELD];
	size_t n;
};

void stack_parts_release(struct stack_parts *ps);
/* Adds a part: *jc, with its frames in jc->uraw. Returns true if *jc is the
 * complete stack, or if there is no room to hold it; false if the stack is
 * held. If stack_parts_wants() is false, call stack_parts_take() for the thread
 * before. */
bool stack_parts_add(struct stack_parts *ps, struct frames *fr, uint32_t slot,
		     const struct rec_chain *c, struct join_chain *jc);
bool stack_parts_wants(const struct stack_parts *ps, uint32_t slot,
		       const struct rec_chain *c, const struct join_chain *jc);
/* Removes the incomplete stack held for thread *slot (any thread if TASKS_NONE)
 * and stores it in *jc. Returns false if nothing is held. Sets *slot to its
 * thread. */
bool stack_parts_take(struct stack_parts *ps, struct frames *fr, uint32_t *slot,
		      struct join_chain *jc);

struct unwinder_life {
	uint64_t first, last; /* first and last stack; 0: none */
};

/* Indexed by row id. */
struct unwinder_lives {
	struct unwinder_life *life;
	size_t n, cap;
};

/* Both are kept, because a thread may be known before its process. */
struct unwinders {
	struct unwinder_lives thread, process;
	uint64_t now; /* records with a nonce so far; the caller counts them */
};

void unwinders_release(struct unwinders *us);
/* Notes that the thread logged a stack now. process 0: unknown. */
void unwinders_logged(struct unwinders *us, uint32_t thread, uint32_t process);
/* Returns when the thread or its process logged stacks; zeros: never. */
struct unwinder_life unwinders_life(const struct unwinders *us, uint32_t thread,
				    uint32_t process);
/* Marks the requests that hit a thread while it unwound itself for the request
 * of entry i, which are later ones. recent: the JOIN_RECENT newest entries of
 * the thread. queued: the last unresolved entry of all threads; the newest 256
 * from there on are searched for others. */
void unwinders_mark_inside(struct cookies *cs, const uint32_t *recent,
			   uint32_t queued, uint32_t i);
