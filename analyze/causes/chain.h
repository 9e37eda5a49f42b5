/* chain.h - what a thread did or waited for between two times: each piece of
 * that time is put down to one thread, timer or device.
 *
 * chain(T, t) is T itself where T runs, is ready, dead, or unknown at t;
 * chain(W, t) where T is blocked at t and W ended that wait; the chain of T's
 * parent where T is not born; and T with the name of an interrupt, or "signal",
 * if that ended the wait. So only what W did while T waited counts. The
 * segments cover the requested time without holes. The proof of each is the
 * weakest of the states and wake-ups on its path. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/causes/proof.h"

#define CHAIN_MOST 256 /* edges on a path; deeper threads are not followed */

enum chain_state {
	CHAIN_RUN,
	CHAIN_READY,
	CHAIN_THROTTLED,
	CHAIN_HELD,
	CHAIN_BLOCKED, /* the waker is not known, or not followed */
	CHAIN_TIMER,
	CHAIN_HARDIRQ,
	CHAIN_SOFTIRQ,
	CHAIN_DISK,
	CHAIN_IDLE,   /* woken by an idle CPU: a device, or another CPU */
	CHAIN_SIGNAL, /* a signal woke it, which is not what it waited for */
	CHAIN_OFF,
	CHAIN_UNBORN,
	CHAIN_DEAD,
	CHAIN_UNKNOWN,
	CHAIN_STATES
};

struct chain_segment {
	int64_t from, to;
	int64_t out; /* event of the switch out that began the wait; 0: none */
	uint32_t thread; /* thread that this time is put down to */
	int32_t cpu;	 /* -1: none */
	uint32_t path;	 /* index in chain.path[] of its first edge */
	uint32_t depth;	 /* number of edges */
	enum chain_state state;
	enum proof proof;
	bool open; /* as in struct proof_piece */
};

struct chain {
	struct chain_segment *segment;
	size_t n, cap;
	uint32_t *path; /* edges of all segments; each path begins at the thread
			 * asked about */
	size_t n_path, cap_path;
};

struct chain_ask {
	uint32_t thread;
	int64_t from, to;
	uint32_t depth; /* maximum number of edges on a path; 0: no limit but
			 * CHAIN_MOST */
};

/* Appends the segments of a thread's chain to c, in time order. */
void chain_walk(struct chain *c, struct proofs *p, const struct timeline *t,
		const struct chain_ask *ask);
void chain_release(struct chain *c);
/* Empties the chain for another walk, but keeps its memory. */
void chain_clear(struct chain *c);
/* Returns the numbers of all edges of a chain, ascending, each once; the caller
 * frees them. */
uint32_t *chain_edges(const struct chain *c, size_t *n);
/* Returns the thread's own state in a piece. */
enum chain_state chain_own(const struct proof_piece *pc);
/* Returns what ended a wait: CHAIN_IDLE or an interrupt, or CHAIN_STATES if it
 * was thread e->waker. */
enum chain_state chain_leaf(const struct proof_edge *e);
/* Returns the state as a word: "run", "timer", "softirq", ... */
const char *chain_state_word(enum chain_state s);
/* Returns the tid of the thread that was on the segment's CPU when the segment
 * began; 0: the CPU was idle, -1: not known. */
int32_t chain_on_cpu(const struct timeline *t, const struct chain_segment *s);
/* Returns what the readings (limits.h) say about the runnable time that
 * contains a segment. */
struct limits_answer chain_held(struct proofs *p,
				const struct chain_segment *s);
/* Returns the premises of "ready" in a chain: a sum of enum limits_premise. */
unsigned int chain_ready_if(const struct chain *c, struct proofs *p,
			    const struct timeline *t);
/* Returns the text about a segment that is READY, THROTTLED or HELD, with its
 * premise, such as "is ready if no quota held it"; the caller frees it. Names
 * of cgroups are as recorded. */
char *chain_held_words(struct proofs *p, const struct timeline *t,
		       const struct chain_segment *s);
