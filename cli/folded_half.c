/* folded_half.c - the two halves of a sample's stack as text. */
#include "cli/folded_half.h"

#include <stdlib.h>
#include <string.h>

#include "cli/events.h"
#include "cli/folded.h"
#include "cli/label.h"
#include "cli/stacks.h"
#include "stitch/mem.h"
#include "stitch/table.h"
#include "stitch/verdict.h"

struct kept {
	struct stacks_group g; /* what tells halves apart, and no more */
	struct half half;
};

struct folded_half {
	struct stacks *stacks;
	half_fn *put;
	struct kept *kept;
	size_t n, cap;
	struct table index; /* of kept[] */
	struct label_list frames;
	struct arena text;
};

struct folded_half *folded_half_load(struct store *db, bool inlined,
				     half_fn *put, struct err *err)
{
	const struct stacks_opts o = { .by_name = true,
				       .inlined = inlined,
				       .no_groups = true };
	struct stacks *s = stacks_load(db, &o, err);
	struct folded_half *h;

	if (!s)
		return NULL;
	h = mem_new(1, sizeof(*h));
	h->stacks = s;
	h->put = put;
	return h;
}

void folded_half_free(struct folded_half *h)
{
	if (!h)
		return;
	stacks_free(h->stacks);
	table_release(&h->index);
	arena_release(&h->text);
	free(h->frames.label);
	free(h->kept);
	free(h);
}

static bool same(const void *owner, uint32_t id, const void *key)
{
	const struct folded_half *h = owner;
	const struct stacks_group *a = &h->kept[id].g;
	const struct stacks_group *b = key;

	return a->kraw == b->kraw && a->uraw == b->uraw &&
	       a->verdict == b->verdict && a->flags == b->flags;
}

static char *folded(struct folded_half *h, const struct stacks_group *g)
{
	const struct labels *labels = stacks_labels(h->stacks);
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	h->frames.n = 0;
	stacks_get(h->stacks, g, &h->frames);
	for (size_t i = 0; i < h->frames.n; i++) {
		if (i)
			putc(';', out);
		folded_name(out, labels_get(labels, h->frames.label[i]));
	}
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static struct half make(struct folded_half *h, const struct stacks_group *g)
{
	char *stack = folded(h, g);
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct half half = { "", 0 };

	if (out) {
		h->put(out, stack ? stack : "");
		fclose(out);
		half.text = memcpy(arena_take(&h->text, len + 1), text, len);
		half.len = len;
	}
	free(text);
	free(stack);
	return half;
}

static struct half get(struct folded_half *h, const struct stacks_group *g)
{
	uint64_t word[2] = { (uint64_t)g->kraw << 32 | g->uraw,
			     (uint64_t)g->verdict << 8 | g->flags };
	uint64_t hash = hash_u64s(word, 2, 0);
	uint32_t id = table_find(&h->index, hash, same, h, g);

	if (id != TABLE_NONE)
		return h->kept[id].half;
	h->kept = mem_grow(h->kept, &h->cap, h->n + 1, sizeof(*h->kept));
	h->kept[h->n] = (struct kept){ *g, make(h, g) };
	table_add(&h->index, hash, (uint32_t)h->n);
	return h->kept[h->n++].half;
}

static uint32_t raw_id(int64_t id)
{
	return id > 0 && id < UINT32_MAX ? (uint32_t)id : 0;
}

struct half folded_half_user(struct folded_half *h, const struct event_row *e)
{
	struct stacks_group g = { .uraw = raw_id(e->uraw) };

	if (g.uraw) /* of a half that is there, only this changes the text */
		g.flags = e->flags & VERDICT_EXEC;
	else
		g.verdict = (uint8_t)e->verdict;
	return get(h, &g);
}

struct half folded_half_kernel(struct folded_half *h, const struct event_row *e)
{
	struct stacks_group g = { .kraw = raw_id(e->kraw) };

	return get(h, &g);
}
