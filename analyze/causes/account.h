/* account.h - how long a thread was in each state, and how often, within a
 * period: sums over the pieces of proof.h. Only proved pieces count for their
 * state; all others count as unknown. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analyze/causes/proof.h"

/* The period and the CPUs that count. A run counts for its CPU, ready time for
 * the CPU that the thread runs on next, blocked time for the last one. */
struct account_ask {
	int64_t from, to; /* ns; pieces are cut there; records at exactly these
			   * times count */
	bool (*takes_cpu)(const void *arg, int32_t cpu); /* NULL: all */
	const void *arg;				 /* for takes_cpu() */
};

struct account {
	uint64_t run, ready, blocked, unknown; /* ns */
	uint64_t throttled, held; /* runnable, but kept off the CPU: proof.h */
	uint64_t off; /* blocked or ready: without recorded wake-ups it is not
		       * known which */
	uint64_t ready_if;  /* part of `ready` that rests on a premise */
	uint64_t preempted; /* part of `ready` that began when the thread left a
			     * CPU runnable */
	uint64_t runs;	    /* recorded switches to the thread */
	uint64_t delays;    /* number of times that the thread was ready */
	uint64_t woken;	    /* recorded wake-ups of the thread */
	uint64_t moves; /* runs on another CPU than the previous run; the true
			 * number is higher if switches are lost */
	int64_t longest_from, longest_to; /* longest time that the thread was
					   * ready; 0, 0: never */
	int32_t longest_cpu;	 /* CPU on which it ran after that; -1: none */
	unsigned int longest_if; /* premises of that time: enum
				  * limits_premise */
};

/* account_thread() calls it for each piece that counts as blocked; ns: the
 * length that counts. */
typedef void account_blocked_fn(void *arg, const struct proof_piece *pc,
				uint64_t ns);
void account_thread(struct account *a, struct proofs *p,
		    const struct timeline *t, uint32_t thread,
		    const struct account_ask *ask, account_blocked_fn *fn,
		    void *arg);
/* Returns the sum of all states in ns; the time before the thread's birth and
 * after its end is in none of them. */
uint64_t account_time(const struct account *a);

/* The thread that was on a CPU longest within a period. */
struct occupant {
	uint32_t thread; /* TIMELINE_NONE: the CPU was idle */
	uint64_t ns;
};
/* Finds the thread that was on the CPU longest between two times. Returns false
 * if no thread, nor the idle task, is known to have been there. */
bool account_occupant(const struct timeline *t, int32_t cpu, int64_t from,
		      int64_t to, struct occupant *o);
