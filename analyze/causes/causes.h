/* causes.h - reads a database's scheduler records into a timeline, from which
 * proofs and chains are made.
 *
 * The events of one kernel are read once, in time order. Memory grows with the
 * number of switches and wake-ups, by about 16 bytes each, and with the pieces
 * and edges that are asked for (proof.h), by about 70 bytes for each wait. */
#pragma once
#include <stdbool.h>

#include "analyze/causes/proof.h"
#include "analyze/causes/timeline.h"
#include "analyze/causes/offcpu.h"
#include "analyze/samples/events.h"
#include "analyze/samples/recorder.h"
#include "analyze/causes/causes_types.h"
#include "stitch/base/mem.h"

struct wait_causes;

/* A switch as one event reports it: sched_switch names the thread that leaves
 * and the one that comes, a PERF_RECORD_SWITCH only one of them. */
struct causes_switch {
	const struct causes_capture *capture;
	int64_t event, time;
	int32_t cpu; /* -1: not known */
	bool has_out, has_in;
	/* tid that leaves, -1 if that thread is dying; tid that comes */
	int64_t out, in;
	int64_t state; /* of the thread that leaves; -1: not known */
	/* the stack of a switch record is that of the sample before it */
	struct offcpu_stack stack;
	uint32_t number; /* index of the stack in causes.stack */
};

/* Why records may be missing at all times, and how to record more. */
struct causes_partial {
	const char *why;  /* NULL: all CPUs were recorded */
	const char *cure; /* NULL: no advice is known */
};

struct causes {
	struct timeline *t;	    /* NULL: no `w`, only switches are read */
	struct causes_spans *spans; /* owned; NULL: the caller owns them */
	const struct causes_kernel *kernel;
	const struct causes_span *span; /* span being read; NULL: none yet */
	struct causes_types types;
	struct event_rows events;
	struct store *db;
	struct wait_causes *words; /* NULL: only switches are read */
	struct row_cursor record;  /* cursor over switch records */
	int32_t *tid;		   /* by thread.id; -1: not of this kernel */
	size_t n_tid, cap_tid;
	struct causes_pending *pending; /* by thread.id; NULL: there are no
					 * switch records yet */
	struct causes_names *names;
	struct thread_names *told; /* names of the timeline's threads */
	struct table recorded;	   /* tids of all rows of table thread */
	/* by causes_switch.number, which the timeline's stacks have too */
	struct offcpu_stack *stack;
	size_t n_stack, cap_stack;
	/* by stack: whether a thread went to sleep there; [1]: uninterruptibly,
	 * as for a disk */
	bool (*slept)[2];
	size_t n_slept, cap_slept;
	struct intern stack_index;
	struct arena text;
	struct wake_contexts *contexts;
	struct limits *limits;
	struct causes_partial partial;
	char *silent;	/* names of silent tasks (timeline.h), "swapper/1 and
			 * NAME"; NULL: there are none */
	char *premise;	/* premise about the silent tasks; NULL: none */
	bool other_ids; /* tids of switch records have a namespace */
};

/* Reads all events of the kernel with the most context switches. w: interprets
 * the stacks of wake-ups; borrowed for the call. Returns NULL and *err on
 * failure, also if the database has no context switches. */
struct causes *causes_load(struct store *db, const char *path,
			   struct wait_causes *w, struct err *err);
/* Opens a kernel for causes_next(). k and w are borrowed. If w is NULL, no
 * timeline is made, and only causes_next() may be called. Returns NULL and *err
 * on failure. */
struct causes *causes_open(struct store *db, const struct causes_kernel *k,
			   struct wait_causes *w, struct err *err);
/* Returns 1 and the next switch; 0 at the end, when the timeline is complete;
 * -1 and *err. */
int causes_next(struct causes *c, struct causes_switch *out, struct err *err);
void causes_free(struct causes *c);
/* Fills *err for a database without context switches, and returns -1. lack:
 * what the advice is about; path: for the message. */
int causes_missing(const struct causes_spans *s, struct store *db,
		   const char *path, enum recorder_lack lack, struct err *err);
/* Returns the last name of a thread; "swapper" for 0, "" if it has none. */
const char *causes_comm(const struct causes *c, int64_t tid);
/* Returns a thread's last name, with its tid if another thread has that
 * name. */
const char *causes_name(const struct causes *c, int64_t tid);
/* Returns the process of a thread; -1: not known. */
int64_t causes_pid(const struct causes *c, int64_t tid);
/* Returns the timeline's number of a row of table thread; TIMELINE_NONE: it has
 * none, as a thread of another kernel, though it may have the tid of one. */
uint32_t causes_thread_number(const struct causes *c, uint32_t row);
/* Returns whether the thread is known only from switches of others, because
 * just some tasks were recorded and it was not one of them. */
bool causes_is_named_only(const struct causes *c, int64_t tid);
/* The premises of proofs by the absence of records, as text. */
struct causes_premise {
	const char *words; /* text after "proved"; NULL: there is no premise */
	/* text for proofs that a thread woke another in a softirq, if some of
	 * them have the premise SOFTIRQ_IF_NO_IRQ; NULL: none has */
	const char *cards;
	const char *none; /* why absence proves nothing; NULL: it does */
	const char *cure; /* what to record for proofs; NULL: unknown */
};
struct causes_premise causes_premise(const struct causes *c);
/* Returns the name of the interrupt that ended the edge's wait, as
 * wake_contexts_what(); NULL: it is not known, or adds nothing to
 * chain_leaf(). */
const char *causes_irq(const struct causes *c, const struct proof_edge *e);
/* Returns whether the proof that the edge's waker woke the thread has a
 * premise: SOFTIRQ_IF_NO_IRQ, or causes_premise() unless it is SOFTIRQ_SURE. */
bool causes_wake_has_premise(const struct causes *c,
			     const struct proof_edge *e);
/* Returns the stack of a switch or a wake-up, by its event; NULL: there is
 * none.
 */
const struct offcpu_stack *causes_stack(const struct causes *c, int64_t event);
