/* account.h - how long a thread was in which state, and how often, within a
 * time: sums over what proof.h says about it. Only what is proved counts as a
 * state; all else is unknown. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analyze/causes/proof.h"

/* A thread runs on the CPU that it is on, is ready for the one that it comes
 * to, and is blocked on the one that it left. */
struct account_ask {
	int64_t from, to; /* pieces are cut there; records at both count */
	bool (*takes_cpu)(const void *arg, int32_t cpu); /* NULL: all */
	const void *arg;				 /* for takes_cpu() */
};

struct account {
	uint64_t run, ready, blocked, unknown; /* ns */
	uint64_t throttled, held; /* runnable, but not ready: proof.h */
	uint64_t off;	    /* blocked or ready: wake-ups were not recorded */
	uint64_t ready_if;  /* the part of ready that has a premise */
	uint64_t preempted; /* the part of ready that began with leaving a CPU
			     * runnable */
	uint64_t runs;	    /* recorded switches to it */
	uint64_t delays;    /* how often it was ready */
	uint64_t woken;	    /* recorded wake-ups of it */
	uint64_t moves; /* runs on another CPU than the last; more if switches
			 * are lost */
	int64_t longest_from, longest_to; /* that it was ready; 0, 0: never */
	int32_t longest_cpu;		  /* to which it came then; -1: none */
	unsigned int longest_if;	  /* its premises: limits.h */
};

/* Called for each piece that counts as blocked, and its ns. */
typedef void account_blocked_fn(void *arg, const struct proof_piece *pc,
				uint64_t ns);
void account_thread(struct account *a, struct proofs *p,
		    const struct timeline *t, uint32_t thread,
		    const struct account_ask *ask, account_blocked_fn *fn,
		    void *arg);
/* Returns the sum of what a thread did; the time before its birth and after
 * its end is in none. */
uint64_t account_time(const struct account *a);

/* Who was on a CPU for most of a time. */
struct occupant {
	uint32_t thread; /* TIMELINE_NONE: it was idle */
	uint64_t ns;
};
/* Returns whether anybody is known to have been on the CPU. */
bool account_occupant(const struct timeline *t, int32_t cpu, int64_t from,
		      int64_t to, struct occupant *o);
