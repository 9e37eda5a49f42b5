/* wait_cause.h - finds what a thread waits for: futex, poll, read, page fault,
 * ...
 *
 * The kernel functions in the stack of the switch decide: the system call, or a
 * fault or shortage of memory inside it. */
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
	WAIT_UNKNOWN, /* no stack, or no function in it has a cause */
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
	WAIT_RECLAIM, /* these five take precedence over the call that they are
		       * in */
	WAIT_SWAP,
	WAIT_NUMA,
	WAIT_DIRTY,
	WAIT_GUEST,
	WAIT_EXEC,
	WAIT_CLONE,
	WAIT_EXIT,
	WAIT_IOCTL,
	WAIT_KERNEL,	/* a kernel thread */
	WAIT_READY,	/* for a CPU: it was runnable */
	WAIT_THROTTLED, /* THROTTLED, HELD: runnable, but this is no wait for a
			 * CPU */
	WAIT_HELD,
	WAIT_CAUSES
};

/* Returns an empty object, to be freed by wait_causes_free(). s is borrowed. */
struct wait_causes *wait_causes_new(struct stacks *s);
void wait_causes_free(struct wait_causes *c);
/* Learns from the stack of a switch, for the sake of those without a kernel
 * half. disk: the thread slept uninterruptibly, as for a disk. */
void wait_causes_learn(struct wait_causes *c, bool disk,
		       const struct offcpu_stack *at);
/* Returns what a wait was for, by the task state and the kernel half of the
 * stack at its start; each kernel half is examined once. A wait may have none,
 * as 'record --waits' keeps only some in each second. Then the learned waits at
 * the same user stack decide (for a kernel thread, those of the same name):
 * their cause if all have the same one, or their call or fault if all are in
 * the same one. at may be NULL. */
enum wait_cause wait_causes_get(struct wait_causes *c, int64_t state,
				const struct offcpu_stack *at);
/* The code that waited, as labels of the stacks. */
struct wait_place {
	/* innermost function of the program: outside the kernel and the C and
	 * C++ libraries; without user code that of the kernel outside the
	 * scheduler, else that of a library; label STACK_NAMES_GAP if the stack
	 * lacks that frame */
	uint32_t in;
	uint32_t caller; /* the next such function outwards */
	uint32_t inner;	 /* innermost user function, also of a library */
	bool has_in, has_caller, has_inner;
};
struct wait_place wait_causes_place(struct wait_causes *c,
				    const struct offcpu_stack *at);
/* Returns the name of the function in p->in as it is shown; if that is missing,
 * "[caller missing] < NAME" with the next known one outwards, or else "NAME <
 * [caller missing]" with that of the library; "" if there is none. Valid as
 * long as the labels. It may add a label, which invalidates what labels_get()
 * returned before. */
const char *wait_causes_in(struct wait_causes *c, const struct wait_place *p);
/* Removes all frames of a wait, outermost first, but those of its place and its
 * callers; all if there is no such place. */
void wait_causes_cut(const struct wait_causes *c, struct label_list *l);
/* Returns the function that caused an event with these stacks; NULL: not known.
 * In the kernel it is the innermost function outside the scheduler, tracing and
 * locks; in the program (kernel is false, or the stack has no such function)
 * that outside the C and C++ libraries. *missing: a caller in between is
 * STACK_NAMES_GAP. Valid until labels change. */
const struct label *wait_causes_caller(struct wait_causes *c, uint32_t kraw,
				       uint32_t uraw, bool kernel,
				       bool *missing);
/* Returns the context in which a kernel stack was taken, by its functions; for
 * a softirq, how it was entered, and *vector (-1: not known). */
enum timeline_context wait_causes_context(struct wait_causes *c, uint32_t kraw,
					  int *vector);
/* Returns whether a function waits for a lock, of the C library or of the
 * kernel: by the beginning of its name, so a program's block_wait() does not
 * match. A futex alone may be that of a condition variable. */
bool wait_cause_is_lock(const char *name);
/* Returns whether a frame is code of the program, not of the kernel or the C
 * and C++ libraries. */
bool wait_cause_is_own(const struct label *f);
/* Returns the cause as a word such as "futex"; "" for WAIT_UNKNOWN. */
const char *wait_cause_word(enum wait_cause cause);
/* Returns what a system call waits for, by its name. */
enum wait_cause wait_cause_of_call(const char *call);
/* Returns what the innermost user function of a stack waits for, if that is the
 * C library's of a system call or of futex(2). */
enum wait_cause wait_causes_of_user(struct wait_causes *c,
				    const struct offcpu_stack *at);
