/* stack_tree.c - the stacks of a database as the tree they are. */
#include "cli/stack_tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "schema/store.h"
#include "stitch/err.h"
#include "stitch/mem.h"

/* Ids are 1, 2, 3 ... by the schema: then an array is the whole index. */
static int take(struct stack_tree *t, struct rows *r, size_t frames,
		struct err *err)
{
	int64_t id = rows_int(r, 0);
	int64_t parent = rows_int(r, 1);
	int64_t frame = rows_int(r, 2);

	if (id != (int64_t)t->n + 1 || id >= UINT32_MAX || parent < 0 ||
	    parent >= id || frame < 1 || (uint64_t)frame > frames)
		return err_set(err, ERR_DB,
			       "the database is damaged: stack %" PRId64
			       "; ingest the capture again",
			       id);
	t->link = mem_grow(t->link, &t->cap, t->n + 1, sizeof(*t->link));
	t->link[t->n++] =
		(struct stack_link){ (uint32_t)parent, (uint32_t)frame };
	return 0;
}

int stack_tree_load(struct stack_tree *t, struct store *db, size_t frames,
		    struct err *err)
{
	struct rows *r = rows_open(db, store_sql("stacks"), NULL, 0, err);
	int ret = r ? 1 : -1;

	while (ret > 0) {
		ret = rows_next(r, err);
		if (ret > 0 && take(t, r, frames, err))
			ret = -1;
	}
	rows_close(r);
	return ret;
}

void stack_tree_release(struct stack_tree *t)
{
	free(t->link);
	memset(t, 0, sizeof(*t));
}
