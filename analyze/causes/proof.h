/* proof.h - the states of a thread, each with the proof that the records give.
 *
 * Three levels. Proved: true whatever the lost records were, as far as their
 * numbers allow. Likely: the plain reading of the records, which none of them
 * contradicts, but a loss could hide another truth. Unknown: several truths
 * fit, or a loss could contain a whole wait. All levels assume that each record
 * of an enabled event is in the capture or in a loss; where the capture itself
 * shows that one is not, timeline.h has silent losses.
 *
 * The pieces of a thread are made when first requested, and kept packed, in
 * half the size of struct proof_piece: those of millions of events may be in
 * memory at once. What is proved about the time between two stays:
 *
 * A loss can hide a run of the thread if two or more records are missing, or if
 * the thread is current right before or after it. Without such a loss, the
 * thread was off all CPUs, and at most one wake-up came. If that wake-up is
 * recorded, the thread slept before it and was ready after it. If not, the
 * thread slept until the first loss and was ready from the last loss, or from
 * sched_wakeup. To run unseen, a sleeping thread needs four records: waking,
 * wakeup, switch in, switch out. If fewer are lost in all, it did not run.
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
	PIECE_THROTTLED, /* its cgroup had used up its quota */
	PIECE_HELD, /* runnable, but did not run though a CPU was idle, for an
		     * unknown reason, or its cgroup was frozen */
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
	EDGE_DEDUCED, /* no wake-up is recorded, but the current thread before
		       * and after the loss shows it */
};

/* What ended a wait: the wake-up of a waiter by a waker. */
struct proof_edge {
	int64_t time;
	int64_t from, to; /* the wake-up was at `time` or, if deduced, between
			   * these */
	int64_t event;	  /* event of the wake-up; 0: none */
	uint32_t waiter;  /* thread */
	uint32_t stack;	  /* number of the waker's stack, as in the timeline's
			   * record */
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
	uint32_t edge; /* what ended it, for proofs_edge(); TIMELINE_NONE: no
			* edge */
	int32_t cpu;   /* RUN: the CPU; runnable: the next CPU that it ran on;
			* else -1 */
	int16_t bits;  /* task state at the switch out; -1: unknown */
	uint8_t state; /* enum piece_state */
	uint8_t proof; /* enum proof, of the state */
	uint8_t link;  /* enum proof: that this edge ended it */
	bool open;     /* losses in the piece may hide other states:
			* timeline_next_loss_in() */
	bool came;     /* it begins with a switch to the thread, whose run is of
			* unknown length: no wait begins there */
};

static inline bool piece_is_runnable(const struct proof_piece *pc)
{
	return pc->state == PIECE_READY || pc->state == PIECE_THROTTLED ||
	       pc->state == PIECE_HELD;
}

/* Returns the proofs of t, which is borrowed; proofs_free() frees them. */
struct proofs *proofs_new(const struct timeline *t);
void proofs_free(struct proofs *p);
/* Returns how many pieces a thread has, which cover all times from
 * TIMELINE_START to TIMELINE_END. */
size_t proofs_pieces(struct proofs *p, uint32_t thread);
/* Returns piece i of a thread whose pieces proofs_pieces() has made. */
struct proof_piece proofs_piece(const struct proofs *p, uint32_t thread,
				size_t i);
/* Returns the index of the thread's first piece that ends after a time. */
size_t proofs_find(struct proofs *p, uint32_t thread, int64_t time);
/* Returns what the readings (limits.h) say about a piece. */
struct limits_answer proofs_held(const struct proofs *p, uint32_t thread,
				 const struct proof_piece *pc);
/* Returns the index of the piece after the wait that begins with piece `first`:
 * the next run. A run may be too short for a piece, but then a piece with
 * another switch out, or one that `came`, follows. */
size_t proofs_wait_end(const struct proofs *p, uint32_t thread, size_t first);
/* Frees the pieces and edges of all threads if they are many; proofs_pieces()
 * makes them again. */
void proofs_forget(struct proofs *p);
/* Returns the number of edges so far; proofs_edge() returns each. */
uint32_t proofs_edges(const struct proofs *p);
struct proof_edge proofs_edge(const struct proofs *p, uint32_t i);
/* Return "proved", "likely" or "unknown"; proof_key() returns "consistent" for
 * likely, as release 1.0 had it in JSON and SQL. */
const char *proof_word(enum proof proof);
const char *proof_key(enum proof proof);
/* Returns proof_key(), or "proved with premise" for a proof with one. */
const char *proof_key_of(enum proof proof, bool premise);
