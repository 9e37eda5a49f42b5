/* softirq.h - decides who caused a wake-up in a softirq: softirq_judge(); and
 * finds how a softirq was entered from the addresses of stacks alone.
 *
 * A softirq runs on the way out of an interrupt, in ksoftirqd, or in the call
 * of a thread that turns softirqs on again. Even in a thread's call it does the
 * work that an interrupt left: that of a disk (BLOCK), of a network card
 * (NET_RX), of RCU. A thread can only be the cause of NET_TX and NET_RX, by
 * sending a packet over loopback, and only if it raised the softirq. Judged
 * only by how the softirq was entered, 948 of 5,927 waits for a disk were put
 * down to a TCP server next to it. Nor does entry after an interrupt prove that
 * the thread is not the cause: an interrupt that comes between
 * __local_bh_enable_ip()'s two steps runs what the thread raised (1 of 33,555
 * wake-ups of a busy server).
 *
 * Without a kernel's symbols its functions have no names, but x86-64 keeps all
 * code by which a CPU enters the kernel together, in .entry.text, of a few KB.
 * So an interrupt leaves an address near that of the system call's entry on the
 * stack, and a stack whose only such address is the outermost is that of a
 * system call that nothing interrupted. How the entries are found:
 *
 * - The entry of a system call is the outermost address of threads that went to
 *   sleep: interrupts do not sleep.
 * - The entry of an interrupt is the only such address in the stack of a
 *   hardirq.
 * - After an interrupt of user mode, softirqs and other work of the thread look
 *   alike. The functions between entry and softirq decide, if they were also
 *   called after an interrupt of the kernel, which does no other work.
 *
 * Nothing is decided for machines on which interrupts of user mode and system
 * calls share an entry (FRED), nor for kernel threads.
 *
 * Order of calls: softirqs_want() for each stack, softirqs_take() for each that
 * is wanted, softirqs_learn(); then softirqs_context(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/causes/timeline.h"

enum softirq_role {
	SOFTIRQ_SLEEP = 1,   /* a thread that left its CPU to sleep, S or D */
	SOFTIRQ_HARDIRQ = 2, /* in an interrupt */
	SOFTIRQ_ASKED = 4,   /* in a softirq */
	SOFTIRQ_THREAD = 8,  /* of a thread, not of an idle CPU */
};

enum softirq_vector { /* as in the kernel */
	SOFTIRQ_NET_TX = 2,
	SOFTIRQ_NET_RX = 3,
	SOFTIRQ_VECTORS = 10
};

/* Who raised a softirq since it last ran. */
enum softirq_raised {
	RAISED_UNKNOWN, /* not recorded, or a record may be missing */
	RAISED_OWN,	/* the thread in which it runs, in its own calls */
	RAISED_IRQ,	/* only interrupts and softirqs */
	RAISED_MIXED,
};

/* All that is known about a softirq in which a wake-up was made. */
struct softirq_facts {
	int vector;	/* -1: not known */
	uint8_t raised; /* enum softirq_raised */
	/* how it was entered: CONTEXT_INLINE, CONTEXT_SOFTIRQ after an
	 * interrupt or in ksoftirqd, CONTEXT_SOFTIRQ_UNKNOWN */
	enum timeline_context entered;
	bool disk; /* the woken thread slept uninterruptibly, as for a disk */
};

/* The premise of softirq_judge()'s answer, which no record shows. */
enum softirq_premise {
	SOFTIRQ_SURE,
	/* No other CPU steers packets here (RPS, rps_cpus in sysfs): one that
	 * does raises nothing where NET_RX is pending already
	 * (enqueue_to_backlog()). */
	SOFTIRQ_IF_NOT_STEERED,
	/* No interrupt had raised it, that of a network card or, if the vector
	 * is not known, any. */
	SOFTIRQ_IF_NO_IRQ,
};

/* Decides who caused a softirq: returns CONTEXT_INLINE for the thread itself,
 * CONTEXT_SOFTIRQ, or CONTEXT_SOFTIRQ_UNKNOWN. */
enum timeline_context softirq_judge(const struct softirq_facts *f,
				    enum softirq_premise *premise);
/* Returns a name such as "softirq:NET_RX"; NULL: no such vector. */
const char *softirq_name(int64_t vector);

/* What is learned from stacks. All zeros is empty. */
struct softirqs {
	struct softirq_stack *stack;
	size_t n, cap;
	struct table index;  /* stacks by id */
	struct table judged; /* outermost addresses of sleepers */
	struct table calls;  /* the two outermost addresses of threads that went
			      * to sleep in a system call */
	struct table stubs;  /* entries of interrupts */
	struct table exits;  /* what calls softirqs after an interrupt */
	uint64_t *outer;     /* outermost addresses of interrupts, ascending */
	size_t n_outer, cap_outer;
	uint64_t *entry; /* of system calls */
	size_t n_entry, cap_entry;
};
void softirqs_release(struct softirqs *s);
/* Adds roles (bits of softirq_role) to the stack `id`; ignores id 0. */
void softirqs_want(struct softirqs *s, uint32_t id, unsigned int roles);
bool softirqs_is_wanted(const struct softirqs *s, uint32_t id);
/* Stores the kernel addresses of a wanted stack, innermost first. */
void softirqs_take(struct softirqs *s, uint32_t id, const uint64_t *addr,
		   size_t n);
void softirqs_learn(struct softirqs *s);
/* Returns how the softirq of a stack was entered: CONTEXT_INLINE,
 * CONTEXT_SOFTIRQ or CONTEXT_SOFTIRQ_UNKNOWN. */
enum timeline_context softirqs_context(const struct softirqs *s, uint32_t id);
