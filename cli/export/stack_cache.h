/* stack_cache.h - stacks as text, each formatted once, for exports with one row
 * for each sample.
 *
 * Memory is bounded by the number of distinct stacks. */
#pragma once
#include <stddef.h>
#include <stdio.h>

struct event_row;
struct label_list;
struct labels;
struct stack_cache;
struct stacks;

/* len bytes; a 0 follows. */
struct stack_text {
	const char *text;
	size_t len;
};

/* Writes the frames, outermost first, in the form of an export. Those from
 * index `kernel` on are the kernel half. */
typedef void stack_put_fn(void *arg, FILE *out, const struct labels *labels,
			  const struct label_list *frames, size_t kernel);

/* Borrows s until stack_cache_free(). */
struct stack_cache *stack_cache_new(struct stacks *s, stack_put_fn *put,
				    void *arg);
void stack_cache_free(struct stack_cache *c);
/* Returns the stack of an event; valid until stack_cache_free(). */
struct stack_text stack_cache_event(struct stack_cache *c,
				    const struct event_row *e);
