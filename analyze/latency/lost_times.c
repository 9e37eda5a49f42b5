/* lost_times.c - when records may be missing. */
#include "analyze/latency/lost_times.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* Those of a CPU, or of all, by their start. */
struct lost_list {
	struct lost_time *t;
	int64_t *last; /* the latest end of those up to each */
	size_t n, cap;
};

void lost_times_release(struct lost_times *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->list[i].t);
		free(l->list[i].last);
	}
	free(l->list);
	table_release(&l->index);
}

static struct lost_list *lost_list_of(const struct lost_times *l,
				      uint32_t world, int32_t cpu)
{
	uint32_t id =
		table_find_hash(&l->index, hash_u32s(world, (uint32_t)cpu));

	return id == TABLE_NONE ? NULL : &l->list[id];
}

static void lost_list_put(struct lost_times *l, uint32_t world, int32_t cpu,
			  const struct lost_time *t)
{
	struct lost_list *list = lost_list_of(l, world, cpu);

	if (!list) {
		table_add(&l->index, hash_u32s(world, (uint32_t)cpu),
			  (uint32_t)l->n);
		list = mem_add(l->list, l->n, l->cap);
		*list = (struct lost_list){ 0 };
	}
	*mem_add(list->t, list->n, list->cap) = *t;
}

/* Losses of which nobody knows the CPU. */
#define LOST_SOMEWHERE -2

/* A loss of a CPU is one of all of them, and in the list that pairs across
 * recordings ask. */
void lost_times_add(struct lost_times *l, uint32_t world,
		    const struct lost_time *t)
{
	lost_list_put(l, world, t->cpu >= 0 ? t->cpu : LOST_SOMEWHERE, t);
	lost_list_put(l, world, -1, t);
	lost_list_put(l, LOST_ANY_WORLD, -1, t);
}

COMPARE_BY(lost_compare, struct lost_time, from, to, id);

void lost_times_seal(struct lost_times *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct lost_list *list = &l->list[i];
		int64_t last = INT64_MIN;

		sort_items(list->t, list->n, lost_compare);
		list->last = mem_new(list->n, sizeof(*list->last));
		for (size_t k = 0; k < list->n; k++) {
			raise_to(last, list->t[k].to);
			list->last[k] = last;
		}
	}
}

/* Adds those of a list that touch the time, the latest first. */
static void lost_sum_list(const struct lost_list *list,
			  const struct lost_ask *ask, struct lost_sum *sum)
{
	size_t i = search_where(list->n, k, list->t[k].from >= ask->to);

	for (; i-- && list->last[i] > ask->from && sum->n < ask->enough;) {
		const struct lost_time *t = &list->t[i];

		if (t->to <= ask->from || (t->of_tasks && ask->recorded))
			continue;
		if (t->id)
			sum->id = t->id;
		sum->silent |= t->silent;
		sum->off |= !t->id && !t->silent;
		if (t->n < 0 ||
		    __builtin_add_overflow(sum->n, (uint64_t)t->n, &sum->n))
			sum->n = UINT64_MAX;
	}
}

struct lost_sum lost_times_between(const struct lost_times *l,
				   const struct lost_ask *ask)
{
	const struct lost_list *list = lost_list_of(l, ask->world, ask->cpu);
	struct lost_sum sum = { 0 };

	if (list)
		lost_sum_list(list, ask, &sum);
	list = ask->cpu >= 0 ? lost_list_of(l, ask->world, LOST_SOMEWHERE)
			     : NULL;
	if (list)
		lost_sum_list(list, ask, &sum);
	return sum;
}
