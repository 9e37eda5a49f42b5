/* flame_tree.h - many stacks merged into one tree of widths.
 *
 * flame_tree_add() any number of times, flame_tree_finish() once, then read.
 * Afterwards the children of a node lie one after the other, sorted by
 * label, and the weight of every node is the sum of its children's and its
 * own `self`: nothing gets lost between adding and drawing. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/table.h"

struct err;
struct labels;

#define FLAME_NONE UINT32_MAX

struct flame_node {
	uint32_t label;
	uint32_t parent;	 /* FLAME_NONE: the root, node 0 */
	uint32_t depth;		 /* root: 0 */
	uint32_t child, n_child; /* range of flame_tree.child */
	uint64_t weight;	 /* with that of all nodes above it */
	uint64_t self;		 /* weight that ended here */
	uint64_t samples;	 /* with those of all nodes above it */
	uint64_t inferred;	 /* weight for which it is inferred; set by
				  * flame_draw.c */
};

/* Read only. */
struct flame_tree {
	const struct labels *labels;
	struct flame_node *node;
	size_t n, cap;
	uint32_t *child; /* nodes by (parent, order of labels) */
	/* for flame_tree.c only */
	uint32_t *place;    /* by node: its index in child[] */
	struct table index; /* (parent, label) to node */
	uint64_t weight, samples;
};

/* Returns a tree with the root "all", freed by flame_tree_free(). labels:
 * borrowed until then. */
struct flame_tree *flame_tree_new(struct labels *labels);
void flame_tree_free(struct flame_tree *t);
/* Adds one stack, outermost label first (n 0: the root itself). Returns 0, or
 * -1 and *err if the sum of all weights exceeds 64 bits; then the tree is of no
 * use. */
int flame_tree_add(struct flame_tree *t, const uint32_t *label, size_t n,
		   uint64_t weight, uint64_t samples, struct err *err);
/* The same in two steps. The first returns the node of n labels above node id,
 * which it may add, or FLAME_NONE and *err if there are too many; the second
 * adds a weight that ends in a node. */
uint32_t flame_tree_reach(struct flame_tree *t, uint32_t id,
			  const uint32_t *label, size_t n, struct err *err);
int flame_tree_weigh(struct flame_tree *t, uint32_t id, uint64_t weight,
		     uint64_t samples, struct err *err);
/* Returns the node of a stack that was added; FLAME_NONE: it was not. */
uint32_t flame_tree_find(const struct flame_tree *t, const uint32_t *label,
			 size_t n);
/* Sums up the weights and sorts the children, once all stacks were added. */
void flame_tree_finish(struct flame_tree *t);

/* Returns the node after `id`, with parents before their children, and these in
 * order; FLAME_NONE after the last. skip: leaves out the nodes above id. */
uint32_t flame_tree_next(const struct flame_tree *t, uint32_t id, int skip);
/* Returns whether the border between the program and the kernel is below this
 * node: it is the first kernel frame above a user frame, or above the mark of a
 * missing one (with --reverse the first user frame above a kernel frame). A
 * drawing shows the seam at the root's side of the frame. */
bool flame_tree_is_seam(const struct flame_tree *t, uint32_t id);
/* Returns the child of a node with that label; FLAME_NONE: none. O(1). */
uint32_t flame_tree_child_of(const struct flame_tree *t, uint32_t parent,
			     uint32_t label);
