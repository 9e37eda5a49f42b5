/* stack_cache.c - stacks as text, each formatted once. */
#include "cli/export/stack_cache.h"

#include "analyze/samples/requests.h"
#include "analyze/samples/events.h"
#include "analyze/stacks/stacks.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/verdict.h"

struct stack_cache {
	struct stacks *stacks;
	stack_put_fn *put;
	void *arg;
	struct intern keys;
	struct stack_text *kept; /* by key */
	size_t n, cap;
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
	intern_release(&c->keys);
	arena_release(&c->text);
	free(c->frames.label);
	free(c->kept);
	free(c);
}

static struct stack_text stack_cache_group(struct stack_cache *c,
					   const struct stacks_group *g)
{
	/* if the user half is present, only VERDICT_EXEC affects the text */
	const struct stacks_group user = {
		.uraw = g->uraw,
		.verdict = g->uraw ? 0 : g->verdict,
		.flags = g->uraw ? g->flags & VERDICT_EXEC : 0,
	};
	const struct stacks_group kernel = { .kraw = g->kraw };
	const uint32_t word[] = { g->kraw, g->uraw,
				  (uint32_t)user.verdict << 8 | user.flags };
	uint32_t id = intern_add_bytes(&c->keys, word, sizeof(word));
	char *text = NULL;
	char *copy;
	size_t len = 0;
	size_t n;
	FILE *out;

	if (id < c->n)
		return c->kept[id];
	out = mem_stream(&text, &len);
	c->frames.n = 0;
	stacks_get(c->stacks, &user, &c->frames);
	n = c->frames.n;
	stacks_get(c->stacks, &kernel, &c->frames);
	c->put(c->arg, out, c->stacks->labels, &c->frames, n);
	mem_stream_end(out);
	copy = arena_take(&c->text, len + 1);
	memcpy(copy, text, len);
	copy[len] = '\0';
	free(text);
	return *mem_add(c->kept, c->n, c->cap) =
		       (struct stack_text){ copy, len };
}

struct stack_text stack_cache_event(struct stack_cache *c,
				    const struct event_row *e)
{
	const struct stacks_group g = {
		.kraw = id_of_row(e->kraw),
		.uraw = id_of_row(e->uraw),
		.verdict = (uint8_t)e->verdict,
		.flags = (uint8_t)(e->flags & VERDICT_EXEC),
	};

	return stack_cache_group(c, &g);
}
