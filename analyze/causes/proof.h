/* proof.h - the states of a thread, each with what the records prove of it.
 *
 * Three levels. Proved: true whatever the lost records were, as far as their
 * numbers allow. Likely: what a reader of the records would say, whom none of
 * them contradicts, but a loss could hide another truth. Unknown: several
 * truths fit, or a loss could hold a whole wait. All of it assumes that a
 * record of an event that was on is in the capture or in a loss; where the
 * capture itself shows that this is not so, timeline.h has silent losses.
 *
 * Pieces of a thread are made when they are first asked for, and kept in half
 * of the memory that they have outside: all of millions of events may be kept
 * at once. What is proved of the time between two stays:
 *
 * A loss can hide a run of the thread if two or more records are missing, or if
 * the thread is current right before or after it. Where no such loss is, the
 * thread was off all CPUs, and at most one wake-up came. If it is recorded, the
 * thread slept before it and was ready after it. If not, the thread slept
 * until the first loss and was ready from the last one, or from sched_wakeup.
 * To run unseen, a sleeping thread needs four records: waking, wakeup, switch
 * in, switch out. If fewer are lost in all, it did not.
 *
 * A wake-up may come when a thread is on its way to sleep but has not left the
 * CPU (a race): sched_waking is before the switch out, sched_wakeup after it,
 * and the thread is ready, not blocked. Where that is possible, nothing about
 * the sleep is proved by absence. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/causes/limits.h"
#include "analyze/causes/timeline.h"

struct proofs;

enum proof {
	PROOF_UNKNOWN,
	PROOF_LIKELY,
	PROOF_PROVED,
	PROOFS
};

enum piece_state {
	PIECE_RUN,
	PIECE_READY,	 /* runnable, and these two: proof_quiet.c */
	PIECE_THROTTLED, /* its cgroup had no time left */
	PIECE_HELD,	 /* not run, though a CPU was idle: why not is not
			  * known, or its cgroup was frozen */
	PIECE_BLOCKED,
	PIECE_OFF, /* blocked or ready: wake-ups were not recorded */
	PIECE_UNBORN,
	PIECE_DEAD,
	PIECE_UNKNOWN,
	PIECE_STATES
};

enum edge_kind {
	EDGE_WAKE,
	EDGE_FORK,
	EDGE_DEDUCED, /* no wake-up is recorded, but who was current tells */
};

/* Who ended a wait. */
struct proof_edge {
	int64_t time;
	int64_t from, to; /* it was at `time` or, if deduced, in between */
	int64_t event;	  /* of the wake-up, for the waker's stack; 0: none */
	uint32_t waiter;  /* thread */
	uint32_t stack;	  /* number of the waker's, as the caller gave it */
	int32_t waker;	  /* tid */
	int32_t cpu;
	uint8_t kind;	 /* enum edge_kind */
	uint8_t context; /* enum timeline_context */
	uint8_t proof;	 /* enum proof: that this thread, in this context, woke
			  * it */
};

struct proof_piece {
	int64_t from, to;
	int64_t out;   /* event of the switch out that began it; 0: none */
	uint32_t edge; /* who ended it: proofs_edge(); TIMELINE_NONE: no thread
			*/
	int32_t cpu;   /* RUN: on; runnable: that it came to; else -1 */
	int16_t bits;  /* task state at the switch out; -1: unknown */
	uint8_t state; /* enum piece_state */
	uint8_t proof; /* enum proof, of the state */
	uint8_t link;  /* enum proof: that this edge ended it */
	bool open;     /* losses in it may hide more: timeline_next_loss_in() */
	bool came;     /* it begins with a switch to the thread, of whose run
			* no record tells the length: no wait begins there */
};

static inline bool piece_is_runnable(const struct proof_piece *pc)
{
	return pc->state == PIECE_READY || pc->state == PIECE_THROTTLED ||
	       pc->state == PIECE_HELD;
}

/* t: borrowed. */
struct proofs *proofs_new(const struct timeline *t);
void proofs_free(struct proofs *p);
/* Returns how many pieces a thread has, which cover all times from
 * TIMELINE_START to TIMELINE_END. */
size_t proofs_pieces(struct proofs *p, uint32_t thread);
/* Returns piece i of a thread that was asked for. */
struct proof_piece proofs_piece(const struct proofs *p, uint32_t thread,
				size_t i);
/* Returns the first piece that ends after a time. */
size_t proofs_find(struct proofs *p, uint32_t thread, int64_t time);
/* Returns what the readings say about a piece. */
struct limits_answer proofs_held(const struct proofs *p, uint32_t thread,
				 const struct proof_piece *pc);
/* Returns the end of the wait that begins with piece `first`: the next time on
 * a CPU. It may be too short for a piece, but then another switch out follows,
 * or a piece that `came`. */
size_t proofs_wait_end(const struct proofs *p, uint32_t thread, size_t first);
/* Frees the pieces and edges of all threads asked for so far, if they
 * are many. */
void proofs_forget(struct proofs *p);
/* Returns how many edges the threads asked for so far have. */
uint32_t proofs_edges(const struct proofs *p);
struct proof_edge proofs_edge(const struct proofs *p, uint32_t i);
/* Return "proved", "likely" or "unknown"; the second one as release 1.0 had
 * them in JSON and SQL, "consistent". */
const char *proof_word(enum proof proof);
const char *proof_key(enum proof proof);
/* The same, or "proved with premise". */
const char *proof_key_of(enum proof proof, bool premise);
