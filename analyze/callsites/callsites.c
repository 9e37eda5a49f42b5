/* callsites.c - the call-site check of a database. */
#include "analyze/callsites/callsites.h"

#include "analyze/callsites/callsites_pass.h"
#include "schema/columns.h"
#include "schema/db/groups.h"
#include "schema/db/sums_code.h"
#include "schema/store.h"
#include "schema/write/mapped_code.h"
#include "schema/write/write.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/symbol.h"
#include "stitch/tasks/frame.h"
#include "stitch/unwinder.h"
#include "symbolize/files/identity.h"
#include "symbolize/unwind/callsite.h"

/* Sums over the frames of a stack that have an inner frame. */
struct sums {
	uint32_t checked, no_call, no_code, gaps;
	uint32_t first; /* pos of the innermost frame without a call; 0: none */
	uint32_t lost;	/* pos of the innermost frame without code that has one
			 * with code further in; 0: none */
	uint32_t run;	/* number of frames without code at the inner end */
	uint32_t behind; /* frames further out than the function in which the
			  * thread begins: they are not part of its stack */
	bool derived; /* FRAME_DERIVED, and code has not proved its function */
	bool hole;    /* the caller of a frame further out is missing */
	bool stray;   /* if hole: the next frame has called something else */
	bool never;   /* a frame cannot have been called by the next one */
	uint8_t open; /* the greatest reason, enum judged */
};

/* Notes what a chain of a stack shows. ended: enum unwind_end, 0 if frame
 * pointers were followed; caller: enum caller. */
static void callsites_use(struct pass *p, uint32_t stack, unsigned int ended,
			  unsigned int caller)
{
	if (!ended)
		p->stack[stack].used = true;
	else
		p->stack[stack].unwound = true;
	p->stack[stack].outermost |= ended == UNWIND_OUTERMOST;
	p->stack[stack].callerless |= caller == CALLER_MISSING;
	p->stack[stack].framed |= caller == CALLER_FRAMED;
	p->stack[stack].skipped |=
		caller == CALLER_INFERRED || caller == CALLER_FUNCTION;
	p->stack[stack].unproved |= caller == CALLER_UNPROVED;
	p->stack[stack].stale |= caller == CALLER_STALE;
	const struct stack *s = bare_code_stack(p->code, stack);

	if (p->stack[stack].used && s->parent)
		p->spot[s->frame].leaf = true;
}

/* Reads from the database how each used stack was recorded. */
static int callsites_read_used(struct pass *p, struct err *err)
{
	struct rows *r = rows_of(maker_read(p->mk, err), "callsite_used", err);

	while (rows_step(r)) {
		int64_t stack = rows_int(r, CALLSITE_USED_STACK);

		if (stack < 1 || (uint64_t)stack >= p->code->n_stack) {
			err_set(err, ERR_DB, "a stack %lld is not there",
				(long long)stack);
			return rows_stop(r);
		}
		callsites_use(p, (uint32_t)stack,
			      (unsigned int)rows_int(r, CALLSITE_USED_ENDED),
			      (unsigned int)rows_int(r, CALLSITE_USED_CALLER));
	}
	return rows_end(r, err);
}

/* Loads the code, and notes which frames occur where. Returns 0, or -1 and
 * *err; the caller calls callsites_release() in both cases. */
static int callsites_load(struct pass *p, struct err *err)
{
	p->code = bare_code_load(maker_read(p->mk, err), p->fr, err);
	if (!p->code)
		return -1;
	p->sums = store_sums_code(maker_read(p->mk, err)) != NULL;
	p->place = mem_new(p->code->n_image, sizeof(*p->place));
	p->spot = mem_new(p->code->n_frame, sizeof(*p->spot));
	for (uint32_t i = 1; i < p->code->n_frame; i++) {
		const struct frame *f = bare_code_frame(p->code, i);

		/* an inferred return address is stored minus one */
		p->spot[i].off = f->off + ((f->flags & FRAME_INFERRED) != 0);
	}
	p->stack = mem_new(p->code->n_stack, sizeof(*p->stack));
	/* as query callsite_used, without the database */
	for (uint32_t i = 1; p->fr && i <= p->fr->n_raw; i++) {
		const struct raw_chain *c = frames_get_raw(p->fr, i);

		if (c->stack)
			callsites_use(p, c->stack, c->note.ended,
				      c->note.caller);
	}
	if (!p->fr && callsites_read_used(p, err))
		return -1;
	/* marks all callers of used stacks; callers have smaller ids */
	for (uint32_t i = (uint32_t)p->code->n_stack; i-- > 1;) {
		p->stack[i].walked |= p->stack[i].used;
		if (!p->stack[i].walked)
			continue;
		uint32_t parent = bare_code_stack(p->code, i)->parent;

		if (!parent)
			continue;
		p->stack[parent].walked = true;
		const struct stack *s = bare_code_stack(p->code, parent);

		p->spot[s->frame].returns = true;
	}
	for (uint32_t i = 1; i < p->code->n_stack; i++) {
		const struct stack *s = bare_code_stack(p->code, i);

		p->stack[i].root =
			s->parent ? p->stack[s->parent].root : s->frame;
	}
	return 0;
}

static const struct place *callsites_place_of(const struct pass *p,
					      uint32_t frame)
{
	return &p->place[bare_code_frame(p->code, frame)->image];
}

/* Returns whether the code proved which function a frame belongs to, though not
 * which call in it was made. */
static bool is_proved(const struct pass *p, uint32_t frame)
{
	const uint32_t both = FRAME_INFERRED | FRAME_DERIVED;

	return (bare_code_frame(p->code, frame)->flags & both) == both;
}

/* Returns why a return address was not checked, or JUDGED_NONE. */
static enum judged callsites_why_open(const struct pass *p, uint32_t frame)
{
	const struct frame *f = bare_code_frame(p->code, frame);
	const struct code_image *c = &p->code->image[f->image];
	enum callsite_kind kind = p->spot[frame].site.kind;
	bool derived =
		f->flags & (FRAME_UNCERTAIN | FRAME_OLD_IMAGE | FRAME_DERIVED);

	if (f->flags & FRAME_PARTIAL)
		return JUDGED_MAPPINGS;
	if (is_proved(p, frame))
		return JUDGED_NONE;
	if (kind && kind != CALLSITE_UNCHECKED && kind != CALLSITE_NO_CODE)
		return JUDGED_NONE;
	if (p->place[f->image].other)
		return JUDGED_OTHER_FILE;
	if (c->img.kind == IMAGE_UNKNOWN_USER)
		return f->flags & FRAME_SIGNED ? JUDGED_EARLY_SIGNED
					       : JUDGED_UNMAPPED;
	if (c->img.kind == IMAGE_VDSO && !p->place[f->image].file)
		return JUDGED_NO_FILE;
	/* another copy of the file would not help */
	if (c->img.kind == IMAGE_FILE && c->status == IMAGE_NO_ELF)
		return JUDGED_NO_TABLE;
	if (c->img.kind == IMAGE_FILE && !image_is_named(c->status))
		return JUDGED_NO_FILE;
	if (!derived &&
	    (c->img.kind == IMAGE_ANON || c->img.kind == IMAGE_JIT ||
	     c->img.kind == IMAGE_SCRIPT))
		return JUDGED_GENERATED;
	return f->flags & FRAME_SIGNED ? JUDGED_EARLY_SIGNED : JUDGED_OPEN;
}

/* Looks a return address up in its file. For an innermost frame, only the
 * bounds of its function are looked up. */
static void callsites_check_frame(struct pass *p, uint32_t frame)
{
	const struct place *pl = callsites_place_of(p, frame);
	struct spot *s = &p->spot[frame];

	s->site.kind = CALLSITE_UNCHECKED;
	if (bare_code_frame(p->code, frame)->flags &
	    (FRAME_UNCERTAIN | FRAME_PARTIAL | FRAME_DERIVED | FRAME_OLD_IMAGE))
		return;
	if (callsites_image(p, frame)->kind == IMAGE_UNKNOWN_USER)
		s->site.kind = CALLSITE_NO_CODE;
	else if (pl->file && s->returns)
		callsite_at(pl->file, s->off, &s->site);
	/* The signature may have been of another address, so that a negative
	 * result proves nothing. */
	if (bare_code_frame(p->code, frame)->flags & FRAME_SIGNED &&
	    (s->site.kind == CALLSITE_NO_CODE ||
	     s->site.kind == CALLSITE_NO_CALL))
		s->site.kind = CALLSITE_UNCHECKED;
	s->injected =
		pl->file && callsite_is_injected(pl->file, s->off - s->returns);
	s->sframe =
		pl->file &&
		callsite_in_sframe(pl->file, s->off - s->returns, &s->entry);
	s->bytes =
		pl->file ? callsite_go_bytes(pl->file, s->off - s->returns) : 0;
	/* Only its unwind table shows whether the function has set the frame
	 * pointer at that place, so that its caller is in the chain. */
	if (s->leaf && !pl->file)
		s->open = (uint8_t)callsites_why_open(p, frame);
	else if (s->leaf && !callsite_has_table(pl->file, s->off))
		s->open = JUDGED_NO_TABLE;
}

/* Returns whether a frame needs the check. Files that occur only in stacks that
 * were unwound by tables are not opened. */
static bool needs_check(const struct pass *p, uint32_t frame)
{
	const struct spot *s = &p->spot[frame];

	return (s->returns || s->leaf) &&
	       !image_is_kernel(callsites_image(p, frame)->kind);
}

/* Checks the frames in code that a process generated against the recorded bytes
 * of that code: whether a call is before the return address, though not where
 * the call leads, because calls are patched; and whether the innermost function
 * has set its frame pointer. A negative result proves nothing, except in BPF
 * programs. Returns 0, or -1 and *err. */
static int callsites_check_made(struct pass *p, struct err *err)
{
	uint32_t *first = mem_new(p->code->n_image, sizeof(*first));
	uint32_t *next = mem_new(p->code->n_frame, sizeof(*next));
	struct rows *r = rows_of(maker_read(p->mk, err), "merge_jit_code", err);

	for (uint32_t i = 1; i < p->code->n_frame; i++) {
		const struct frame *f = bare_code_frame(p->code, i);
		const enum image_kind kind = callsites_image(p, i)->kind;

		if ((kind != IMAGE_JIT && kind != IMAGE_BPF) ||
		    (!p->spot[i].returns && !p->spot[i].leaf) ||
		    f->flags & (FRAME_UNCERTAIN | FRAME_PARTIAL |
				FRAME_DERIVED | FRAME_OLD_IMAGE))
			continue;
		next[i] = first[f->image];
		first[f->image] = i;
	}
	while (rows_step(r)) {
		const int64_t image = rows_int(r, MERGE_JIT_CODE_IMAGE);
		const struct value v = rows_value(r, MERGE_JIT_CODE_BYTES);
		const struct made_code code = {
			.machine =
				(uint16_t)rows_int(r, MERGE_JIT_CODE_MACHINE),
			.bytes = (const unsigned char *)v.text,
			.n = v.kind == VALUE_BLOB ? v.len : 0,
		};

		if (!code.n || image < 1 || (uint64_t)image >= p->code->n_image)
			continue;
		const bool bpf = p->code->image[image].img.kind == IMAGE_BPF;

		for (uint32_t i = first[image]; i; i = next[i]) {
			struct spot *s = &p->spot[i];

			if (bpf || s->leaf) {
				const bool framed =
					callsite_made_sets_fp(&code, s->off);

				s->open = framed ? (bpf ? JUDGED_WHOLE
							: JUDGED_NONE)
					  : bpf	 ? JUDGED_NONE
						 : JUDGED_NO_TABLE;
			}
			if (s->returns && callsite_made_calls(&code, s->off))
				s->site.kind = CALLSITE_INDIRECT;
			else if (s->returns && bpf &&
				 callsite_made_is_settled(&code, s->off))
				s->site.kind = CALLSITE_NO_CALL;
		}
	}
	free_all(first, next);
	return rows_end(r, err);
}

/* Stores the hash of the section, to detect later changes of the file; a
 * database of sums does not outlive its command. */
static int callsites_store_section(struct pass *p, struct place *pl,
				   uint32_t image, struct err *err)
{
	struct section_used text;
	int rc = 0;

	if (!pl->file)
		return 0;
	if (!p->sums && callsite_text(pl->file, p->sy, &text))
		rc = store_sections(p->mk, image, &text, 1, err);
	callsite_settle(pl->file);
	return rc;
}

/* Returns whether naming found no file for an image, or only one that does not
 * contain the addresses that ran. */
static bool callsites_has_none(const struct pass *p, uint32_t image)
{
	enum image_status s = p->code->image[image].status;

	return s == IMAGE_REPLACED || image_is_absent(s);
}

/* Checks the frames that need it, image by image, so that files open once. */
static int callsites_check_frames(struct pass *p, struct symbolizer *sy,
				  struct err *err)
{
	uint32_t image = 0;
	struct place *pl = NULL;
	struct identity_answer answer;

	/* Lists the frames to check by image. */
	size_t *at = mem_new(p->code->n_image + 1, sizeof(*at));

	p->order = mem_new(p->code->n_frame, sizeof(*p->order));
	for (uint32_t i = 1; i < p->code->n_frame; i++)
		if (needs_check(p, i))
			at[bare_code_frame(p->code, i)->image + 1]++;
	for (size_t i = 1; i <= p->code->n_image; i++)
		at[i] += at[i - 1];
	p->n_order = at[p->code->n_image];
	for (uint32_t i = 1; i < p->code->n_frame; i++)
		if (needs_check(p, i))
			p->order[at[bare_code_frame(p->code, i)->image]++] = i;
	free(at);
	for (size_t i = 0; i < p->n_order; i++) {
		uint32_t frame = p->order[i];
		uint32_t of = bare_code_frame(p->code, frame)->image;

		if (of != image) {
			if (pl && callsites_store_section(p, pl, image, err))
				return -1;
			if (!p->seen(i))
				return err_set(err, ERR_STOPPED, "stopped");
			image = of;
			pl = &p->place[image];
			answer.is = IDENTITY_ANOTHER;
			if (!callsites_has_none(p, of))
				pl->file = callsite_open(
					sy, callsites_image(p, frame), &answer);
			pl->is = answer.is;
		}
		callsites_check_frame(p, frame);
	}
	return pl ? callsites_store_section(p, pl, image, err) : 0;
}

/* Stores the result of each return address. */
static int callsites_put_frames(struct pass *p, struct err *err)
{
	struct store_callsite *c = mem_new(p->code->n_frame, sizeof(*c));
	size_t n = 0;
	int rc;

	for (uint32_t i = 1; i < p->code->n_frame; i++) {
		const struct spot *s = &p->spot[i];
		const struct place *pl = callsites_place_of(p, i);

		if (!s->site.kind || !s->returns ||
		    ((s->interrupted || s->traced) &&
		     s->site.kind == CALLSITE_NO_CALL))
			continue;
		c[n++] = (struct store_callsite){
			.frame = i,
			.kind = s->site.kind,
			.target = s->site.target,
			.unverified = pl->file ? !identity_is_sure(pl->is)
					       : s->unverified,
		};
	}
	rc = store_callsites(p->mk, c, n, err);
	free(c);
	return rc;
}

/* Drops the results of files that are not those that ran. */
static int callsites_drop_others(struct pass *p, struct err *err)
{
	bool any = false;

	/* Compares what was mapped with the files. */
	struct mapped_parts parts;
	int rc = mapped_parts_load(p->mk, &parts, err);

	for (uint32_t i = 1; !rc && i < p->code->n_image; i++) {
		struct place *pl = &p->place[i];
		size_t n;

		if (!pl->file || image_is_copy(&p->code->image[i].img))
			continue;
		const struct image_part *part = mapped_parts_of(&parts, i, &n);

		pl->seen.mapped = n;
		pl->seen.misfit = !callsite_maps(pl->file, part, n);
	}
	mapped_parts_release(&parts);
	if (rc)
		return -1;
	/* Counts return addresses by what is before them, and finds out whether
	 * any file needs a proof that it is the one that ran. */
	bool asked = false;

	for (uint32_t i = 1; i < p->code->n_frame; i++) {
		struct place *pl =
			&p->place[bare_code_frame(p->code, i)->image];
		if (!pl->file || !p->spot[i].returns)
			continue;
		switch (p->spot[i].site.kind) {
		case CALLSITE_NO_CALL:
		case CALLSITE_NO_CODE:
			pl->seen.bad++;
			asked |= !identity_is_sure(pl->is);
			break;
		case CALLSITE_DIRECT:
		case CALLSITE_INDIRECT:
		case CALLSITE_SIGNAL:
		case CALLSITE_START:
			pl->seen.calls++;
			break;
		case CALLSITE_UNCHECKED:
			break;
		}
	}

	if (asked) {
		/* Counts, for each file in doubt, the calls that were proved
		 * to enter the function of the inner frame in the same file. */
		for (uint32_t i = 1; i < p->code->n_stack; i++) {
			const struct stack *n = bare_code_stack(p->code, i);

			if (!p->stack[i].walked || !n->parent)
				continue;
			uint32_t caller =
				bare_code_stack(p->code, n->parent)->frame;
			uint32_t image =
				bare_code_frame(p->code, caller)->image;
			struct place *pl = &p->place[image];

			if (p->spot[caller].site.kind == CALLSITE_DIRECT &&
			    !identity_is_sure(pl->is) && pl->seen.bad &&
			    bare_code_frame(p->code, n->frame)->image == image)
				pl->seen.linked +=
					callsites_link(p, n->frame, caller) ==
					CALLSITE_PROVED;
		}
	}
	for (size_t i = 1; i < p->code->n_image; i++) {
		struct place *pl = &p->place[i];
		const char *why =
			pl->file ? identity_why_other(pl->is, &pl->seen) : NULL;

		if (!why)
			continue;
		if (store_doubt(p->mk, (uint32_t)i, why, err))
			return -1;
		callsite_close(pl->file);
		pl->file = NULL;
		any = pl->other = true;
	}
	for (uint32_t i = 1; any && i < p->code->n_frame; i++)
		if (callsites_place_of(p, i)->other)
			p->spot[i].site.kind = CALLSITE_UNCHECKED;
	if (any) {
		table_release(&p->by_pair);
		p->by_pair = (struct table){ 0 };
		p->n_link = 0;
	}
	return 0;
}

static bool callsites_is_gap(enum callsite_link link)
{
	return link == CALLSITE_GAP || link == CALLSITE_NEVER;
}

/* Returns whether the caller of a frame is missing where a chain goes on after
 * that frame. The caller of a signal handler is the interrupted function, of
 * which the chain has the caller at best: the frame pointer is its own. */
static bool callsites_is_hole(const struct spot *caller)
{
	return caller->site.kind == CALLSITE_SIGNAL ||
	       callsites_is_frameless(caller);
}

/* Returns whether a table may have led from a frame to its caller: the walk
 * left other frames of the same file by one. */
static bool callsites_may_be_tabled(const struct pass *p, uint32_t frame)
{
	return p->spot[frame].sframe && callsites_place_of(p, frame)->tabled;
}

/* Notes in *s what the step from frame n to the next one shows: that a caller
 * is missing, or that the next frame cannot be the caller. */
static void callsites_add_hole(struct pass *p, struct sums *s,
			       const struct stack *n)
{
	const struct spot *at = &p->spot[n->frame];

	if (!n->parent)
		return;
	const struct stack *next = bare_code_stack(p->code, n->parent);
	const struct spot *out = &p->spot[next->frame];

	/* see callsites_check_stacks() */
	if (callsites_no_code(p, next->frame) && callsites_begins(at))
		return;
	/* If a thread begins in `at`, its callers can only be functions of that
	 * kind, through the frame pointer that the thread's creator has left.
	 * If this is not known of the outermost one, that is the verdict.
	 * Nothing was called from the address of a CALLSITE_START. */
	s->never |= at->site.kind == CALLSITE_START;
	s->never |= callsites_begins(at) && !callsites_begins(out) &&
		    (next->parent || out->start != START_UNKNOWN);
	if (!callsites_is_hole(at) ||
	    callsites_is_left_by_sframe(p, n->frame, next->frame))
		return;
	s->hole = true;
	s->stray |= callsites_link(p, n->frame, next->frame) == CALLSITE_OPEN &&
		    callsites_may_be_tabled(p, n->frame);
	s->stray |= at->open == JUDGED_OPEN &&
		    callsites_is_gap(callsites_link(p, n->frame, next->frame));
}

static uint32_t callsites_depth(const struct pass *p, uint32_t stack)
{
	return stack ? bare_code_stack(p->code, stack)->depth : 0;
}

/* Returns whether a stack was unwound by the table of a file that naming has
 * refused since. Where the file was missing at that time, all further callers
 * are guessed. */
static bool callsites_is_by_other(const struct pass *p, uint32_t stack)
{
	for (uint32_t i = stack; i && p->stack[stack].unwound;) {
		const struct stack *s = bare_code_stack(p->code, i);
		uint32_t image = bare_code_frame(p->code, s->frame)->image;

		i = s->parent;
		if (!i || p->code->image[image].img.kind != IMAGE_FILE ||
		    !callsites_has_none(p, image))
			continue;
		uint32_t caller = bare_code_stack(p->code, i)->frame;

		if (!(bare_code_frame(p->code, caller)->flags & FRAME_GUESSED))
			return true;
	}
	return false;
}

/* Returns the verdict that follows from the innermost frame, or from how the
 * stack was recorded. */
static enum judged callsites_judge_simple(const struct pass *p, uint32_t stack)
{
	const struct stack *s = bare_code_stack(p->code, stack);
	const struct frame *f = bare_code_frame(p->code, s->frame);
	uint32_t image = f->image;

	if (f->flags & FRAME_PARTIAL)
		return JUDGED_MAPPINGS;
	if (p->code->image[image].img.kind == IMAGE_UNKNOWN_USER)
		return callsites_why_open(p, s->frame);
	if (p->code->image[image].img.kind == IMAGE_GUEST)
		return JUDGED_GUEST;
	if (p->place[image].other)
		return JUDGED_OTHER_FILE;
	if (callsites_is_by_other(p, stack))
		return JUDGED_NO_FILE;
	/* tables end at a thread's first function, frame pointers need not */
	if (!s->parent)
		return p->stack[stack].unwound && !p->stack[stack].used
			       ? JUDGED_WHOLE
			       : JUDGED_ONE_FRAME;
	if (p->stack[stack].used && !p->stack[stack].unwound &&
	    image_is_kernel(p->code->image[image].img.kind))
		return JUDGED_OPEN;
	if (p->stack[stack].unproved)
		return JUDGED_NO_TABLE;
	if (!p->stack[stack].callerless)
		return JUDGED_WHOLE;
	return callsites_has_none(p, image) ? JUDGED_NO_FILE : JUDGED_CALLER;
}

/* Returns whether the only return address of a stack may be left from an
 * earlier call: the innermost function has set no frame pointer, nothing shows
 * that a function between the two has set one, and the function of the return
 * address sets none. */
static bool callsites_is_stale(const struct pass *p,
			       const struct store_stack_check *c)
{
	const struct known_stack *k = &p->stack[c->stack];
	const struct spot *root = &p->spot[k->root];

	return callsites_depth(p, c->stack) == 2 && k->callerless &&
	       !k->framed && c->caller == CALLSITE_UNKNOWN &&
	       root->site.kind == CALLSITE_DIRECT && callsites_is_hole(root);
}

/* Returns the verdict on a stack, before its end is looked at. */
static enum judged callsites_judge(const struct pass *p,
				   const struct store_stack_check *c,
				   const struct sums *s)
{
	uint8_t open = s->open;
	const struct known_stack *k = &p->stack[c->stack];
	enum judged simple = callsites_judge_simple(p, c->stack);
	uint8_t leaf = p->spot[bare_code_stack(p->code, c->stack)->frame].open;

	if (c->bogus)
		return JUDGED_FABRICATED;
	/* the stack has one frame too many, whatever that frame calls */
	if (k->stale)
		return JUDGED_OPEN;
	/* If the walk may have led to an address without code, more than one
	 * caller may be missing, and the next frame may be no caller. */
	if (simple == JUDGED_CALLER &&
	    (open == JUDGED_MAPPINGS || open == JUDGED_UNMAPPED ||
	     open == JUDGED_EARLY_SIGNED || callsites_is_stale(p, c) ||
	     (c->caller == CALLSITE_OPEN &&
	      callsites_may_be_tabled(
		      p, bare_code_stack(p->code, c->stack)->frame))))
		return open > JUDGED_OPEN ? open : JUDGED_OPEN;
	if (simple <= JUDGED_CALLER || simple == JUDGED_GUEST)
		return simple;
	/* A missing caller stays missing, whatever the frames further out are.
	 * If the innermost function has its frame, the gap is a tail call: the
	 * function between the two has left no frame. */
	if (callsites_is_gap(c->caller) && !k->framed)
		return JUDGED_CALLER;
	if (k->unwound)
		return simple;
	/* if the call is proved to enter that function, its caller is there */
	if (c->caller != CALLSITE_PROVED && !k->framed && leaf > open)
		open = leaf;
	else if (callsites_depth(p, c->stack) - s->behind == 1 + c->checked)
		return simple;
	return open > JUDGED_OPEN ? open : JUDGED_OPEN;
}

/* Adds the row of a stack to p->found, and sets its verdict. */
static void callsites_put_stack(struct pass *p, uint32_t stack,
				const struct sums *s)
{
	const struct stack *n = bare_code_stack(p->code, stack);
	struct store_stack_check c = {
		.stack = stack,
		.checked = s->checked,
		.bogus = s->no_call,
		.first = s->first,
		.gaps = s->gaps,
		.walked = (enum walk)p->stack[stack].by,
	};

	if (s->lost && !s->derived) {
		uint32_t bogus = s->no_code - (s->run ? s->run - 1 : 0);

		c.checked += bogus;
		c.bogus += bogus;
		if (!c.first || s->lost < c.first)
			c.first = s->lost;
	}
	if (c.first) {
		const struct stack *at = n;

		for (uint32_t pos = 1; pos < c.first && at->parent; pos++)
			at = bare_code_stack(p->code, at->parent);
		c.image = bare_code_frame(p->code, at->frame)->image;
	}
	if (c.first != 1)
		c.caller = callsites_link(
			p, n->frame,
			bare_code_stack(p->code, n->parent)->frame);
	if (c.caller == CALLSITE_WALKED)
		c.caller = CALLSITE_PROVED;
	enum judged judged = callsites_judge(p, &c, s);

	p->stack[stack].lacks = judged == JUDGED_CALLER;
	if ((s->hole || s->never) && !p->stack[stack].unwound &&
	    (judged == JUDGED_WHOLE || judged == JUDGED_CALLER))
		judged = s->stray || s->never ? JUDGED_OPEN : JUDGED_HOLE;
	p->stack[stack].judged = (uint8_t)callsites_judge_end(p, stack, judged);
	if (judged == JUDGED_FABRICATED)
		p->stack[stack].image = c.image;
	else if (p->stack[stack].judged == JUDGED_CALLER)
		p->stack[stack].image =
			bare_code_frame(p->code, n->frame)->image;
	*mem_add(p->found, p->n_found, p->cap_found) = c;
}

/* Returns how many frames of a user stack were recorded, not inferred. */
static uint32_t callsites_recorded(const struct pass *p, uint32_t user)
{
	const uint32_t parent = bare_code_stack(p->code, user)->parent;
	const uint32_t caller =
		parent ? bare_code_stack(p->code, parent)->frame : 0;

	return callsites_depth(p, user) -
	       (caller &&
		bare_code_frame(p->code, caller)->flags & FRAME_INFERRED);
}

/* Notes for the stacks of a sample whether more frames would have been kept. */
static int callsites_find_full(void *arg, const struct store_group *g,
			       struct err *err)
{
	const struct pass *p = arg;
	const int64_t user = g->user;
	const int64_t kernel = g->kernel;

	if (user < 0 || (uint64_t)user >= p->code->n_stack || kernel < 0 ||
	    (uint64_t)kernel >= p->code->n_stack)
		return err_set(err, ERR_DB, "a stack of a sample is not there");
	if (g->type < 1 || (uint64_t)g->type >= p->n_kept)
		return err_set(err, ERR_DB,
			       "an event of a sample is not there");
	const struct kept_frames *kept = &p->kept[g->type];
	const uint32_t own = callsites_depth(p, (uint32_t)kernel);

	p->stack[kernel].deeper |= own != kept->kernel;
	p->stack[user].ends |=
		user &&
		callsites_recorded(p, (uint32_t)user) + own < kept->both;
	return 0;
}

/* Judges the stacks, and stores the results if `code`. Without code, this only
 * finds which stacks are not judged. Returns 0, or -1 and *err. */
static int callsites_check_stacks(struct pass *p, bool code, struct err *err)
{
	size_t n_stack = p->code->n_stack;

	p->kept = store_kept_frames(maker_read(p->mk, err), &p->n_kept, err);
	if (!p->kept || store_groups_made(p->mk, callsites_find_full, p, err))
		return -1;

	/* the stacks after the last one to be judged were unwound from dumps;
	 * this may be true of all stacks */
	while (n_stack > 1 && !p->stack[n_stack - 1].walked)
		n_stack--;

	struct sums *sums = mem_new(n_stack, sizeof(*sums));

	callsites_find_walks(p);

	for (uint32_t i = 1; i < n_stack; i++) {
		const struct stack *n = bare_code_stack(p->code, i);

		if (!p->stack[i].walked)
			continue;
		if (image_is_kernel(callsites_image(p, n->frame)->kind)) {
			callsites_judge_kernel(p, i);
			continue;
		}
		/* What a walk finds further out than the function in which
		 * the thread begins is no frame. */
		struct stack own = *bare_code_stack(p->code, i);
		const uint32_t above =
			own.parent ? bare_code_stack(p->code, own.parent)->frame
				   : 0;

		if (above && callsites_no_code(p, above) &&
		    callsites_begins(&p->spot[own.frame])) {
			sums[i].behind = callsites_depth(p, own.parent);
			own.parent = 0;
		}
		if (own.parent)
			sums[i] = sums[own.parent];
		p->stack[i].root =
			own.parent ? p->stack[own.parent].root : own.frame;
		p->stack[i].switches =
			(own.parent && p->stack[own.parent].switches) ||
			p->spot[own.frame].start == ENDS_SWITCH;
		p->stack[i].bytes =
			(own.parent ? p->stack[own.parent].bytes : 0) +
			p->spot[own.frame].bytes;

		/* the sums of a stack follow from those of its parent */
		struct sums *s = &sums[i];

		s->first += s->first != 0;
		s->lost += s->lost != 0;
		if (own.parent) {
			uint32_t caller =
				bare_code_stack(p->code, own.parent)->frame;
			enum judged open = callsites_why_open(p, caller);

			if (open > s->open)
				s->open = (uint8_t)open;
			enum callsite_link link;

			switch (p->spot[caller].site.kind) {
			case CALLSITE_NO_CALL:
				s->checked++;
				if (callsites_known_link(p, own.frame,
							 caller) ==
				    CALLSITE_INJECTED)
					break;
				s->no_call++;
				s->first = 1;
				break;
			case CALLSITE_NO_CODE:
				s->no_code++;
				break;
			case CALLSITE_UNCHECKED:
				s->checked += is_proved(p, caller);
				break;
			case CALLSITE_DIRECT:
			case CALLSITE_INDIRECT:
			case CALLSITE_SIGNAL:
			case CALLSITE_START:
				link = callsites_link(p, own.frame, caller);
				s->checked++;
				s->gaps += callsites_is_gap(link);
				s->never |= link == CALLSITE_NEVER;
				break;
			}
			callsites_add_hole(
				p, s, bare_code_stack(p->code, own.parent));
			/* a frame without code cannot have called code */
			if (callsites_no_code(p, caller) &&
			    !callsites_no_code(p, own.frame))
				s->lost = 1;
		}
		s->run = callsites_no_code(p, own.frame) ? s->run + 1 : 0;
		s->derived |= (bare_code_frame(p->code, own.frame)->flags &
			       FRAME_DERIVED) &&
			      !is_proved(p, own.frame);
		if (p->stack[i].used && own.parent)
			callsites_put_stack(p, i, &sums[i]);
	}
	free(sums);
	if (!code)
		return 0;
	if (store_links(p->mk, p->link, p->n_link, err))
		return -1;
	return store_stack_checks(p->mk, p->found, p->n_found, err);
}

SAME_BY(callsites_same_trust, struct pass, trust[id], struct store_user_trust,
	type, mark, judged, frames, image);

/* Returns whether a stack dump of the same place would end early, too. */
static bool callsites_ends_dump(const struct pass *p, uint32_t stack)
{
	uint32_t leaf = bare_code_stack(p->code, stack)->frame;

	return judged_ends_dump(
		p->stack[stack].judged,
		judged_ends_leaf(p->spot[leaf].start, p->spot[leaf].open,
				 callsites_image(p, leaf)->kind == IMAGE_ANON),
		p->stack[stack].switches);
}

/* Returns an enum judged_stop, 0 for a stack that was unwound or is missing. */
static uint8_t callsites_frames(const struct pass *p, uint32_t user,
				uint32_t kernel, uint32_t kept)
{
	if (!user || p->stack[user].unwound)
		return 0;
	return (uint8_t)judged_stop(
		callsites_recorded(p, user), callsites_depth(p, kernel), kept,
		callsites_ends_dump(p, user), p->stack[user].bytes);
}

/* Adds the samples of a group to the row for their verdict. */
static int callsites_take_group(void *arg, const struct store_group *g,
				struct err *err UNUSED)
{
	struct pass *p = arg;
	const int64_t user = g->user;
	const int64_t kernel = g->kernel;

	if (user && !p->stack[user].judged)
		p->stack[user].judged =
			(uint8_t)callsites_judge_simple(p, (uint32_t)user);
	const struct store_user_trust u = {
		.type = (uint32_t)g->type,
		.mark = (int16_t)g->mark,
		.judged = judged_name(p->stack[user].judged),
		.frames = callsites_frames(p, (uint32_t)user, (uint32_t)kernel,
					   p->kept[g->type].both),
		.image = p->stack[user].image,
	};
	uint64_t h = hash_pair((uint64_t)u.type << 32 | (uint16_t)u.mark,
			       (uint64_t)u.image << 32 |
				       (uint64_t)p->stack[user].judged << 8 |
				       u.frames);
	uint32_t at = table_find(&p->by_trust, h, callsites_same_trust, p, &u);

	if (at == TABLE_NONE) {
		at = (uint32_t)p->n_trust;
		*mem_add(p->trust, p->n_trust, p->cap_trust) = u;
		table_add(&p->by_trust, h, at);
	}
	p->trust[at].n += g->n;
	return 0;
}

/* Stores how far the user stacks of samples can be trusted. */
static int callsites_put_trust(struct pass *p, struct err *err)
{
	struct store_judged *j = NULL;
	size_t n = 0, cap = 0;

	if (store_groups_made(p->mk, callsites_take_group, p, err))
		return -1;
	/* collects the verdict of each stack of a sample */
	for (size_t i = 1; i < p->code->n_stack; i++) {
		struct known_stack *s = &p->stack[i];

		if (s->kernel && s->used && !s->deeper &&
		    s->judged == JUDGED_NO_START)
			s->judged = JUDGED_FULL;
		/* of a kernel stack, only the image without file is stored */
		if (s->kernel && s->judged != JUDGED_NO_FILE)
			s->image = 0;
		if (s->judged != JUDGED_NONE &&
		    (s->judged != JUDGED_WHOLE || s->kernel))
			*mem_add(j, n, cap) =
				(struct store_judged){ (uint32_t)i, s->judged,
						       s->lacks, s->image };
	}
	int rc = store_judged(p->mk, j, n, err);

	free(j);
	return rc || store_user_trust(p->mk, p->trust, p->n_trust, err) ||
			       callsites_put_shares(p, err)
		       ? -1
		       : 0;
}

static void callsites_release(struct pass *p)
{
	for (size_t i = 0; p->place && i < p->code->n_image; i++)
		callsite_close(p->place[i].file);
	bare_code_free(p->code);
	table_release(&p->by_pair);
	free_all(p->place, p->spot, p->stack, p->trust);
	table_release(&p->by_trust);
	free_all(p->order, p->link, p->doubt, p->reach, p->found, p->kept);
}

/* ---- results of an earlier check */

struct found {
	struct spot *spot; /* by frame: the parts that the database has */
	struct found_image {
		bool had;    /* its file was there */
		char *doubt; /* why it was not the one that ran, or NULL */
		uint32_t functions, framed; /* as in struct place */
	} * image;
	struct store_link *link;
	size_t n_link, cap_link;
};

static void callsites_release_found(const struct pass *p, struct found *f)
{
	for (size_t i = 0; f->image && i < p->code->n_image; i++)
		free(f->image[i].doubt);
	free_all(f->spot, f->image, f->link);
}

/* Reads the results of the last check into *f. Returns 0, or -1 and *err; the
 * caller calls callsites_release_found() in both cases. */
static int callsites_read_found(struct pass *p, struct found *f,
				struct err *err)
{
	struct store *db = maker_read(p->mk, err);
	struct rows *r = rows_of(db, "again_others", err);

	f->spot = mem_new(p->code->n_frame, sizeof(*f->spot));
	f->image = mem_new(p->code->n_image, sizeof(*f->image));
	while (rows_step(r)) {
		int64_t image = rows_int(r, AGAIN_OTHERS_IMAGE);

		if (image > 0 && (uint64_t)image < p->code->n_image)
			f->image[image].doubt =
				mem_strdup(rows_text(r, AGAIN_OTHERS_WHY));
	}
	if (rows_end(r, err))
		return -1;
	r = rows_of(db, "again_files", err);
	while (rows_step(r)) {
		int64_t image = rows_int(r, AGAIN_FILES_IMAGE);

		if (image > 0 && (uint64_t)image < p->code->n_image)
			f->image[image].had = true;
	}
	if (rows_end(r, err))
		return -1;
	r = rows_of(db, "merge_shares", err);
	while (rows_step(r)) {
		int64_t image = rows_int(r, MERGE_SHARES_IMAGE);

		if (image < 1 || (uint64_t)image >= p->code->n_image)
			continue;
		f->image[image].functions =
			(uint32_t)rows_int(r, MERGE_SHARES_FUNCTIONS);
		f->image[image].framed =
			(uint32_t)rows_int(r, MERGE_SHARES_FRAMED);
	}
	if (rows_end(r, err))
		return -1;
	r = rows_of(db, "again_sites", err);
	while (rows_step(r)) {
		int64_t frame = rows_int(r, AGAIN_SITES_FRAME);
		int64_t kind = rows_int(r, AGAIN_SITES_KIND);

		if (frame < 1 || (uint64_t)frame >= p->code->n_frame)
			continue;
		f->spot[frame].site.kind = (enum callsite_kind)kind;
		f->spot[frame].site.target =
			(uint64_t)rows_int(r, AGAIN_SITES_TARGET);
		f->spot[frame].unverified =
			rows_int(r, AGAIN_SITES_UNVERIFIED) != 0;
		/* the section of a kernel's code is not stored */
		f->image[bare_code_frame(p->code, (uint32_t)frame)->image]
			.had |=
			kind != CALLSITE_UNCHECKED && kind != CALLSITE_NO_CODE;
	}
	if (rows_end(r, err))
		return -1;
	r = rows_of(db, "merge_ends", err);
	while (rows_step(r)) {
		int64_t frame = rows_int(r, MERGE_ENDS_FRAME);

		if (frame < 1 || (uint64_t)frame >= p->code->n_frame)
			continue;
		struct spot *s = &f->spot[frame];

		s->start = (uint8_t)rows_int(r, MERGE_ENDS_START);
		s->open = (uint8_t)rows_int(r, MERGE_ENDS_OPEN);
		s->bytes = (uint32_t)rows_int(r, MERGE_ENDS_BYTES);
		s->sframe = rows_int(r, MERGE_ENDS_SFRAME) != 0;
	}
	if (rows_end(r, err))
		return -1;
	r = rows_of(db, "again_links", err);
	while (rows_step(r)) {
		int64_t link = rows_int(r, AGAIN_LINKS_LINK);
		struct store_link l = {
			.inner = (uint32_t)rows_int(r, AGAIN_LINKS_INNER),
			.frame = (uint32_t)rows_int(r, AGAIN_LINKS_FRAME),
			.link = (enum callsite_link)link,
		};

		if (l.inner && l.inner < p->code->n_frame && l.frame &&
		    l.frame < p->code->n_frame)
			*mem_add(f->link, f->n_link, f->cap_link) = l;
	}
	return rows_end(r, err);
}

/* Takes over the results for files that are not at hand now: they depend on the
 * content of the file alone, and stay as sure as they were. */
static int callsites_keep_found(struct pass *p, const struct found *f,
				struct err *err)
{
	bool *keeps = mem_new(p->code->n_image, sizeof(*keeps));
	int rc = 0;

	for (uint32_t i = 1; i < p->code->n_image; i++) {
		struct place *pl = &p->place[i];

		if (pl->file || pl->here || pl->other)
			continue;
		keeps[i] = f->image[i].had || !p->sy;
		pl->other = f->image[i].doubt != NULL;
		/* the database of a merge has these already */
		if (!p->sy)
			continue;
		pl->functions = f->image[i].functions;
		pl->framed = f->image[i].framed;
		if (pl->other && !rc)
			rc = store_doubt(p->mk, i, f->image[i].doubt, err);
	}
	for (uint32_t i = 1; i < p->code->n_frame; i++) {
		const uint32_t image = bare_code_frame(p->code, i)->image;
		const struct spot *was = &f->spot[i];
		/* a frame about which nothing is known has no row */
		const bool listed =
			was->start || was->open || was->bytes || was->sframe;
		struct spot *s = &p->spot[i];

		if (!keeps[image])
			continue;
		if (was->site.kind)
			s->site = was->site;
		if (was->start)
			s->start = was->start;
		if (listed || f->image[image].had)
			s->open = was->open;
		s->unverified = was->unverified;
		s->bytes = was->bytes;
		s->sframe = was->sframe;
	}
	for (size_t i = 0; i < f->n_link; i++) {
		const struct store_link *l = &f->link[i];

		if (keeps[bare_code_frame(p->code, l->frame)->image])
			callsites_set_link(p, l->inner, l->frame, l->link);
	}
	free(keeps);
	return rc;
}

int callsites_check(struct maker *mk, const struct frames *fr,
		    struct symbolizer *sy, callsites_seen_fn *seen,
		    struct err *err)
{
	struct pass p = { .mk = mk, .fr = fr, .sy = sy, .seen = seen };
	struct found found = { 0 };
	int rc = -1;

	if (store_callsites_begin(mk, err) || callsites_load(&p, err) ||
	    (sy && !fr && callsites_read_found(&p, &found, err)) ||
	    store_callsites_drop(mk, err) ||
	    (sy &&
	     (callsites_check_frames(&p, sy, err) ||
	      callsites_check_made(&p, err) || callsites_drop_others(&p, err))))
		goto out;
	if (sy)
		callsites_find_ends(&p);
	if (callsites_find_kernel(&p, err))
		goto out;
	if (sy)
		callsites_check_kernel(&p, sy);
	if (found.spot && callsites_keep_found(&p, &found, err))
		goto out;
	if ((!sy || !callsites_put_frames(&p, err)) &&
	    !callsites_check_stacks(&p, sy != NULL, err) &&
	    (!sy || !callsites_put_ends(&p, err)))
		rc = callsites_put_trust(&p, err);
out:
	callsites_release_found(&p, &found);
	callsites_release(&p);
	return rc;
}

int callsites_judge_again(struct maker *mk, struct err *err)
{
	struct pass p = { .mk = mk };
	struct found found = { 0 };
	bool loaded = !callsites_load(&p, err);
	int rc = -1;

	/* finds what can be known about their frames without files */
	for (uint32_t i = 1; loaded && i < p.code->n_frame; i++)
		if (needs_check(&p, i))
			callsites_check_frame(&p, i);
	if (loaded && !callsites_check_made(&p, err) &&
	    !callsites_read_found(&p, &found, err) &&
	    !callsites_keep_found(&p, &found, err) &&
	    !store_links_drop(mk, err) && !callsites_find_kernel(&p, err) &&
	    !callsites_check_stacks(&p, true, err) &&
	    !callsites_put_trust(&p, err))
		rc = 0;
	callsites_release_found(&p, &found);
	callsites_release(&p);
	return rc;
}
