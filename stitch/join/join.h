/* join.h - joins deferred chains to samples, and finds out why one is missing.
 *
 * See backstitch-formats(5), "Deferred stacks: join rules" and "Failure modes".
 * Parts: cookies.h (what is known about each cookie), missing_reason.h (why a
 * half is missing), sessions.h (captures of one kernel, and their threads).
 *
 * The key is (cookie, tid) within the captures of one kernel. The nonces of
 * processes that unwind themselves (unwinders.h) are cookies of a separate
 * kind. A thread has one open cookie; a new one closes it. The last few cookies
 * of a thread are kept, because samples may follow their chain. A closed cookie
 * with a missing half waits for that half or the end of the capture, or until
 * too many wait, because a loss is recorded after it happened. A request is
 * output once, when its verdict and what perf would show are both known. The
 * work for a record is O(1). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/table.h"
#include "stitch/fact.h"
#include "stitch/join/contradictions.h"
#include "stitch/join/join_data.h"
#include "stitch/tasks/join_task.h"

struct fact_queue;
struct frames;
struct join;
struct losses;
struct session;
struct source_info;

/* fr has the addresses of chains; NULL: only chains with equal ids are
 * equal. */
struct join *join_new(struct fact_queue *out, struct losses *ls,
		      const struct frames *fr);
void join_free(struct join *jn);
/* Calls fn with each contradiction among cookies. */
void join_found(struct join *jn, join_found_fn *fn, void *arg);
/* Returns the session of a source. The caller may set `filtered` (a filter
 * removed samples) and add to n_chains (kernel chains that the join does not
 * get). */
struct session *join_session(struct join *jn, uint16_t source);
/* Like stitch_together(). */
void join_together(struct join *jn, uint16_t source, uint16_t first);
/* Call it before the first record of a source. */
void join_source(struct join *jn, uint16_t source,
		 const struct source_info *info);

/* Returns the state that all captures of the line share for a thread. view is
 * the capture's own, row is the thread's row id. Valid until the next call. */
struct join_task *join_task_of(struct join *jn, uint16_t source, uint32_t row,
			       struct join_task *view);

/* Takes a sample that requests a user stack. The request is output as a fact
 * when it is settled, mostly later. */
void join_sample(struct join *jn, struct join_task *task,
		 const struct join_sample *s);
/* Returns false if another capture recorded the chain before, so that its id is
 * not used. */
bool join_chain(struct join *jn, struct join_task *task,
		const struct join_chain *c);
/* Take a sample with a marker but no cookie, and a sample whose user stack the
 * kernel took at once. */
void join_mark(struct join *jn, struct join_task *task,
	       const struct join_sample *s);
void join_refused(struct join *jn, const struct join_sample *s);
/* Takes a sample that waits for no stack: perf outputs it at once. Events must
 * come in the order of their ids. */
void join_other(struct join *jn, uint16_t source, uint32_t event);
/* Takes the removal of a thread. end: the time of its end; TIME_NONE: unknown.
 * task: the capture's own state. */
void join_retire(struct join *jn, struct join_task *task, enum join_reason why,
		 int64_t end);
/* Sets the time of the source's last record; TIME_NONE: it has no times. Call
 * it before the threads that still live are retired. */
void join_last(struct join *jn, uint16_t source, int64_t time);
/* Outputs everything that still waits. */
void join_end(struct join *jn);

/* perf 7.2 joins by the next chain of a thread id (backstitch-formats(5),
 * "Deferred stacks: how perf joins"): it holds a sample with a cookie until any
 * chain of the same tid comes, and outputs it with that chain if the cookies
 * are equal, else without. It does not distinguish the incarnations of a tid,
 * nor the tasks with tid -1. It also holds a sample that follows its own chain.
 *
 * Call order: join_add_request() for a sample; pending_requests_chain() for
 * each chain and pending_requests_decided() for each verdict, in any order; the
 * later of the two outputs the fact. join_end() outputs what perf still holds.
 * The work for a sample is O(1), however many are held. Pointers are valid
 * until the next join_add_request(). */

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
	uint32_t oldest, newest; /* first and last of the requests with a
				  * verdict that perf still holds; 0: none */
	struct table by_tid;	 /* the first held request of each tid */
	/* By source: the largest event id that perf has output, including
	 * samples that it outputs at once. The caller makes it large enough for
	 * each source. */
	uint32_t *given;
	size_t n_given, cap_given;
};
