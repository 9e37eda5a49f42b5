/* pending_requests.h - samples with a cookie, until two things are known of
 * each: what became of its request, and what others would have shown for it.
 *
 * Others are perf 7.2 and the rule it stands on, that the next chain of a
 * thread id is the one (backstitch-formats(5), "Deferred stacks: how perf
 * joins"): perf holds every sample that has a
 * cookie until any chain of the same tid comes, and gives it out with that
 * chain if the cookies are equal, else without. Lives of a tid are one to it,
 * and so are all tasks with tid -1. A sample after its own chain is held too.
 *
 * Call order: waits_add for a sample; then waits_chain for each chain and
 * waits_decided for each verdict, in any order; the fact goes out with the
 * second. waits_end after the last verdict. Work is O(1) for each sample,
 * however many are held. Pointers hold until the next waits_add(). */
#ifndef STITCH_JOIN_PENDING_REQUESTS_H
#define STITCH_JOIN_PENDING_REQUESTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/fact.h"
#include "stitch/base/table.h"

struct facts;
struct join_chain;

struct wait {
	struct fact_request r;
	int64_t time;
	uint32_t execs; /* join_task.execs when it came */
	int32_t tid;
	uint16_t source;
	bool alone;   /* perf would not have it at all */
	bool held;    /* by perf's rule */
	bool decided; /* the verdict is known */
	/* Without a verdict next is the next one of its cookie; after that
	 * both are the neighbours in the order of the verdicts. 0: none. */
	uint32_t next, prev;
	uint32_t left, right; /* held: the ring of its tid */
};

struct waits {
	struct facts *out;
	struct wait *wait; /* [0] is not used */
	size_t n, cap, used;
	uint32_t free;
	uint32_t oldest, newest; /* decided and still held; 0: none */
	struct table by_tid;	 /* the first that is held */
	uint32_t *given;	 /* by source: largest event id given out */
	size_t n_given, cap_given;
};

void waits_init(struct waits *ws, struct facts *out);
void waits_release(struct waits *ws);
/* Before the first sample of a source. */
void waits_source(struct waits *ws, uint16_t source);

uint32_t waits_add(struct waits *ws, const struct wait *w);
void waits_decided(struct waits *ws, uint32_t i);
void waits_chain(struct waits *ws, const struct join_chain *c);
/* A sample that perf gives out at once. */
void waits_other(struct waits *ws, uint16_t source, uint32_t event);
/* No chain follows: perf gives out the rest. */
void waits_end(struct waits *ws);

/* There are too many: not even a capture made to hurt fills the memory. */
bool waits_full(const struct waits *ws);
/* Gives out the oldest verdicts, with what others show not known, until there
 * is room; false when there is none. */
bool waits_make_room(struct waits *ws);
#endif
