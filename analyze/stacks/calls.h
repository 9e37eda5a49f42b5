/* calls.h - a tree of calls that grows where somebody looks.
 *
 * A node is the stacks that begin alike. calls_split() makes the nodes below
 * it, which costs as much as it has stacks; what is not opened costs nothing.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALLS_NONE UINT32_MAX

struct calls_node {
	uint32_t label;	 /* of frames; that of the root is the caller's */
	uint32_t parent; /* CALLS_NONE: the root, node 0 */
	uint32_t depth;	 /* root: 0 */
	uint32_t child, n_child; /* nodes, heaviest first; once it is split */
	size_t first, n;	 /* its stacks */
	uint64_t weight, samples;
	uint64_t self; /* weight of those that end here */
	bool goes_on;  /* some do not */
	bool is_split;
};

/* A stack that goes from label[0] on, by step 1 or -1, n labels. */
struct calls_stack {
	const uint32_t *label; /* not looked at if n is 0 */
	size_t n;
	uint64_t weight, samples;
};

struct calls {
	struct calls_node *node; /* moved by the next split */
	size_t n_node;
	/* for calls.c only */
	size_t cap_node;
	int step;
	struct calls_stack *stack; /* those of a node lie side by side */
	size_t n, cap;
	struct calls_stack *spare; /* room to sort them */
	uint32_t *of; /* while a node is split: its child + 1, by label */
};

/* labels: how many there are, for calls_add(); step: of all stacks. */
struct calls *calls_new(uint32_t root, uint32_t labels, int step);
void calls_free(struct calls *c);
/* Adds a stack, whose labels are borrowed; before the first split. */
void calls_add(struct calls *c, const struct calls_stack *s);
/* Makes the nodes below a node, if there are none yet, and returns it. */
const struct calls_node *calls_split(struct calls *c, uint32_t id);
