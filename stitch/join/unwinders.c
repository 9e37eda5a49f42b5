/* unwinders.c - keeps track of when processes that unwind themselves logged
 * stacks. */
#include "stitch/join/unwinders.h"

#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/join/cookies.h"
#include "stitch/record.h"
#include "stitch/tasks/frame.h"
#include "stitch/tasks/join_task.h"
#include "stitch/tasks/tasks.h"
#include "stitch/verdict.h"

/* Number of ticks of 1 kHz in a quarter of a second, in which an unwind table
 * is read. The limit prevents quadratic time for a capture in which every stack
 * comes late. */
#define INSIDE_MAX 256

void unwinders_release(struct unwinders *us)
{
	free_all(us->thread.life, us->process.life);
}

static void note_logged(struct unwinder_lives *ls, uint32_t id, uint64_t now)
{
	mem_reach(ls->life, ls->n, ls->cap, id + (size_t)1);
	if (!ls->life[id].first)
		ls->life[id].first = now;
	ls->life[id].last = now;
}

void unwinders_logged(struct unwinders *us, uint32_t thread, uint32_t process)
{
	note_logged(&us->thread, thread, us->now);
	if (process)
		note_logged(&us->process, process, us->now);
}

static struct unwinder_life unwinder_life_at(const struct unwinder_lives *ls,
					     uint32_t id)
{
	const struct unwinder_life none = { 0, 0 };

	return id < ls->n ? ls->life[id] : none;
}

struct unwinder_life unwinders_life(const struct unwinders *us, uint32_t thread,
				    uint32_t process)
{
	struct unwinder_life t = unwinder_life_at(&us->thread, thread);
	const struct unwinder_life p = unwinder_life_at(&us->process, process);

	if (p.first && (!t.first || p.first < t.first))
		t.first = p.first;
	raise_to(t.last, p.last);
	return t;
}

void unwinders_mark_inside(struct cookies *cs, const uint32_t *recent,
			   uint32_t queued, uint32_t i)
{
	const struct cookie_entry *it = &cs->entry[i];
	struct cookie_entry *e = NULL;

	if (!it->asked)
		return;
	for (size_t k = 0; k < JOIN_RECENT; k++) {
		if (!recent[k])
			return;
		e = &cs->entry[recent[k]];
		if (e->asked > it->asked && !e->has_chain)
			e->in_unwinder = true;
	}
	/* continue in the queue only if the oldest entry of the thread's list
	 * is later than entry i */
	if (e->asked && e->asked <= it->asked)
		return;
	for (size_t k = 0; queued && k < INSIDE_MAX; k++) {
		e = &cs->entry[queued];
		queued = e->before_it;
		if (e->tid != it->tid || e->line != it->line || !e->asked)
			continue;
		if (e->asked <= it->asked)
			return;
		e->in_unwinder |= !e->has_chain;
	}
}

void stack_parts_release(struct stack_parts *ps)
{
	for (size_t i = 0; i < STACK_PARTS_HELD; i++)
		free(ps->hold[i].at);
}

static struct stack_part_hold *stack_parts_find(struct stack_parts *ps,
						uint32_t slot)
{
	for (size_t i = 0; i < ps->n; i++)
		if (slot == TASKS_NONE || ps->hold[i].slot == slot)
			return &ps->hold[i];
	return NULL;
}

/* Moves the stack to *jc and frees its place. */
static void stack_parts_finish(struct stack_parts *ps,
			       struct stack_part_hold *h, struct frames *fr,
			       struct join_chain *jc)
{
	uint64_t *ip = mem_new(h->n + 1, sizeof(*ip));
	uint32_t stack = 0;

	for (size_t i = h->n; i-- > 0;) {
		stack = frames_push(fr, stack, h->at[i].frame);
		ip[i] = h->at[i].ip;
	}
	const struct addrs a = { .ip = ip, .n = (uint32_t)h->n };

	*jc = h->chain;
	jc->n = a.n;
	jc->uraw =
		a.n ? frames_raw(fr, stack, &a, hash_u64s(ip, a.n, stack)) : 0;
	if (h->part != h->parts)
		jc->flags |= VERDICT_UNPROVED;
	free(ip);
	struct stack_part_hold *last = &ps->hold[--ps->n];
	struct stack_part_hold old = *h;

	*h = *last;
	*last = (struct stack_part_hold){ .at = old.at, .cap = old.cap };
}

bool stack_parts_wants(const struct stack_parts *ps, uint32_t slot,
		       const struct rec_chain *c, const struct join_chain *jc)
{
	for (size_t i = 0; i < ps->n; i++) {
		const struct stack_part_hold *h = &ps->hold[i];

		if (h->slot == slot)
			return c->part > h->part && c->parts == h->parts &&
			       h->chain.cookie == jc->cookie;
	}
	return false;
}

bool stack_parts_add(struct stack_parts *ps, struct frames *fr, uint32_t slot,
		     const struct rec_chain *c, struct join_chain *jc)
{
	struct stack_part_hold *h = stack_parts_find(ps, slot);

	if (!c->parts)
		return true;
	/* the stacks of chains are taken apart here */
	frames_settle(fr);
	jc->flags |= VERDICT_PARTS;
	if (!h && (c->part >= c->parts || ps->n == STACK_PARTS_HELD)) {
		jc->flags |= VERDICT_UNPROVED;
		return true;
	}
	if (!h) {
		h = &ps->hold[ps->n++];
		h->slot = slot;
		h->chain = *jc;
		h->part = 0;
		h->parts = c->parts;
		h->n = 0;
	}
	uint32_t uraw = jc->uraw;
	size_t pos = h->n;

	for (size_t i = 0; c->meet && i < h->n; i++) {
		if (h->at[i].ip != c->meet)
			continue;
		pos = i + 1;
		break;
	}
	if (c->part != h->part + 1 ||
	    (h->n &&
	     (!c->meet || (pos == h->n && h->at[h->n - 1].ip != c->meet))))
		h->chain.flags |= VERDICT_UNPROVED;
	h->part = c->part;
	if (uraw) {
		const struct raw_chain *r = frames_get_raw(fr, uraw);
		uint32_t stack = r->stack;
		uint32_t some;
		size_t n = r->n;

		mem_grow(h->at, h->cap, h->n + n);
		memmove(h->at + pos + n, h->at + pos,
			(h->n - pos) * sizeof(*h->at));
		h->n += n;
		/* A stack lists its innermost frame first. */
		for (size_t i = 0; i < n && stack; i++) {
			const struct stack *s = frames_get_stack(fr, stack);

			h->at[pos + i] = (struct stack_part_frame){
				s->frame,
				*frames_raw_ips(fr, r, (uint32_t)i, &some)
			};
			stack = s->parent;
		}
	}
	if (c->part < c->parts)
		return false;
	stack_parts_finish(ps, h, fr, jc);
	return true;
}

bool stack_parts_take(struct stack_parts *ps, struct frames *fr, uint32_t *slot,
		      struct join_chain *jc)
{
	struct stack_part_hold *h = stack_parts_find(ps, *slot);

	if (!h)
		return false;
	*slot = h->slot;
	stack_parts_finish(ps, h, fr, jc);
	return true;
}
