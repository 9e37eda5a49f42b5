/* flame_tree.c - merges many stacks into one tree of widths. */
#include "analyze/stacks/flame_tree.h"

#include "analyze/stacks/label.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

static void flame_tree_add_node(struct flame_tree *t, uint32_t parent,
				uint32_t label)
{
	uint32_t depth = parent == FLAME_NONE ? 0 : t->node[parent].depth + 1;

	*mem_add(t->node, t->n, t->cap) = (struct flame_node){ .label = label,
							       .parent = parent,
							       .depth = depth };
}

struct flame_tree *flame_tree_new(struct labels *labels)
{
	struct flame_tree *t = mem_new(1, sizeof(*t));

	t->labels = labels;
	flame_tree_add_node(t, FLAME_NONE,
			    labels_add_name(labels, LABEL_GROUP, "all"));
	return t;
}

void flame_tree_free(struct flame_tree *t)
{
	if (!t)
		return;
	table_release(&t->index);
	free_all(t->node, t->child, t->place, t);
}

uint32_t flame_tree_reach(struct flame_tree *t, uint32_t id,
			  const uint32_t *label, size_t n, struct err *err)
{
	if (t->n + n >= FLAME_NONE) {
		err_set(err, ERR_LIMIT,
			"the stacks make more than "
			"4294967295 frames; use the filters");
		return FLAME_NONE;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t next = table_find_or_add(
			&t->index, hash_u32s(id, label[i]), t->n);

		if (next == t->n)
			flame_tree_add_node(t, id, label[i]);
		id = next;
	}
	return id;
}

int flame_tree_weigh(struct flame_tree *t, uint32_t id, uint64_t weight,
		     uint64_t samples, struct err *err)
{
	uint64_t sum, count;

	if (__builtin_add_overflow(t->weight, weight, &sum) ||
	    __builtin_add_overflow(t->samples, samples, &count))
		return err_set(err, ERR_LIMIT,
			       "the weights sum up to more "
			       "than 64 bits; use --by samples");
	t->weight = sum;
	t->samples = count;
	t->node[id].self += weight;
	t->node[id].samples += samples;
	return 0;
}

int flame_tree_add(struct flame_tree *t, const uint32_t *label, size_t n,
		   uint64_t weight, uint64_t samples, struct err *err)
{
	uint32_t id = flame_tree_reach(t, 0, label, n, err);

	return id == FLAME_NONE ? -1
				: flame_tree_weigh(t, id, weight, samples, err);
}

/* A node and what it is sorted by: parents in order, labels by their rank. */
struct sort_key {
	uint32_t parent, rank, node;
};

COMPARE_BY(compare_key, struct sort_key, parent, rank);

COMPARE_FUNCTION_OF(compare_label, uint32_t, struct labels,
		    label_compare(labels_get(of, *x), labels_get(of, *y)));

void flame_tree_finish(struct flame_tree *t)
{
	/* a child's id is larger than its parent's: one pass from the end */
	for (size_t i = t->n; i-- > 0;) {
		struct flame_node *nd = &t->node[i];

		nd->weight += nd->self;
		if (nd->parent == FLAME_NONE)
			break;
		t->node[nd->parent].weight += nd->weight;
		t->node[nd->parent].samples += nd->samples;
	}
	size_t n = t->n - 1;
	struct sort_key *key = mem_new(n, sizeof(*key));
	uint32_t n_label = labels_count(t->labels);
	uint32_t *order = mem_new(n_label, sizeof(*order));
	/* by label: its place among all labels, so that nodes can be sorted
	 * without comparing strings */
	uint32_t *rank = mem_new(n_label, sizeof(*rank));

	for (uint32_t i = 0; i < n_label; i++)
		order[i] = i;
	sort_items_by(order, n_label, compare_label, (void *)t->labels);
	for (uint32_t i = 0; i < n_label; i++)
		rank[order[i]] = i;
	free(order);

	for (size_t i = 0; i < n; i++) {
		const struct flame_node *nd = &t->node[i + 1];

		key[i] = (struct sort_key){ nd->parent, rank[nd->label],
					    (uint32_t)i + 1 };
	}
	sort_items(key, n, compare_key);
	t->child = mem_new(n, sizeof(*t->child));
	t->place = mem_new(t->n, sizeof(*t->place));
	for (size_t i = 0; i < n; i++) {
		struct flame_node *parent = &t->node[key[i].parent];

		if (!parent->n_child++)
			parent->child = (uint32_t)i;
		t->child[i] = key[i].node;
		t->place[key[i].node] = (uint32_t)i;
	}
	free_all(rank, key);
}

uint32_t flame_tree_next(const struct flame_tree *t, uint32_t id, int skip)
{
	const struct flame_node *nd = &t->node[id];

	if (nd->n_child && !skip)
		return t->child[nd->child];
	while (nd->parent != FLAME_NONE) {
		const struct flame_node *parent = &t->node[nd->parent];
		uint32_t next = t->place[id] + 1;

		if (next < parent->child + parent->n_child)
			return t->child[next];
		id = nd->parent;
		nd = parent;
	}
	return FLAME_NONE;
}

bool flame_tree_is_seam(const struct flame_tree *t, uint32_t id)
{
	const struct flame_node *nd = &t->node[id];

	if (nd->parent == FLAME_NONE)
		return false;

	const struct label *own = labels_get(t->labels, nd->label);
	const struct label *below =
		labels_get(t->labels, t->node[nd->parent].label);

	return own->kind != LABEL_GROUP && below->kind != LABEL_GROUP &&
	       own->kernel != below->kernel;
}

uint32_t flame_tree_child_of(const struct flame_tree *t, uint32_t parent,
			     uint32_t label)
{
	uint32_t id = table_find_hash(&t->index, hash_u32s(parent, label));

	return id == TABLE_NONE ? FLAME_NONE : id;
}

uint32_t flame_tree_find(const struct flame_tree *t, const uint32_t *label,
			 size_t n)
{
	uint32_t at = 0;

	for (size_t i = 0; i < n && at != FLAME_NONE; i++)
		at = flame_tree_child_of(t, at, label[i]);
	return at;
}
