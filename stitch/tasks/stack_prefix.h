/* stack_prefix.h - the outer frames that a stack shares with the one before it.
 *
 * Stacks of one program mostly differ in their inner frames only: what the
 * outer ones are was found out for the last stack, and one comparison is less
 * than a search for each. */
#ifndef STITCH_TASKS_STACK_PREFIX_H
#define STITCH_TASKS_STACK_PREFIX_H
#include <stddef.h>
#include <stdint.h>

struct addrs;

/* While this is the same, so are the frames of the same addresses. */
struct stack_prefix_key {
	uint64_t mask;
	uint32_t view, gen;
};

/* Zero-initialised: none so far. */
struct stack_prefix {
	struct stack_prefix_key key;
	uint64_t *ip; /* outermost first */
	uint32_t *stack;
	size_t n, cap_ip, cap_stack;
};

void stack_prefix_release(struct stack_prefix *t);
/* How many of a's outermost addresses are those of before; *stack: up to the
 * innermost of these. What is further in is forgotten. */
uint32_t stack_prefix_shared(struct stack_prefix *t,
			     const struct stack_prefix_key *key,
			     const struct addrs *a, uint32_t *stack);
/* The next address inwards, and the stack up to it. */
void stack_prefix_push(struct stack_prefix *t, uint64_t ip, uint32_t stack);
/* It is not to be used again. */
void stack_prefix_forget(struct stack_prefix *t);
#endif
