/* unwinders.h - when processes that unwind themselves logged stacks.
 *
 * Such a process answers a request (a nonce) by logging its own stack. What it
 * logged before and after an unanswered request tells the reason. Times are
 * counts of nonces and stacks, so that captures without times work as well. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct cookies;

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
/* The thread logged a stack now. process 0: unknown. */
void unwinders_logged(struct unwinders *us, uint32_t thread, uint32_t process);
/* Returns when the thread or its process logged stacks; zeros: never. */
struct unwinder_life unwinders_life(const struct unwinders *us, uint32_t thread,
				    uint32_t process);
/* Marks the requests that hit a thread while it unwound itself for that of
 * entry i: they are later, and it is answering entry i. recent: the newest
 * entries of its line, JOIN_RECENT. queued: the last of the unresolved ones, of
 * all threads, where the others are: the newest 256 are looked at. */
void unwinders_mark_inside(struct cookies *cs, const uint32_t *recent,
			   uint32_t queued, uint32_t i);
