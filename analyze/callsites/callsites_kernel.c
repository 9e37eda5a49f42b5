/* callsites_kernel.c - judges the kernel half of stacks: whether each of its
 * return addresses is after a call, kernel stacks begin in its outermost frame,
 * and no frame is further out. */
#include <fnmatch.h>

#include "analyze/callsites/callsites_pass.h"
#include "schema/columns.h"
#include "schema/db/sums_code.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/tasks/frame.h"
#include "symbolize/unwind/kernel_code.h"

/* How the next frame further out follows a frame of the kernel. */
enum kernel_way {
	WAY_CALL,	 /* the next frame is what has called it */
	WAY_INTERRUPTED, /* or the place where an interrupt or exception came */
	WAY_JUMP,	 /* its return address is after no call */
	WAY_REPLACED,	 /* it was put in the place of a return address */
	WAY_GONE,	 /* its code is discarded after the boot */
	WAY_TRAMPOLINE,	 /* a BPF trampoline, by its ksymbol: its code is not
			  * recorded */
	WAY_TRAMPOLINED, /* a function that only BPF trampolines call */
};

/* Linux 6.1 to 7.2, found in their stacks; the code is in
 * arch/x86/entry/entry_64.S, arch/x86/kernel/head_64.S,
 * arch/arm64/kernel/entry.S and arch/s390/kernel/entry.S. A stack of the kernel
 * is empty where it is entered from user mode, or a thread or CPU starts on it;
 * unwinders stop at registers of user mode (arch/x86/kernel/unwind_orc.c). An
 * interrupt enters from either mode, so that the frames of the interrupted code
 * may follow, the first of which is no return address. The same is true where
 * the kernel is left again. ret_from_fork() is called from ret_from_fork_asm()
 * on x86, and is the outermost on others. */
static const struct kernel_place {
	const char *pattern;
	enum thread_start start;
	enum kernel_way way;
} kernel_places[] = {
	{ "entry_SYSCALL_64", START_KERNEL, WAY_CALL },
	{ "entry_SYSCALL_64_after_hwframe", START_KERNEL, WAY_CALL },
	{ "entry_SYSCALL_compat*", START_KERNEL, WAY_CALL },
	{ "entry_SYSENTER_compat*", START_KERNEL, WAY_CALL },
	{ "ret_from_fork_asm", START_KERNEL, WAY_CALL },
	/* code goes on at the next instruction by a far return */
	{ "secondary_startup_64*", START_KERNEL, WAY_JUMP },
	{ "common_startup_64", START_KERNEL, WAY_JUMP },
	{ "el0t_??_sync", START_KERNEL, WAY_CALL },
	{ "el0t_??_irq", START_KERNEL, WAY_CALL },
	{ "el0t_??_fiq", START_KERNEL, WAY_CALL },
	{ "el0t_??_error", START_KERNEL, WAY_CALL },
	{ "__primary_switched", START_KERNEL, WAY_CALL },
	{ "__secondary_switched", START_KERNEL, WAY_CALL },
	{ "system_call", START_KERNEL, WAY_CALL },
	{ "startup_continue", START_KERNEL, WAY_CALL },
	{ "start_kernel", START_UNKNOWN, WAY_GONE },
	{ "x86_64_start_*", START_UNKNOWN, WAY_GONE },
	{ "arch_call_rest_init", START_UNKNOWN, WAY_GONE },
	{ "ret_from_fork", START_INTERRUPT, WAY_CALL },
	{ "entry_INT80_compat", START_INTERRUPT, WAY_CALL },
	{ "asm_int80_emulation", START_INTERRUPT, WAY_INTERRUPTED },
	{ "asm_exc_*", START_INTERRUPT, WAY_INTERRUPTED },
	{ "asm_sysvec_*", START_INTERRUPT, WAY_INTERRUPTED },
	{ "asm_*_interrupt", START_INTERRUPT, WAY_INTERRUPTED },
	{ "asm_fred_*", START_INTERRUPT, WAY_INTERRUPTED },
	{ "*_int_handler", START_INTERRUPT, WAY_INTERRUPTED },
	{ "pgm_check_handler", START_INTERRUPT, WAY_INTERRUPTED },
	{ "el1?_??_*", START_UNKNOWN, WAY_INTERRUPTED },
	{ "__sdei_asm_*", START_UNKNOWN, WAY_INTERRUPTED },
	{ "common_interrupt_return", START_UNKNOWN, WAY_INTERRUPTED },
	{ "restore_regs_and_return_to_kernel", START_UNKNOWN, WAY_INTERRUPTED },
	{ "native_i*ret*", START_UNKNOWN, WAY_INTERRUPTED },
	{ "error_*", START_UNKNOWN, WAY_INTERRUPTED },
	{ "paranoid_*", START_UNKNOWN, WAY_INTERRUPTED },
	{ "nmi_restore", START_UNKNOWN, WAY_INTERRUPTED },
	{ "ret_to_kernel", START_UNKNOWN, WAY_INTERRUPTED },
	{ "ftrace_*", START_UNKNOWN, WAY_INTERRUPTED },
	{ "*mcount*", START_UNKNOWN, WAY_INTERRUPTED },
	{ "*fentry*", START_UNKNOWN, WAY_INTERRUPTED },
	{ "*return_to_handler", START_UNKNOWN, WAY_REPLACED },
	{ "*rethook_trampoline", START_UNKNOWN, WAY_REPLACED },
	{ "*kretprobe_trampoline", START_UNKNOWN, WAY_REPLACED },
	{ "__bpf_prog_enter*", START_UNKNOWN, WAY_TRAMPOLINED },
	{ "__bpf_prog_exit*", START_UNKNOWN, WAY_TRAMPOLINED },
	{ "__bpf_tramp_enter", START_UNKNOWN, WAY_TRAMPOLINED },
	{ "__bpf_tramp_exit", START_UNKNOWN, WAY_TRAMPOLINED },
};

static const struct kernel_place *callsites_kernel_place(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(kernel_places); i++)
		if (!fnmatch(kernel_places[i].pattern, name, 0))
			return &kernel_places[i];
	return NULL;
}

/* The code of a symbol. is: NULL if its name has no row in kernel_places. */
struct kernel_range {
	uint32_t image;
	uint64_t from, size;
	const struct kernel_place *is;
};

COMPARE_BY(kernel_range_compare, struct kernel_range, image, from);

/* Returns the range that holds an offset of an image, or NULL. */
static const struct kernel_range *kernel_range_at(const struct kernel_range *r,
						  size_t n, uint32_t image,
						  uint64_t off)
{
	const size_t k = search_where(
		n, m,
		r[m].image > image || (r[m].image == image && r[m].from > off));

	return k && r[k - 1].image == image &&
			       off - r[k - 1].from < r[k - 1].size
		       ? &r[k - 1]
		       : NULL;
}

static void callsites_set_place(struct spot *s, const struct kernel_place *is)
{
	if (!is)
		return;
	s->start = (uint8_t)is->start;
	s->way = (uint8_t)is->way;
}

/* Returns whether the next frame after `inner` was or may have been interrupted
 * there, by the names of the kernel. Trampolines of ftrace have registers, too,
 * with an address that kprobe_ftrace_handler() has made one larger. */
static bool callsites_is_interrupted(const struct pass *p, uint32_t inner)
{
	const struct spot *s = &p->spot[inner];
	const enum image_kind kind = callsites_image(p, inner)->kind;

	return s->way == WAY_INTERRUPTED || kind == IMAGE_OOL ||
	       kind == IMAGE_UNKNOWN_KERNEL ||
	       (kind == IMAGE_KERNEL && !s->named);
}

/* Returns whether a return address of the kernel can be looked up. */
static bool callsites_is_kernel_code(const struct pass *p, uint32_t frame)
{
	const struct frame *f = bare_code_frame(p->code, frame);
	const enum image_kind kind = p->code->image[f->image].img.kind;

	return (p->spot[frame].returns || p->spot[frame].leaf) &&
	       (kind == IMAGE_KERNEL || kind == IMAGE_MODULE ||
		kind == IMAGE_BPF) &&
	       !(f->flags & (FRAME_UNCERTAIN | FRAME_PARTIAL | FRAME_DERIVED |
			     FRAME_OLD_IMAGE));
}

int callsites_find_kernel(struct pass *p, struct err *err)
{
	struct kernel_range *range = NULL;
	size_t n = 0, cap = 0;
	struct store *db = maker_read(p->mk, err);
	struct rows *r = rows_of(db, "callsite_kernel", err);
	const bool sums = db && store_sums_code(db);

	for (uint32_t i = 1; i < p->code->n_frame; i++) {
		const struct code_image *c =
			&p->code->image[bare_code_frame(p->code, i)->image];
		struct spot *s = &p->spot[i];

		if (c->img.kind == IMAGE_BPF &&
		    !strncmp(c->img.path, "bpf_trampoline_", 15))
			s->way = WAY_TRAMPOLINE;
		if (c->img.kind != IMAGE_KERNEL || c->status != IMAGE_NAMED)
			continue;
		const char *name =
			sums ? store_sums_name(db, i, &s->into) : NULL;

		s->into += name != NULL;

		s->named = !sums || name;
		callsites_set_place(s, callsites_kernel_place(name));
	}
	/* the rows of frames have no names yet, so that symbols are searched */
	while (rows_step(r)) {
		const char *name = rows_text(r, CALLSITE_KERNEL_NAME);
		struct kernel_range at = {
			(uint32_t)rows_int(r, CALLSITE_KERNEL_IMAGE),
			(uint64_t)rows_int(r, CALLSITE_KERNEL_START),
			(uint64_t)rows_int(r, CALLSITE_KERNEL_SIZE),
			rows_int(r, CALLSITE_KERNEL_MODULE)
				? NULL
				: callsites_kernel_place(name),
		};

		/* a part that the compiler moved away uses its function's frame
		 */
		if (strstr(name, ".cold"))
			continue;
		/* the address of the function itself is in the place of a
		 * return address, or innermost */
		if (at.is && at.from &&
		    (at.is->way == WAY_REPLACED ||
		     at.is->way == WAY_TRAMPOLINED)) {
			at.from--;
			at.size++;
		}
		*mem_add(range, n, cap) = at;
	}
	sort_items(range, n, kernel_range_compare);
	for (uint32_t i = 1; n && i < p->code->n_frame; i++) {
		const uint32_t image = bare_code_frame(p->code, i)->image;
		struct spot *s = &p->spot[i];
		const struct kernel_range *at =
			kernel_range_at(range, n, image, s->off - 1);

		callsites_set_place(s, at ? at->is : NULL);
		/* the address is that of the next instruction if the frame was
		 * interrupted, not of a call */
		at = kernel_range_at(range, n, image, s->off);
		s->into = at ? s->off - at->from + 1 : 0;
	}
	free(range);
	for (uint32_t i = 1; i < p->code->n_stack; i++) {
		const struct stack *in = bare_code_stack(p->code, i);

		if (!in->parent || !p->stack[i].walked)
			continue;
		const uint32_t out =
			bare_code_stack(p->code, in->parent)->frame;

		p->spot[out].interrupted |=
			callsites_is_kernel_code(p, out) &&
			callsites_is_interrupted(p, in->frame);
	}
	return rows_end(r, err);
}

/* Returns whether the caller of an interrupted or innermost frame is in the
 * chain, for a kernel that finds callers by frame pointers: WHOLE, CALLER if it
 * is missing, or NONE if that is not known. */
static uint8_t callsites_kernel_framed(const struct kernel_code *k,
				       const struct spot *s)
{
	if ((!s->leaf && !s->interrupted) || !s->into)
		return JUDGED_NONE;
	switch (kernel_code_framed(k, s->off, s->into - 1)) {
	case 1:
		return JUDGED_WHOLE;
	case 0:
		return JUDGED_CALLER;
	default:
		return JUDGED_NONE;
	}
}

/* Looks up the frames of an image, which next[] links. Returns how many of
 * their addresses are wrong, being after no call, and adds to *calls how many
 * are after one. */
static size_t callsites_check_kernel_image(struct pass *p,
					   const struct kernel_code *k,
					   uint32_t first, const uint32_t *next,
					   size_t *calls)
{
	const bool tables = kernel_code_has_tables(k);
	size_t wrong = 0;

	for (uint32_t i = first; i; i = next[i]) {
		struct spot *s = &p->spot[i];
		if (!tables && !s->start)
			s->open = callsites_kernel_framed(k, s);
		if (!s->returns)
			continue;
		enum callsite_kind kind =
			kernel_code_at(k, s->off, &s->site.target, &s->traced);

		if (kind == CALLSITE_UNCHECKED)
			kind = s->way == WAY_GONE ? CALLSITE_START : 0;
		else if (kind == CALLSITE_NO_CALL)
			kind = s->way == WAY_JUMP	? CALLSITE_START
			       : s->way == WAY_REPLACED ? 0
							: kind;
		s->site.kind = kind;
		*calls += kind == CALLSITE_DIRECT || kind == CALLSITE_INDIRECT;
		wrong += kind == CALLSITE_NO_CALL && !s->interrupted;
		/* a stack that ends there lacks no caller */
		if (tables && s->start)
			s->open = JUDGED_WHOLE;
	}
	return wrong;
}

void callsites_check_kernel(struct pass *p, struct symbolizer *sy)
{
	struct kernel_code *k = NULL;
	uint32_t *next = mem_new(p->code->n_frame, sizeof(*next));
	uint32_t *first = mem_new(p->code->n_image, sizeof(*first));
	bool change = false;

	for (uint32_t i = 1; i < p->code->n_frame; i++) {
		const uint32_t image = bare_code_frame(p->code, i)->image;

		/* a module was loaded without a record, others may be gone */
		change |=
			p->spot[i].returns &&
			p->code->image[image].img.kind == IMAGE_UNKNOWN_KERNEL;
		if (!callsites_is_kernel_code(p, i))
			continue;
		next[i] = first[image];
		first[image] = i;
	}
	for (uint32_t image = 1; image < p->code->n_image; image++) {
		const struct image *img = &p->code->image[image].img;

		size_t calls = 0;
		bool wanted = false;

		k = first[image] && img->kind != IMAGE_BPF
			    ? kernel_code_open(sy, img, &wanted)
			    : NULL;
		for (uint32_t i = first[image]; i && wanted; i = next[i])
			p->spot[i].open = JUDGED_NO_FILE;
		p->place[image].here = k != NULL;
		const size_t wrong =
			k ? callsites_check_kernel_image(p, k, first[image],
							 next, &calls)
			  : 0;
		/* code that was not proved to be there is no evidence */
		if (wrong && img->kind == IMAGE_MODULE &&
		    (change || !img->id_len || wrong > calls))
			for (uint32_t i = first[image]; i; i = next[i])
				p->spot[i].site.kind = 0;
		kernel_code_close(k);
	}
	free_all(next, first);
}

/* Returns whether frame pointers lead from the innermost frame of this stack to
 * its caller, WHOLE or CALLER. They do if the next frame calls its function. */
static uint8_t callsites_kernel_open(const struct pass *p, uint32_t stack)
{
	const struct stack *n = bare_code_stack(p->code, stack);
	const struct stack *out = bare_code_stack(p->code, n->parent);
	const struct spot *s = &p->spot[n->frame];
	const struct spot *from = &p->spot[out->frame];

	return from->site.kind == CALLSITE_DIRECT && s->into &&
			       from->site.target == s->off - (s->into - 1) &&
			       bare_code_frame(p->code, n->frame)->image ==
				       bare_code_frame(p->code, out->frame)
					       ->image
		       ? JUDGED_WHOLE
		       : s->open;
}

/* Returns whether a return address is after the call that a tracer puts at the
 * start of a function on x86, which may have endbr64 before it. */
static bool callsites_is_traced_entry(const struct spot *s)
{
	return (s->traced || s->site.kind == CALLSITE_DIRECT) &&
	       (s->into == 6 || s->into == 10);
}

/* Returns whether a BPF trampoline calls the function of the innermost frame of
 * this stack: a program, one of the kernel's functions for programs, or the
 * function that it replaces or is entered from (since Linux 6.19 by a jump). In
 * the last case frame pointers would skip a caller. */
static bool callsites_is_trampolined(const struct pass *p,
				     const struct stack *n, bool tables)
{
	const struct spot *s = &p->spot[n->frame];
	const struct stack *by = bare_code_stack(p->code, n->parent);

	if (p->spot[by->frame].way != WAY_TRAMPOLINE || !by->parent)
		return false;
	const struct stack *out = bare_code_stack(p->code, by->parent);
	const struct spot *from = &p->spot[out->frame];
	const bool entry = callsites_is_traced_entry(from);

	if (entry && !tables)
		return false;
	if (callsites_image(p, n->frame)->kind == IMAGE_BPF)
		return s->way != WAY_TRAMPOLINE;
	return s->way == WAY_TRAMPOLINED ||
	       from->site.kind == CALLSITE_INDIRECT ||
	       (s->into &&
		callsites_image(p, n->frame) ==
			callsites_image(p, out->frame) &&
		s->off - s->into == (entry ? from->off - from->into
					   : from->site.target - 1));
}

void callsites_judge_kernel(struct pass *p, uint32_t stack)
{
	struct known_stack *k = &p->stack[stack];
	const struct stack *n = bare_code_stack(p->code, stack);
	const uint32_t parent = n->parent;

	k->kernel = true;
	if (!parent) {
		k->tables = p->spot[n->frame].open == JUDGED_WHOLE;
		return;
	}
	/* an innermost frame is not judged: no unwinder has led to it */
	const struct stack *out = bare_code_stack(p->code, parent);
	const enum callsite_kind kind = p->spot[out->frame].site.kind;

	k->tables = p->stack[parent].tables;
	k->beyond = p->stack[parent].beyond ||
		    (out->parent && p->spot[out->frame].start == START_KERNEL);
	const bool interrupted = callsites_is_interrupted(p, n->frame);

	/* a tracer's call does not enter an ordinary function of the kernel */
	const bool traced = p->spot[out->frame].traced &&
			    callsites_image(p, n->frame)->kind != IMAGE_KERNEL;

	k->wrong = p->stack[parent].wrong || kind == CALLSITE_NO_CODE ||
		   (kind == CALLSITE_NO_CALL && !interrupted && !traced);
	const bool led =
		callsites_is_trampolined(p, n, k->tables) ||
		(p->spot[n->frame].way == WAY_TRAMPOLINE && k->tables &&
		 callsites_is_traced_entry(&p->spot[out->frame]));

	k->unsure = p->stack[parent].unsure ||
		    ((!kind || traced) && !interrupted && !led);
	k->hole = p->stack[parent].hole;
	k->image = p->stack[parent].image;
	if (!k->image && !kind && p->spot[out->frame].open == JUDGED_NO_FILE)
		k->image = bare_code_frame(p->code, out->frame)->image;
	/* unwinders walk along frame pointers through BPF programs */
	if (interrupted && out->parent &&
	    (!k->tables || callsites_image(p, out->frame)->kind == IMAGE_BPF)) {
		const uint8_t open = callsites_kernel_open(p, parent);

		k->hole |= open == JUDGED_CALLER;
		k->unsure |= open != JUDGED_CALLER && open != JUDGED_WHOLE;
	}
	if (!k->used)
		return;
	const uint8_t leaf =
		k->tables && callsites_image(p, n->frame)->kind != IMAGE_BPF
			? JUDGED_WHOLE
			: callsites_kernel_open(p, stack);
	if (k->beyond || k->wrong)
		k->judged = JUDGED_FABRICATED;
	else if (!p->spot[k->root].named)
		k->judged = k->image ? JUDGED_NO_FILE : JUDGED_NONE;
	else if (p->spot[k->root].start == START_UNKNOWN)
		k->judged = JUDGED_NO_START;
	else if (leaf == JUDGED_CALLER)
		k->judged = JUDGED_CALLER;
	else if (k->hole)
		k->judged = JUDGED_HOLE;
	else if (leaf == JUDGED_WHOLE && !k->unsure)
		k->judged = JUDGED_WHOLE;
	else if (k->image)
		k->judged = JUDGED_NO_FILE;
}
