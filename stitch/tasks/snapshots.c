/* snapshots.c - saved lists of mappings. */
#include "stitch/tasks/snapshots.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/record.h"
#include "stitch/tasks/resolve.h"
#include "stitch/tasks/tasks.h"

struct item {
	struct snapshot s;
	unsigned int rank;
	size_t seq; /* of equal lists, the last one added is used */
};

struct snapshots {
	struct item *item;
	size_t n, cap;
	bool sorted;
};

struct snapshots *snapshots_new(void)
{
	return mem_new(1, sizeof(struct snapshots));
}

void snapshots_free(struct snapshots *sn)
{
	if (!sn)
		return;
	free(sn->item);
	free(sn);
}

void snapshots_add(struct snapshots *sn, const struct snapshot *s,
		   unsigned int rank)
{
	const struct item item = { *s, rank, sn->n };

	*mem_add(sn->item, sn->n, sn->cap) = item;
	sn->sorted = false;
}

COMPARE_BY(compare_snapshots, struct item, s.pid, rank, s.time, seq);

/* Sets [*from, *to) to the lists of a process that have the lowest rank, sorted
 * by time. */
static void snapshots_range(struct snapshots *sn, int32_t pid, size_t *from,
			    size_t *to)
{
	*from = *to = 0;
	if (!sn || !sn->n)
		return;
	if (!sn->sorted)
		sort_items(sn->item, sn->n, compare_snapshots);
	sn->sorted = true;
	*from = *to = search_where(sn->n, i, sn->item[i].s.pid >= pid);
	while (*to < sn->n && sn->item[*to].s.pid == pid &&
	       sn->item[*to].rank == sn->item[*from].rank)
		++*to;
}

bool snapshots_has(struct snapshots *sn, int32_t pid)
{
	size_t from, to;

	snapshots_range(sn, pid, &from, &to);
	return to > from;
}

const struct snapshot *snapshots_find(struct snapshots *sn, int32_t pid,
				      int64_t t, int64_t *next)
{
	const struct snapshot *found = NULL;
	size_t i, to;

	*next = INT64_MAX;
	for (snapshots_range(sn, pid, &i, &to); i < to; i++) {
		const struct snapshot *s = &sn->item[i].s;

		if (s->time != TIME_NONE && s->time >= t) {
			*next = s->time == INT64_MAX ? s->time : s->time + 1;
			break;
		}
		found = s;
	}
	return found;
}

const struct snapshot *snapshots_exec(struct snapshots *sn, int32_t pid,
				      int64_t t)
{
	const struct snapshot *found = NULL;
	size_t i, to;

	for (snapshots_range(sn, pid, &i, &to); i < to; i++)
		if (sn->item[i].s.time == TIME_NONE || sn->item[i].s.time == t)
			found = &sn->item[i].s;
	return found;
}

/* Maps what the list says; regions that are already mapped in the same way
 * stay, others are removed. */
static void snapshot_apply(const struct snapshots_to *to, uint32_t process,
			   const struct snapshot *s, int64_t t)
{
	uint64_t free_from = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct process *p = tasks_process_at(to->tasks, process);
		const struct record rec = {
			.kind = REC_MAP,
			.flags = REC_F_SYNTH,
			.map = s->map[i],
		};
		struct region r = {
			.start = rec.map.start,
			.end = rec.map.start + rec.map.len,
			.prot = rec.map.prot,
			.flags = rec.map.flags,
			.derived = rec.map.derived,
			.t0 = t,
		};

		r.image = resolve_map_image(to->resolve, to->src, &rec, p->id,
					    &r.pgoff);
		if (r.end <= r.start)
			continue;
		if (r.start > free_from && p->space.now.n)
			tasks_unmap(to->tasks, process, free_from, r.start, t);
		if (!space_has(&p->space, &r))
			tasks_map(to->tasks, process, &r);
		raise_to(free_from, r.end);
	}
	if (free_from)
		tasks_unmap(to->tasks, process, free_from, 0, t);
	tasks_process_at(to->tasks, process)->space.complete |= s->n > 0;
}

void snapshots_due(struct snapshots *sn, const struct snapshots_to *to,
		   uint32_t process, int64_t t, bool started)
{
	struct process *p = tasks_process_at(to->tasks, process);
	const struct snapshot *s;

	if (t >= p->next_maps) {
		s = snapshots_find(sn, p->pid, t, &p->next_maps);
		if (s)
			snapshot_apply(to, process, s,
				       s->time > p->start ? s->time : p->start);
	}
	s = started ? snapshots_exec(sn, p->pid, t) : NULL;
	if (s)
		snapshot_apply(to, process, s, t);
}
