/* flame_nodes.h - adds up the stacks of samples in a tree of names.
 *
 * Order of calls: flame_nodes_frame() and flame_nodes_stack() for all frames
 * and stacks, then for each group of samples flame_nodes_child() and
 * flame_nodes_place(), adding to the node's self and samples; then
 * flame_nodes_finish(). The end of a stack below a node is cached, so a place
 * in the tree costs time once, however many samples it has. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/intern.h"
#include "stitch/base/table.h"

#define FLAME_NODES_MAX (1u << 24)
#define FLAME_ROOT UINT32_MAX /* above the nodes of depth 0 */

struct flame_item {
	uint32_t name, image; /* ids in names; FLAME_ROOT: none */
	uint32_t parent;      /* has a lower number */
	uint32_t depth;
	uint64_t weight, self, samples;
};

/* A row of the table stack; and the functions of a frame, inlined ones too:
 * part[part] .. part[part + n - 1], outermost first. */
struct flame_stack {
	uint32_t parent, frame; /* parent 0: it is the outermost */
	bool callerless;	/* its caller is missing before parent */
};
struct flame_frame {
	uint32_t part, n;
	uint32_t image;
};

struct flame_nodes {
	struct intern names; /* of nodes and images */

	struct flame_stack *stack; /* by id - 1 */
	size_t n_stack, cap_stack;
	struct flame_frame *frame; /* by id - 1 */
	size_t n_frame, cap_frame;
	uint32_t *part;
	size_t n_part, cap_part;

	struct flame_item *item;
	size_t n_item, cap_item;
	struct table items;

	struct flame_place *place; /* where a stack ends */
	size_t n_place, cap_place;
	struct table places;
	uint32_t *todo;
	size_t cap_todo;
};

struct flame_nodes *flame_nodes_new(void);
void flame_nodes_free(struct flame_nodes *t); /* NULL is allowed */
/* Adds the next frame; ';' separates the functions of its label. */
void flame_nodes_frame(struct flame_nodes *t, const char *label,
		       const char *image);
/* Adds the next stack. Returns -1 if there is no such parent or frame. */
int flame_nodes_stack(struct flame_nodes *t, int64_t parent, int64_t frame,
		      bool callerless);
/* Returns the child of a node (FLAME_ROOT: a node of depth 0), or FLAME_ROOT if
 * there are too many nodes. */
uint32_t flame_nodes_child(struct flame_nodes *t, uint32_t node, uint32_t name,
			   uint32_t image);
/* Returns the node where a stack ends that begins below `node`, or FLAME_ROOT
 * if there are too many nodes. */
uint32_t flame_nodes_place(struct flame_nodes *t, uint32_t node,
			   uint32_t stack);
/* flame_nodes_place() with a node "[caller missing]" where the stack lacks
 * one. */
uint32_t flame_nodes_place_marked(struct flame_nodes *t, uint32_t node,
				  uint32_t stack);
/* Computes the sums and renumbers the nodes in depth-first order, the heaviest
 * child first. Returns -1 if the weights do not fit 63 bits. */
int flame_nodes_finish(struct flame_nodes *t);
