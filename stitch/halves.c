/* halves.c - the two halves of a record's stack, as raw chains. */
#include "stitch/halves.h"

#include <string.h>

#include "stitch/frame.h"
#include "stitch/losses.h"
#include "stitch/mem.h"
#include "stitch/regs.h"
#include "stitch/resolve.h"
#include "stitch/source.h"
#include "stitch/unwinder.h"

#define MACHINE_AARCH64 183 /* EM_AARCH64 */
#define REGS_AARCH64_LR (1ull << 30)

void halves_know_kernel(struct stitch *st, const struct region *r)
{
	const struct image *img = frames_get_image(st->fr, r->image);
	struct per_source *ps = &st->src[st->rec.source];
	unsigned int known = img->id_len ? 3 : img->start ? 2 : 1;

	if (img->kind != IMAGE_KERNEL || known <= ps->kernel_known)
		return;
	ps->kernel_known = known;
	if (ps->line >= st->n_src)
		return;
	struct per_source *first = &st->src[ps->line];

	if (!first->kernel_by ||
	    known > st->src[first->kernel_by - 1].kernel_known)
		first->kernel_by = st->rec.source + 1u;
}

/* Frames of all captures of a line count from where the one says that knows
 * it best; what that does not know, the own one may. */
uint32_t halves_kernel(struct stitch *st, const struct addrs *a)
{
	const struct per_source *ps = &st->src[st->rec.source];
	struct resolve_kernel in = {
		.base = { &ps->base },
		.over = { &ps->over },
		.n = 1,
		.space_id = UINT32_MAX - st->rec.source,
		.t = record_time(&st->rec),
	};

	if (st->rec.flags & REC_F_GUEST)
		return resolve_guest(st->resolve, a);
	if (ps->shares && ps->line < st->n_src && st->src[ps->line].kernel_by) {
		unsigned int by = st->src[ps->line].kernel_by - 1;

		if (st->src[by].kernel_known > ps->kernel_known) {
			in.base[0] = &st->src[by].base;
			in.over[0] = &st->src[by].over;
			in.base[1] = &ps->base;
			in.over[1] = &ps->over;
			in.n = 2;
		}
	}
	return resolve_kernel(st->resolve, &in, a);
}

/* What others have mapped for the process: how many. */
static uint32_t twin_spaces(struct stitch *st, uint32_t process,
			    const struct space *out[HALVES_TWINS])
{
	uint32_t n = 0;

	for (uint32_t i = tasks_twin(st->tasks, process);
	     i != process && n < HALVES_TWINS; i = tasks_twin(st->tasks, i))
		out[n++] = &tasks_process_at(st->tasks, i)->space;
	return n;
}

/* A deferred chain is taken on the way to user mode, so the new program has
 * started; so it has when a sample hit code that is mapped now. */
static void check_exec(struct stitch *st, struct space *sp,
		       const struct addrs *a, uint64_t mask)
{
	if (st->rec.kind == REC_CHAIN ||
	    (a->n && space_find(sp, a->ip[0] & mask, record_time(&st->rec))))
		space_forget_exec(sp);
}

/* The process runs code at addr that no mapping covers. Where nothing was
 * mapped at all it is not known as a process, and the upper half (vsyscall)
 * and the first page are never mapped. */
static void look_unmapped(struct stitch *st, const struct process *p,
			  uint64_t addr)
{
	if ((!space_count(&p->space) && p->since == TIME_NONE) || addr >> 63 ||
	    addr < 4096)
		return;
	st->look.unmapped = true;
	st->look.addr = addr;
	space_hole(&p->space, addr, &st->look.hole, &st->look.hole_end);
	st->look.process = p->id;
	st->look.since = p->since;
}

/* The user half of a hit in kernel mode may be the program's before exec. */
static bool surely_ran(struct stitch *st, const struct process *p)
{
	return st->rec.kind == REC_CHAIN || st->rec.flags & REC_F_USER ||
	       !p->space.before;
}

/* Times of a capture may be anything. */
static int64_t minus(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b);
}

void halves_find_jit(struct stitch *st, struct process *p,
		     const struct rec_map *hint)
{
	const struct record *rec = &st->rec;
	int64_t shift = minus(rec->raw, rec->time);
	struct jit *j = NULL;
	int64_t first;

	if (!st->find_jit || (p->jit.asked && !hint) || p->pid < 0)
		return;
	p->jit.asked = true;
	if (!st->find_jit(st->find_arg, source_of(st, rec->source), p->pid,
			  hint, &j) ||
	    j == p->jit.own)
		return;
	/* that of an earlier program with this process id */
	first = jit_first(j);
	if (first != TIME_NONE && p->jit.since &&
	    minus((uint64_t)first, (uint64_t)shift) < p->jit.since)
		return;
	p->jit.own = j;
	p->jit.source = rec->source;
	p->jit.shift = shift;
	p->space.cut++;
	p->space.any++;
}

/* What the process has made, as the record at hand needs to know it. */
static const struct jit_view *look_at_jit(struct stitch *st, struct process *p)
{
	halves_find_jit(st, p, NULL);
	if (!p->jit.own && !p->jit.parents)
		return NULL;
	if (p->jit.source == st->rec.source)
		p->jit.shift = minus(st->rec.raw, st->rec.time);
	return &p->jit;
}

static uint32_t resolve_usr(struct stitch *st, uint32_t slot,
			    const struct addrs *a, uint32_t inferred)
{
	const struct source *src = source_of(st, st->rec.source);
	uint32_t process = tasks_thread_at(st->tasks, slot)->process;
	struct process *p = tasks_process_at(st->tasks, process);
	const struct space *twin[HALVES_TWINS];
	struct resolve_in in = {
		.space = &p->space,
		.twin = twin,
		.n_twin = p->twin.next == process
				  ? 0
				  : twin_spaces(st, process, twin),
		.jit = look_at_jit(st, p),
		.space_id = p->id,
		.view = p->twin.view,
		.inferred = inferred,
		.mask = src->info.user_mask,
		.t = record_time(&st->rec),
	};
	bool bare;

	if (st->rec.flags & REC_F_GUEST)
		return resolve_guest(st->resolve, a);
	if (p->space.before)
		check_exec(st, &p->space, a, in.mask);
	uint32_t raw = resolve_user(st->resolve, &in, a, &bare);

	if (!bare || !surely_ran(st, p))
		return raw;
	look_unmapped(st, p, a->ip[0] & in.mask);
	in.uncertain =
		st->look.unmapped &&
		losses_find(st->losses, st->rec.source, -1, p->since, in.t);
	return in.uncertain ? resolve_user(st->resolve, &in, a, &bare) : raw;
}

void halves_look_at_hit(struct stitch *st, uint32_t slot)
{
	const struct source *src = source_of(st, st->rec.source);
	const struct process *p = process_of(st, slot);
	uint64_t addr = st->rec.sample.ip & src->info.user_mask;

	if (!(st->rec.flags & REC_F_USER) || st->rec.flags & REC_F_GUEST ||
	    st->rec.sample.kern.n || st->rec.sample.user.n ||
	    !losses_any(st->losses, st->rec.source) ||
	    space_find(&p->space, addr, record_time(&st->rec)))
		return;
	look_unmapped(st, p, addr);
}

/* struct unwind_in.find: what the sampled process has mapped. */
struct lookup {
	const struct space *space;
	int64_t t;
};

static int find_map(void *arg, uint64_t addr, struct unwind_map *map)
{
	const struct lookup *l = arg;
	const struct region *r = space_find(l->space, addr, l->t);

	if (!r)
		return 0;
	*map = (struct unwind_map){ r->start, r->end, r->pgoff, r->image };
	return 1;
}

/* AArch64: the frame-pointer chain of a function without a frame of its own
 * lacks the caller, whose address is still in the link register, which perf
 * samples for that (Linux 5.17). Whether it is, the unwinder knows. */
static uint32_t resolve_chain_user(struct stitch *st, uint32_t slot)
{
	const struct rec_sample *s = &st->rec.sample;
	const struct source *src = source_of(st, st->rec.source);
	struct lookup look = { &process_of(st, slot)->space,
			       record_time(&st->rec) };
	enum unwind_end end;
	uint64_t ip[2];
	const struct unwind_in in = {
		.regs = &s->user_regs,
		.machine = MACHINE_AARCH64,
		.pc = s->user.n ? s->user.ip[0] : 0,
		.user_mask = src->info.user_mask,
		.find = find_map,
		.arg = &look,
	};

	if (!st->uw || s->user_regs.mask != REGS_AARCH64_LR || !s->user.n ||
	    st->rec.flags & (REC_F_GUEST | REC_F_NO_CHAIN | REC_F_LBR) ||
	    !src->info.arch || strcmp(src->info.arch, "aarch64") ||
	    st->uw->ops->unwind(st->uw, &in, ip, 2, &end, NULL) != 2)
		return resolve_usr(st, slot, &s->user, RESOLVE_NONE);
	st->chain = mem_grow(st->chain, &st->cap_chain, s->user.n + 1,
			     sizeof(*st->chain));
	st->chain[0] = s->user.ip[0];
	st->chain[1] = ip[1];
	memcpy(st->chain + 2, s->user.ip + 1,
	       (s->user.n - 1) * sizeof(*st->chain));
	const struct addrs a = { st->chain, s->user.n + 1, NULL };

	return resolve_usr(st, slot, &a, 1);
}

/* The user half of a sample with a stack dump that was not unwound is the one
 * address that needs no unwinding: the program counter. */
static uint32_t resolve_dump_user(struct stitch *st, uint32_t slot)
{
	const struct rec_sample *s = &st->rec.sample;
	const struct source *src = source_of(st, st->rec.source);
	uint64_t pc;

	if (!regs_pc(&s->user_regs, src->info.arch, &pc)) {
		if (!(st->rec.flags & REC_F_USER) || !s->ip)
			return 0;
		pc = s->ip;
	}
	const struct addrs a = { &pc, 1, NULL };

	return resolve_usr(st, slot, &a, RESOLVE_NONE);
}

uint32_t halves_sample(struct stitch *st, uint32_t slot)
{
	const struct rec_sample *s = &st->rec.sample;

	if (!s->user.n && s->user_regs.abi && s->has_dump &&
	    s->defer != DEFER_COOKIE && s->defer != DEFER_MARK)
		return resolve_dump_user(st, slot);
	return resolve_chain_user(st, slot);
}

uint32_t halves_user(struct stitch *st, uint32_t slot, const struct addrs *a)
{
	return resolve_usr(st, slot, a, RESOLVE_NONE);
}
