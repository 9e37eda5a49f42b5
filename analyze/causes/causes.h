/* causes.h - the records of the scheduler of a database, as a timeline that
 * proofs and chains are made of.
 *
 * The events of one kernel are read once, in time order. Memory grows with the
 * number of switches and wake-ups, by about 16 bytes each, and of the pieces
 * and edges that are asked for (proof.h), by about 70 for each wait. */
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

/* A switch, as an event tells it: of sched_switch one thread leaves and one
 * comes, of a record of switches one of both. */
struct causes_switch {
	const struct causes_capture *capture;
	int64_t event, time;
	int32_t cpu; /* -1: not known */
	bool has_out, has_in;
	/* tid that leaves, -1 if it is dying; that comes */
	int64_t out, in;
	int64_t state; /* of the thread that leaves; -1: not known */
	/* that of a record is the one of the sample in front of it */
	struct offcpu_stack stack;
	uint32_t number; /* of the stack, in causes.stack */
};

/* Why records may be missing at all times, and what to record to know more. */
struct causes_partial {
	const char *why;  /* NULL: all CPUs were recorded */
	const char *cure; /* NULL: nothing is known to help */
};

struct causes {
	struct timeline *t;	    /* NULL: not asked why */
	struct causes_spans *spans; /* NULL: they are the caller's */
	const struct causes_kernel *kernel;
	const struct causes_span *span; /* that is read; NULL: none yet */
	struct causes_types types;
	struct event_rows events;
	struct store *db;
	struct wait_causes *words; /* NULL: switches are all that is read */
	struct row_cursor record;  /* of switches */
	int32_t *tid;		   /* by thread.id */
	size_t n_tid, cap_tid;
	struct causes_pending *pending; /* likewise; NULL: none are read */
	struct causes_names *names;
	struct thread_names *told; /* of the timeline's threads */
	struct table recorded;	   /* tids that have records of their own */
	/* by the numbers of causes_switch and of the timeline */
	struct offcpu_stack *stack;
	size_t n_stack, cap_stack;
	/* by stack: a thread went to sleep there; [1]: as for a disk */
	bool (*slept)[2];
	size_t n_slept, cap_slept;
	struct intern stack_index;
	struct arena text;
	struct wake_contexts *contexts;
	struct limits *limits;
	struct causes_partial partial;
	char *silent;	/* names of silent tasks, "swapper/1 and NAME"; NULL:
			 * there are none */
	char *premise;	/* about them */
	bool other_ids; /* records of switches have those of a pid namespace */
};

/* Reads all of the kernel with the most context switches. w: for what the
 * stacks of wake-ups tell; borrowed for the call. Returns NULL and *err, also
 * if the database has no context switches. */
struct causes *causes_load(struct store *db, const char *path,
			   struct wait_causes *w, struct err *err);
/* Opens a kernel, to be read by causes_next(); k is borrowed. w: borrowed, NULL
 * if it is not asked why: then nothing is kept, and only causes_next() may be
 * called. */
struct causes *causes_open(struct store *db, const struct causes_kernel *k,
			   struct wait_causes *w, struct err *err);
/* Returns 1 and the next switch; 0 at the end: now all is read; -1 and *err. */
int causes_next(struct causes *c, struct causes_switch *out, struct err *err);
void causes_free(struct causes *c);
/* Fails: nothing reports context switches. lack: of what the advice is; path
 * is for the message. */
int causes_missing(const struct causes_spans *s, struct store *db,
		   const char *path, enum recorder_lack lack, struct err *err);
/* Returns the last name of a thread; "swapper" for 0, "" if it has none. */
const char *causes_comm(const struct causes *c, int64_t tid);
/* The same, with its tid if another thread has that name too. */
const char *causes_name(const struct causes *c, int64_t tid);
/* Returns the process of a thread; -1: not known. */
int64_t causes_pid(const struct causes *c, int64_t tid);
/* Returns whether only some tasks were recorded, this one not: only switches of
 * others name it. */
bool causes_is_named_only(const struct causes *c, int64_t tid);
/* What proofs by the absence of records rest on. */
struct causes_premise {
	const char *words; /* after "proved"; NULL: nothing */
	/* the same of proofs that a thread woke in a softirq, of which some
	 * have SOFTIRQ_IF_NO_IRQ; NULL: none has */
	const char *cards;
	const char *none; /* why there are no such proofs; NULL: there are */
	const char *cure; /* what to record for them; NULL: not known */
};
struct causes_premise causes_premise(const struct causes *c);
/* The same if it is more than what chain_leaf() says. */
const char *causes_irq(const struct causes *c, const struct proof_edge *e);
/* Returns whether it is proved on a premise at most who woke: on that, or on
 * causes_premise(), unless a record tells it. */
bool causes_wake_has_premise(const struct causes *c,
			     const struct proof_edge *e);
/* Returns the stack of a switch or a wake-up, by its event; NULL: there is
 * none.
 */
const struct offcpu_stack *causes_stack(const struct causes *c, int64_t event);
