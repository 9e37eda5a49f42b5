/* softirq.h - whether a softirq ran in a thread's own system call or on the way
 * out of an interrupt, told by the addresses of stacks alone.
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
 *   called so behind an interrupt of the kernel, where there is no other work.
 *
 * Nothing is told of machines on which interrupts of user mode and system calls
 * share an entry (FRED), nor of threads of the kernel.
 *
 * Order of calls: softirqs_new(), softirqs_want() for each stack,
 * softirqs_take() for each that is wanted, softirqs_learn(); then
 * softirqs_context(). */
#ifndef CLI_CAUSES_SOFTIRQ_H
#define CLI_CAUSES_SOFTIRQ_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/causes/timeline.h"

struct softirqs;

enum softirq_role {
	SOFTIRQ_SLEEP = 1,   /* a thread that left its CPU to sleep, S or D */
	SOFTIRQ_HARDIRQ = 2, /* in an interrupt */
	SOFTIRQ_ASKED = 4,   /* in a softirq */
	SOFTIRQ_THREAD = 8,  /* of a thread, not of an idle CPU */
};

struct softirqs *softirqs_new(void);
void softirqs_free(struct softirqs *s);
/* Says of what the stack `id` is: roles, as bits. 0 is no stack. */
void softirqs_want(struct softirqs *s, uint32_t id, unsigned int roles);
bool softirqs_is_wanted(const struct softirqs *s, uint32_t id);
/* Takes the addresses of the kernel's half, innermost first. */
void softirqs_take(struct softirqs *s, uint32_t id, const uint64_t *addr,
		   size_t n);
void softirqs_learn(struct softirqs *s);
/* Returns CONTEXT_INLINE, CONTEXT_SOFTIRQ or CONTEXT_SOFTIRQ_UNKNOWN. */
enum timeline_context softirqs_context(const struct softirqs *s, uint32_t id);
#endif
