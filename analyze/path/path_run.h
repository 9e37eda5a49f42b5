/* path_run.h - what is known of waits, for one answer after the other:
 * names, chains, the threads and waits that are asked for, and which code
 * threads were in. */
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
	int64_t pid;	  /* likewise */
	const char *comm; /* NULL: any */
	bool timed;
	int64_t from, to; /* if timed */
	bool proved;	  /* count what is only likely as not known */
	bool premises;	  /* print in full what proofs rest on */
	uint32_t depth;	  /* most edges on a path; 0: all */
};

/* Sums over the chains so far. */
struct path_tally {
	uint64_t asked, proved, unknown; /* ns */
	unsigned int ready_if; /* what "ready" rests on in them: limits.h */
};

struct path_run {
	struct name_opts names; /* of functions */
	struct store *db;
	const char *path;
	const struct path_ask *ask; /* NULL: no wait is chosen, and no chain
				     * is made */
	struct labels *labels;
	struct stacks *stacks;
	struct wait_causes *words;
	struct causes *causes;
	bool calls; /* path_open() loads those of descriptors, too */
	struct files *files;
	struct intern details; /* of struct path_sum */
	const struct timeline *t;
	struct proofs *proofs;
	struct path_tally sum;
};

/* Loads what an answer needs; r->ask is set before. Returns 0, or -1 and *err;
 * call path_close() in either case. */
int path_open(struct path_run *r, struct store *db, const char *path,
	      struct err *err);
void path_close(struct path_run *r);

/* Sets *err: why the options select no wait. Returns -1. */
int path_no_waits(const struct path_run *r, struct err *err);

/* A time from a switch out, or the end of what is known, to the next run. */
struct path_wait {
	uint32_t thread;
	uint32_t piece; /* number of its first one: path_wait_of() */
	int64_t from, to;
	int64_t out; /* event of the switch out; 0: none */
	int16_t bits;
};

/* Returns the wait of a thread that begins with a piece, and *end, the number
 * of the piece after it. */
struct path_wait path_wait_of(struct path_run *r, uint32_t thread, size_t piece,
			      size_t *end);

/* Time put down to one thread in one state. */
struct path_sum {
	uint32_t thread;
	enum chain_state state;
	enum proof proof;
	/* enum wait_cause, of memory, timeouts and sleep */
	uint8_t cause;
	/* of path_own() */
	bool lock;	 /* it was waited for a lock */
	uint32_t detail; /* in path_run.details, + 1: the call, or of what is
			  * ready, who had the CPU; 0: not known */
	uint64_t ns;
	uint64_t detailed; /* path_add_details(): of ns, that with .detail */
	uint32_t others;   /* path_add_names(): further threads of its name */
	bool processes;	   /* each of them is the first one of a process */
};

/* A thread of path_sum: any of the process that is asked for. */
#define PATH_OWN (TIMELINE_NONE - 1)

/* Returns what a wait was for that ended by an interrupt of which no record
 * tells more, as that of a local timer has no entry on x86: a thread that slept
 * did so. WAIT_UNKNOWN: it is no such wait, or that is not known. */
enum wait_cause path_interrupted(const struct path_run *r,
				 const struct chain *c,
				 const struct chain_segment *s);
/* Makes the chain of a thread, as the options want it. */
void path_chain(struct path_run *r, uint32_t thread, int64_t from, int64_t to,
		struct chain *c);
/* Returns for whom the asker of a chain waited in a piece of it, who may have
 * waited for others: .state is CHAIN_BLOCKED then. .thread is TIMELINE_NONE
 * where there is none: what it did itself, or what interrupt woke it. */
struct path_sum path_first(const struct path_run *r, const struct chain *c,
			   const struct chain_segment *s);
/* Returns the sums of a chain, largest first; the caller frees them. by_proof
 * false: by thread and state alone, .proof says nothing. r: .cause is
 * WAIT_TIMER of who slept; NULL: of nobody. */
struct path_sum *path_sums(const struct path_run *r, const struct chain *c,
			   bool by_proof, size_t *n);
/* Adds up those of n parts that differ in nothing but ns, and sorts the sums,
 * largest first. Returns how many there are. */
size_t path_add_up(struct path_sum *sum, size_t n);
/* The same of those that differ in .detail too: a sum has the one that has more
 * than half of what has any, and of ready time the largest. */
size_t path_add_details(struct path_sum *sum, size_t n);
/* Adds up the parts of threads that have one name where none of them has half
 * of the time of that name, as of a shell's many short programs: .thread is the
 * one with most of it. but: of a thread that is left as it is; TIMELINE_NONE:
 * there is none. Returns how many sums there are, sorted like those. */
size_t path_add_names(const struct path_run *r, struct path_sum *sum, size_t n,
		      uint32_t but);
/* Returns the ns of a chain with that proof. */
uint64_t path_with(const struct chain *c, enum proof proof);
const char *path_comm(const struct path_run *r, uint32_t thread);
/* The same, with its tid if another thread has that name too. */
const char *path_tell(const struct path_run *r, uint32_t thread);
/* Returns the function that an event was in, outside libc and the kernel if the
 * stack has one; "" if there is none. Valid until labels change. */
const char *path_function(struct path_run *r, int64_t event);
/* Returns the context as a word: "task", "softirq-inline", ... */
const char *path_context(enum timeline_context c);
/* Returns "wake", "fork" or "deduced". */
const char *path_edge_kind(const struct proof_edge *e);
/* Returns the tid of who woke; 0: an interrupt, or an idle CPU. */
int32_t path_edge_waker(const struct proof_edge *e);
/* Returns the one thread that the options select; TIMELINE_NONE and *err if
 * there is none, or more. */
uint32_t path_asker(struct path_run *r, struct err *err);
/* Where a walk over waits is: all zeros: before the first. */
struct path_walk {
	uint32_t thread;
	size_t piece; /* of this thread, from which on waits are looked for */
};
/* Return whether there is a next wait, and *out: of the threads that the
 * options select, thread by thread in time order; or of at->thread alone. */
bool path_next_wait(struct path_run *r, struct path_walk *at,
		    struct path_wait *out);
bool path_next_of_thread(struct path_run *r, struct path_walk *at,
			 struct path_wait *out);

/* The program with which a recording began. */
struct path_program {
	int64_t pid;	 /* -1: there is none */
	uint32_t thread; /* its first */
	int64_t from, to;
};

/* Finds the program with which the recording began, from its start to its end.
 * Returns 0, or -1 and *err. */
int path_program_find(const struct path_run *r, struct path_program *out,
		      struct err *err);
/* Returns what a thread did in a state: "computing", "in a timer", ... */
const char *path_doing(enum chain_state s);

struct chain;
struct chain_segment;
struct path_run;

/* In which function a thread was at a time: a label of struct path_run,
 * TIMELINE_NONE: not known. */
struct path_code_sample {
	int64_t time;
	uint32_t thread, in;
	struct offcpu_stack at;
};

/* The samples of a time, thread by thread in time order. */
struct path_code {
	struct path_code_sample *at;
	size_t n, cap;
};

/* Reads them; none where no clock was sampled. The caller frees code->at.
 * Returns 0, or -1 and *err. */
int path_code_load(struct path_code *code, struct path_run *r, int64_t from,
		   int64_t to, struct err *err);
/* Returns the first sample of a thread at or after a time, and how many follow
 * until another one. */
const struct path_code_sample *path_code_of(const struct path_code *code,
					    uint32_t thread, int64_t from,
					    int64_t to, size_t *n);
/* Returns the function that has more than half of the samples of a thread in a
 * time, as it is shown; "" if none has. */
const char *path_code_in(const struct path_code *code, const struct path_run *r,
			 uint32_t thread, int64_t from, int64_t to);

/* Which stacks wait for a lock. All zeros but for r, which is borrowed. */
struct path_locks {
	struct path_run *r;
	struct intern stack; /* of waits that were looked at: addresses */
	uint8_t *lock;	     /* of each */
	size_t n, cap;
};

void path_locks_release(struct path_locks *l);
/* Returns whether the wait that began with an event, its switch out, is for a
 * lock. Each stack is looked at once. */
bool path_locks_is(struct path_locks *l, int64_t event);
/* Returns the function that takes the lock which such a wait is for: the
 * innermost one that has a name, outside of the libraries of C and C++, and
 * of the kernel only if no such one is known. */
const char *path_locks_in(struct path_run *r, int64_t event);
/* Returns the switch out of the innermost wait for a lock on the way from the
 * asker of a chain to a piece of it, which is what the lock's holder did
 * meanwhile; 0: there is none. */
int64_t path_locks_on_way(struct path_locks *l, const struct chain *c,
			  const struct chain_segment *s);
