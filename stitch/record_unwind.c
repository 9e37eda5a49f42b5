/* record_unwind.c - what the unwinder is asked about a record, and what it sees
 * of the process: mappings, those that other captures have, and jitted code. */
#include "stitch/record_unwind.h"

#include "stitch/base/bytes.h"
#include "stitch/base/table.h"
#include "stitch/source.h"
#include "stitch/tasks/jit.h"
#include "stitch/tasks/regs.h"
#include "stitch/tasks/shared_tasks.h"
#include "stitch/unwind_ahead.h"

#define REGS_AARCH64_LR (1ull << 30)

uint32_t record_unwind_spaces(struct stitch *st, uint32_t process,
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
	/* It belongs to an earlier program with this process id. */
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

/* Returns the unwinder's input for the record, and what it sees of the process
 * in *look. */
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

enum unwind_caller record_unwind_caller(struct stitch *st, uint32_t slot,
					const struct addrs *a, uint64_t *caller)
{
	struct map_lookup look;
	const struct unwind_in in = unwind_input(st, slot, &look);

	*caller = 0;
	return st->uw->ops->caller(st->uw, &in, a->ip, a->n, st->infer, caller);
}

bool record_unwind_is_converted(struct stitch *st, uint32_t slot)
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

uint64_t record_unwind_depends(const struct stitch *st)
{
	return (uintptr_t)st->own->from->info.arch << 2 ^ stitch_regs(st)->abi;
}

bool record_unwind_link(struct stitch *st, uint32_t slot, uint64_t *caller)
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

void record_unwind_dump(struct stitch *st, uint32_t slot,
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

/* An unwind_ahead_fn. The thread's number may have a new owner when the sample
 * is due: unwind_ahead_take() compares the process. */
static int record_unwind_ahead(struct stitch *st, const struct record *rec,
			       struct unwind_in *in, const struct process **of)
{
	const struct source_info *info = &stitch_source(st, rec->source)->info;
	const struct regs *regs = &rec->sample.user_regs;
	uint32_t slot = tasks_peek(st->tasks, rec->source, rec->pid, rec->tid);

	/* Nothing here reads a register: the thread that decoded them and the
	 * one that unwinds are others, and each of the three would wait for
	 * their bytes. */
	in->machine = regs_machine(regs, info->arch);
	if (!in->machine || !regs_pc(regs, info->arch, NULL))
		return AHEAD_NEVER;
	if (slot == TASKS_NONE)
		return AHEAD_LATER;
	uint32_t process = tasks_thread_at(st->tasks, slot)->process;
	const struct process *p = tasks_process_at(st->tasks, process);
	const struct map_lookup look = { .space = &p->space, .t = TIME_NONE };

	/* What other captures know, and jitted code, change by the time. */
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
