/* late_maps.c - mappings whose record came late, for stacks resolved before. */
#include "stitch/tasks/late_maps.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/record.h"
#include "stitch/tasks/frame.h"
#include "stitch/tasks/resolve.h"
#include "stitch/tasks/space.h"
#include "stitch/tasks/task.h"
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
	free_all(sn->item, sn);
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

/* Applies a list; regions that are already mapped in the same way stay, others
 * are removed. */
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

#define PARTS_MAX 64

void partial_maps_release(struct partial_maps *wh)
{
	for (size_t i = 0; i < wh->n; i++)
		free(wh->file[i].part);
	free(wh->file);
}

static const struct partial_file *partial_maps_file(struct partial_maps *wh,
						    uint32_t image)
{
	struct file_part part[PARTS_MAX];

	struct partial_file *f = mem_at(wh->file, wh->n, wh->cap, image);

	if (f->asked)
		return f;
	f->asked = true;
	f->n = wh->fn(wh->arg, frames_get_image(wh->fr, image), part,
		      PARTS_MAX);
	if (f->n)
		f->part = mem_dup(part, f->n * sizeof(*part));
	return f;
}

int partial_maps_get(struct partial_maps *wh, const struct region *all,
		     size_t i, struct region *out)
{
	const struct partial_file *f =
		wh->fn ? partial_maps_file(wh, all->image) : NULL;

	*out = *all;
	out->derived = true;
	if (!f || !f->n)
		return i == 0;
	if (i >= f->n)
		return 0;
	const struct file_part *p = &f->part[i];

	out->derived = false;
	out->pgoff = p->off;
	if (__builtin_add_overflow(all->start, p->start, &out->start) ||
	    __builtin_add_overflow(all->start, p->end, &out->end) ||
	    out->start >= all->end)
		return 0;
	lower_to(out->end, all->end);
	return out->end > out->start;
}

/* Maximum number of late mappings, as a stack is compared with all that are
 * valid at its time. */
#define LATE_MAX 16384

/* Arguments of late_maps_add_part(). */
struct late_adding {
	struct late_maps *lm;
	const struct process *p;
	int64_t since, now;
};

/* Adds a part of a late mapping, unless it was valid at no time. */
static void late_maps_add_part(void *arg, const struct region *r)
{
	const struct late_adding *a = arg;
	struct late_maps *lm = a->lm;
	const bool listed = r->t0 == TIME_NONE;
	struct late_map m = {
		.process = a->p->id,
		.image = r->image,
		.start = r->start,
		.end = r->end,
		.pgoff = r->pgoff,
		.from = listed ? a->since : r->t0,
		.until = r->t1 == TIME_NONE ? a->now + 1 : r->t1,
		.derived = r->derived,
		.listed = listed,
	};

	/* the mapping belonged to the program before the exec */
	if (!listed && a->p->since != TIME_NONE && a->p->since > m.from &&
	    m.until > a->p->since)
		m.until = a->p->since;
	if (m.until <= m.from)
		return;
	if (lm->n == LATE_MAX) {
		lm->full = true;
		return;
	}
	if (!lm->n || m.from < lm->from)
		lm->from = m.from;
	if (!lm->n || m.until > lm->until)
		lm->until = m.until;
	*mem_add(lm->map, lm->n, lm->cap) = m;
}

void late_maps_add(struct late_maps *lm, const struct process *p,
		   const struct region *r, int64_t since, int64_t now)
{
	struct late_adding a = { lm, p, since, now };

	if ((r->t0 == TIME_NONE ? since : r->t0) <= now && now != INT64_MAX)
		space_parts_of(&p->space, r, late_maps_add_part, &a);
}

/* Sorts the mappings of one process by time, so that a later one replaces an
 * earlier one. */
COMPARE_BY(late_maps_order, struct late_map, process, from, start, end);

void late_maps_sort(struct late_maps *lm)
{
	size_t first = 0; /* first mapping of the same process */

	sort_items(lm->map, lm->n, late_maps_order);
	for (size_t i = 0; i < lm->n; i++) {
		struct late_map *m = &lm->map[i];

		if (lm->map[first].process != m->process)
			first = i;
		m->reach = m->until;
		if (i > first && m[-1].reach > m->reach)
			m->reach = m[-1].reach;
		m->steady = m->listed && m->from == lm->map[first].from &&
			    m->until == lm->map[first].until &&
			    (i == first || m[-1].steady);
	}
}

/* Returns the newest of n valid mappings that contains addr, or NULL. */
static const struct late_map *late_maps_find(const struct late_maps *lm,
					     size_t n, uint64_t addr)
{
	for (size_t i = 0; i < n; i++)
		if (addr >= lm->valid[i]->start &&
		    addr <= lm->valid[i]->end - 1)
			return lm->valid[i];
	return NULL;
}

/* Returns the frame of addr by mapping m, which may be NULL. was: the frame
 * that the address had. */
static uint32_t late_maps_frame(struct frames *fr, const struct late_map *m,
				uint64_t addr, uint32_t was)
{
	const struct frame *old = frames_get_frame(fr, was);
	const uint32_t how = FRAME_INFERRED | FRAME_GUESSED |
			     (old->flags & FRAME_INFERRED ? FRAME_DERIVED : 0);

	enum image_kind kind = frames_get_image(fr, old->image)->kind;

	if (!m || kind == IMAGE_JIT || kind == IMAGE_GUEST ||
	    (m->listed && kind != IMAGE_UNKNOWN_USER))
		return was;
	struct frame f = {
		.image = m->image,
		.off = addr - m->start + m->pgoff,
		.flags = (old->flags & how) | (m->derived ? FRAME_DERIVED : 0) |
			 (m->listed ? FRAME_UNCERTAIN : 0),
	};

	return frames_frame(fr, &f);
}

/* Returns the raw chain for late_maps_again(). until: number of mappings of
 * processes with smaller ids, and of this one that are not later than t. */
static uint32_t late_maps_resolve(struct late_maps *lm, struct frames *fr,
				  uint32_t process, int64_t t, size_t until,
				  uint64_t mask, uint32_t raw)
{
	const struct raw_chain was = *frames_get_raw(fr, raw);
	size_t valid = 0;

	/* Collects the mappings that are valid at t, the newest first. */
	for (size_t i = until; i-- > 0;) {
		const struct late_map *m = &lm->map[i];

		if (m->process != process || m->reach <= t)
			break;
		if (t >= m->until)
			continue;
		*mem_add(lm->valid, valid, lm->cap_valid) = m;
	}
	bool changes = false;
	uint32_t at = was.stack;

	if (!valid || !at || frames_get_stack(fr, at)->depth != was.n)
		return raw;
	uint32_t *frame = mem_new(was.n, sizeof(*frame));
	uint64_t *ip = mem_new(was.n, sizeof(*ip));

	frames_raw_copy(fr, &was, ip);
	for (uint32_t i = 0; i < was.n; i++) {
		const struct stack *s = frames_get_stack(fr, at);
		uint64_t addr = ip[i] & mask;
		const struct late_map *m = late_maps_find(lm, valid, addr);

		at = s->parent;
		frame[i] = late_maps_frame(fr, m, addr, s->frame);
		changes |= frame[i] != s->frame;
	}
	const struct addrs a = { .ip = ip, .n = was.n };
	uint32_t stack = 0;

	for (uint32_t i = was.n; changes && i-- > 0;)
		stack = frames_push(fr, stack, frame[i]);
	if (changes)
		raw = frames_noted(fr, stack, &a, was.hash, was.note);
	free_all(frame, ip);
	return raw;
}

uint32_t late_maps_again(struct late_maps *lm, struct frames *fr,
			 uint32_t process, int64_t t, uint64_t mask,
			 uint32_t raw)
{
	const struct late_map *map = lm->map;
	const size_t until = search_where(
		lm->n, i,
		map[i].process > process ||
			(map[i].process == process && map[i].from > t));
	const struct late_map *last = until ? &map[until - 1] : NULL;

	if (!last || last->process != process)
		return raw;
	/* the answer is the same for all times at which the list is valid */
	const uint64_t key = hash_u64((uint64_t)process << 32 | raw);
	const bool steady = last->steady && t < last->until;
	uint32_t now = steady ? table_find_hash(&lm->known, key) : TABLE_NONE;

	if (now == TABLE_NONE) {
		now = late_maps_resolve(lm, fr, process, t, until, mask, raw);
		if (steady)
			table_add(&lm->known, key, now);
	}
	return now;
}

void late_maps_release(struct late_maps *lm)
{
	table_release(&lm->known);
	free_all(lm->map, lm->valid);
	memset(lm, 0, sizeof(*lm));
}
