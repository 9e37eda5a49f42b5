/* sums.c - the samples that view shows, and trees of their calls. */
#include "analyze/stacks/sums.h"

#include "analyze/stacks/label.h"
#include "analyze/stacks/report_rows.h"
#include "analyze/stacks/stacks.h"
#include "stitch/base/err.h"
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

/* Counts a stack for a node; s has the part of the stack after the node. */
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

/* The frames of a group are label[at..at+n), outermost first. */
struct sums_stack {
	size_t at, n;
	uint64_t weight, samples;
};

/* Returns the labels from index `at` on; NULL if no stack has any. */
static uint32_t *sums_from(const struct sums *s, size_t at)
{
	return s->label.label ? s->label.label + at : NULL;
}

struct sums *sums_load(struct store *db, const char *path,
		       const struct filter *filter, sums_more_fn *more,
		       struct err *err)
{
	const struct stacks_opts o = {
		.filter = filter, .gaps = true, .inlined = true, .summed = true
	};
	struct sums *s = mem_new(1, sizeof(*s));
	struct trust *t = NULL;
	char *note = NULL; /* not shown: sums_event() names the event */

	s->stacks = stacks_load(db, &o, err);
	if (s->stacks && !more(db, path, filter, s->stacks, err)) {
		s->event = stacks_choose(s->stacks, "counting", &note);
		if (!stacks_whole(s->stacks, s->event, path,
				  "'report --by samples' counts them",
				  &s->weight, &s->samples, err))
			t = trust_of(db, s->stacks, s->event, err);
	}
	free(note);
	if (!t) {
		sums_free(s);
		return NULL;
	}
	trust_say(t, s->trust);
	trust_free(t);
	s->labels = s->stacks->labels;
	labels_shorten(s->stacks->labels, &o.names);
	s->all = labels_add_name(s->stacks->labels, LABEL_GROUP, "all");
	s->rows = report_rows_empty(s->labels, KEY_SYM | KEY_DSO);
	stacks_each (g, s->stacks, s->event) {
		size_t at = s->label.n;

		stacks_get(s->stacks, g, &s->label);

		const struct label_list part = { .label = sums_from(s, at),
						 .n = s->label.n - at };

		report_rows_add(s->rows, 0, &part, g->weight, g->samples);
		*mem_add(s->stack, s->n, s->cap) =
			(struct sums_stack){ at, part.n, g->weight,
					     g->samples };
	}
	s->row_of = mem_new(labels_count(s->labels), sizeof(*s->row_of));
	for (uint32_t i = 0; i < labels_count(s->labels); i++)
		s->row_of[i] = report_rows_of_label(s->rows, i);
	return s;
}

void sums_free(struct sums *s)
{
	if (!s)
		return;
	report_rows_free(s->rows);
	stacks_free(s->stacks);
	free_all(s->stack, s->label.label, s->row_of, s);
}

const char *sums_event(const struct sums *s)
{
	return stacks_event_name(s->stacks, s->event);
}

const char *sums_word(const struct sums *s)
{
	return s->event >= 0 && s->stacks->event[s->event].nested ? "call"
								  : "sample";
}

size_t sums_other_events(const struct sums *s)
{
	size_t n = 0;

	for (size_t i = 0; s->event >= 0 && i < s->stacks->n_event; i++)
		n += i != (size_t)s->event && !s->stacks->event[i].apart &&
		     s->stacks->event[i].samples > 0;
	return n;
}

/* ---- trees */

/* Adds a stack: n of its labels, from label[at] on. */
static void sums_add(struct calls *c, const struct sums *s,
		     const struct sums_stack *st, size_t at, size_t n)
{
	const struct calls_stack part = { sums_from(s, st->at + at), n,
					  st->weight, st->samples };

	calls_add(c, &part);
}

struct calls *sums_tree(const struct sums *s)
{
	struct calls *c = calls_new(s->all, labels_count(s->labels), 1);

	for (size_t i = 0; i < s->n; i++)
		sums_add(c, s, &s->stack[i], 0, s->stack[i].n);
	return c;
}

struct calls *sums_callers(const struct sums *s, size_t row)
{
	struct calls *c = calls_new(s->all, labels_count(s->labels), -1);

	for (size_t i = 0; i < s->n; i++) {
		const struct sums_stack *st = &s->stack[i];
		const uint32_t *label = sums_from(s, st->at);
		size_t at = 0, n;

		while (at < st->n && s->row_of[label[at]] != row)
			at++;
		if (at == st->n)
			continue;
		/* the program after an exec did not call the code before it */
		n = at;
		while (n > 0 &&
		       labels_get(s->labels, label[at])->kind != LABEL_EXEC &&
		       labels_get(s->labels, label[n - 1])->kind == LABEL_EXEC)
			n--;
		sums_add(c, s, st, n ? n - 1 : 0, n);
	}
	return c;
}

struct calls *sums_callees(const struct sums *s, size_t row)
{
	struct calls *c = calls_new(s->all, labels_count(s->labels), 1);

	for (size_t i = 0; i < s->n; i++) {
		const struct sums_stack *st = &s->stack[i];
		const uint32_t *label = sums_from(s, st->at);
		size_t at = st->n;

		while (at > 0 && s->row_of[label[at - 1]] != row)
			at--;
		if (at > 0)
			sums_add(c, s, st, at, st->n - at);
	}
	return c;
}

/* ---- search */

bool sums_has(const struct label *l, const char *text)
{
	return strstr(label_shown(l), text) || strstr(l->name, text);
}

uint64_t sums_find(const struct sums *s, const char *text)
{
	uint32_t n = labels_count(s->labels);
	bool *has = mem_new(n, sizeof(*has));
	uint64_t weight = 0;

	for (uint32_t i = 0; i < n; i++)
		has[i] = sums_has(labels_get(s->labels, i), text);
	for (size_t i = 0; i < s->n; i++) {
		const struct sums_stack *st = &s->stack[i];
		size_t k = 0;

		while (k < st->n && !has[s->label.label[st->at + k]])
			k++;
		weight += k < st->n ? st->weight : 0;
	}
	free(has);
	return weight;
}
