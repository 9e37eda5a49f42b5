/* idle.h - which waits may be those of a server without work.
 *
 * A server that waits for a client that sleeps has the same records as a thread
 * that waits for a lock whose owner sleeps, or for an answer of one that does.
 * So a wait is idle if it may be either: the chain tells when it cannot be.
 *
 * A wait in the state I is idle: the kernel says so of its own threads. One is
 * not idle if it is for a CPU, in another state than S (D: for a disk, or a
 * lock of the kernel), or if what ended it is not known. Else:
 *
 * - One that an interrupt or a timer ended is idle: nothing was waited for.
 * - One that thread W ended, whom the waiter woke before (it asked, or gave an
 *   answer; the records are the same), is idle if W slept for most of it: W's
 *   own waits were idle, too.
 * - One that another thread ended is not idle if somebody asked the waiter
 *   before, and still waits for it: then it has work, and W has what it needs.
 *   If no thread does, it is idle if W was blocked for most of it, or waits for
 *   the waiter next: then that was work that came.
 *
 * It is a rank, and no proof. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idle {
	struct proofs *p;
	const struct timeline *t;
	uint64_t budget; /* pieces that may still be looked at */
};

/* Pieces that are looked at for all waits of a capture: a second, or so. What
 * is asked after that is not idle. */
#define IDLE_BUDGET 50000000u

/* Returns whether the wait of a thread that begins with piece `first` may be
 * that of a server without work. */
bool idle_wait(struct idle *s, uint32_t thread, size_t first);
