/* flame_nodes.c - the stacks of samples added up into a tree of names. */
#include "schema/functions/flame_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/base/search.h"

struct flame_place {
	uint32_t node, stack; /* the stack begins below node */
	uint32_t end;	      /* the node of its last frame */
};

struct flame_nodes *flame_nodes_new(void)
{
	return mem_new(1, sizeof(struct flame_nodes));
}

void flame_nodes_free(struct flame_nodes *t)
{
	if (!t)
		return;
	intern_release(&t->names);
	table_release(&t->items);
	table_release(&t->places);
	free_all(t->stack, t->frame, t->part, t->item, t->place, t->todo, t);
}

void flame_nodes_frame(struct flame_nodes *t, const char *label,
		       const char *image)
{
	struct flame_frame f = { .part = (uint32_t)t->n_part,
				 .image = FLAME_ROOT };

	if (image)
		f.image = intern_add(&t->names, image);
	for (const char *s = label; s;) {
		size_t len = strcspn(s, ";");

		*mem_add(t->part, t->n_part, t->cap_part) =
			intern_add_bytes(&t->names, s, len);
		f.n++;
		s = s[len] ? s + len + 1 : NULL;
	}
	*mem_add(t->frame, t->n_frame, t->cap_frame) = f;
}

int flame_nodes_stack(struct flame_nodes *t, int64_t parent, int64_t frame,
		      bool callerless)
{
	if (parent < 0 || (uint64_t)parent > t->n_stack || frame < 1 ||
	    (uint64_t)frame > t->n_frame)
		return -1;
	*mem_add(t->stack, t->n_stack, t->cap_stack) =
		(struct flame_stack){ (uint32_t)parent, (uint32_t)frame,
				      callerless };
	return 0;
}

SAME_BY(flame_nodes_same_item, struct flame_nodes, item[id], struct flame_item,
	parent, name, image);

uint32_t flame_nodes_child(struct flame_nodes *t, uint32_t node, uint32_t name,
			   uint32_t image)
{
	const struct flame_item added = {
		.name = name,
		.image = image,
		.parent = node,
		.depth = node == FLAME_ROOT ? 0 : t->item[node].depth + 1,
	};
	uint64_t h = hash_pair(node, (uint64_t)name << 32 | image);
	uint32_t id =
		table_find(&t->items, h, flame_nodes_same_item, t, &added);

	if (id != TABLE_NONE)
		return id;
	if (t->n_item >= FLAME_NODES_MAX)
		return FLAME_ROOT;
	id = (uint32_t)t->n_item;
	*mem_add(t->item, t->n_item, t->cap_item) = added;
	table_add(&t->items, h, id);
	return id;
}

/* Returns the node of the stack's last frame below node `at`. Inlined functions
 * are nodes too. */
static uint32_t flame_nodes_step_in(struct flame_nodes *t, uint32_t at,
				    uint32_t stack)
{
	const struct flame_frame *f = &t->frame[t->stack[stack - 1].frame - 1];

	for (uint32_t i = 0; i < f->n && at != FLAME_ROOT; i++)
		at = flame_nodes_child(t, at, t->part[f->part + i], f->image);
	return at;
}

uint32_t flame_nodes_place(struct flame_nodes *t, uint32_t node, uint32_t stack)
{
	struct flame_place p = { .node = node, .end = node };
	size_t n = 0;

	/* to callers, up to a stack that has its place */
	for (; stack; stack = t->stack[stack - 1].parent) {
		p.stack = stack;
		uint32_t id =
			table_find_hash(&t->places, hash_u32s(node, stack));

		if (id != TABLE_NONE) {
			p.end = t->place[id].end;
			break;
		}
		*mem_add(t->todo, n, t->cap_todo) = stack;
	}
	/* and back */
	while (n > 0) {
		p.stack = t->todo[--n];
		p.end = flame_nodes_step_in(t, p.end, p.stack);
		if (p.end == FLAME_ROOT)
			return FLAME_ROOT;
		table_add(&t->places, hash_u32s(node, p.stack),
			  (uint32_t)t->n_place);
		*mem_add(t->place, t->n_place, t->cap_place) = p;
	}
	return p.end;
}

uint32_t flame_nodes_place_marked(struct flame_nodes *t, uint32_t node,
				  uint32_t stack)
{
	const struct flame_stack *s = stack ? &t->stack[stack - 1] : NULL;

	if (!s || !s->callerless || !s->parent)
		return flame_nodes_place(t, node, stack);
	uint32_t at = flame_nodes_place(t, node, s->parent);
	if (at != FLAME_ROOT)
		at = flame_nodes_child(
			t, at, intern_add(&t->names, "[caller missing]"),
			FLAME_ROOT);
	return at == FLAME_ROOT ? at : flame_nodes_step_in(t, at, stack);
}

/* The heaviest child is last. */
static int flame_nodes_by_weight(const void *a, const void *b, void *arg)
{
	const struct flame_nodes *t = arg;
	const struct flame_item *x = &t->item[*(const uint32_t *)a];
	const struct flame_item *y = &t->item[*(const uint32_t *)b];

	return compare_numbers(x->parent, y->parent)
		       ?: compare_numbers(x->weight, y->weight)
		       ?: strcmp(intern_get(&t->names, y->name),
				 intern_get(&t->names, x->name))
		       ?: compare_numbers(y->image, x->image);
}

int flame_nodes_finish(struct flame_nodes *t)
{
	size_t n = t->n_item;

	/* Add the weights of children to their parents, which have lower
	 * numbers. */
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		t->item[i].weight = t->item[i].self;
	for (size_t i = n; i-- > 0;) {
		const struct flame_item *x = &t->item[i];
		bool top = x->parent == FLAME_ROOT;
		uint64_t *to = top ? &all : &t->item[x->parent].weight;

		if (__builtin_add_overflow(*to, x->weight, to) ||
		    *to > INT64_MAX)
			return -1;
		if (!top)
			t->item[x->parent].samples += x->samples;
	}
	/* the children of each parent, one after the other from first[] on; n:
	 * of no parent */
	uint32_t *list = mem_new(n + 1, sizeof(*list));
	uint32_t *first = mem_new(n + 1, sizeof(*first));
	uint32_t *left = mem_new(n + 1, sizeof(*left)); /* still to visit */
	uint32_t *now = mem_new(n + 1, sizeof(*now));	/* old number -> new */
	struct flame_item *item = mem_new(n + 1, sizeof(*item));

	for (size_t i = 0; i <= n; i++)
		first[i] = (uint32_t)n;
	for (size_t i = 0; i < n; i++)
		list[i] = (uint32_t)i;
	qsort_r(list, n, sizeof(*list), flame_nodes_by_weight, t);
	for (size_t i = n; i-- > 0;) {
		uint32_t parent = t->item[list[i]].parent;

		first[parent == FLAME_ROOT ? n : parent] = (uint32_t)i;
	}
	/* depth first: the one that was added last is next */
	uint32_t at = FLAME_ROOT;
	size_t n_left = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = first[at == FLAME_ROOT ? n : at];
		     k < n && t->item[list[k]].parent == at; k++)
			left[n_left++] = list[k];
		at = left[--n_left];
		now[at] = (uint32_t)i;
		item[i] = t->item[at];
		if (item[i].parent != FLAME_ROOT)
			item[i].parent = now[item[i].parent];
	}
	free(t->item);
	t->item = item;
	t->cap_item = n + 1;
	free_all(list, first, left, now);
	return 0;
}
