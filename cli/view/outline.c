/* outline.c - rows that open into the rows below them. */
#include "cli/view/outline.h"

#include <stdlib.h>
#include <string.h>

#include "cli/view/calls.h"
#include "stitch/base/mem.h"

void outline_open(struct outline *o, size_t at)
{
	const struct outline_line parent = o->line[at];
	const struct calls_node *nd = calls_split(parent.tree, parent.node);
	size_t n = nd->n_child;

	if (parent.open || !n)
		return;
	o->line[at].open = true;
	o->line = mem_grow(o->line, &o->cap, o->n + n, sizeof(*o->line));

	struct outline_line *to = o->line + at + 1;

	memmove(to + n, to, (o->n - at - 1) * sizeof(*to));
	o->n += n;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = nd->child + i;
		const struct calls_node *child = calls_node(parent.tree, id);

		to[i] = (struct outline_line){
			.tree = parent.tree,
			.node = id,
			.row = OUTLINE_ROOT,
			.label = child->label,
			.depth = parent.depth + 1,
			.weight = child->weight,
			.self = child->self,
			.samples = child->samples,
			.parent = parent.weight,
			.leaf = !child->goes_on,
		};
	}
}

void outline_close(struct outline *o, size_t at)
{
	size_t end = at + 1;

	while (end < o->n && o->line[end].depth > o->line[at].depth)
		end++;
	memmove(o->line + at + 1, o->line + end,
		(o->n - end) * sizeof(*o->line));
	o->n -= end - at - 1;
	o->line[at].open = false;
}

size_t outline_open_hot(struct outline *o, size_t at)
{
	uint64_t half = o->line[at].weight / 2;

	while (!o->line[at].leaf && o->line[at].weight >= half) {
		outline_open(o, at);
		if (at + 1 >= o->n ||
		    o->line[at + 1].depth <= o->line[at].depth ||
		    o->line[at + 1].weight < half)
			break;
		at++;
	}
	return at;
}

size_t outline_parent(const struct outline *o, size_t at)
{
	for (size_t i = at; i > 0; i--)
		if (o->line[i - 1].depth < o->line[at].depth)
			return i - 1;
	return at;
}

void outline_release(struct outline *o)
{
	free(o->line);
	*o = (struct outline){ .line = NULL };
}
