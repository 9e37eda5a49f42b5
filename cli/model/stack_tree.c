/* stack_tree.c - the stacks of a database as the tree they are. */
#include "cli/model/stack_tree.h"

#include <stdlib.h>
#include <string.h>

#include "schema/store.h"
#include "stitch/base/mem.h"

struct loading {
	struct stack_tree *t;
	size_t frames;
};

static int take(void *arg, const struct rows *r, struct err *err)
{
	const struct loading *l = arg;
	struct stack_tree *t = l->t;
	int64_t parent = rows_int(r, 1);
	int64_t frame = rows_int(r, 2);

	(void)err;
	if (parent < 0 || parent >= rows_int(r, 0) || frame < 1 ||
	    (uint64_t)frame > l->frames)
		return 1;
	t->link = mem_grow(t->link, &t->cap, t->n + 1, sizeof(*t->link));
	t->link[t->n++] =
		(struct stack_link){ (uint32_t)parent, (uint32_t)frame };
	return 0;
}

int stack_tree_load(struct stack_tree *t, struct store *db, size_t frames,
		    struct err *err)
{
	struct loading l = { t, frames };

	return rows_each_dense(db, "stacks", take, &l, err);
}

void stack_tree_release(struct stack_tree *t)
{
	free(t->link);
	memset(t, 0, sizeof(*t));
}
