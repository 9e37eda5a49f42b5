/* callsites_walks.c - who walked user stacks that were recorded as addresses:
 * frame pointers, or SFrame.
 *
 * A kernel that knows SFrame asks for each frame the table that was registered
 * for its code, and takes the frame pointer where there is none ("unwind_user:
 * Add sframe support", version 13). A function that has set no frame pointer,
 * and whose caller is the next frame, was left by a table: frame pointers skip
 * that caller. One whose caller is skipped, or in which a stack ends, was not.
 */
#include "analyze/callsites/callsites_pass.h"
#include "stitch/base/mem.h"
#include "stitch/symbol.h"
#include "symbolize/unwind/callee_reach.h"
#include "symbolize/unwind/callsite.h"

enum {
	BY_FP = 1,
	BY_SFRAME = 2,
	BY_EITHER = 4,
};

/* Returns whether all that left code of the file where frame pointers do not
 * lead was a table. */
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

/* Notes what the step out of a frame that has set no frame pointer proves. */
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

	/* neither entered by the call nor by a jump from there */
	pl->by_fp |= l == CALLSITE_GAP && r && f == pl->file && f &&
		     !callee_reach_has(
			     f, r, p->spot[frame].off - p->spot[frame].returns);

	/* Of a function that calls itself any number of callers may be skipped.
	 * That of one at whose entry there is a probe is on top of the stack,
	 * and taken from there (Linux 6.11, arch/x86/events/core.c). */
	if (l == CALLSITE_PROVED && !p->spot[frame].entry && f && out->off &&
	    callsite_link(f, &out->site, f, out->off - 1) != CALLSITE_PROVED) {
		callsites_set_link(p, frame, caller, CALLSITE_WALKED);
		l = CALLSITE_WALKED;
	}
	pl->tabled |= l == CALLSITE_WALKED;
	p->tabled |= l == CALLSITE_WALKED;
	return l == CALLSITE_WALKED;
}

/* Returns by what a frame was left. */
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
