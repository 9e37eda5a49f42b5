/* stack_cache.h - the stack of a sample as text, made once for each distinct
 * one: for exports with one row for each sample.
 *
 * Memory is bounded by the number of distinct stacks. */
#ifndef CLI_MODEL_STACK_CACHE_H
#define CLI_MODEL_STACK_CACHE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct event_row;
struct label_list;
struct labels;
struct stack_cache;
struct stacks;
struct stacks_group;

/* len bytes, and a final 0. */
struct stack_text {
	const char *text;
	size_t len;
};

enum stack_half {
	HALF_KERNEL = 1,
	HALF_USER = 2, /* with "[user: VERDICT]" for what is missing of it */
	HALF_BOTH = 3
};

/* Writes the frames from `kernel` on, which belong to the kernel half, and
 * those before it, outermost first, as the export wants them. */
typedef void stack_put_fn(void *arg, FILE *out, const struct labels *labels,
			  const struct label_list *frames, size_t kernel);

/* Borrows stacks. */
struct stack_cache *stack_cache_new(struct stacks *s, stack_put_fn *put,
				    void *arg);
void stack_cache_free(struct stack_cache *c);
/* One cache can have all halves; the text lives as long as it. */
struct stack_text stack_cache_event(struct stack_cache *c,
				    const struct event_row *e,
				    enum stack_half half);
struct stack_text stack_cache_group(struct stack_cache *c,
				    const struct stacks_group *g);
/* As a folded stack: "main;read;vfs_read_[k]". */
void stack_put_folded(FILE *out, const struct labels *labels,
		      const uint32_t *label, size_t n);
#endif
