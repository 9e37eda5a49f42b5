/* flame_nodes.h - the stacks of samples added up into a tree of names.
 *
 * A stack is put below a node by its id: what was put there before is
 * remembered, so that the work is done once for each place of a stack in the
 * tree, however many samples it has. Order of calls: names and stacks in, then
 * flame_nodes_add() any number of times, then flame_nodes_finish(). */
#ifndef SCHEMA_FUNCTIONS_FLAME_NODES_H
#define SCHEMA_FUNCTIONS_FLAME_NODES_H
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/mem.h"
#include "stitch/base/table.h"

#define FLAME_NODES_MAX (1u << 24)
#define FLAME_ROOT UINT32_MAX /* above the nodes of depth 0 */

struct flame_item {
	uint32_t name, image; /* texts; FLAME_ROOT: none */
	uint32_t parent;      /* before finish any, then before its children */
	uint32_t depth;
	uint64_t weight, self, samples;
};

/* A stack as table stack has it, and the texts of a frame: from..from + n of
 * part, outermost first. */
struct flame_stack {
	uint32_t parent, frame; /* parent 0: the outermost */
};
struct flame_frame {
	uint32_t part, n;
	uint32_t image;
};

struct flame_nodes {
	struct arena text;
	const char **name; /* by text */
	size_t n_name, cap_name;
	struct table names;

	struct flame_stack *stack; /* by id - 1 */
	size_t n_stack, cap_stack;
	struct flame_frame *frame; /* by id - 1 */
	size_t n_frame, cap_frame;
	uint32_t *part;
	size_t n_part, cap_part;

	struct flame_item *item;
	size_t n_item, cap_item;
	struct table items;

	struct flame_place *place; /* where a stack is already */
	size_t n_place, cap_place;
	struct table places;
	uint32_t *todo;
	size_t cap_todo;
};

struct flame_nodes *flame_nodes_new(void);
void flame_nodes_free(struct flame_nodes *t);
/* The number of a text. */
uint32_t flame_nodes_text(struct flame_nodes *t, const char *s, size_t len);
/* The next frame: its label is split at ';'. */
void flame_nodes_frame(struct flame_nodes *t, const char *label,
		       const char *image);
/* The next stack: -1 when parent or frame cannot be. */
int flame_nodes_stack(struct flame_nodes *t, int64_t parent, int64_t frame);
/* The child of a node (FLAME_ROOT: at depth 0); FLAME_ROOT: too many nodes. */
uint32_t flame_nodes_child(struct flame_nodes *t, uint32_t node, uint32_t name,
			   uint32_t image);
/* Where a stack ends that begins below node, or FLAME_ROOT as above. */
uint32_t flame_nodes_place(struct flame_nodes *t, uint32_t node,
			   uint32_t stack);
/* Sums, and order: parents before their children, the heaviest first, in the
 * order of a walk. -1: the weights do not fit 64 bits. */
int flame_nodes_finish(struct flame_nodes *t);
#endif
