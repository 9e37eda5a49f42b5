/* stack_parts.c - assembles stacks from the parts of several unwinders. */
#include "stitch/join/stack_parts.h"

#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "stitch/record.h"
#include "stitch/base/table.h"
#include "stitch/tasks/tasks.h"
#include "stitch/verdict.h"

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

static void stack_parts_insert(struct stack_part_hold *h,
			       const struct frames *fr,
			       const struct rec_chain *c, uint32_t uraw)
{
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
	if (!uraw)
		return;
	const struct raw_chain *r = frames_get_raw(fr, uraw);
	uint32_t stack = r->stack;
	uint32_t some;
	size_t n = r->n;

	mem_grow(h->at, h->cap, h->n + n);
	memmove(h->at + pos + n, h->at + pos, (h->n - pos) * sizeof(*h->at));
	h->n += n;
	/* A stack lists its innermost frame first. */
	for (size_t i = 0; i < n && stack; i++) {
		const struct stack *s = frames_get_stack(fr, stack);

		h->at[pos + i] = (struct stack_part_frame){
			s->frame, *frames_raw_ips(fr, r, (uint32_t)i, &some)
		};
		stack = s->parent;
	}
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
	stack_parts_insert(h, fr, c, jc->uraw);
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
