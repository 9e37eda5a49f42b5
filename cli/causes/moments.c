/* moments.c - what happened at millions of times, in 16 bytes each. */
#include "cli/causes/moments.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* How much earlier than the first of its row one may be: 69 s; later: 17
 * minutes. */
#define EARLIER ((uint64_t)1 << 36)

static void moments_set(struct moments *m, size_t i, const struct moment *x)
{
	const struct moment_base *of = &m->base[i / MOMENTS_ROW];
	uint64_t time = (uint64_t)x->time - of->time;
	uint64_t event = (uint64_t)x->event - of->event;
	struct moment_packed *out = &m->item[i];

	if (!(time >> 40) && !(event >> 24) && !(x->a >> 32)) {
		*out = (struct moment_packed){ time, event, (uint32_t)x->a,
					       x->b };
		return;
	}
	*out = (struct moment_packed){ .a = (uint32_t)m->n_odd,
				       .b = UINT32_MAX };
	*mem_add(m->odd, m->n_odd, m->cap_odd) = *x;
}

void moments_put(struct moments *m, size_t i, const struct moment *x)
{
	if (i == m->n)
		mem_add(m->item, m->n, m->cap);
	if (i / MOMENTS_ROW == m->n_base)
		*mem_add(m->base, m->n_base, m->cap_base) =
			(struct moment_base){ (uint64_t)x->time - EARLIER,
					      (uint64_t)x->event };
	moments_set(m, i, x);
}

size_t moments_find(const struct moments *m, int64_t event)
{
	size_t at = search_where(m->n, i, moments_get(m, i).event >= event);

	return at < m->n && moments_get(m, at).event == event ? at : m->n;
}

void moments_release(struct moments *m)
{
	free(m->item);
	free(m->base);
	free(m->odd);
	*m = (struct moments){ 0 };
}

static bool kinds_is_same(const void *owner, uint32_t id, const void *key)
{
	return !memcmp(&((const struct kinds *)owner)->at[id], key,
		       sizeof(struct kind));
}

uint32_t kinds_add(struct kinds *k, const struct kind *x)
{
	uint64_t hash = hash_pair(x->word[0], x->word[1]);
	uint32_t id = table_find(&k->index, hash, kinds_is_same, k, x);

	if (id != TABLE_NONE)
		return id;
	id = (uint32_t)k->n;
	*mem_add(k->at, k->n, k->cap) = *x;
	table_add(&k->index, hash, id);
	return id;
}

void kinds_release(struct kinds *k)
{
	free(k->at);
	table_release(&k->index);
	*k = (struct kinds){ 0 };
}
