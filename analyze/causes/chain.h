/* chain.h - why a thread took from one time to another: for each piece of that
 * time the one thread, timer or device that it waited for.
 *
 * chain(T, t) is T itself where T runs, is ready, dead, or unknown at t; the
 * chain of W at t where T is blocked at t and W ended that wait; of the parent
 * where T is not born; and T with the name of an interrupt where that ended the
 * wait. So only what W did while T waited counts. The segments cover the time
 * asked for without holes, each with the least proof of the states and wake-ups
 * on its way. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/causes/proof.h"

#define CHAIN_MOST 256 /* edges on a path: who is deeper is not followed */

enum chain_state {
	CHAIN_RUN,
	CHAIN_READY,
	CHAIN_THROTTLED,
	CHAIN_HELD,
	CHAIN_BLOCKED, /* who ended the wait is not known, or not followed */
	CHAIN_TIMER,
	CHAIN_HARDIRQ,
	CHAIN_SOFTIRQ,
	CHAIN_DISK,
	CHAIN_IDLE, /* woken by an idle CPU: a device, or another CPU */
	CHAIN_OFF,
	CHAIN_UNBORN,
	CHAIN_DEAD,
	CHAIN_UNKNOWN,
	CHAIN_STATES
};

struct chain_segment {
	int64_t from, to;
	int64_t out;	 /* event of the switch out of the wait; 0: none */
	uint32_t thread; /* whom it is put down to */
	int32_t cpu;	 /* -1: none */
	uint32_t path;	 /* edges on the way: chain.path[] from here on */
	uint32_t depth;	 /* and how many */
	enum chain_state state;
	enum proof proof;
	bool open; /* as in struct proof_piece */
};

struct chain {
	struct chain_segment *segment;
	size_t n, cap;
	uint32_t *path; /* numbers of edges, the first is of the asker */
	size_t n_path, cap_path;
};

struct chain_ask {
	uint32_t thread;
	int64_t from, to;
	uint32_t depth; /* most edges on a path; 0: as many as there are */
};

/* Adds the chain of a thread. Segments of one walk are in time order. */
void chain_walk(struct chain *c, struct proofs *p, const struct timeline *t,
		const struct chain_ask *ask);
void chain_release(struct chain *c);
/* Empties it for another walk, and keeps its room. */
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
/* Returns the tid of who had the segment's CPU when it began; 0: no thread, -1:
 * not known. */
int32_t chain_on_cpu(const struct timeline *t, const struct chain_segment *s);
/* Returns what the readings say about the time in which a thread was runnable,
 * of which a segment is a part. */
struct limits_answer chain_held(struct proofs *p,
				const struct chain_segment *s);
/* Returns what "ready" rests on in a chain: a sum of enum limits_premise. */
unsigned int chain_ready_if(const struct chain *c, struct proofs *p,
			    const struct timeline *t);
/* Returns what a page and a screen say about a segment that is READY, THROTTLED
 * or HELD, with its premise, as "is ready if no quota held it"; the caller
 * frees it. Names of cgroups are as recorded. */
char *chain_held_words(struct proofs *p, const struct timeline *t,
		       const struct chain_segment *s);
