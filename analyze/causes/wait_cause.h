/* wait_cause.h - what a thread waits for: futex, poll, read, page fault, ...
 *
 * The functions of the kernel in the stack of the switch tell it: the system
 * call, or the fault or the want of memory inside of it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analyze/causes/timeline.h"

struct label;
struct label_list;
struct offcpu_stack;
struct stacks;
struct wait_causes;

enum wait_cause {
	WAIT_UNKNOWN, /* no stack, or no name in it tells */
	WAIT_FAULT,
	WAIT_FUTEX,
	WAIT_POLL,
	WAIT_READ,
	WAIT_WRITE,
	WAIT_SOCKET,
	WAIT_URING,
	WAIT_IPC,
	WAIT_TIMER,
	WAIT_CHILD,
	WAIT_SIGNAL,
	WAIT_FILE,
	WAIT_MEMORY,
	WAIT_RECLAIM, /* these five wherever it happens, as in a call */
	WAIT_SWAP,
	WAIT_NUMA,
	WAIT_DIRTY,
	WAIT_GUEST,
	WAIT_EXEC,
	WAIT_CLONE,
	WAIT_EXIT,
	WAIT_IOCTL,
	WAIT_KERNEL,	/* a thread of the kernel */
	WAIT_READY,	/* for a CPU: it was runnable */
	WAIT_THROTTLED, /* likewise, and these are no wait for a CPU */
	WAIT_HELD,
	WAIT_CAUSES
};

/* stacks: borrowed, for names. The caller calls wait_causes_free(). */
struct wait_causes *wait_causes_new(struct stacks *s);
void wait_causes_free(struct wait_causes *c);
/* Takes the stack of a switch, of which those without a kernel half learn;
 * disk: the thread slept as who waits for a disk. */
void wait_causes_learn(struct wait_causes *c, bool disk,
		       const struct offcpu_stack *at);
/* Returns what a wait was for, by the task state and the kernel half of the
 * stack at its begin, of which each is looked at once. If it has none, as
 * 'record --waits' keeps some of each second, the others at the same user stack
 * tell, which made the same call, if all are for the same, or that call or
 * fault, if all are in it; of a thread of the kernel those of its name. at may
 * be NULL. */
enum wait_cause wait_causes_get(struct wait_causes *c, int64_t state,
				const struct offcpu_stack *at);
/* The code that waited: labels of the stacks. */
struct wait_place {
	uint32_t in;	 /* the innermost function outside the libraries of C
			  * and C++ and the kernel;
			  * of the kernel, outside the scheduler, where the
			  * stack has no user code, and else of a library;
			  * STACK_NAMES_GAP where
			  * the stack lacks it, and its labels have that */
	uint32_t caller; /* the next one outwards, likewise */
	uint32_t inner;	 /* the innermost of user code, of a library too */
	bool has_in, has_caller, has_inner;
};
struct wait_place wait_causes_place(struct wait_causes *c,
				    const struct offcpu_stack *at);
/* Returns the name of the function in p->in as it is shown; of a missing one
 * "[caller missing] < NAME", with the next that is known outwards, or else
 * "NAME < [caller missing]", with that of the library; "" if there is none.
 * Valid as long as the labels. May add one: what labels_get() returned before
 * that is gone. */
const char *wait_causes_in(struct wait_causes *c, const struct wait_place *p);
/* Leaves only the place and its callers of the frames of a wait, which are
 * outermost first; nothing of a stack without such a place. */
void wait_causes_cut(const struct wait_causes *c, struct label_list *l);
/* Returns the function that called what an event of these stacks is of, NULL if
 * it is not known: of the kernel, the innermost one outside of the scheduler,
 * tracing and locks; of a program (kernel: false, or the stack has none of
 * these) outside the libraries of C and C++. *missing: a caller in between is
 * STACK_NAMES_GAP. Valid until labels change. */
const struct label *wait_causes_caller(struct wait_causes *c, uint32_t kraw,
				       uint32_t uraw, bool kernel,
				       bool *missing);
/* Returns in what a stack of the kernel was taken, as far as its functions
 * tell; of a softirq how it was entered, and *vector, -1 if that is not known.
 */
enum timeline_context wait_causes_context(struct wait_causes *c, uint32_t kraw,
					  int *vector);
/* Returns whether a function waits for a lock, of the C library or of the
 * kernel: by how its name begins, as a program's block_wait() waits for none. A
 * futex alone may be that of a condition. */
bool wait_cause_is_lock(const char *name);
/* Returns whether a frame is code of the program: not of the kernel, nor of the
 * libraries of C and C++. */
bool wait_cause_is_own(const struct label *f);
/* Returns the word: "futex"; "" for WAIT_UNKNOWN. */
const char *wait_cause_word(enum wait_cause cause);
/* Returns what a system call waits for, by its name. */
enum wait_cause wait_cause_of_call(const char *call);
