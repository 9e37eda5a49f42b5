/* pending_requests.h - requests that wait for their verdict, and for what perf
 * would show.
 *
 * perf 7.2 joins by the next chain of a thread id (backstitch-formats(5),
 * "Deferred stacks: how perf joins"): it holds a sample with a cookie until any
 * chain of the same tid comes, and outputs it with that chain if the cookies
 * are equal, else without. It does not distinguish the incarnations of a tid,
 * nor the tasks with tid -1. It also holds a sample that follows its own chain.
 *
 * Call order: pending_requests_new() for a sample; pending_requests_chain() for
 * each chain and pending_requests_decided() for each verdict, in any order; the
 * later of the two outputs the fact. pending_requests_end() after the last
 * verdict. The work for a sample is O(1), however many are held. Pointers are
 * valid until the next pending_requests_new(). */
#pragma once
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
	uint32_t execs; /* join_task.execs at the time of the sample */
	int32_t tid;
	uint16_t source;
	bool held;    /* perf still holds the sample */
	bool decided; /* the verdict is known */
	/* Without a verdict, next links the requests of a cookie. With a
	 * verdict, both link the requests in the order of their verdicts. 0:
	 * none. */
	uint32_t next, prev;
	uint32_t left, right; /* if held: the ring of its tid */
};

struct pending_requests {
	struct fact_queue *out;
	struct pending_request *wait; /* [0] is unused */
	size_t n, cap, used;
	uint32_t free;
	uint32_t oldest, newest; /* list of requests with a verdict that are
				  * still held; 0: none */
	struct table by_tid;	 /* the first held request of each tid */
	/* By source: the largest event id that perf has output, of samples that
	 * it outputs at once too. The caller has it reach each source. */
	uint32_t *given;
	size_t n_given, cap_given;
};

void pending_requests_init(struct pending_requests *ws, struct fact_queue *out);
void pending_requests_release(struct pending_requests *ws);

/* Returns the number of a request whose content the caller writes. Nothing is
 * copied: a processor waits if it reads in wide pieces what it has just written
 * in narrow ones (measured: 3 % of an ingest with many requests). */
uint32_t pending_requests_new(struct pending_requests *ws);
/* Returns the ns between two times; TIME_NONE: one is unknown. */
int64_t pending_span(int64_t from, int64_t to);
/* perf knows this request, which has its source and tid, and holds its
 * sample. */
void pending_requests_hold(struct pending_requests *ws, uint32_t i);
void pending_requests_decided(struct pending_requests *ws, uint32_t i);
void pending_requests_chain(struct pending_requests *ws,
			    const struct join_chain *c);
/* No chain follows: perf outputs the remaining samples. */
void pending_requests_end(struct pending_requests *ws);

/* Returns true if there are too many requests, which bounds the memory for
 * hostile captures. */
bool pending_requests_full(const struct pending_requests *ws);
/* Outputs the oldest requests that have a verdict, without what perf shows,
 * until there is room. Returns false if none is left. */
bool pending_requests_make_room(struct pending_requests *ws);
