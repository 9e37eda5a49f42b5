/* stack_cache.c - stacks as text, each formatted once. */
#include "cli/model/stack_cache.h"

#include <stdlib.h>
#include <string.h>

#include "cli/model/events.h"
#include "cli/model/folded.h"
#include "cli/model/label.h"
#include "cli/model/stacks.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/verdict.h"

struct kept {
	struct stacks_group g; /* the key */
	struct stack_text text;
};

struct stack_cache {
	struct stacks *stacks;
	stack_put_fn *put;
	void *arg;
	struct kept *kept;
	size_t n, cap;
	struct table index; /* of kept[] */
	struct label_list frames;
	struct arena text;
};

struct stack_cache *stack_cache_new(struct stacks *s, stack_put_fn *put,
				    void *arg)
{
	struct stack_cache *c = mem_new(1, sizeof(*c));

	c->stacks = s;
	c->put = put;
	c->arg = arg;
	return c;
}

void stack_cache_free(struct stack_cache *c)
{
	if (!c)
		return;
	table_release(&c->index);
	arena_release(&c->text);
	free(c->frames.label);
	free(c->kept);
	free(c);
}

static bool stack_cache_is_same(const void *owner, uint32_t id, const void *key)
{
	const struct stack_cache *c = owner;
	const struct stacks_group *a = &c->kept[id].g;
	const struct stacks_group *b = key;

	return a->kraw == b->kraw && a->uraw == b->uraw &&
	       a->verdict == b->verdict && a->flags == b->flags;
}

static struct stack_text stack_cache_make_text(struct stack_cache *c,
					       const struct stacks_group *g)
{
	const struct stacks_group user = { .uraw = g->uraw,
					   .verdict = g->verdict,
					   .flags = g->flags };
	const struct stacks_group kernel = { .kraw = g->kraw };
	struct stack_text made = { "", 0 };
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return made;
	c->frames.n = 0;
	stacks_get(c->stacks, &user, &c->frames);
	size_t n = c->frames.n;

	stacks_get(c->stacks, &kernel, &c->frames);
	c->put(c->arg, out, stacks_labels(c->stacks), &c->frames, n);
	if (!fclose(out)) {
		char *copy = arena_take(&c->text, len + 1);

		memcpy(copy, text, len);
		copy[len] = '\0';
		made = (struct stack_text){ copy, len };
	}
	free(text);
	return made;
}

struct stack_text stack_cache_group(struct stack_cache *c,
				    const struct stacks_group *g)
{
	/* if the user half is present, only VERDICT_EXEC affects the text */
	const struct stacks_group key = {
		.kraw = g->kraw,
		.uraw = g->uraw,
		.verdict = g->uraw ? 0 : g->verdict,
		.flags = g->uraw ? g->flags & VERDICT_EXEC : 0,
	};
	uint64_t word[2] = { (uint64_t)key.kraw << 32 | key.uraw,
			     (uint64_t)key.verdict << 8 | key.flags };
	uint64_t hash = hash_u64s(word, 2, 0);
	uint32_t id = table_find(&c->index, hash, stack_cache_is_same, c, &key);

	if (id != TABLE_NONE)
		return c->kept[id].text;
	c->kept = mem_grow(c->kept, &c->cap, c->n + 1, sizeof(*c->kept));
	c->kept[c->n] = (struct kept){ key, stack_cache_make_text(c, &key) };
	table_add(&c->index, hash, (uint32_t)c->n);
	return c->kept[c->n++].text;
}

static uint32_t stack_cache_raw_id(int64_t id)
{
	return id > 0 && id < UINT32_MAX ? (uint32_t)id : 0;
}

struct stack_text stack_cache_event(struct stack_cache *c,
				    const struct event_row *e,
				    enum stack_half half)
{
	struct stacks_group g = { 0 };

	if (half & HALF_KERNEL)
		g.kraw = stack_cache_raw_id(e->kraw);
	if (half & HALF_USER) {
		g.uraw = stack_cache_raw_id(e->uraw);
		g.verdict = (uint8_t)e->verdict;
		g.flags = (uint8_t)(e->flags & VERDICT_EXEC);
	}
	return stack_cache_group(c, &g);
}

void stack_put_folded(FILE *out, const struct labels *labels,
		      const uint32_t *label, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i)
			putc(';', out);
		folded_name(out, labels_get(labels, label[i]));
	}
}
