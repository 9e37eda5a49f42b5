/* late_maps.c - mappings whose record came late, for stacks resolved before. */
#include "stitch/tasks/late_maps.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/record.h"
#include "stitch/tasks/frame.h"
#include "stitch/tasks/task.h"

/* A stack is compared with all that are valid at its time. */
#define LATE_MAX 16384

/* What is being added. */
struct late_adding {
	struct late_maps *lm;
	const struct process *p;
	int64_t now;
};

static void late_maps_add_part(void *arg, const struct region *r)
{
	const struct late_adding *a = arg;
	struct late_maps *lm = a->lm;
	struct late_map m = {
		.process = a->p->id,
		.image = r->image,
		.start = r->start,
		.end = r->end,
		.pgoff = r->pgoff,
		.from = r->t0,
		.until = r->t1 == TIME_NONE ? a->now + 1 : r->t1,
		.derived = r->derived,
	};

	/* the program before exec had it */
	if (a->p->since != TIME_NONE && a->p->since > m.from &&
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
		   const struct region *r, int64_t now)
{
	struct late_adding a = { lm, p, now };

	if (r->t0 != TIME_NONE && r->t0 <= now && now != INT64_MAX)
		space_parts_of(&p->space, r, late_maps_add_part, &a);
}

/* Of one process, by time, so that a later mapping replaces an earlier one. */
COMPARE_BY(late_maps_order, struct late_map, process, from, start, end);

void late_maps_sort(struct late_maps *lm)
{
	sort_items(lm->map, lm->n, late_maps_order);
	for (size_t i = 0; i < lm->n; i++) {
		struct late_map *m = &lm->map[i];

		m->reach = m->until;
		if (i && m[-1].process == m->process && m[-1].reach > m->reach)
			m->reach = m[-1].reach;
	}
}

/* Collects the mappings of a process that are valid at t, the newest first.
 * Returns how many. */
static size_t late_maps_valid(struct late_maps *lm, uint32_t process, int64_t t)
{
	const struct late_map *map = lm->map;
	/* those of smaller processes, or of this one and not after t */
	size_t until = search_where(
		lm->n, i,
		map[i].process > process ||
			(map[i].process == process && map[i].from > t));
	size_t n = 0;

	for (size_t i = until; i-- > 0;) {
		const struct late_map *m = &map[i];
		if (m->process != process || m->reach <= t)
			break;
		if (t >= m->until)
			continue;
		*mem_add(lm->valid, n, lm->cap_valid) = m;
	}
	return n;
}

/* Returns the newest of n valid mappings that has addr, or NULL. */
static const struct late_map *late_maps_find(const struct late_maps *lm,
					     size_t n, uint64_t addr)
{
	for (size_t i = 0; i < n; i++)
		if (addr >= lm->valid[i]->start &&
		    addr <= lm->valid[i]->end - 1)
			return lm->valid[i];
	return NULL;
}

/* Returns the frame of addr, by a mapping that may be NULL; was: the frame that
 * the address had. */
static uint32_t late_maps_frame(struct frames *fr, const struct late_map *m,
				uint64_t addr, uint32_t was)
{
	const struct frame *old = frames_get_frame(fr, was);
	const uint32_t how = FRAME_INFERRED | FRAME_GUESSED |
			     (old->flags & FRAME_INFERRED ? FRAME_DERIVED : 0);

	enum image_kind kind = frames_get_image(fr, old->image)->kind;

	if (!m || kind == IMAGE_JIT || kind == IMAGE_GUEST)
		return was;
	struct frame f = {
		.image = m->image,
		.off = addr - m->start + m->pgoff,
		.flags = (old->flags & how) | (m->derived ? FRAME_DERIVED : 0),
	};

	return frames_frame(fr, &f);
}

uint32_t late_maps_again(struct late_maps *lm, struct frames *fr,
			 uint32_t process, int64_t t, uint64_t mask,
			 uint32_t raw)
{
	const struct raw_chain was = *frames_get_raw(fr, raw);
	size_t valid = late_maps_valid(lm, process, t);
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
	free(frame);
	free(ip);
	return raw;
}

void late_maps_release(struct late_maps *lm)
{
	free(lm->map);
	free(lm->valid);
	memset(lm, 0, sizeof(*lm));
}
