/* idle.h - finds waits that may be those of a server without work.
 *
 * A server that waits for a client that sleeps has the same records as a thread
 * that waits for a lock whose owner sleeps, or for an answer of a thread that
 * sleeps. So a wait is idle if it may be either; the chain shows when it cannot
 * be.
 *
 * A wait in the state I is idle: the kernel marks its own threads so. A wait is
 * not idle if the thread waits for a CPU, is in another state than S (D: for a
 * disk or a kernel lock), or if the cause of its end is not known. Else:
 *
 * - A wait that an interrupt, a timer or a signal ended is idle: the thread
 *   waited for no other thread.
 * - A wait that thread W ended, after the waiter had woken W (to ask or to
 *   answer: the records are the same), is idle if W was in idle waits for most
 *   of it.
 * - A wait that another thread W ended is not idle if a third thread asked the
 *   waiter before, and still waits for it: then the waiter has work and needs W
 *   for it. If no thread does, the wait is idle if W was blocked for most of
 *   it, or waits for the waiter next: then W brought new work.
 *
 * The result ranks waits, it proves nothing. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idle {
	struct proofs *p;
	const struct timeline *t;
	uint64_t budget; /* pieces that may still be visited */
};

/* Pieces that are visited for all waits of a capture: about a second. Once the
 * budget is used up, further waits are not idle. */
#define IDLE_BUDGET 50000000u

/* Returns whether the wait of a thread that begins with piece `first` may be
 * that of a server without work. */
bool idle_wait(struct idle *s, uint32_t thread, size_t first);
