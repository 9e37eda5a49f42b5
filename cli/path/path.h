/* path.h - the answers of the command path: why a thread took so long. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/causes/chain.h"
#include "analyze/names/name_opts.h"

struct err;
struct json;
struct labels;
struct store;
struct term_lines;

struct path_opts {
	int64_t tid;	  /* -1: any */
	int64_t pid;	  /* likewise */
	const char *comm; /* NULL: any */
	bool timed;
	int64_t from, to; /* if timed */
	size_t worst;	  /* waits whose chains to print; 0: none */
	size_t limit;	  /* rows of a table; SIZE_MAX: all */
	size_t lines;	  /* of a chain; SIZE_MAX: all */
	bool waits, tree, blame, idle, proved, json;
	bool all;	/* not only the program with which a recording began */
	int64_t least;	/* ns; shorter pieces are summed */
	uint32_t depth; /* most edges on a path; 0: all */
	int fail;	/* percent; -1: not asked for */
};

/* Prints the chains, or the tables of waits. Returns an enum status, or -1 and
 * *err. */
int path_print(struct store *db, const char *path, const struct path_opts *o,
	       struct err *err);

/* ---- for other answers of the same */

struct path_run {
	struct name_opts names; /* of functions */
	struct store *db;
	const char *path;
	const struct path_opts *o;
	struct labels *labels;
	struct stacks *stacks;
	struct wait_causes *words;
	struct causes *causes;
	const struct timeline *t;
	struct proofs *proofs;
	uint64_t asked, proved, unknown; /* ns, of the chains so far */
	/* of which JSON tells in front of the waits; NULL: of none */
	const struct path_program *program;
};

/* Loads what an answer needs; r->o is NULL where there are no options of path.
 * Returns 0, or -1 and *err; call path_close() in either case. */
int path_open(struct path_run *r, struct store *db, const char *path,
	      struct err *err);
void path_close(struct path_run *r);

/* Returns STATUS_LOSS if more of the chains so far is not known than the
 * options allow, else 0. */
int path_status(const struct path_run *r);
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
 * of the piece behind it. */
struct path_wait path_wait_of(struct path_run *r, uint32_t thread, size_t piece,
			      size_t *end);

/* Time put down to one thread in one state. */
struct path_sum {
	uint32_t thread;
	enum chain_state state;
	enum proof proof;
	bool lock; /* path_put_own(): it was waited for a lock */
	uint64_t ns;
};

/* Makes the chain of a thread, as the options want it. */
void path_chain(struct path_run *r, uint32_t thread, int64_t from, int64_t to,
		struct chain *c);
/* Returns for whom the asker of a chain waited in a piece of it, who may have
 * waited for others: .state is CHAIN_BLOCKED then. .thread is TIMELINE_NONE
 * where there is nobody: what it did itself, or what interrupt woke it. */
struct path_sum path_first(const struct path_run *r, const struct chain *c,
			   const struct chain_segment *s);
/* Returns the sums of a chain, largest first; the caller frees them. by_proof
 * false: by thread and state alone, .proof says nothing. */
struct path_sum *path_sums(const struct chain *c, bool by_proof, size_t *n);
/* Adds up those of n parts that differ in nothing but ns, and sorts the sums,
 * largest first. Returns how many there are. */
size_t path_add_up(struct path_sum *sum, size_t n);
/* Returns the ns of a chain with that proof. */
uint64_t path_with(const struct chain *c, enum proof proof);
const char *path_comm(const struct path_run *r, uint32_t thread);
/* The same, with its tid if another thread has that name too. */
const char *path_tell(const struct path_run *r, uint32_t thread);
/* Writes ", if ...", what proofs rest on: of a chain, or if c is NULL of any.
 */
void path_put_premise(const struct path_run *r, const struct chain *c,
		      FILE *out);
/* Returns where to write lines that term_lines_end() prints, wrapped at 80
 * columns. */
FILE *path_lines_begin(struct term_lines *l);
/* Writes ", nothing lost in this time", or a line that says what was. */
void path_put_losses(const struct path_run *r, FILE *out, int64_t from,
		     int64_t to);
/* Prints what to record so that less is unknown. */
void path_put_advice(const struct path_run *r, int64_t from, int64_t to);
/* Writes what was lost as member "evidence". */
void path_json_evidence(const struct path_run *r, struct json *j, int64_t from,
			int64_t to);
/* Returns the function that an event was in, outside libc and the kernel if the
 * stack has one; "" if there is none. Valid until labels change. */
const char *path_function(struct path_run *r, int64_t event);
/* Returns the context as a word: "task", "softirq-inline", ... */
const char *path_context(enum timeline_context c);
/* Returns "wake", "fork" or "deduced". */
const char *path_edge_kind(const struct proof_edge *e);
/* Returns the tid of who woke; 0: an interrupt, or an idle CPU. */
int32_t path_edge_waker(const struct proof_edge *e);
/* Returns the tid of who has the CPU that a ready thread will get, at the begin
 * of that time; 0: nobody, -1: not known. */
int32_t path_on_cpu(const struct path_run *r, const struct chain_segment *s);
/* Returns the one thread that the options select; TIMELINE_NONE and *err if
 * there is none, or more. */
uint32_t path_asker(struct path_run *r, struct err *err);
/* Returns whether the options select a thread. */
bool path_selects(const struct path_run *r, uint32_t thread);
/* Sets *err: the capture has no such thread. Returns -1. */
int path_no_thread(const struct path_run *r, struct err *err);
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

/* The first lines of a chain, which it adds. own: what the thread itself did
 * comes first. */
void path_head(struct path_run *r, uint32_t thread, int64_t from, int64_t to,
	       bool own, struct chain *c);
/* Writes " 58.12 % computing in count_words, 31.40 % waiting for a lock that
 * prog (4711) held", of a thread whose chain took `ns`. */
void path_put_own(struct path_run *r, const struct chain *c, uint32_t thread,
		  int64_t from, int64_t to, FILE *out);
/* Returns what a thread did in a state: "computing", "in a timer", ... */
const char *path_doing(enum chain_state s);
/* One chain, as text and as JSON. */
void path_screen(struct path_run *r, uint32_t thread, int64_t from, int64_t to);
/* The members of an object that the caller begins and ends. */
void path_json(struct path_run *r, struct json *j, uint32_t thread,
	       int64_t from, int64_t to);
/* The longest waits; shares by path of edges; whom waits are put down to. */
int path_waits(struct path_run *r, struct err *err);
int path_shares(struct path_run *r, struct err *err);
