/* stack_prefix.h - reuses the outer frames of the last resolved stack.
 *
 * The stacks of a program mostly differ in their inner frames only. Comparing
 * addresses with those of the last stack is cheaper than looking up each
 * frame. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct addrs;

/* While the key is the same, equal addresses have equal frames. */
struct stack_prefix_key {
	uint64_t mask;
	uint32_t view, gen;
};

/* All zeros: empty. */
struct stack_prefix {
	struct stack_prefix_key key;
	uint64_t *ip; /* outermost first */
	uint32_t *stack;
	size_t n, cap_ip, cap_stack;
};

void stack_prefix_release(struct stack_prefix *t);
/* Returns how many of a's outermost addresses equal those of the last stack,
 * and sets *stack to the stack of these frames. Forgets the other frames. */
uint32_t stack_prefix_shared(struct stack_prefix *t,
			     const struct stack_prefix_key *key,
			     const struct addrs *a, uint32_t *stack);
/* Adds the next inner address, and the stack up to it. */
void stack_prefix_push(struct stack_prefix *t, uint64_t ip, uint32_t stack);
