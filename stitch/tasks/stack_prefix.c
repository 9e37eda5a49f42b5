/* stack_prefix.c - reuses the outer frames of the last resolved stack. */
#include "stitch/tasks/stack_prefix.h"

#include "stitch/base/mem.h"
#include "stitch/record.h"

void stack_prefix_release(struct stack_prefix *t)
{
	free(t->ip);
	free(t->stack);
}

uint32_t stack_prefix_shared(struct stack_prefix *t,
			     const struct stack_prefix_key *key,
			     const struct addrs *a, uint32_t *stack)
{
	uint32_t n = 0;

	if (t->key.mask == key->mask && t->key.view == key->view &&
	    t->key.gen == key->gen)
		while (n < t->n && n < a->n && t->ip[n] == a->ip[a->n - 1 - n])
			n++;
	t->key = *key;
	t->n = n;
	*stack = n ? t->stack[n - 1] : 0;
	return n;
}

void stack_prefix_push(struct stack_prefix *t, uint64_t ip, uint32_t stack)
{
	mem_grow(t->ip, t->cap_ip, t->n + 1);
	mem_grow(t->stack, t->cap_stack, t->n + 1);
	t->ip[t->n] = ip;
	t->stack[t->n++] = stack;
}
