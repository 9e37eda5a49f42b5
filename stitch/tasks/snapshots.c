/* snapshots.c - saved lists of what processes had mapped. */
#include "stitch/tasks/snapshots.h"

#include <stdbool.h>
#include <stdlib.h>

#include "stitch/base/mem.h"
#include "stitch/record.h"
#include "stitch/tasks/resolve.h"
#include "stitch/tasks/tasks.h"

struct item {
	struct snapshot s;
	unsigned int rank;
	size_t seq; /* of equal ones the last that was added counts */
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
	sn->item = mem_grow(sn->item, &sn->cap, sn->n + 1, sizeof(*sn->item));
	sn->item[sn->n] = (struct item){ *s, rank, sn->n };
	sn->n++;
	sn->sorted = false;
}

static int by_pid(const void *a, const void *b)
{
	const struct item *x = a;
	const struct item *y = b;

	if (x->s.pid != y->s.pid)
		return x->s.pid < y->s.pid ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->s.time != y->s.time)
		return x->s.time < y->s.time ? -1 : 1;
	return x->seq < y->seq ? -1 : 1;
}

static size_t first_of(const struct snapshots *sn, int32_t pid)
{
	size_t lo = 0;
	size_t hi = sn->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (sn->item[mid].s.pid < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The lists of a process that count, by time: item[*from] to item[*to - 1]. */
static void range(struct snapshots *sn, int32_t pid, size_t *from, size_t *to)
{
	*from = *to = 0;
	if (!sn || !sn->n)
		return;
	if (!sn->sorted)
		qsort(sn->item, sn->n, sizeof(*sn->item), by_pid);
	sn->sorted = true;
	*from = *to = first_of(sn, pid);
	while (*to < sn->n && sn->item[*to].s.pid == pid &&
	       sn->item[*to].rank == sn->item[*from].rank)
		++*to;
}

bool snapshots_has(struct snapshots *sn, int32_t pid)
{
	size_t from, to;

	range(sn, pid, &from, &to);
	return to > from;
}

const struct snapshot *snapshots_find(struct snapshots *sn, int32_t pid,
				      int64_t t, int64_t *next)
{
	const struct snapshot *found = NULL;
	size_t i, to;

	*next = INT64_MAX;
	for (range(sn, pid, &i, &to); i < to; i++) {
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

	for (range(sn, pid, &i, &to); i < to; i++)
		if (sn->item[i].s.time == TIME_NONE || sn->item[i].s.time == t)
			found = &sn->item[i].s;
	return found;
}

static struct region region_of(const struct snapshots_to *to, uint32_t process,
			       const struct rec_map *m, int64_t t)
{
	const struct record rec = {
		.kind = REC_MAP,
		.flags = REC_F_SYNTH,
		.map = *m,
	};
	struct region r = {
		.start = m->start,
		.end = m->start + m->len,
		.prot = m->prot,
		.flags = m->flags,
		.derived = m->derived,
		.t0 = t,
	};

	r.image = resolve_map_image(to->resolve, to->src, &rec,
				    tasks_process_at(to->tasks, process)->id,
				    &r.pgoff);
	return r;
}

/* What is mapped already stays as it is; the rest of the space becomes what
 * the list says. */
static void apply(const struct snapshots_to *to, uint32_t process,
		  const struct snapshot *s, int64_t t)
{
	uint64_t free_from = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct region r = region_of(to, process, &s->map[i], t);
		const struct process *p = tasks_process_at(to->tasks, process);

		if (r.end <= r.start)
			continue;
		if (r.start > free_from && space_count(&p->space))
			tasks_unmap(to->tasks, process, free_from, r.start, t);
		if (!space_has(&p->space, &r))
			tasks_map(to->tasks, process, &r);
		free_from = r.end > free_from ? r.end : free_from;
	}
	if (free_from)
		tasks_unmap(to->tasks, process, free_from, 0, t);
}

void snapshots_due(struct snapshots *sn, const struct snapshots_to *to,
		   uint32_t process, int64_t t, bool started)
{
	struct process *p = tasks_process_at(to->tasks, process);
	const struct snapshot *s;

	if (t >= p->next_maps) {
		s = snapshots_find(sn, p->pid, t, &p->next_maps);
		if (s)
			apply(to, process, s,
			      s->time > p->start ? s->time : p->start);
	}
	s = started ? snapshots_exec(sn, p->pid, t) : NULL;
	if (s)
		apply(to, process, s, t);
}
