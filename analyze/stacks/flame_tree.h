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
	uint32_t child, n_child; /* of flame_tree.child */
	uint64_t weight;	 /* with all above it */
	uint64_t self;		 /* ended here */
	uint64_t samples;	 /* with all above it */
	uint64_t inferred;	 /* weight of flame_tree_infer() */
};

/* Read only. */
struct flame_tree {
	const struct labels *labels;
	struct flame_node *node;
	size_t n, cap;
	uint32_t *child; /* nodes by (parent, order of labels) */
	/* For flame_tree.c. */
	uint32_t *place;    /* where a node stands in child[] */
	struct table index; /* (parent, label) to node */
	uint64_t weight, samples;
};

/* labels are borrowed for the tree's life; the root is the label "all". */
struct flame_tree *flame_tree_new(struct labels *labels);
void flame_tree_free(struct flame_tree *t);
/* One stack, outermost label first (n 0: the root itself). -1 when the sum of
 * all weights leaves 64 bits; then the tree is of no use. */
int flame_tree_add(struct flame_tree *t, const uint32_t *label, size_t n,
		   uint64_t weight, uint64_t samples, struct err *err);
/* The same in two steps: the node of labels above another one, which may be new
 * and is FLAME_NONE, with *err, if there are too many; and a weight that ends
 * there. */
uint32_t flame_tree_reach(struct flame_tree *t, uint32_t id,
			  const uint32_t *label, size_t n, struct err *err);
int flame_tree_weigh(struct flame_tree *t, uint32_t id, uint64_t weight,
		     uint64_t samples, struct err *err);
/* The node of a stack that was added; FLAME_NONE: it was not. */
uint32_t flame_tree_find(const struct flame_tree *t, const uint32_t *label,
			 size_t n);
void flame_tree_finish(struct flame_tree *t);

/* The node after `id` when a parent comes before its children, children in
 * order; FLAME_NONE after the last. skip: leave out what is above id. */
uint32_t flame_tree_next(const struct flame_tree *t, uint32_t id, int skip);
/* Is the border between the program and the kernel below this node: the first
 * kernel frame above a user frame, or above what stands for one that is
 * missing (with --reverse the first user frame above a kernel frame)? A
 * drawing shows the seam at the root's side of the frame. */
bool flame_tree_is_seam(const struct flame_tree *t, uint32_t id);
/* The child of a node with that label; FLAME_NONE: none. O(1). */
uint32_t flame_tree_child_of(const struct flame_tree *t, uint32_t parent,
			     uint32_t label);
