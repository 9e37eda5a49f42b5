/* offcpu.h - how long threads were off the CPU, where, and who woke them.
 *
 * A wait goes from a thread's switch out of a CPU to its next switch in on any
 * CPU. It has the stack of the switch out, with its user half, whenever that
 * came. One pass in time order; what is in memory is bounded by the number of
 * threads. Nothing is guessed: a wait during which switches may have been lost
 * is uncertain, and one that did not end is open; both are counted apart. */
#ifndef CLI_MODEL_OFFCPU_H
#define CLI_MODEL_OFFCPU_H
#include <stdbool.h>
#include <stdint.h>

#include "cli/command.h"

struct err;
struct stacks_group;
struct store;

/* --off-cpu --state: for OPT_GROUP */
struct offcpu_opts {
	bool on;
	const char *state; /* comma list; NULL: all */
};
extern struct offcpu_opts offcpu_opts;
extern const struct opt offcpu_opt_table[];
/* Wrong --state, or options that do not go together; -1 and *err. */
int offcpu_check(struct err *err);

enum offcpu_end {
	OFFCPU_BACK,	  /* it came back */
	OFFCPU_UNCERTAIN, /* it may have been back in between */
	OFFCPU_OPEN,	  /* it was away when the capture ended */
};

/* A thread's name and stack at an event, as in struct stacks_group. */
struct offcpu_stack {
	uint32_t comm, kraw, uraw;
	uint8_t verdict, flags;
};

struct offcpu_wait {
	int64_t event; /* the switch out */
	int64_t from, to;
	enum offcpu_end end;
	int64_t tid;
	int64_t state; /* as the kernel says it; -1: not known */
	struct offcpu_stack at;
	bool woken; /* the rest is known */
	int64_t woken_ns;
	struct offcpu_stack waker;
};

struct offcpu_sums {
	uint64_t waits[3], ns[3]; /* by enum offcpu_end */
	uint64_t exits;		  /* threads that left for good */
	uint64_t lost;		  /* records, in these captures */
	bool lost_unknown;	  /* and an unknown number more */
	bool wakes;		  /* wake-ups were recorded */
	bool partial;		  /* not all CPUs: returns are missing */
	bool records;		  /* taken from records of switches */
};

/* Calls fn for each wait that the filters let through, in the order of their
 * ends; fn gives 0, or -1 and *err to stop. -1 and *err also when nothing says
 * who was on a CPU. path: for the error. */
typedef int offcpu_fn(void *arg, const struct offcpu_wait *w, struct err *err);
int offcpu_read(struct store *db, const char *path, offcpu_fn *fn, void *arg,
		struct offcpu_sums *sums, struct err *err);

/* "S", "D", "R", "R+" (preempted), "?" ... */
const char *offcpu_state(int64_t state);
/* Why waits are uncertain, as the end of a sentence. */
const char *offcpu_reason(const struct offcpu_sums *s);
/* For stacks_get(). */
struct stacks_group offcpu_group(const struct offcpu_stack *s);
#endif
