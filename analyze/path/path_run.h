/* path_run.h - shared parts of the answers of the command path: names, chains,
 * the threads and waits that the options select, and which code threads were
 * in. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/causes/chain.h"
#include "analyze/causes/offcpu.h"
#include "analyze/causes/wait_cause.h"
#include "analyze/names/name_opts.h"
#include "stitch/base/intern.h"

struct labels;

/* Which waits, and how far their chains go. */
struct path_ask {
	int64_t tid;	  /* -1: any */
	int64_t pid;	  /* process; -1: any */
	const char *comm; /* NULL: any */
	bool timed;
	int64_t from, to; /* if timed */
	bool proved;	  /* count likely time as not known */
	bool premises;	  /* print the premises of proofs in full */
	uint32_t depth;	  /* most edges on a path; 0: all */
};

/* Sums over the chains so far. */
struct path_tally {
	uint64_t asked, proved, unknown; /* ns */
	unsigned int ready_if; /* premises of "ready" in the chains: enum
				* limits_premise */
};

struct path_run {
	struct name_opts names; /* how to name functions */
	struct store *db;
	const char *path;
	const struct path_ask *ask; /* NULL: no wait is selected, and no chain
				     * made */
	struct labels *labels;
	struct stacks *stacks;
	struct wait_causes *words;
	struct causes *causes;
	bool calls; /* path_open() also loads calls with descriptors */
	struct files *files;
	struct intern details; /* texts for path_sum.detail */
	const struct timeline *t;
	struct proofs *proofs;
	struct path_tally sum;
};

/* Loads what an answer needs; r->ask is set before. Returns 0, or -1 and *err;
 * call path_close() in either case. */
int path_open(struct path_run *r, struct store *db, const char *path,
	      struct err *err);
void path_close(struct path_run *r);

/* Sets *err to the reason why the options select no wait. Returns -1. */
int path_no_waits(const struct path_run *r, struct err *err);

/* A wait: from a switch out, or the end of the known run, to the next run. */
struct path_wait {
	uint32_t thread;
	uint32_t piece; /* index of its first piece: path_wait_of() */
	int64_t from, to;
	int64_t out; /* event of the switch out; 0: none */
	int16_t bits;
};

/* Returns the wait of a thread that begins with a piece, and *end, the number
 * of the piece after it. */
struct path_wait path_wait_of(struct path_run *r, uint32_t thread, size_t piece,
			      size_t *end);

/* A path_sum.detail: the thread was in no call on a descriptor. */
#define PATH_ELSEWHERE 1

/* Time put down to one thread in one state. */
struct path_sum {
	uint32_t thread;
	enum chain_state state;
	enum proof proof;
	/* enum wait_cause, for waits for memory, timeouts and sleep */
	uint8_t cause;
	/* set by path_own() */
	bool lock;	 /* the thread waited for a lock */
	uint32_t detail; /* index + 1 in path_run.details: the call, or for
			  * ready time the thread that had the CPU; 0: not
			  * known */
	uint64_t ns;
	uint64_t detailed; /* part of ns that has `detail`:
			    * path_add_details() */
	uint32_t others;   /* further threads of the same name:
			    * path_add_names() */
	bool processes; /* each of these threads is the first of its process */
};

/* path_sum.thread for any thread of the selected process. */
#define PATH_OWN (TIMELINE_NONE - 1)

/* Returns the cause of a wait that an unrecorded interrupt ended, like that of
 * a local timer, which has no entry event on x86. WAIT_UNKNOWN: it is no such
 * wait, or the cause is not known. */
enum wait_cause path_interrupted(const struct path_run *r,
				 const struct chain *c,
				 const struct chain_segment *s);
/* Makes the chain of a thread as the options require. */
void path_chain(struct path_run *r, uint32_t thread, int64_t from, int64_t to,
		struct chain *c);
/* Returns the thread for which the chain's first thread waited in a segment.
 * That thread may itself have waited for others: .state is CHAIN_BLOCKED then;
 * CHAIN_SIGNAL: it sent the signal that ended the wait.
 * .thread is TIMELINE_NONE if the first thread ran or an interrupt woke it. */
struct path_sum path_first(const struct path_run *r, const struct chain *c,
			   const struct chain_segment *s);
/* Returns the *n sums of a chain, largest first; the caller frees them.
 * by_proof false: sums by thread and state only, .proof is meaningless. r: sets
 * .cause to WAIT_TIMER for threads that slept; NULL: .cause is not set. */
struct path_sum *path_sums(const struct path_run *r, const struct chain *c,
			   bool by_proof, size_t *n);
/* Merges those of n parts that differ only in ns, and sorts the sums, largest
 * first. Returns the number of sums. */
size_t path_add_up(struct path_sum *sum, size_t n);
/* Like path_add_up(), but also merges parts that differ in .detail: a sum gets
 * the detail with more than half of all time that has one, for ready time the
 * one with most. */
size_t path_add_details(struct path_sum *sum, size_t n);
/* Merges the parts of threads with the same name if none of them has half of
 * that name's time, like a shell's many short programs: .thread is the one with
 * most. but: a thread that is not merged; TIMELINE_NONE: none. Returns the
 * number of sums, sorted as by path_add_up(). */
size_t path_add_names(const struct path_run *r, struct path_sum *sum, size_t n,
		      uint32_t but);
/* Returns the ns of a chain with that proof. */
uint64_t path_with(const struct chain *c, enum proof proof);
const char *path_comm(const struct path_run *r, uint32_t thread);
/* Returns the name of a thread, with its tid if another thread has that name
 * too. */
const char *path_tell(const struct path_run *r, uint32_t thread);
/* Returns the function in which an event happened, outside libc and the kernel
 * if the stack has such a one; "" if there is none. Valid until labels
 * change. */
const char *path_function(struct path_run *r, int64_t event);
/* Returns the context as a word: "task", "softirq-inline", ... */
const char *path_context(enum timeline_context c);
/* Returns "wake", "fork" or "deduced". */
const char *path_edge_kind(const struct proof_edge *e);
/* Returns the tid of the waker; 0: an interrupt, or an idle CPU. */
int32_t path_edge_waker(const struct proof_edge *e);
/* Returns the one thread that the options select; TIMELINE_NONE and *err if
 * there is none, or more. */
uint32_t path_asker(struct path_run *r, struct err *err);
/* Position of a walk over waits; all zeros: before the first wait. */
struct path_walk {
	uint32_t thread;
	size_t piece; /* index of the thread's piece at which to go on */
};
/* Return whether there is a next wait, and store it in *out: path_next_wait()
 * of the selected threads, thread by thread in time order;
 * path_next_of_thread() of at->thread only. */
bool path_next_wait(struct path_run *r, struct path_walk *at,
		    struct path_wait *out);
bool path_next_of_thread(struct path_run *r, struct path_walk *at,
			 struct path_wait *out);

/* The program with which a recording began. */
struct path_program {
	int64_t pid;	 /* -1: there is none */
	uint32_t thread; /* its first thread */
	int64_t from, to;
};

/* Finds the program with which the recording began, from its start to its end.
 * Returns 0, or -1 and *err. */
int path_program_find(const struct path_run *r, struct path_program *out,
		      struct err *err);
/* Returns words for a state: "computing", "in a timer", ... */
const char *path_doing(enum chain_state s);

struct chain;
struct chain_segment;
struct path_run;

/* A sample of a thread: time, stack, and the function as a label of struct
 * path_run; TIMELINE_NONE: not known. */
struct path_code_sample {
	int64_t time;
	uint32_t thread, in;
	struct offcpu_stack at;
};

/* The samples of a period, thread by thread in time order. */
struct path_code {
	struct path_code_sample *at;
	size_t n, cap;
};

/* Reads the samples between two times; none if no clock was sampled. The caller
 * frees code->at. Returns 0, or -1 and *err. */
int path_code_load(struct path_code *code, struct path_run *r, int64_t from,
		   int64_t to, struct err *err);
/* Returns the first of a thread's *n samples from `from` to before `to`; NULL
 * and 0 if there are none. */
const struct path_code_sample *path_code_of(const struct path_code *code,
					    uint32_t thread, int64_t from,
					    int64_t to, size_t *n);
/* Returns the shown name of the function with more than half of a thread's
 * samples in a time; "" if there is none. */
const char *path_code_in(const struct path_code *code, const struct path_run *r,
			 uint32_t thread, int64_t from, int64_t to);

/* Cache of which stacks wait for a lock. Initialise to zeros with r, which is
 * borrowed. */
struct path_locks {
	struct path_run *r;
	struct intern stack; /* addresses of the stacks checked so far */
	uint8_t *lock;	     /* result for each stack */
	size_t n, cap;
};

void path_locks_release(struct path_locks *l);
/* Returns whether the wait that began with an event, its switch out, is for a
 * lock. Each stack is checked once. */
bool path_locks_is(struct path_locks *l, int64_t event);
/* Returns the function that takes the lock of such a wait: the innermost named
 * one outside the C and C++ libraries, one of the kernel only if no other is
 * known. */
const char *path_locks_in(struct path_run *r, int64_t event);
/* Returns the event of the switch out of the innermost wait for a lock on the
 * path from a chain's first thread to a segment, which is what the lock's
 * holder did meanwhile; 0: no such wait. */
int64_t path_locks_on_way(struct path_locks *l, const struct chain *c,
			  const struct chain_segment *s);
