/* lost_times.c - when records may be missing. */
#include "analyze/latency/lost_times.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* Sums over the first losses of a list. */
struct lost_count {
	uint64_t n, any; /* n: records; any: losses without a number */
	uint64_t silent, off;
};

/* The losses of a CPU, or of all. A loss touches a time if it began before that
 * time ended, and had not ended when it began: the difference of two sums,
 * whatever the number of losses. */
struct lost_list {
	struct lost_time *t;		    /* by their start */
	struct lost_time *end;		    /* the same by their end */
	struct lost_count *started, *ended; /* sums of those before each */
	int64_t *last; /* latest end of the losses up to each in t[] */
	size_t n, cap;
};

void lost_times_release(struct lost_times *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct lost_list *list = &l->list[i];

		free_all(list->t, list->end, list->started, list->ended,
			 list->last);
	}
	free(l->list);
	table_release(&l->index);
}

/* In place of the CPU of losses whose CPU is not known. */
#define LOST_SOMEWHERE -2

static void lost_list_put(struct lost_times *l, uint32_t world, int32_t cpu,
			  const struct lost_time *t)
{
	uint32_t id = table_find_or_add(
		&l->index, hash_u32s(world, (uint32_t)cpu * 2 + t->of_tasks),
		l->n);
	struct lost_list *list;

	if (id == l->n)
		*mem_add(l->list, l->n, l->cap) = (struct lost_list){ 0 };
	list = &l->list[id];
	*mem_add(list->t, list->n, list->cap) = *t;
}

/* A loss on a CPU is also in the list of all. No capture has as many records as
 * a loss may report: with this limit, sums cannot overflow. */
void lost_times_add(struct lost_times *l, uint32_t world,
		    const struct lost_time *t)
{
	struct lost_time one = *t;

	raise_to(one.to, one.from);
	lower_to(one.n, UINT32_MAX);
	lost_list_put(l, world, t->cpu >= 0 ? t->cpu : LOST_SOMEWHERE, &one);
	lost_list_put(l, world, -1, &one);
}

COMPARE_BY(lost_compare, struct lost_time, from, to, id);
COMPARE_BY(lost_compare_ends, struct lost_time, to, from, id);

/* Returns n + 1 sums; the last one is that of all. The caller frees them. */
static struct lost_count *lost_counts(const struct lost_time *t, size_t n)
{
	struct lost_count *c = mem_new(n + 1, sizeof(*c));

	for (size_t i = 0; i < n; i++)
		c[i + 1] = (struct lost_count){
			c[i].n + (t[i].n < 0 ? 0 : (uint64_t)t[i].n),
			c[i].any + (t[i].n < 0),
			c[i].silent + t[i].silent,
			c[i].off + (!t[i].id && !t[i].silent),
		};
	return c;
}

void lost_times_seal(struct lost_times *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct lost_list *list = &l->list[i];
		int64_t last = INT64_MIN;

		sort_items(list->t, list->n, lost_compare);
		list->end = mem_new(list->n, sizeof(*list->end));
		memcpy(list->end, list->t, list->n * sizeof(*list->end));
		sort_items(list->end, list->n, lost_compare_ends);
		list->started = lost_counts(list->t, list->n);
		list->ended = lost_counts(list->end, list->n);
		list->last = mem_new(list->n, sizeof(*list->last));
		for (size_t k = 0; k < list->n; k++) {
			if (list->t[k].id)
				raise_to(last, list->t[k].to);
			list->last[k] = last;
		}
	}
}

/* Returns the id of a loss without a length at a time; 0: there is none. */
static int64_t lost_id_at(const struct lost_list *list, int64_t time)
{
	size_t k = search_where(list->n, i, list->t[i].from >= time);

	return k < list->n && list->t[k].from == time && list->t[k].to == time
		       ? list->t[k].id
		       : 0;
}

/* Adds the losses of a list that touch the time. A loss without a length is
 * between two records of one time, and may be on either side of any other
 * record of that time. */
static void lost_sum_list(const struct lost_times *l, int32_t cpu,
			  bool of_tasks, const struct lost_ask *ask,
			  struct lost_sum *sum)
{
	uint32_t id = table_find_hash(
		&l->index, hash_u32s(ask->world, (uint32_t)cpu * 2 + of_tasks));
	const struct lost_count *from, *to;
	const struct lost_list *list;
	size_t first;
	uint64_t n;

	if (id == TABLE_NONE)
		return;
	list = &l->list[id];
	to = &list->started[search_where(list->n, k,
					 list->t[k].from > ask->to ||
						 (list->t[k].from == ask->to &&
						  list->t[k].to > ask->to))];
	from = &list->ended[search_where(
		list->n, k,
		list->end[k].to > ask->from ||
			(list->end[k].to == ask->from &&
			 list->end[k].from >= ask->from))];
	n = to->any > from->any ? UINT64_MAX : to->n - from->n;
	if (__builtin_add_overflow(sum->n, n, &sum->n))
		sum->n = UINT64_MAX;
	sum->silent |= to->silent > from->silent;
	sum->off |= to->off > from->off;
	first = search_where(list->n, k, list->last[k] > ask->from);
	if (!sum->id && first < list->n && list->t[first].from < ask->to)
		sum->id = list->t[first].id;
	if (!sum->id)
		sum->id = lost_id_at(list, ask->from)
				  ?: lost_id_at(list, ask->to);
}

struct lost_sum lost_times_between(const struct lost_times *l,
				   const struct lost_ask *ask)
{
	struct lost_ask of = *ask;
	struct lost_sum sum = { 0 };

	raise_to(of.to, of.from);
	for (int tasks = 0; tasks <= !of.recorded; tasks++) {
		lost_sum_list(l, of.cpu, tasks, &of, &sum);
		if (of.cpu >= 0)
			lost_sum_list(l, LOST_SOMEWHERE, tasks, &of, &sum);
	}
	return sum;
}
