/* record_chains.c - makes raw chains of a record's kernel and user stacks.
 *
 * How the user stack of a sample is made, by what was recorded:
 *
 *	branches by the processor, or	as it is (made.note.ended)
 *	the address that was hit alone
 *	a copy of the stack		unwound by tables: record_unwind_dump()
 *	what perf made of such a copy	as it is (made.note.ended)
 *	frame pointers, AArch64's link	with the caller that the register holds:
 *	register next to them		resolve_inferred()
 *	frame pointers, or a deferred	as it is, with the caller that code
 *	chain				proves missing:
 *					record_chains_user_chain()
 *
 * All end in resolve_user_chain(), which finds the frames of a list of
 * addresses, and handles addresses without a mapping. */
#include "stitch/record_chains.h"

#include "stitch/base/bytes.h"
#include "stitch/base/ledger.h"
#include "stitch/base/losses.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"
#include "stitch/tasks/frame.h"
#include "stitch/tasks/jit.h"
#include "stitch/tasks/mmap_calls.h"
#include "stitch/tasks/regs.h"
#include "stitch/tasks/resolve.h"
#include "stitch/tasks/shared_tasks.h"
#include "stitch/unwind_ahead.h"

#define REGS_AARCH64_LR (1ull << 30)

/* Collects the address spaces that other captures have of the process. Returns
 * how many. */
static uint32_t record_unwind_spaces(struct stitch *st, uint32_t process,
				     const struct space *out[SHARED_SPACES_MAX])
{
	uint32_t n = 0;

	for (uint32_t i = shared_tasks_next(st->tasks, process);
	     i != process && n < SHARED_SPACES_MAX;
	     i = shared_tasks_next(st->tasks, i))
		out[n++] = &tasks_process_at(st->tasks, i)->space;
	return n;
}

/* Times of a capture may have any value, so the difference may wrap. */
static int64_t wrapping_difference(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b);
}

void record_unwind_find_jit(struct stitch *st, struct process *p,
			    const struct rec_map *hint)
{
	const struct record *rec = st->rec;
	int64_t shift = wrapping_difference(rec->raw, rec->time);
	struct jit *j = NULL;

	if (!st->find_jit || (p->jit.asked && !hint) || p->pid < 0)
		return;
	p->jit.asked = true;
	if (!st->find_jit(st->find_arg, st->own->from, p->pid, hint, &j) ||
	    j == p->jit.own)
		return;
	/* Ignore the code of an earlier program with this process id. */
	int64_t first = jit_first(j);
	if (first != TIME_NONE && p->jit.since &&
	    wrapping_difference((uint64_t)first, (uint64_t)shift) <
		    p->jit.since)
		return;
	p->jit.own = j;
	p->jit.source = rec->source;
	p->jit.shift = shift;
	p->space.cut++;
	p->space.any++;
}

const struct jit_view *record_unwind_some_jit(struct stitch *st,
					      struct process *p)
{
	if (!p->jit.asked && p->pid >= 0)
		record_unwind_find_jit(st, p, NULL);
	if (!p->jit.own && !p->jit.parents)
		return NULL;
	if (p->jit.source == st->rec->source)
		p->jit.shift = wrapping_difference(st->rec->raw, st->rec->time);
	return &p->jit;
}

/* Argument of struct unwind_in.find: the mappings of the sampled process. */
struct map_lookup {
	const struct space *space, *shared[SHARED_SPACES_MAX];
	uint32_t n_shared;
	int64_t t;
	const struct frames *fr;
	const struct jit_view *jit; /* NULL: none */
};

static const struct region *find_region(const struct map_lookup *l,
					uint64_t addr)
{
	const struct region *r = space_find(l->space, addr, l->t);

	for (uint32_t i = 0; !r && i < l->n_shared; i++)
		r = space_find(l->shared[i], addr, l->t);
	return r ? r : space_before_exec(l->space, addr);
}

struct unwind_map record_unwind_map(const struct region *r)
{
	return (struct unwind_map){
		.start = r->start,
		.end = r->end,
		.pgoff = r->pgoff,
		.image = r->image,
		.exec = region_is_code(r),
	};
}

/* An unwind_in.find: looks in mappings and code made at run time. */
static int find_unwind_map(void *arg, uint64_t addr, struct unwind_map *map)
{
	const struct map_lookup *l = arg;
	const struct region *r = find_region(l, addr);
	const struct jit_at at = { l->jit, r, addr, l->t };
	const struct jit_code *code = NULL;
	bool dated = false;

	if (l->jit)
		code = jit_code_at(l->fr, &at, &dated);
	if (!r && !code)
		return 0;
	if (r)
		*map = record_unwind_map(r);
	else
		*map = (struct unwind_map){
			.start = code->start,
			.end = code->start + code->len,
			.exec = true,
		};
	map->code = code;
	map->dated = dated;
	return 1;
}

/* Returns struct unwind_in.epoch. resolve_user() uses the same rule for its
 * cache. */
static uint64_t lookup_epoch(const struct process *p,
			     const struct map_lookup *l)
{
	uint32_t gen = p->space.cut;
	bool now = l->t == TIME_NONE || l->t >= p->space.changed;

	for (uint32_t i = 0; i < l->n_shared; i++) {
		now = now &&
		      (l->t == TIME_NONE || l->t >= l->shared[i]->changed);
		gen += l->shared[i]->any + l->shared[i]->cut;
	}
	if (p->space.before.n || !now)
		return 0;
	if (l->n_shared)
		gen += p->space.any;
	return (uint64_t)(l->n_shared != 0) << 63 |
	       (uint64_t)p->shared.view << 32 | gen;
}

/* Returns the registers of the record; without any, their mask is 0. */
static const struct regs *stitch_regs(const struct stitch *st)
{
	static const struct regs none;

	return st->rec->kind == REC_SAMPLE ? &st->rec->sample.user_regs : &none;
}

/* Returns the unwinder's input for the record, and in *look the mappings that
 * it may look up. */
static struct unwind_in unwind_input(struct stitch *st, uint32_t slot,
				     struct map_lookup *look)
{
	uint32_t process = tasks_thread_at(st->tasks, slot)->process;
	struct process *p = tasks_process_at(st->tasks, process);
	const struct regs *regs = stitch_regs(st);
	const struct source_info *info = &st->own->from->info;

	look->space = &p->space;
	look->n_shared = 0;
	look->t = record_time(st->rec);
	look->fr = st->fr;
	look->jit = record_unwind_jit(st, p);
	if (p->shared.next != process)
		look->n_shared =
			record_unwind_spaces(st, process, look->shared);
	return (struct unwind_in){
		.regs = regs,
		.machine = regs_machine(regs, info->arch),
		.user_mask = space_user_mask(&p->space, info->user_mask),
		.swap = bytes_must_swap(info->big_endian),
		.find = find_unwind_map,
		.arg = look,
		.epoch = lookup_epoch(p, look),
	};
}

/* Returns whether the user stack of a sample was made by perf inject
 * --convert-callchain, which hides this where the recording was asked for dumps
 * by perf's configuration: its callers are inside calls. */
static bool record_unwind_is_converted(struct stitch *st, uint32_t slot)
{
	const struct rec_sample *s = &st->rec->sample;
	const unsigned int others = REC_F_GUEST | REC_F_LBR | REC_F_NO_CHAIN;

	if (st->rec->flags & REC_F_CONVERTED)
		return true;
	if (!st->own->from->info.injected || s->defer != DEFER_DIRECT ||
	    !s->user.n || s->has_dump || st->rec->flags & others)
		return false;
	if (!st->own->unwound && st->uw && st->uw->ops->inside) {
		struct map_lookup look;
		const struct unwind_in in = unwind_input(st, slot, &look);

		st->own->unwound =
			st->uw->ops->inside(st->uw, &in, s->user.ip, s->user.n);
	}
	return st->own->unwound;
}

/* AArch64: perf samples the link register (Linux 5.17), which may still hold
 * the address that the innermost function returns to. Returns whether it does,
 * and the address. */
static bool record_unwind_link(struct stitch *st, uint32_t slot,
			       uint64_t *caller)
{
	const struct rec_sample *s = &st->rec->sample;
	struct map_lookup look;
	uint64_t ip[2];
	struct unwind_out out = { .ip = ip, .max = 2 };

	if (!st->uw || s->user_regs.mask != REGS_AARCH64_LR || !s->user.n ||
	    st->rec->flags & (REC_F_GUEST | REC_F_NO_CHAIN))
		return false;
	struct unwind_in in = unwind_input(st, slot, &look);

	in.pc = s->user.ip[0];
	if (in.machine != MACHINE_AARCH64)
		return false;
	st->uw->ops->unwind(st->uw, &in, &out);
	*caller = out.n == 2 ? ip[1] : 0;
	return out.n == 2;
}

/* Unwinds the sample's copy of the stack, from the sampled registers on, or
 * from its address if the program counter is not among them. */
static void record_unwind_dump(struct stitch *st, uint32_t slot,
			       struct unwind_out *out)
{
	const struct rec_sample *s = &st->rec->sample;
	struct map_lookup look;
	struct unwind_in in = unwind_input(st, slot, &look);

	in.stack = s->stack;
	in.len = s->stack_len;
	in.dumped = true;
	if (!unwind_ahead_take(st->ahead, &in, stitch_process_of(st, slot),
			       out)) {
		in.pc = s->ip;
		regs_pc(&s->user_regs, st->own->from->info.arch, &in.pc);
		st->uw->ops->unwind(st->uw, &in, out);
	}
	if (out->end == UNWIND_TRUNCATED && s->unread)
		out->end = UNWIND_UNREAD;
}

/* An unwind_ahead_fn. The thread id may have a new owner when the sample is
 * due: unwind_ahead_take() compares the process. */
static int record_unwind_ahead(struct stitch *st, const struct record *rec,
			       struct unwind_in *in, const struct process **of)
{
	const struct source_info *info = &stitch_source(st, rec->source)->info;
	const struct regs *regs = &rec->sample.user_regs;
	uint32_t slot = tasks_peek(st->tasks, rec->source, rec->pid, rec->tid);

	/* Read no register value: the threads that decode and that unwind a
	 * sample need these bytes in their caches, this one does not. */
	in->machine = regs_machine(regs, info->arch);
	if (!in->machine || !regs_pc(regs, info->arch, NULL))
		return AHEAD_NEVER;
	if (slot == TASKS_NONE)
		return AHEAD_LATER;
	uint32_t process = tasks_thread_at(st->tasks, slot)->process;
	const struct process *p = tasks_process_at(st->tasks, process);
	const struct map_lookup look = { .space = &p->space, .t = TIME_NONE };

	/* Mappings of other captures, and jitted code, change with time. */
	if (p->shared.next != process || p->jit.own || p->jit.parents)
		return AHEAD_NEVER;
	in->user_mask = space_user_mask(&p->space, info->user_mask);
	in->swap = info->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	in->epoch = lookup_epoch(p, &look);
	*of = p;
	return in->epoch ? AHEAD_NOW : AHEAD_LATER;
}

void record_unwind_look_ahead(struct stitch *st)
{
	unwind_ahead_begin(st->ahead, st, record_unwind_ahead);
}

/* Number of frames of 64 bytes in a dump of 64 KiB. */
#define UNWOUND_MAX 1024

/* What is known about a list of addresses, besides the addresses. */
struct chain_note {
	/* as in struct resolve_in */
	uint32_t inferred, guessed;
	bool inferred_function;
	bool once; /* as in struct resolve_in */
	struct raw_note note;
	uint64_t asked; /* as in struct resolve_in */
};

static const struct chain_note as_recorded = { .inferred = RESOLVE_NONE,
					       .guessed = RESOLVE_NONE };

void record_chains_note_kernel(struct stitch *st, const struct region *r)
{
	const struct image *img = frames_get_image(st->fr, r->image);
	struct per_source *ps = st->own;
	unsigned int known = img->id_len ? 3 : img->start ? 2 : 1;

	if (img->kind != IMAGE_KERNEL || known <= ps->kernel_known)
		return;
	ps->kernel_known = known;
	if (ps->line >= st->n_src)
		return;
	struct per_source *first = &st->src[ps->line];

	if (!first->kernel_by ||
	    known > st->src[first->kernel_by - 1].kernel_known)
		first->kernel_by = st->rec->source + 1u;
}

/* Returns the note for list `a` of the sample: UNWIND_HIT if it is the sampled
 * address alone, because the callchain lacks this half (REC_F_HIT). */
static struct raw_note stitch_hit_note(const struct stitch *st,
				       const struct addrs *a)
{
	const struct rec_sample *s = &st->rec->sample;
	const struct addrs *hit =
		st->rec->flags & REC_F_USER ? &s->user : &s->kern;

	if (!(st->rec->flags & REC_F_HIT) || a != hit)
		return as_recorded.note;
	return (struct raw_note){ UNWIND_HIT, 0 };
}

/* All captures of a line use the kernel map of the capture that knows it best;
 * the capture's own map is used for what that one does not contain. */
uint32_t record_chains_some_kernel_chain(struct stitch *st,
					 const struct addrs *a)
{
	const struct per_source *ps = st->own;
	struct raw_note note = stitch_hit_note(st, a);

	if (st->rec->flags & REC_F_GUEST)
		return resolve_guest(st->resolve, a,
				     st->rec->flags & REC_F_USER, note);
	struct resolve_kernel in = {
		.base = { &ps->base },
		.over = { &ps->over },
		.n = 1,
		.space_id = UINT32_MAX - st->rec->source,
		/* samples of an event on a CPU often have the kernel stack of
		 * the one before */
		.like = st->rec->sample.event * 16 + (uint32_t)st->rec->cpu,
		.note = note,
		.t = record_time(st->rec),
	};

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

/* Notes that the process ran code at addr that no mapping covers, unless its
 * list of mappings is empty or incomplete, another process may have mapped the
 * code for it, or addr is never mapped: vsyscall, or in the first page. */
static void note_unmapped(struct stitch *st, const struct process *p,
			  uint64_t addr)
{
	if ((!p->space.now.n && p->since == TIME_NONE) || p->space.cut_short ||
	    addr >> 63 || addr < 4096 || tasks_kin_maps(st->tasks, p, addr))
		return;
	st->look.unmapped = true;
	st->look.addr = addr;
	space_hole(&p->space, addr, &st->look.hole, &st->look.hole_end);
	st->look.process = p->id;
	st->look.since = p->since;
	st->look.all_maps = space_is_complete(&p->space) &&
			    p->since != TIME_NONE && p->since >= p->start;
}

void record_chains_note_map(struct stitch *st, uint32_t process,
			    const struct region *r)
{
	const struct image *img = frames_get_image(st->fr, r->image);

	if (img->kind == IMAGE_ANON && region_is_code(r))
		tasks_process_at(st->tasks, process)->space.anon_code = true;
}

void record_chains_late_map(struct stitch *st, uint32_t process,
			    const struct region *r)
{
	bool full = st->late.full;
	const bool listed = r->t0 == TIME_NONE && st->now != TIME_NONE &&
			    shared_tasks_next(st->tasks, process) != process;
	/* Another capture of the kernel began before the recorder listed this
	 * mapping: the running program has had it since its exec, if at all. */
	if (listed || (st->rec->flags & REC_F_LATE && r->t0 != TIME_NONE))
		late_maps_add(&st->late, tasks_process_at(st->tasks, process),
			      r, shared_tasks_since(st->tasks, process),
			      st->now);
	if (st->late.full && !full)
		ledger_skip(st->ledger, st->rec->source,
			    "late mappings for stacks before them", 0,
			    st->rec->off, NULL);
}

static bool stitch_is_data(void *arg, const struct region *r, uint64_t addr)
{
	const struct stitch *st = arg;
	const struct unwind_map map = record_unwind_map(r);

	return st->uw->ops->has(st->uw, &map, addr, addr, UNWIND_DATA);
}

static bool stitch_begins(void *arg, const struct region *r, uint64_t addr)
{
	const struct stitch *st = arg;
	const struct unwind_map map = record_unwind_map(r);

	return st->uw->ops->begins(st->uw, &map, addr);
}

/* Returns the raw chain id of a list of user addresses, or 0. */
static uint32_t resolve_user_chain(struct stitch *st, uint32_t slot,
				   const struct addrs *a,
				   struct chain_note chain_note)
{
	const struct source *src = st->own->from;
	uint32_t process = tasks_thread_at(st->tasks, slot)->process;
	struct process *p = tasks_process_at(st->tasks, process);
	const struct space *shared[SHARED_SPACES_MAX];
	/* Code that mremap() has moved, which makes no record, is where nothing
	 * else was mapped. */
	struct resolve_in in = {
		.space = &p->space,
		.shared = shared,
		.n_shared = p->shared.next == process
				    ? 0
				    : record_unwind_spaces(st, process, shared),
		.jit = record_unwind_jit(st, p),
		.space_id = p->id,
		.view = p->shared.view,
		.inferred = chain_note.inferred,
		.inferred_function = chain_note.inferred_function,
		.guessed = chain_note.guessed,
		.note = chain_note.note,
		.once = chain_note.once,
		.asked = chain_note.asked,
		.mask = space_user_mask(&p->space, src->info.user_mask),
		.t = record_time(st->rec),
		.is_data =
			st->uw && st->uw->ops->has && !p->kin &&
					!losses_any(st->losses, st->rec->source)
				? stitch_is_data
				: NULL,
		.begins =
			st->uw && st->uw->ops->begins && !chain_note.note.ended
				? stitch_begins
				: NULL,
		.arg = st,
	};
	struct resolve_found found;

	if (st->rec->flags & REC_F_GUEST)
		return resolve_guest(st->resolve, a, true, chain_note.note);
	if (p->space.before.n) {
		/* The new program has started if a deferred chain was taken,
		 * which happens on the return to user mode, or if a sample hit
		 * code that is mapped now. */
		if (st->rec->kind == REC_CHAIN ||
		    (a->n && space_find(&p->space, a->ip[0] & in.mask,
					record_time(st->rec))))
			regions_release(&p->space.before);
	}
	bool complete = space_is_complete(in.space);

	for (uint32_t i = 0; i < in.n_shared; i++)
		complete |= space_is_complete(in.shared[i]);
	in.partial = !complete;
	uint32_t raw = resolve_user(st->resolve, &in, a, &found);

	if (!found.bare && !found.stray)
		return raw;
	bool lost =
		losses_any(st->losses, st->rec->source) &&
		losses_find(st->losses, st->rec->source, -1, p->since, in.t);

	/* After exec, a sample in kernel mode may still have the user stack of
	 * the old program. */
	if (found.bare && (st->rec->kind == REC_CHAIN ||
			   st->rec->flags & REC_F_USER || !p->space.before.n)) {
		note_unmapped(st, p, a->ip[0] & in.mask);
		in.uncertain = st->look.unmapped && lost;
	}
	bool was_partial = in.partial;

	/* another process may have mapped code of the chain for this one */
	in.partial = !in.uncertain &&
		     (was_partial || lost ||
		      (p->kin &&
		       any_where(a->n, i,
				 !space_find(&p->space, a->ip[i] & in.mask,
					     record_time(st->rec)) &&
					 tasks_kin_maps(st->tasks, p,
							a->ip[i] & in.mask))));
	if (in.uncertain || in.partial != was_partial)
		raw = resolve_user(st->resolve, &in, a, &found);
	return raw;
}

void record_chains_check_hit(struct stitch *st, uint32_t slot)
{
	const struct source *src = st->own->from;
	const struct process *p = stitch_process_of(st, slot);
	uint64_t addr = st->rec->sample.ip &
			space_user_mask(&p->space, src->info.user_mask);

	if (!(st->rec->flags & REC_F_USER) || st->rec->flags & REC_F_GUEST ||
	    st->rec->sample.kern.n || st->rec->sample.user.n ||
	    (!p->space.complete && !losses_any(st->losses, st->rec->source)) ||
	    space_find(&p->space, addr, record_time(st->rec)) ||
	    space_before_exec(&p->space, addr))
		return;
	note_unmapped(st, p, addr);
}

/* Resolves a recorded list with the caller of its first address inserted: an
 * address inside the call or, if function, the start of the caller. */
static uint32_t resolve_inferred(struct stitch *st, uint32_t slot,
				 const struct addrs *a, uint64_t caller,
				 bool function, uint64_t asked)
{
	const struct chain_note chain_note = {
		.inferred = 1,
		.guessed = RESOLVE_NONE,
		.inferred_function = function,
		.note = { 0, CALLER_INFERRED },
		.asked = asked,
	};

	mem_grow(st->chain, st->cap_chain, a->n + (size_t)1);
	st->chain[0] = a->ip[0];
	st->chain[1] = caller;
	memcpy(st->chain + 2, a->ip + 1, (a->n - 1) * sizeof(*st->chain));
	const struct addrs with = { .ip = st->chain, .n = a->n + 1 };

	return resolve_user_chain(st, slot, &with, chain_note);
}

/* A chain that the kernel recorded by frame pointers lacks the caller of a
 * function that has not set up its frame yet. The unwinder knows whether that
 * is the case. */
uint32_t record_chains_user_chain(struct stitch *st, uint32_t slot,
				  const struct addrs *a)
{
	struct chain_note chain_note = as_recorded;

	if (!st->uw || st->dumps_only || !a->n || a->place ||
	    st->rec->flags & (REC_F_GUEST | REC_F_NO_CHAIN | REC_F_NONCE))
		return resolve_user_chain(st, slot, a, chain_note);
	struct process *p = stitch_process_of(st, slot);

	/* jitted code changes */
	if (!p->space.before.n && !record_unwind_jit(st, p)) {
		/* the answer also depends on the machine, and on 32 or 64 bit
		 * registers */
		chain_note.asked = (uintptr_t)st->own->from->info.arch << 2 ^
				   stitch_regs(st)->abi;
		uint32_t raw = resolve_known(
			st->resolve, &p->space, p->shared.view,
			record_time(st->rec), a, &chain_note.asked);
		if (raw)
			return raw;
	}
	/* Ask whether the caller of the first address is in the list, or can be
	 * inferred. */
	struct map_lookup look;
	const struct unwind_in in = unwind_input(st, slot, &look);
	uint64_t caller = 0;
	enum unwind_caller found = st->uw->ops->caller(st->uw, &in, a->ip, a->n,
						       st->infer, &caller);

	if (found == CALLER_INFERRED)
		return resolve_inferred(st, slot, a, caller - 1, false,
					chain_note.asked);
	if (found == CALLER_FUNCTION)
		return resolve_inferred(st, slot, a, caller, true,
					chain_note.asked);
	chain_note.note.caller = (uint8_t)found;
	return resolve_user_chain(st, slot, a, chain_note);
}

/* Returns whether the sample has a copy of the stack to be unwound. */
static bool stitch_has_dump(const struct rec_sample *s)
{
	return s->user_regs.abi && s->has_dump && s->defer != DEFER_COOKIE &&
	       s->defer != DEFER_MARK;
}

uint32_t record_chains_some_sample_chain(struct stitch *st, uint32_t slot)
{
	const struct rec_sample *s = &st->rec->sample;
	struct chain_note made = as_recorded;

	if (!s->user.n && !stitch_has_dump(s) &&
	    !(st->rec->flags & REC_F_GUEST)) {
		record_unwind_jit(st, stitch_process_of(st, slot));
		return 0;
	}
	made.note = stitch_hit_note(st, &s->user);
	/* The processor records the addresses of calls, not of returns: they
	 * are as exact as those found by tables. */
	if (st->rec->flags & REC_F_LBR)
		made.note.ended = UNWIND_OUTERMOST;
	if (!made.note.ended && record_unwind_is_converted(st, slot)) {
		struct addrs a = s->user;

		made.note.ended = UNWIND_CONVERTED;
		/* perf leaves out functions that the compiler cloned
		 * (constprop, isra, part): the sampled address shows the
		 * innermost one */
		if (st->rec->flags & REC_F_USER && s->ip && s->ip != a.ip[0]) {
			mem_grow(st->chain, st->cap_chain, a.n + (size_t)1);
			st->chain[0] = s->ip;
			memcpy(st->chain + 1, a.ip, a.n * sizeof(*st->chain));
			a = (struct addrs){ .ip = st->chain, .n = a.n + 1 };
		}
		return resolve_user_chain(st, slot, &a, made);
	}
	if (made.note.ended)
		return resolve_user_chain(st, slot, &s->user, made);
	if (!s->user.n && stitch_has_dump(s)) {
		/* Resolves the user stack of a sample with a stack dump.
		 * Without an unwinder, it is the program counter alone. */
		const char *arch = st->own->from->info.arch;
		uint64_t pc = s->ip;
		struct addrs a = { .ip = &pc, .n = 1 };
		const bool known = regs_pc(&s->user_regs, arch, NULL);

		if (!known && (!(st->rec->flags & REC_F_USER) || !pc))
			return 0;
		if (!st->uw || st->rec->flags & REC_F_GUEST) {
			regs_pc(&s->user_regs, arch, &pc);
			return resolve_user_chain(st, slot, &a, made);
		}
		mem_grow(st->chain, st->cap_chain, UNWOUND_MAX);
		struct unwind_out out = { .ip = st->chain, .max = UNWOUND_MAX };

		record_unwind_dump(st, slot, &out);
		a.ip = st->chain;
		a.n = out.n;
		made.note.ended = (uint8_t)out.end;
		if (out.unproved)
			made.note.caller = CALLER_UNPROVED;
		made.guessed = out.guessed;
		made.once = true;
		return resolve_user_chain(st, slot, &a, made);
	}

	uint64_t caller;

	if (record_unwind_link(st, slot, &caller))
		return resolve_inferred(st, slot, &s->user, caller, false, 0);
	return record_chains_user_chain(st, slot, &s->user);
}

const uint32_t *record_chains_held_chains(struct stitch *st)
{
	const struct rec_sample *s = &st->rec->sample;

	if (!s->n_held)
		return NULL;
	uint32_t *held =
		arena_take(&st->facts.lists, s->n_held * sizeof(*held));

	for (uint32_t i = 0; i < s->n_held; i++)
		held[i] = record_chains_kernel_chain(st, &s->held[i]);
	return held;
}

uint64_t record_chains_weigh_group(struct stitch *st, uint32_t slot)
{
	const struct rec_sample *s = &st->rec->sample;
	uint32_t thread = s->of_task ? tasks_thread_at(st->tasks, slot)->id : 0;
	uint64_t own = s->weight;

	mem_grow(st->gain, st->cap_gain, s->n_member);
	for (uint32_t i = 0; i < s->n_member; i++) {
		const struct group_value *m = &s->member[i];
		uint64_t n;

		st->gain[i] = 0;
		if (!group_reads_since(&st->reads, st->rec->source, thread, m,
				       &n))
			continue;
		if (m->event == s->event)
			own = n;
		else
			st->gain[i] = n;
	}
	return own;
}

bool record_chains_is_living(const struct record *rec)
{
	return !(rec->flags & REC_F_GUEST) &&
	       (rec->flags & REC_F_USER || rec->sample.defer == DEFER_COOKIE ||
		rec->sample.defer == DEFER_MARK);
}

void record_chains_take_call(struct stitch *st, uint32_t slot)
{
	const struct mmap_calls_in in = { st->tasks,  st->resolve,   st->fr,
					  st->losses, st->own->from, slot };

	mmap_calls_take(st->calls, &in, st->rec);
}
