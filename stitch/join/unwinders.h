/* unwinders.h - processes that unwind themselves: when each logged stacks.
 *
 * Such a process answers a request (a nonce) by logging its own stack. What it
 * logged before and after a request without an answer tells why there is
 * none. "When" is a count of nonces and stacks, so that captures without
 * times are no worse off. */
#ifndef STITCH_JOIN_UNWINDERS_H
#define STITCH_JOIN_UNWINDERS_H
#include <stddef.h>
#include <stdint.h>

struct unwinder_life {
	uint64_t first, last; /* of its stacks; 0: it logged none */
};

/* Lives by row id. */
struct unwinder_lives {
	struct unwinder_life *life;
	size_t n, cap;
};

/* A thread may be known before its process is: both are kept. */
struct unwinders {
	struct unwinder_lives thread, process;
	uint64_t now;
};

void unwinders_release(struct unwinders *us);
/* One more record with a nonce: its number, from 1 on. */
uint64_t unwinders_tick(struct unwinders *us);
/* The thread logged a stack now. process 0: not known. */
void unwinders_logged(struct unwinders *us, uint32_t thread, uint32_t process);
/* Of the thread and its process; zeros when neither ever logged one. */
struct unwinder_life unwinders_life(const struct unwinders *us, uint32_t thread,
				    uint32_t process);
#endif
