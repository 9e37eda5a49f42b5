/* stack_tree.h - the stacks of a database as the tree they are.
 *
 * A parent has a smaller id than its child, so a walk to the outermost frame
 * always ends, whatever a damaged file says. */
#ifndef CLI_MODEL_STACK_TREE_H
#define CLI_MODEL_STACK_TREE_H
#include <stddef.h>
#include <stdint.h>

struct err;
struct store;

struct stack_link {
	uint32_t parent; /* stack id, < own; 0: this is the outermost */
	uint32_t frame;	 /* frame id, >= 1 */
};

struct stack_tree {
	struct stack_link *link; /* of stack id 1, 2, 3, ... */
	size_t n, cap;
};

/* Zero-initialised is empty. frames: the highest id that a frame may have.
 * 0, or -1 and *err; release it in either case. */
int stack_tree_load(struct stack_tree *t, struct store *db, size_t frames,
		    struct err *err);
void stack_tree_release(struct stack_tree *t);

/* id is 1 ... n. */
static inline const struct stack_link *stack_tree_at(const struct stack_tree *t,
						     uint32_t id)
{
	return &t->link[id - 1];
}
#endif
