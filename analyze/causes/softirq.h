/* softirq.h - whose a wake-up in a softirq is: softirq_judge(); and how a
 * softirq was entered, known by the addresses of stacks alone.
 *
 * A softirq runs on the way out of an interrupt, in ksoftirqd, or in the call
 * of a thread that turns softirqs on again. There, too, it does what an
 * interrupt had left: that of a disk (BLOCK), of a network card (NET_RX), of
 * RCU. Only of NET_TX and NET_RX a thread may be the cause, which sent a packet
 * over loopback, and only if it raised the softirq. Of a disk next to a server
 * of TCP, 948 of 5,927 waits were put down to the server by how the softirq was
 * entered alone. Nor does a way in after an interrupt take a packet from its
 * thread: an interrupt that comes between __local_bh_enable_ip()'s two steps
 * runs what the thread raised (1 of 33,555 wake-ups of a busy server).
 *
 * Functions of a kernel whose symbols are not there have no names, but x86-64
 * keeps all code by which a CPU enters the kernel together, in .entry.text, of
 * a few KB. So an interrupt leaves an address near that of the system call's
 * entry on the stack, and a stack with no such address but the outermost is of
 * a system call that nothing interrupted. Which address is the entry's own:
 *
 * - That of a system call is the outermost one of threads that went to sleep:
 *   interrupts do not sleep.
 * - That of an interrupt is the only one nearby in the stack of a hardirq.
 * - Behind an interrupt of user mode, softirqs and other work of the thread
 *   look alike. What is called between entry and softirq tells, if it was
 *   called so after an interrupt of the kernel, where there is no other work.
 *
 * Nothing is said about machines on which interrupts of user mode and system
 * calls share an entry (FRED), nor of threads of the kernel.
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

/* Who raised a softirq since it ran last. */
enum softirq_raised {
	RAISED_UNKNOWN, /* not recorded, or a record may be missing */
	RAISED_OWN,	/* the thread that it runs in, in calls of its own */
	RAISED_IRQ,	/* interrupts, and softirqs */
	RAISED_MIXED,
};

/* All that is known of a softirq in which a wake-up was made. */
struct softirq_facts {
	int vector;	/* -1: not known */
	uint8_t raised; /* enum softirq_raised */
	/* how it was entered: CONTEXT_INLINE, CONTEXT_SOFTIRQ after an
	 * interrupt or in ksoftirqd, CONTEXT_SOFTIRQ_UNKNOWN */
	enum timeline_context entered;
	bool disk; /* the thread that was woken slept as who waits for a disk
		    * does, uninterruptibly */
};

/* What the answer rests on that no record tells. */
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

/* Returns CONTEXT_INLINE, CONTEXT_SOFTIRQ, or CONTEXT_SOFTIRQ_UNKNOWN. */
enum timeline_context softirq_judge(const struct softirq_facts *f,
				    enum softirq_premise *premise);
/* Returns "softirq:NET_RX"; NULL: there is none of that number. */
const char *softirq_name(int64_t vector);

/* All zeros is empty. */
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
/* Says of what the stack `id` is: roles, as bits. 0 is no stack. */
void softirqs_want(struct softirqs *s, uint32_t id, unsigned int roles);
bool softirqs_is_wanted(const struct softirqs *s, uint32_t id);
/* Takes the addresses of the kernel's half, innermost first. */
void softirqs_take(struct softirqs *s, uint32_t id, const uint64_t *addr,
		   size_t n);
void softirqs_learn(struct softirqs *s);
/* Returns CONTEXT_INLINE, CONTEXT_SOFTIRQ or CONTEXT_SOFTIRQ_UNKNOWN. */
enum timeline_context softirqs_context(const struct softirqs *s, uint32_t id);
