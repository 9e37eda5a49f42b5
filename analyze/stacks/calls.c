/* calls.c - a tree of calls that grows where somebody looks. */
#include "analyze/stacks/calls.h"

#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/search.h"

struct calls *calls_new(uint32_t root, uint32_t labels, int step)
{
	struct calls *c = mem_new(1, sizeof(*c));

	c->step = step;
	c->of = mem_new((size_t)labels + 1, sizeof(*c->of));
	*mem_add(c->node, c->n_node, c->cap_node) =
		(struct calls_node){ .label = root, .parent = CALLS_NONE };
	return c;
}

void calls_free(struct calls *c)
{
	if (!c)
		return;
	free_all(c->node, c->stack, c->spare, c->of, c);
}

/* Counts a stack, of which s has what is after the node. */
static void calls_count_stack(struct calls_node *nd,
			      const struct calls_stack *s)
{
	nd->n++;
	nd->weight = saturating_add(nd->weight, s->weight);
	nd->samples += s->samples;
	if (s->n)
		nd->goes_on = true;
	else
		nd->self = saturating_add(nd->self, s->weight);
}

void calls_add(struct calls *c, const struct calls_stack *s)
{
	struct calls_stack *to = mem_add(c->stack, c->n, c->cap);

	*to = *s;
	if (!to->n)
		to->label = NULL;
	calls_count_stack(&c->node[0], s);
}

COMPARE_LARGEST_BY(calls_compare, struct calls_node, weight, label);

const struct calls_node *calls_split(struct calls *c, uint32_t id)
{
	const struct calls_node nd = c->node[id];
	uint32_t first = (uint32_t)c->n_node;
	size_t at = nd.first;

	if (nd.is_split || !nd.goes_on)
		return &c->node[id];
	if (!c->spare)
		c->spare = mem_new(c->n, sizeof(*c->spare));
	memcpy(c->spare, c->stack + nd.first, nd.n * sizeof(*c->spare));
	/* takes the next label off each stack that has one, and counts the rest
	 * for the child of that label, which may be new */
	for (size_t i = 0; i < nd.n; i++) {
		struct calls_stack *s = &c->spare[i];

		if (!s->label)
			continue;
		uint32_t label = s->label[0];

		if (!c->of[label]) {
			*mem_add(c->node, c->n_node, c->cap_node) =
				(struct calls_node){ .label = label,
						     .parent = id,
						     .depth = nd.depth + 1 };
			c->of[label] = (uint32_t)c->n_node;
		}
		s->n--;
		calls_count_stack(&c->node[c->of[label] - 1], s);
	}
	/* moves the stacks so that those of each child lie side by side */
	for (size_t i = first; i < c->n_node; i++) {
		c->node[i].first = at;
		at += c->node[i].n;
		c->node[i].n = 0;
	}
	for (size_t i = 0; i < nd.n; i++) {
		struct calls_stack s = c->spare[i];
		struct calls_node *child;

		if (!s.label)
			continue;
		child = &c->node[c->of[s.label[0]] - 1];
		s.label = s.n ? s.label + c->step : NULL;
		c->stack[child->first + child->n++] = s;
	}
	for (size_t i = first; i < c->n_node; i++)
		c->of[c->node[i].label] = 0;
	c->node[id].is_split = true;
	c->node[id].child = first;
	c->node[id].n_child = (uint32_t)c->n_node - first;
	sort_items(c->node + first, c->node[id].n_child, calls_compare);
	return &c->node[id];
}
