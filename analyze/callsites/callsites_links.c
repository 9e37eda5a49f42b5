/* callsites_links.c - whether the frames of user stacks can have called the
 * next inner ones. */
#include "analyze/callsites/callsites_pass.h"
#include "analyze/names/bare_code.h"
#include "stitch/base/mem.h"
#include "stitch/tasks/frame.h"
#include "symbolize/unwind/callee_reach.h"
#include "symbolize/unwind/callsite.h"

static const struct callsite_file *callsites_file_of(const struct pass *p,
						     uint32_t frame)
{
	return p->place[bare_code_frame(p->code, frame)->image].file;
}

/* An inner frame that is a return address is looked up one byte before, inside
 * its call; an innermost frame exactly; some frames are both. */
static enum callsite_link find_link(const struct pass *p, uint32_t inner,
				    uint32_t frame)
{
	const struct spot *in = &p->spot[inner];
	const struct spot *out = &p->spot[frame];
	const struct callsite_file *f = callsites_file_of(p, frame);
	const struct callsite_file *g = callsites_file_of(p, inner);
	enum callsite_link l = CALLSITE_UNKNOWN;

	if (!f || bare_code_frame(p->code, inner)->flags &
			  (FRAME_UNCERTAIN | FRAME_PARTIAL | FRAME_DERIVED))
		return CALLSITE_UNKNOWN;
	if (in->leaf)
		l = callsite_link(f, &out->site, g, in->off);
	if (in->returns && l != CALLSITE_PROVED)
		l = callsite_link(f, &out->site, g, in->off - 1);
	return l;
}

enum callsite_link callsites_link(struct pass *p, uint32_t inner,
				  uint32_t frame)
{
	struct store_link l = { .inner = inner, .frame = frame };
	uint64_t h = hash_u32s(inner, frame);
	uint32_t at = table_find_hash(&p->by_pair, h);

	if (at != TABLE_NONE)
		return p->link[at].link;
	l.link = find_link(p, inner, frame);
	table_add(&p->by_pair, h, (uint32_t)p->n_link);
	*mem_add(p->link, p->n_link, p->cap_link) = l;
	return l.link;
}

enum callsite_link callsites_known_link(const struct pass *p, uint32_t inner,
					uint32_t frame)
{
	uint32_t at = table_find_hash(&p->by_pair, hash_u32s(inner, frame));

	return at == TABLE_NONE ? 0 : p->link[at].link;
}

void callsites_set_link(struct pass *p, uint32_t inner, uint32_t frame,
			enum callsite_link link)
{
	callsites_link(p, inner, frame);
	p->link[table_find_hash(&p->by_pair, hash_u32s(inner, frame))].link =
		link;
}

void callsites_find_injected(struct pass *p)
{
	for (uint32_t i = 1; i < p->code->n_stack; i++) {
		const struct stack *s = bare_code_stack(p->code, i);

		if (!p->stack[i].walked || !s->parent ||
		    !p->spot[s->frame].injected)
			continue;
		uint32_t caller = bare_code_stack(p->code, s->parent)->frame;

		if (p->spot[caller].site.kind == CALLSITE_NO_CALL)
			callsites_set_link(p, s->frame, caller,
					   CALLSITE_INJECTED);
	}
}

/* ---- what cannot have been called */

void callsites_add_doubt(struct pass *p, uint32_t i, bool further)
{
	const struct known_stack *k = &p->stack[i];
	const struct stack *s = bare_code_stack(p->code, i);
	uint32_t caller = bare_code_stack(p->code, s->parent)->frame;
	const struct doubt d = { s->frame, caller, k->used && !further,
				 k->callerless && !k->framed };

	if (p->spot[caller].site.kind != CALLSITE_DIRECT ||
	    bare_code_frame(p->code, caller)->flags & FRAME_INFERRED ||
	    (k->used && (further || k->callerless == k->framed)))
		return;
	enum callsite_link l = callsites_link(p, s->frame, caller);

	if (l != CALLSITE_GAP && !(l == CALLSITE_PROVED && d.leaf && d.bare))
		return;
	*mem_add(p->doubt, p->n_doubt, p->cap_doubt) = d;
	p->spot[caller].reach = UINT32_MAX;
}

void callsites_find_reach(struct pass *p, struct spot *s,
			  const struct callsite_file *f)
{
	struct callee_reach r;

	callee_reach_find(f, s->site.target, &r);
	if (!p->n_reach)
		mem_add(p->reach, p->n_reach, p->cap_reach)->open = true;
	s->reach = (uint32_t)p->n_reach;
	*mem_add(p->reach, p->n_reach, p->cap_reach) = r;
}

/* Returns whether the frame from which `frame` was read, or its function, can
 * be of what its call enters. */
static bool callsites_is_possible(const struct pass *p, const struct doubt *d)
{
	const struct spot *in = &p->spot[d->inner];
	const struct spot *out = &p->spot[d->frame];
	const struct callsite_file *f = callsites_file_of(p, d->inner);
	const struct callsite_file *g = callsites_file_of(p, d->frame);

	if (!out->reach || out->reach == UINT32_MAX || !g)
		return true;
	const struct callee_reach *r = &p->reach[out->reach];

	/* a table leads past what was left by a jump */
	if (in->sframe && f == g && callee_reach_has(g, r, in->off - !d->leaf))
		return true;

	if (d->leaf ? d->bare : callsites_is_frameless(in))
		return r->open || r->frame;
	if (!d->leaf && (!in->framed || (in->site.kind != CALLSITE_DIRECT &&
					 in->site.kind != CALLSITE_INDIRECT)))
		return true;
	return f == g ? callee_reach_has(g, r, in->off - !d->leaf) : r->open;
}

/* Returns whether what the call enters is known to set the frame pointer. */
static bool callsites_is_framed(const struct pass *p, const struct doubt *d)
{
	const uint32_t reach = p->spot[d->frame].reach;

	return reach && reach != UINT32_MAX && p->reach[reach].frame;
}

void callsites_settle_doubts(struct pass *p)
{
	for (size_t i = 0; i < p->n_doubt; i++) {
		const struct doubt *d = &p->doubt[i];

		if (!callsites_is_possible(p, d))
			callsites_set_link(p, d->inner, d->frame,
					   CALLSITE_NEVER);
		else if (d->leaf && d->bare && !callsites_is_framed(p, d) &&
			 callsites_known_link(p, d->inner, d->frame) ==
				 CALLSITE_GAP)
			callsites_set_link(p, d->inner, d->frame,
					   CALLSITE_UNKNOWN);
	}
}
