/* stitch_inner.c - the two halves of a record's stack, as raw chains. */
#include "stitch/stitch_inner.h"

#include <string.h>
#include <sys/mman.h>

#include "stitch/tasks/frame.h"
#include "stitch/tasks/jit.h"
#include "stitch/tasks/jit_frame.h"
#include "stitch/base/losses.h"
#include "stitch/base/mem.h"
#include "stitch/tasks/regs.h"
#include "stitch/tasks/resolve.h"
#include "stitch/tasks/shared_tasks.h"
#include "stitch/source.h"
#include "stitch/unwinder.h"

#define REGS_AARCH64_LR (1ull << 30)
/* A dump of 64 KiB holds that many frames of 64 bytes. */
#define UNWOUND_MAX 1024

/* What is known of a list of addresses beside them. */
struct made {
	/* As in struct resolve_in. */
	uint32_t inferred, guessed;
	struct raw_note note;
};

static const struct made as_recorded = { RESOLVE_NONE, RESOLVE_NONE, { 0, 0 } };

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

	for (uint32_t i = twins_next(st->tasks, process);
	     i != process && n < HALVES_TWINS; i = twins_next(st->tasks, i))
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
			    const struct addrs *a, struct made made)
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
		.inferred = made.inferred,
		.guessed = made.guessed,
		.note = made.note,
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
	const struct space *space, *twin[HALVES_TWINS];
	uint32_t n_twin;
	int64_t t;
	const struct frames *fr;
	const struct jit_view *jit; /* NULL: none */
};

static const struct region *find_region(const struct lookup *l, uint64_t addr)
{
	const struct region *r = space_find(l->space, addr, l->t);

	for (uint32_t i = 0; !r && i < l->n_twin; i++)
		r = space_find(l->twin[i], addr, l->t);
	return r ? r : space_before_exec(l->space, addr);
}

static int find_map(void *arg, uint64_t addr, struct unwind_map *map)
{
	const struct lookup *l = arg;
	const struct region *r = find_region(l, addr);
	const struct jit_at at = { l->jit, r, addr, l->t };
	const struct jit_code *code = NULL;
	bool dated = false;

	if (l->jit)
		code = jit_code_at(l->fr, &at, &dated);
	if (!r && !code)
		return 0;
	*map = (struct unwind_map){ .code = code, .dated = dated };
	if (!r) {
		map->start = code->start;
		map->end = code->start + code->len;
		map->exec = true;
		return 1;
	}
	map->start = r->start;
	map->end = r->end;
	map->pgoff = r->pgoff;
	map->image = r->image;
	/* Nothing was said of it, or that it is code. */
	map->exec = !r->prot || r->prot & PROT_EXEC;
	return 1;
}

/* See struct unwind_in.epoch: as resolve_user() keeps its answers. */
static uint64_t epoch_of(const struct process *p, const struct lookup *l)
{
	uint32_t gen = p->space.cut;
	bool now = l->t == TIME_NONE || l->t >= p->space.changed;

	for (uint32_t i = 0; i < l->n_twin; i++) {
		now = now && (l->t == TIME_NONE || l->t >= l->twin[i]->changed);
		gen += l->twin[i]->any + l->twin[i]->cut;
	}
	if (p->space.before || !now)
		return 0;
	if (l->n_twin)
		gen += p->space.any;
	return (uint64_t)(l->n_twin != 0) << 63 | (uint64_t)p->twin.view << 32 |
	       gen;
}

/* What the sample of the thread in slot says to the unwinder. */
static struct unwind_in unwind_in_of(struct stitch *st, uint32_t slot,
				     struct lookup *look)
{
	static const struct regs none;
	const struct regs *regs =
		st->rec.kind == REC_SAMPLE ? &st->rec.sample.user_regs : &none;
	const struct source_info *info = &source_of(st, st->rec.source)->info;
	uint32_t process = tasks_thread_at(st->tasks, slot)->process;
	struct process *p = tasks_process_at(st->tasks, process);

	*look = (struct lookup){ .space = &p->space,
				 .t = record_time(&st->rec),
				 .fr = st->fr,
				 .jit = look_at_jit(st, p) };
	if (p->twin.next != process)
		look->n_twin = twin_spaces(st, process, look->twin);
	return (struct unwind_in){
		.regs = regs,
		.machine = regs_machine(regs, info->arch),
		.user_mask = info->user_mask,
		.swap = info->big_endian !=
			(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__),
		.find = find_map,
		.arg = look,
		.epoch = epoch_of(p, look),
	};
}

/* A recorded list with the caller of its first address put in. */
static uint32_t resolve_inferred(struct stitch *st, uint32_t slot,
				 const struct addrs *a, uint64_t caller)
{
	const struct made made = { 1, RESOLVE_NONE, { 0, CALLER_INFERRED } };

	st->chain = mem_grow(st->chain, &st->cap_chain, a->n + (size_t)1,
			     sizeof(*st->chain));
	st->chain[0] = a->ip[0];
	st->chain[1] = caller;
	memcpy(st->chain + 2, a->ip + 1, (a->n - 1) * sizeof(*st->chain));
	const struct addrs with = { .ip = st->chain, .n = a->n + 1 };

	return resolve_usr(st, slot, &with, made);
}

/* What the kernel recorded by frame pointers lacks the caller of a function
 * that has not set up its frame. Whether that is so, the unwinder knows. */
static uint32_t resolve_recorded(struct stitch *st, uint32_t slot,
				 const struct addrs *a)
{
	struct made made = as_recorded;
	struct lookup look;
	uint64_t caller;

	if (!st->uw || !a->n || a->place ||
	    st->rec.flags &
		    (REC_F_GUEST | REC_F_NO_CHAIN | REC_F_LBR | REC_F_NONCE))
		return resolve_usr(st, slot, a, made);
	struct unwind_in in = unwind_in_of(st, slot, &look);
	enum unwind_caller found = st->uw->ops->caller(st->uw, &in, a->ip, a->n,
						       st->infer, &caller);

	if (found == CALLER_INFERRED)
		return resolve_inferred(st, slot, a, caller);
	made.note.caller = (uint8_t)found;
	return resolve_usr(st, slot, a, made);
}

/* AArch64: the caller's address is still in the link register, which perf
 * samples for that (Linux 5.17). */
static uint32_t resolve_chain_user(struct stitch *st, uint32_t slot)
{
	const struct rec_sample *s = &st->rec.sample;
	struct lookup look;
	uint64_t ip[2];
	struct unwind_out out = { .ip = ip, .max = 2 };

	if (!st->uw || s->user_regs.mask != REGS_AARCH64_LR || !s->user.n ||
	    st->rec.flags & (REC_F_GUEST | REC_F_NO_CHAIN | REC_F_LBR))
		return resolve_recorded(st, slot, &s->user);
	struct unwind_in in = unwind_in_of(st, slot, &look);

	in.pc = s->user.ip[0];
	if (in.machine != MACHINE_AARCH64)
		return resolve_recorded(st, slot, &s->user);
	st->uw->ops->unwind(st->uw, &in, &out);
	if (out.n != 2)
		return resolve_recorded(st, slot, &s->user);
	return resolve_inferred(st, slot, &s->user, ip[1]);
}

/* The user half of a sample with a stack dump; without an unwinder it is the
 * one address that needs no unwinding: the program counter. */
static uint32_t resolve_dump_user(struct stitch *st, uint32_t slot)
{
	const struct rec_sample *s = &st->rec.sample;
	const struct source *src = source_of(st, st->rec.source);
	struct made made = as_recorded;
	struct lookup look;
	uint64_t pc;

	if (!regs_pc(&s->user_regs, src->info.arch, &pc)) {
		if (!(st->rec.flags & REC_F_USER) || !s->ip)
			return 0;
		pc = s->ip;
	}
	struct addrs a = { .ip = &pc, .n = 1 };

	if (!st->uw || st->rec.flags & REC_F_GUEST)
		return resolve_usr(st, slot, &a, made);
	struct unwind_in in = unwind_in_of(st, slot, &look);

	in.pc = pc;
	in.stack = s->stack;
	in.len = s->stack_len;
	in.dumped = true;
	st->chain = mem_grow(st->chain, &st->cap_chain, UNWOUND_MAX,
			     sizeof(*st->chain));
	struct unwind_out out = { .ip = st->chain, .max = UNWOUND_MAX };

	st->uw->ops->unwind(st->uw, &in, &out);
	a.ip = st->chain;
	a.n = out.n;
	made.note.ended = (uint8_t)out.end;
	made.guessed = out.guessed;
	return resolve_usr(st, slot, &a, made);
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
	return resolve_recorded(st, slot, a);
}
