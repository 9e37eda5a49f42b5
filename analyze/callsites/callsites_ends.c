/* callsites_ends.c - whether the frames of user stacks can have called the next
 * inner ones, and where stacks end: in the function in which their thread
 * begins, or early, and then why. */
#include "analyze/callsites/callsites_pass.h"
#include "schema/db/groups.h"
#include "schema/write/write.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/tasks/frame.h"
#include "symbolize/unwind/callee_reach.h"
#include "symbolize/unwind/callsite.h"
#include "symbolize/unwind/frame_share.h"
#include "symbolize/unwind/thread_start.h"

/* For each frame, a kernel that knows SFrame asks the table that was registered
 * for its code, and takes the frame pointer where there is none ("unwind_user:
 * Add sframe support", version 13). If a function has set no frame pointer, and
 * its caller is the next frame, a table has led there: frame pointers skip that
 * caller. If its caller is skipped, or the stack ends in it, no table was used.
 */

enum {
	BY_FP = 1,
	BY_SFRAME = 2,
	BY_EITHER = 4,
};

/* Returns whether tables led from all frames in the file of `frame` from which
 * frame pointers do not lead to the caller. */
static bool callsites_is_registered(const struct pass *p, uint32_t frame)
{
	const struct place *pl =
		&p->place[bare_code_frame(p->code, frame)->image];

	return p->spot[frame].sframe && pl->tabled && !pl->by_fp;
}

bool callsites_is_left_by_sframe(const struct pass *p, uint32_t frame,
				 uint32_t caller)
{
	return callsites_is_registered(p, frame) ||
	       callsites_known_link(p, frame, caller) == CALLSITE_WALKED;
}

void callsites_set_link(struct pass *p, uint32_t inner, uint32_t frame,
			enum callsite_link link)
{
	callsites_link(p, inner, frame);
	p->link[table_find_hash(&p->by_pair, hash_u32s(inner, frame))].link =
		link;
}

/* Notes what the step from a frame that has set no frame pointer to the next
 * one proves. Returns whether a table led there. */
static bool callsites_note_step(struct pass *p, uint32_t frame, uint32_t caller)
{
	struct place *pl = &p->place[bare_code_frame(p->code, frame)->image];
	const struct spot *out = &p->spot[caller];
	const struct callsite_file *f =
		p->place[bare_code_frame(p->code, caller)->image].file;

	pl->by_fp |= out->site.kind == CALLSITE_NO_CALL ||
		     out->site.kind == CALLSITE_NO_CODE;
	enum callsite_link l = callsites_link(p, frame, caller);
	const struct callee_reach *r = out->reach && out->reach != UINT32_MAX
					       ? &p->reach[out->reach]
					       : NULL;

	/* entered neither by the call nor by a jump from the called function */
	pl->by_fp |= l == CALLSITE_GAP && r && f == pl->file && f &&
		     !callee_reach_has(
			     f, r, p->spot[frame].off - p->spot[frame].returns);

	/* If a function calls itself, any number of callers may be skipped. The
	 * caller of a function with a probe at its entry is on top of the
	 * stack, and taken from there (Linux 6.11, arch/x86/events/core.c). */
	if (l == CALLSITE_PROVED && !p->spot[frame].entry && f && out->off &&
	    callsite_link(f, &out->site, f, out->off - 1) != CALLSITE_PROVED) {
		callsites_set_link(p, frame, caller, CALLSITE_WALKED);
		l = CALLSITE_WALKED;
	}
	pl->tabled |= l == CALLSITE_WALKED;
	p->tabled |= l == CALLSITE_WALKED;
	return l == CALLSITE_WALKED;
}

/* Returns how the walk left a frame, a BY_ bit; 0: unknown. */
static unsigned int callsites_step(const struct pass *p, uint32_t frame,
				   bool proved, bool skipped)
{
	const uint32_t image = bare_code_frame(p->code, frame)->image;
	const struct code_image *c = &p->code->image[image];
	const struct place *pl = &p->place[image];

	if (proved || callsites_is_registered(p, frame))
		return BY_SFRAME;
	if (p->spot[frame].sframe)
		return skipped || (pl->by_fp && !pl->tabled) ? BY_FP
							     : BY_EITHER;
	return c->img.kind == IMAGE_FILE && image_is_named(c->status) ? BY_FP
								      : 0;
}

void callsites_find_walks(struct pass *p)
{
	for (uint32_t i = 1; i < p->code->n_stack; i++) {
		const struct stack *s = bare_code_stack(p->code, i);
		const struct spot *at = &p->spot[s->frame];
		struct known_stack *k = &p->stack[i];

		if (!k->walked || !at->sframe)
			continue;
		struct place *pl =
			&p->place[bare_code_frame(p->code, s->frame)->image];

		pl->by_fp |= k->used &&
			     (k->skipped || (!s->parent && k->callerless));
		if (!s->parent)
			continue;
		const uint32_t caller =
			bare_code_stack(p->code, s->parent)->frame;

		if (callsites_is_frameless(at))
			k->inner = callsites_note_step(p, s->frame, caller);
		if (k->used && k->callerless && !k->framed)
			k->tabled = callsites_note_step(p, s->frame, caller);
	}
	for (uint32_t i = 1; i < p->code->n_stack; i++) {
		const struct known_stack *k = &p->stack[i];
		const struct spot *root = &p->spot[k->root];

		if (k->used && k->ends && !k->outermost && root->sframe &&
		    callsites_is_frameless(root))
			p->place[bare_code_frame(p->code, k->root)->image]
				.by_fp = true;
	}
	for (uint32_t i = 1; i < p->code->n_stack; i++) {
		const struct stack *s = bare_code_stack(p->code, i);
		struct known_stack *k = &p->stack[i];

		if (!k->walked || !s->parent)
			continue;
		const unsigned int out = p->stack[s->parent].steps;
		const unsigned int own =
			out |
			callsites_step(p, s->frame, k->tabled, k->skipped);

		k->steps = (uint8_t)(out | callsites_step(p, s->frame, k->inner,
							  false));
		if (k->tabled || (k->callerless && !k->skipped &&
				  callsites_is_registered(p, s->frame))) {
			k->framed = true;
			k->callerless = false;
		}
		k->by = own & BY_SFRAME ? own & BY_FP ? WALK_BOTH : WALK_SFRAME
			: own & BY_EITHER ? WALK_EITHER
			: own & BY_FP	  ? WALK_FP
					  : WALK_UNKNOWN;
	}
}

static const struct callsite_file *callsites_file_of(const struct pass *p,
						     uint32_t frame)
{
	return p->place[bare_code_frame(p->code, frame)->image].file;
}

/* Looks at the call before the return address of `frame`. If `inner` is a
 * return address, it is looked up one byte before, inside its call; an
 * innermost frame exactly; some frames are both. */
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

/* ---- frames that cannot have been called */

/* Lists the pair of frames at the inner end of stack i, in which no frame is
 * bogus, if the innermost frame may not have been called by the next one.
 * further: stack i is the caller of other such stacks. */
static void callsites_add_doubt(struct pass *p, uint32_t i, bool further)
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

/* Returns whether the call of d->frame can have entered the function of the
 * next inner frame, or led to it. */
static bool callsites_is_possible(const struct pass *p, const struct doubt *d)
{
	const struct spot *in = &p->spot[d->inner];
	const struct spot *out = &p->spot[d->frame];
	const struct callsite_file *f = callsites_file_of(p, d->inner);
	const struct callsite_file *g = callsites_file_of(p, d->frame);

	if (!out->reach || out->reach == UINT32_MAX || !g)
		return true;
	const struct callee_reach *r = &p->reach[out->reach];

	/* Unwinding by a table does not show a function that ended in a tail
	 * call: the jump from that function counts too. */
	if (in->sframe && f == g && callee_reach_has(g, r, in->off - !d->leaf))
		return true;

	if (d->leaf ? d->bare : callsites_is_frameless(in))
		return r->open || r->frame;
	if (!d->leaf && (!in->framed || (in->site.kind != CALLSITE_DIRECT &&
					 in->site.kind != CALLSITE_INDIRECT)))
		return true;
	return f == g ? callee_reach_has(g, r, in->off - !d->leaf) : r->open;
}

/* Returns whether the called function is known to set the frame pointer. */
static bool callsites_is_framed(const struct pass *p, const struct doubt *d)
{
	const uint32_t reach = p->spot[d->frame].reach;

	return reach && reach != UINT32_MAX && p->reach[reach].frame;
}

/* ---- where stacks end */

/* If more than one in this many samples of a thread is in code that nothing
 * describes, such code may have called what the other samples hit. */
#define BARE_OF 64

bool callsites_no_code(const struct pass *p, uint32_t frame)
{
	return p->spot[frame].site.kind == CALLSITE_NO_CODE;
}

static bool is_bogus(const struct pass *p, uint32_t inner, uint32_t frame)
{
	enum callsite_kind kind = p->spot[frame].site.kind;

	return kind == CALLSITE_NO_CODE ||
	       (kind == CALLSITE_NO_CALL &&
		callsites_known_link(p, inner, frame) != CALLSITE_INJECTED);
}

void callsites_find_ends(struct pass *p)
{
	struct place *pl = NULL;

	/* Some return addresses are after no call, and yet true: Go's runtime
	 * makes a function look as if it was called there. */
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
	/* Finds the return addresses in stacks without a bogus frame. Most of
	 * those to which walks through code without frame pointers lead are of
	 * no use. */
	bool *bogus = mem_new(p->code->n_stack, sizeof(*bogus));
	/* part of such a stack */
	bool *part = mem_new(p->code->n_stack, sizeof(*part));
	bool *further = mem_new(p->code->n_stack, sizeof(*further));

	for (uint32_t i = 1; i < p->code->n_stack; i++) {
		const struct stack *s = bare_code_stack(p->code, i);

		if (!s->parent)
			continue;
		p->spot[s->frame].before |=
			p->stack[i].walked && p->spot[s->frame].returns &&
			callsites_no_code(
				p, bare_code_stack(p->code, s->parent)->frame);
		bogus[i] = bogus[s->parent] ||
			   is_bogus(p, s->frame,
				    bare_code_stack(p->code, s->parent)->frame);
		if (p->stack[i].used && !p->stack[i].outermost && !bogus[i])
			part[i] = p->spot[p->stack[i].root].root = true;
	}
	/* callers have smaller ids */
	for (uint32_t i = (uint32_t)p->code->n_stack; i-- > 1;) {
		uint32_t parent = bare_code_stack(p->code, i)->parent;

		if (!part[i] || !parent)
			continue;
		const struct stack *s = bare_code_stack(p->code, parent);

		callsites_add_doubt(p, i, further[i]);
		part[parent] = further[parent] = true;
		/* not if only the function of the address is known */
		p->spot[s->frame].inner |=
			s->parent &&
			p->spot[s->frame].site.kind != CALLSITE_UNCHECKED;
	}
	free_all(bogus, part, further);
	for (size_t i = 0; i < p->n_order; i++) {
		uint32_t frame = p->order[i];
		struct spot *s = &p->spot[frame];
		uint32_t image = bare_code_frame(p->code, frame)->image;

		if ((!s->root && !s->inner && !s->before) ||
		    !p->place[image].file)
			continue;
		if (pl != &p->place[image] && pl)
			callsite_settle(pl->file);
		if (pl != &p->place[image])
			callsite_reopen(p->place[image].file, p->sy,
					&p->code->image[image].img);
		pl = &p->place[image];
		bool used = false;

		if (s->inner)
			s->start = (uint8_t)thread_start_midway(
				pl->file, s->off, &s->site, &used);
		s->framed = s->inner && s->start == START_UNKNOWN;
		if (s->reach) {
			struct callee_reach r;

			callee_reach_find(pl->file, s->site.target, &r);
			if (!p->n_reach)
				mem_add(p->reach, p->n_reach, p->cap_reach)
					->open = true;
			s->reach = (uint32_t)p->n_reach;
			*mem_add(p->reach, p->n_reach, p->cap_reach) = r;
		}
		if (used)
			s->open = JUDGED_OPEN;
		if (s->root)
			s->start = (uint8_t)thread_start_at(pl->file, s->off,
							    &s->site);
		else if (s->before && s->start == START_UNKNOWN)
			s->start = (uint8_t)thread_start_first(pl->file, s->off,
							       true);
	}
	if (pl)
		callsite_settle(pl->file);
	/* The links of impossible pairs are set once all frames are known. */
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

/* The samples of the threads of one name. */
struct thread_code {
	uint64_t n, bare; /* bare: those in code about which nothing is known */
	bool go;
};

struct threads {
	struct pass *p;
	struct thread_code *at; /* by the first comm of the name */
	size_t n, cap;
};

/* Returns the innermost user frame of a group; 0: it has no thread, no user
 * stack, or one that was unwound. */
static uint32_t callsites_leaf(const struct pass *p,
			       const struct store_group *g)
{
	if (g->user < 1 || (uint64_t)g->user >= p->code->n_stack ||
	    p->stack[g->user].unwound || g->comm < 1 || g->comm > UINT32_MAX)
		return 0;
	return bare_code_stack(p->code, (uint32_t)g->user)->frame;
}

/* Adds the samples of a group to the sums of its thread's name. */
static int callsites_take_thread(void *arg, const struct store_group *g,
				 struct err *err UNUSED)
{
	struct threads *t = arg;
	const uint32_t leaf = callsites_leaf(t->p, g);

	if (!leaf)
		return 0;

	struct thread_code *c = mem_at(t->at, t->n, t->cap, g->comm);
	const uint64_t n = g->n > 0 ? (uint64_t)g->n : 0;
	const uint32_t image = bare_code_frame(t->p->code, leaf)->image;

	c->n = saturating_add(c->n, n);
	/* Code in the memory of a process that has neither file nor name was
	 * made by a compiler at run time. */
	const enum image_kind kind = t->p->code->image[image].img.kind;
	if (kind == IMAGE_ANON || kind == IMAGE_UNKNOWN_USER)
		c->bare = saturating_add(c->bare, n);
	c->go |= t->p->place[image].file &&
		 callsite_is_go(t->p->place[image].file);
	return 0;
}

/* Marks the innermost frames of samples whose dump would end in generated code
 * further out, or in Go's runtime, which calls C on another stack. Go's own
 * functions are not marked: each of them has a table. */
static int callsites_mark_leaf(void *arg, const struct store_group *g,
			       struct err *err UNUSED)
{
	const struct threads *t = arg;
	const uint32_t leaf = callsites_leaf(t->p, g);

	if (!leaf || (uint64_t)g->comm >= t->n)
		return 0;
	const struct thread_code *c = &t->at[g->comm];
	struct spot *s = &t->p->spot[leaf];
	const bool ends = c->bare > c->n / BARE_OF || (c->go && !s->bytes);

	if (ends && !s->returns && s->start == START_UNKNOWN)
		s->start = ENDS_DUMP;
	return 0;
}

int callsites_put_ends(struct pass *p, struct err *err)
{
	struct store_end *s = NULL;
	size_t n = 0, cap = 0;
	int rc;

	struct threads t = { .p = p };
	bool failed =
		store_groups_made(p->mk, callsites_take_thread, &t, err) ||
		store_groups_made(p->mk, callsites_mark_leaf, &t, err);

	free(t.at);
	if (failed)
		return -1;
	for (uint32_t i = 1; i < p->code->n_frame; i++)
		if (p->spot[i].start || p->spot[i].open || p->spot[i].bytes ||
		    p->spot[i].sframe)
			*mem_add(s, n, cap) = (struct store_end){
				i, (enum thread_start)p->spot[i].start,
				(enum judged)p->spot[i].open, p->spot[i].bytes,
				p->spot[i].sframe
			};
	rc = store_ends(p->mk, s, n, err);
	free(s);
	return rc;
}

bool callsites_begins(const struct spot *s)
{
	switch ((enum thread_start)s->start) {
	case START_TABLE:
	case START_ENTRY:
	case START_LIBRARY:
	case START_ROUTINE:
	case START_MARK:
	case START_EXIT:
	case START_KERNEL:
	case START_INTERRUPT:
		return true;
	case START_UNKNOWN:
	case ENDS_FILE:
	case ENDS_FUNCTION:
	case ENDS_FRAME:
	case ENDS_SWITCH:
	case ENDS_DUMP:
		break;
	}
	return false;
}

enum judged callsites_judge_end(struct pass *p, uint32_t stack, enum judged as)
{
	struct known_stack *k = &p->stack[stack];
	const struct spot *s = &p->spot[k->root];

	if (!k->used || k->outermost ||
	    (as != JUDGED_WHOLE && as != JUDGED_CALLER && as != JUDGED_HOLE))
		return as;
	if (callsites_begins(s))
		return as;
	if (s->start == START_UNKNOWN)
		return as == JUDGED_WHOLE ? JUDGED_NO_START : as;
	if (bare_code_frame(p->code, k->root)->flags & FRAME_SIGNED)
		return JUDGED_EARLY_SIGNED;
	k->image = bare_code_frame(p->code, k->root)->image;
	/* a kernel that walks by SFrame takes frame pointers for the rest */
	if (p->tabled && callsites_is_frameless(s))
		return !s->sframe		  ? JUDGED_EARLY_NO_SFRAME
		       : p->place[k->image].by_fp ? JUDGED_EARLY_SFRAME
						  : JUDGED_EARLY_FRAME;
	return s->start == ENDS_FILE	   ? JUDGED_EARLY_FILE
	       : s->start == ENDS_FUNCTION ? JUDGED_EARLY_FUNCTION
					   : JUDGED_EARLY_FRAME;
}

int callsites_put_shares(struct pass *p, struct err *err)
{
	for (size_t i = 1; i < p->code->n_stack; i++) {
		struct place *pl = &p->place[p->stack[i].image];

		if (!p->stack[i].image || pl->functions || !pl->file)
			continue;
		const struct frame_share *s = thread_start_share(
			pl->file, p->sy,
			&p->code->image[p->stack[i].image].img);

		pl->functions = s->functions;
		pl->framed = s->set;
	}
	for (uint32_t i = 1; i < p->code->n_image; i++) {
		const struct store_frame_share s = { i, p->place[i].functions,
						     p->place[i].framed };

		if (s.functions && store_frame_share(p->mk, &s, err))
			return -1;
	}
	return 0;
}
