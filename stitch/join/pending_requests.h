/* pending_requests.h - samples with a cookie, until two things are known of
 * each: what became of its request, and what others would have shown for it.
 *
 * Others are perf 7.2 and the rule it stands on, that the next chain of a
 * thread id is the one (formats.md C.6): perf holds every sample that has a
 * cookie until any chain of the same tid comes, and gives it out with that
 * chain if the cookies are equal, else without. Lives of a tid are one to it,
 * and so are all tasks with tid -1. A sample after its own chain is held too.
 *
 * Call order: pending_requests_add for a sample; then pending_requests_chain
 * for each chain and pending_requests_decided for each verdict, in any order;
 * the fact goes out with the second. pending_requests_end after the last
 * verdict. Work is O(1) for each sample, however many are held. Pointers hold
 * until the next pending_requests_add(). */
#ifndef STITCH_JOIN_PENDING_REQUESTS_H
#define STITCH_JOIN_PENDING_REQUESTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/fact.h"
#include "stitch/base/table.h"

struct fact_queue;
struct join_chain;

struct pending_request {
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

struct pending_requests {
	struct fact_queue *out;
	struct pending_request *wait; /* [0] is not used */
	size_t n, cap, used;
	uint32_t free;
	uint32_t oldest, newest; /* decided and still held; 0: none */
	struct table by_tid;	 /* the first that is held */
	uint32_t *given;	 /* by source: largest event id given out */
	size_t n_given, cap_given;
};

void pending_requests_init(struct pending_requests *ws, struct fact_queue *out);
void pending_requests_release(struct pending_requests *ws);
/* Before the first sample of a source. */
void pending_requests_source(struct pending_requests *ws, uint16_t source);

uint32_t pending_requests_add(struct pending_requests *ws,
			      const struct pending_request *w);
void pending_requests_decided(struct pending_requests *ws, uint32_t i);
void pending_requests_chain(struct pending_requests *ws,
			    const struct join_chain *c);
/* A sample that perf gives out at once. */
void pending_requests_other(struct pending_requests *ws, uint16_t source,
			    uint32_t event);
/* No chain follows: perf gives out the rest. */
void pending_requests_end(struct pending_requests *ws);

/* There are too many: not even a capture made to hurt fills the memory. */
bool pending_requests_full(const struct pending_requests *ws);
/* Gives out the oldest verdicts, with what others show not known, until there
 * is room; false when there is none. */
bool pending_requests_make_room(struct pending_requests *ws);
#endif
