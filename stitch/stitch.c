/* stitch.c - ordered records in, facts out: each fact is a row to be.
 *
 * One function per kind of record changes the state (tasks, spaces, join) or
 * pushes an event; facts wait in one queue until they are asked for. */
#include "stitch/stitch.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/account.h"
#include "stitch/caller.h"
#include "stitch/calls.h"
#include "stitch/counters.h"
#include "stitch/err.h"
#include "stitch/facts.h"
#include "stitch/frame.h"
#include "stitch/join.h"
#include "stitch/ledger.h"
#include "stitch/lives.h"
#include "stitch/losses.h"
#include "stitch/mem.h"
#include "stitch/order.h"
#include "stitch/regs.h"
#include "stitch/resolve.h"
#include "stitch/rules.h"
#include "stitch/snapshots.h"
#include "stitch/source.h"
#include "stitch/tasks.h"

/* A chain comes up to 0.4 ms after its thread's EXIT record in 7.2
 * (formats.md C.3); lives are kept this much longer, for slow machines. */
#define LINGER_NS 2000000000ll
/* Of lists of mappings: after all that the user gives. */
#define RANK_OWN 100

/* What is kept for each capture. */
struct per_source {
	bool known;
	struct snapshots *maps;	 /* NULL: none */
	int64_t last;		 /* time of its newest record */
	struct space base, over; /* the kernel's */
};

struct stitch {
	struct order *in;
	struct frames *fr;
	struct ledger *ledger;
	struct unwinder *uw;
	struct facts facts;
	struct tasks *tasks;
	struct losses *losses;
	struct account *account;
	struct counters *counters;
	struct audit *audit;
	struct join *join;
	struct resolve *resolve;
	struct calls *calls;
	struct per_source *src;
	size_t n_src, cap_src;
	struct record rec;
	struct audit_in look;	    /* what the rules are told of rec */
	uint32_t who;		    /* slot of its thread; TASKS_NONE */
	struct thread before, gone; /* look's */
	uint64_t *chain;	    /* a chain with an inferred address */
	size_t cap_chain;
	int64_t now;		 /* time of the newest record */
	uint32_t events, chains; /* ids given out */
	bool stopped, closing, ended;
};

struct stitch *stitch_new(struct order *in, struct frames *fr,
			  struct ledger *lg, struct unwinder *uw)
{
	struct stitch *st = mem_new(1, sizeof(*st));

	st->in = in;
	st->fr = fr;
	st->ledger = lg;
	st->uw = uw;
	st->tasks = tasks_new(&st->facts);
	st->losses = losses_new();
	st->account = account_new(lg, st->losses);
	st->counters = counters_new(&st->facts, st->losses, LAYOUT_AUTO);
	st->audit = audit_new(&st->facts, st->losses);
	st->join = join_new(&st->facts, st->losses);
	st->resolve = resolve_new(fr);
	st->calls = calls_new();
	st->now = TIME_NONE;
	return st;
}

void stitch_free(struct stitch *st)
{
	if (!st)
		return;
	for (size_t i = 0; i < st->n_src; i++) {
		space_release(&st->src[i].base);
		space_release(&st->src[i].over);
		snapshots_free(st->src[i].maps);
	}
	free(st->src);
	tasks_free(st->tasks);
	join_free(st->join);
	audit_free(st->audit);
	counters_free(st->counters);
	account_free(st->account);
	losses_free(st->losses);
	resolve_free(st->resolve);
	calls_free(st->calls);
	facts_release(&st->facts);
	free(st->chain);
	free(st);
}

void stitch_layout(struct stitch *st, unsigned int layout)
{
	counters_free(st->counters);
	st->counters = counters_new(&st->facts, st->losses,
				    (enum cookie_layout)layout);
}

void stitch_stop(struct stitch *st)
{
	st->stopped = true;
}

static const struct source *source_of(struct stitch *st, uint16_t i)
{
	return order_source(st->in, i);
}

static struct per_source *source_slot(struct stitch *st, uint16_t i)
{
	size_t old = st->n_src;

	if (i >= old) {
		st->src = mem_grow(st->src, &st->cap_src, i + 1u,
				   sizeof(*st->src));
		memset(st->src + old, 0, (i + 1u - old) * sizeof(*st->src));
		st->n_src = i + 1u;
	}
	return &st->src[i];
}

void stitch_maps(struct stitch *st, uint16_t source, const struct snapshot *s,
		 unsigned int rank)
{
	struct per_source *ps = source_slot(st, source);

	if (!ps->maps)
		ps->maps = snapshots_new();
	snapshots_add(ps->maps, s, rank);
}

/* The state of a source, made at its first record. */
static struct per_source *per_source(struct stitch *st, uint16_t i)
{
	struct per_source *ps = source_slot(st, i);

	if (!ps->known) {
		const struct source *src = source_of(st, i);

		ps->known = true;
		ps->last = TIME_NONE;
		ps->base.changed = ps->over.changed = TIME_NONE;
		ps->base.keep_old = ps->over.keep_old = !src->info.exact;
		if (!src->info.exact)
			tasks_keep_old(st->tasks);
		join_source(st->join, i, &src->info);
		account_source(st->account, i, src);
		counters_source(st->counters, i, &src->info);
		audit_source(st->audit, i, src);
		for (size_t k = 0; k < src->info.n_maps; k++)
			stitch_maps(st, i, &src->info.maps[k], RANK_OWN);
	}
	return ps;
}

static int64_t time_of(const struct record *rec)
{
	if (rec->flags & REC_F_UNTIMED || rec->time > INT64_MAX)
		return TIME_NONE;
	return (int64_t)rec->time;
}

/* Fills what every event has in common and pushes it. */
static uint32_t push_event(struct stitch *st, uint32_t slot, uint32_t type,
			   uint64_t weight, uint32_t kraw, uint32_t uraw)
{
	const struct record *rec = &st->rec;
	/* tells of the name, which comes first */
	uint32_t comm = tasks_comm(st->tasks, slot);
	struct fact *f = facts_new(&st->facts);

	f->kind = FACT_EVENT;
	f->event = (struct fact_event){
		.id = ++st->events,
		.time = time_of(rec),
		.cpu = rec->cpu,
		.thread = tasks_thread_at(st->tasks, slot)->id,
		.comm = comm,
		.source = rec->source,
		.type = type,
		.weight = weight,
		.kraw = kraw,
		.uraw = uraw,
		.flags = rec->flags,
		.rec = rec,
	};
	return f->event.id;
}

/* Saved lists of what a process had mapped, when they are due; started: it
 * has just called exec. */
static void map_saved(struct stitch *st, uint32_t process, bool started)
{
	struct per_source *ps = per_source(st, st->rec.source);
	const struct snapshots_to to = { st->tasks, st->resolve,
					 source_of(st, st->rec.source) };

	if (ps->maps)
		snapshots_due(ps->maps, &to, process, time_of(&st->rec),
			      started);
}

static uint32_t thread_slot(struct stitch *st)
{
	struct per_source *ps = per_source(st, st->rec.source);

	/* a list says that this is the id of a process */
	if (ps->maps && st->rec.pid < 0 && snapshots_has(ps->maps, st->rec.tid))
		st->rec.pid = st->rec.tid;
	st->who = tasks_thread(st->tasks, st->rec.source, st->rec.pid,
			       st->rec.tid);
	map_saved(st, tasks_thread_at(st->tasks, st->who)->process, false);
	return st->who;
}

/* The slot of the life that did what only a living thread can do. */
static uint32_t living(struct stitch *st, uint32_t slot)
{
	slot = lives_living(st->tasks, &st->rec, time_of(&st->rec), slot,
			    &st->gone);
	st->look.ended = st->gone.used ? &st->gone : NULL;
	return slot;
}

static uint32_t resolve_kern(struct stitch *st, const struct addrs *a)
{
	struct per_source *ps = per_source(st, st->rec.source);

	if (st->rec.flags & REC_F_GUEST)
		return resolve_guest(st->resolve, a);
	return resolve_kernel(st->resolve, &ps->base, &ps->over,
			      UINT32_MAX - st->rec.source, a,
			      time_of(&st->rec));
}

static struct process *process_of(struct stitch *st, uint32_t slot)
{
	return tasks_process_at(st->tasks,
				tasks_thread_at(st->tasks, slot)->process);
}

/* A deferred chain is taken on the way to user mode, so the new program has
 * started; so it has when a sample hit code that is mapped now. */
static void check_exec(struct stitch *st, struct space *sp,
		       const struct addrs *a, uint64_t mask)
{
	if (st->rec.kind == REC_CHAIN ||
	    (a->n && space_find(sp, a->ip[0] & mask, time_of(&st->rec))))
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

static uint32_t resolve_usr(struct stitch *st, uint32_t slot,
			    const struct addrs *a, uint32_t inferred)
{
	const struct source *src = source_of(st, st->rec.source);
	struct process *p = process_of(st, slot);
	struct resolve_in in = {
		.space = &p->space,
		.space_id = p->id,
		.inferred = inferred,
		.mask = src->info.user_mask,
		.t = time_of(&st->rec),
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

/* A hit in user mode whose stack comes later: there is only its address. */
static void look_at_hit(struct stitch *st, uint32_t slot)
{
	const struct source *src = source_of(st, st->rec.source);
	const struct process *p = process_of(st, slot);
	uint64_t addr = st->rec.sample.ip & src->info.user_mask;

	if (!(st->rec.flags & REC_F_USER) || st->rec.flags & REC_F_GUEST ||
	    st->rec.sample.kern.n || st->rec.sample.user.n ||
	    !losses_any(st->losses, st->rec.source) ||
	    space_find(&p->space, addr, time_of(&st->rec)))
		return;
	look_unmapped(st, p, addr);
}

/* The user half of a sample's chain, with the caller that it lacks. */
static uint32_t resolve_chain_user(struct stitch *st, uint32_t slot)
{
	const struct rec_sample *s = &st->rec.sample;
	uint64_t caller;

	if (!caller_find(st->uw, &st->rec, source_of(st, st->rec.source),
			 &process_of(st, slot)->space, &caller))
		return resolve_usr(st, slot, &s->user, RESOLVE_NONE);
	st->chain = mem_grow(st->chain, &st->cap_chain, s->user.n + 1,
			     sizeof(*st->chain));
	st->chain[0] = s->user.ip[0];
	st->chain[1] = caller;
	memcpy(st->chain + 2, s->user.ip + 1,
	       (s->user.n - 1) * sizeof(*st->chain));
	const struct addrs a = { st->chain, s->user.n + 1 };

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
	const struct addrs a = { &pc, 1 };

	return resolve_usr(st, slot, &a, RESOLVE_NONE);
}

static uint32_t resolve_sample_user(struct stitch *st, uint32_t slot)
{
	const struct rec_sample *s = &st->rec.sample;

	if (!s->user.n && s->user_regs.abi && s->has_dump &&
	    s->defer != DEFER_COOKIE && s->defer != DEFER_MARK)
		return resolve_dump_user(st, slot);
	return resolve_chain_user(st, slot);
}

/* As counters_see(). A record that came late was not lost; the records of
 * threads without an id are of any number of them. */
static bool see_cookie(struct stitch *st, const struct thread *th,
		       uint64_t cookie, bool is_sample)
{
	const struct counters_sight s = {
		.source = st->rec.source,
		.cookie = cookie,
		.cpu = st->rec.cpu,
		.time = time_of(&st->rec),
		.since = st->rec.tid >= 0 ? th->join.last : TIME_NONE,
		.is_sample = is_sample,
	};

	return counters_see(st->counters, &s) && !(st->rec.flags & REC_F_LATE);
}

static void request(struct stitch *st, uint32_t slot, uint32_t event)
{
	const struct rec_sample *s = &st->rec.sample;
	struct thread *th = tasks_thread_at(st->tasks, slot);
	struct join_sample js = {
		.event = event,
		.source = st->rec.source,
		.tid = st->rec.tid,
		.time = time_of(&st->rec),
		.cookie = s->cookie,
		.ip = st->rec.flags & REC_F_USER && !s->kern.n ? s->ip : 0,
		.reused_tid = th->reused_tid,
	};

	if (s->defer == DEFER_COOKIE) {
		js.first_lost = see_cookie(st, th, js.cookie, true);
		join_sample(st->join, &th->join, &js);
	} else if (s->defer == DEFER_MARK) {
		join_mark(st->join, &th->join, &js);
	} else {
		join_refused(st->join, &js);
	}
}

static void take_call(struct stitch *st, uint32_t slot)
{
	const struct calls_in in = { st->tasks, st->resolve, st->losses,
				     source_of(st, st->rec.source), slot };

	calls_take(st->calls, &in, &st->rec);
}

/* A task that is exiting never runs its program again, and the kernel gives
 * it no cookie (unwind_deferred_request, 7.2). */
static bool is_alive(const struct record *rec)
{
	return !(rec->flags & REC_F_GUEST) &&
	       (rec->flags & REC_F_USER || rec->sample.defer == DEFER_COOKIE ||
		rec->sample.defer == DEFER_MARK);
}

static void take_sample(struct stitch *st)
{
	const struct rec_sample *s = &st->rec.sample;
	const struct source *src = source_of(st, st->rec.source);
	uint32_t slot = thread_slot(st);

	if (is_alive(&st->rec))
		slot = st->who = living(st, slot);
	map_saved(st, tasks_thread_at(st->tasks, slot)->process, false);
	if (s->defer == DEFER_COOKIE || s->defer == DEFER_MARK)
		look_at_hit(st, slot);
	uint32_t kraw = resolve_kern(st, &s->kern);
	uint32_t uraw = resolve_sample_user(st, slot);
	uint32_t event = push_event(st, slot, s->event, s->weight, kraw, uraw);
	bool asked = s->event < src->n_events && src->events[s->event].defer;

	st->look.event = event;
	if (s->defer == DEFER_COOKIE || s->defer == DEFER_MARK ||
	    (asked && s->defer == DEFER_DIRECT))
		request(st, slot, event);
	if (s->call)
		take_call(st, slot);
	if (s->defer != DEFER_COOKIE)
		join_other(st->join, st->rec.source, event);
}

static void take_chain(struct stitch *st)
{
	uint32_t slot = thread_slot(st);
	const struct rec_chain *c = &st->rec.chain;
	uint32_t uraw = resolve_usr(st, slot, &c->user, RESOLVE_NONE);
	struct thread *th = tasks_thread_at(st->tasks, slot);

	see_cookie(st, th, c->cookie, false);
	const struct join_chain jc = {
		.id = ++st->chains,
		.source = st->rec.source,
		.tid = st->rec.tid,
		.cpu = st->rec.cpu,
		.thread = th->id,
		.time = time_of(&st->rec),
		.cookie = c->cookie,
		.uraw = uraw,
		.n = c->user.n,
		.asked_cpu =
			counters_cpu(st->counters, st->rec.source, c->cookie),
		.after_exit = th->ended,
		.duplicate = st->rec.flags & REC_F_DUPLICATE,
		.reused_tid = th->reused_tid,
	};

	join_chain(st->join, &th->join, &jc);
}

/* A range that wraps around is no place for code: counted and left out. */
static bool wraps(struct stitch *st, uint64_t start, uint64_t end)
{
	if (end >= start || end == 0)
		return false;
	ledger_skip(st->ledger, st->rec.source, "mapping that wraps around", 0,
		    st->rec.off);
	return true;
}

static void take_map(struct stitch *st)
{
	const struct record *rec = &st->rec;
	const struct source *src = source_of(st, rec->source);
	struct region r = {
		.start = rec->map.start,
		.end = rec->map.start + rec->map.len,
		.prot = rec->map.prot,
		.flags = rec->map.flags,
		.t0 = time_of(rec),
	};

	if (rec->flags & REC_F_GUEST || wraps(st, r.start, r.end))
		return;
	if (rec->flags & REC_F_KERNEL) {
		struct per_source *ps = per_source(st, rec->source);
		struct space_owner own = tasks_kernel_owner(st->tasks);

		r.image = resolve_map_image(st->resolve, src, rec, 0, &r.pgoff);
		space_map(&ps->base, &r, &own);
		return;
	}
	uint32_t slot = tasks_find(st->tasks, rec->source, rec->pid, rec->tid);

	if (slot != TASKS_NONE)
		st->who = living(st, slot);
	uint32_t process = tasks_process(st->tasks, rec->source, rec->pid);

	map_saved(st, process, false);

	r.image = resolve_map_image(st->resolve, src, rec,
				    tasks_process_at(st->tasks, process)->id,
				    &r.pgoff);
	tasks_map(st->tasks, process, &r);
}

static void take_ksymbol(struct stitch *st)
{
	const struct record *rec = &st->rec;
	struct per_source *ps = per_source(st, rec->source);
	struct space_owner own = tasks_kernel_owner(st->tasks);
	struct region r = {
		.start = rec->ksymbol.addr,
		.end = rec->ksymbol.addr + rec->ksymbol.len,
		.t0 = time_of(rec),
	};

	if (wraps(st, r.start, r.end))
		return;
	if (rec->flags & REC_F_GONE) {
		space_unmap(&ps->over, r.start, r.end, r.t0, &own);
		return;
	}
	if (!rec->ksymbol.len)
		return;
	r.image = resolve_ksymbol_image(st->resolve, rec);
	space_map(&ps->over, &r, &own);
}

static void take_comm(struct stitch *st)
{
	int64_t t = time_of(&st->rec);

	st->who =
		lives_named(st->tasks, &st->rec, t, thread_slot(st), &st->gone);
	st->look.ended = st->gone.used ? &st->gone : NULL;
	tasks_set_comm(st->tasks, st->who, st->rec.comm.name, t,
		       st->rec.flags & REC_F_EXEC);
	map_saved(st, tasks_thread_at(st->tasks, st->who)->process,
		  st->rec.flags & REC_F_EXEC);
}

static void take_fork(struct stitch *st)
{
	const struct record *rec = &st->rec;
	int64_t t = time_of(rec);
	bool synth = t == TIME_NONE || rec->flags & REC_F_SYNTH;
	uint32_t parent = tasks_find(st->tasks, rec->source, rec->fork.ppid,
				     rec->fork.ptid);

	if (parent != TASKS_NONE && !synth)
		living(st, parent);
	if (parent != TASKS_NONE)
		map_saved(st, tasks_thread_at(st->tasks, parent)->process,
			  false);
	st->who = tasks_fork(st->tasks, rec->source, rec->pid, rec->tid,
			     rec->fork.ppid, rec->fork.ptid, t, synth);
	map_saved(st, tasks_thread_at(st->tasks, st->who)->process, false);
}

static void take_exit(struct stitch *st)
{
	tasks_exit(st->tasks, thread_slot(st), time_of(&st->rec));
}

/* State records that were written twice must not act twice. */
static bool is_state(enum record_kind k)
{
	return k == REC_COMM || k == REC_FORK || k == REC_EXIT ||
	       k == REC_MAP || k == REC_KSYMBOL;
}

static void take_record(struct stitch *st)
{
	const struct record *rec = &st->rec;
	enum record_kind k = rec->kind;

	if (rec->flags & REC_F_DUPLICATE && is_state(k))
		return;
	if (k == REC_SAMPLE)
		take_sample(st);
	else if (k == REC_CHAIN)
		take_chain(st);
	else if (k == REC_MAP)
		take_map(st);
	else if (k == REC_KSYMBOL)
		take_ksymbol(st);
	else if (k == REC_COMM)
		take_comm(st);
	else if (k == REC_FORK)
		take_fork(st);
	else if (k == REC_EXIT)
		take_exit(st);
	else if (k == REC_SWITCH || k == REC_MARK)
		st->look.event =
			push_event(st, thread_slot(st), UINT32_MAX, 1, 0, 0);
}

/* Whether a FORK record is a sign of life: where not all tasks are recorded,
 * the child's own end may not be. */
static bool shows_life(struct stitch *st)
{
	return st->rec.kind != REC_FORK ||
	       source_of(st, st->rec.source)->info.system_wide == TRI_YES;
}

/* The rules look at the record, then its thread has one more. */
static void audit(struct stitch *st)
{
	struct thread *th = NULL;

	if (st->who != TASKS_NONE)
		th = tasks_thread_at(st->tasks, st->who);
	st->look.thread = th;
	if (tasks_replaced(st->tasks, &st->before) &&
	    st->before.tid == st->rec.tid)
		st->look.before = &st->before;
	audit_record(st->audit, &st->look);
	if (th && st->look.time > th->last && shows_life(st))
		th->last = st->look.time;
}

static void retire_one(struct stitch *st, uint32_t slot)
{
	struct thread *th = tasks_thread_at(st->tasks, slot);
	enum join_reason why = th->exit_seen ? JOIN_EXIT
			       : th->ended   ? JOIN_REUSED
					     : JOIN_CAPTURE;

	join_retire(st->join, &th->join, why, th->end);
	tasks_drop(st->tasks, slot);
}

/* Lives that ended long enough ago go. */
static void retire(struct stitch *st, int64_t before)
{
	uint32_t slot;

	while (tasks_retire(st->tasks, before, &slot))
		retire_one(st, slot);
}

static void note_unlisted(struct stitch *st)
{
	struct ledger_entry e = {
		.kind = LEDGER_SKIPPED,
		.what = "mapping inherited by a fork",
		.detail = "a limit: they are too many",
		.n = tasks_unlisted(st->tasks),
		.cpu = -1,
		.event = -1,
	};

	if (e.n)
		ledger_add(st->ledger, &e);
}

static void end_sessions(struct stitch *st)
{
	for (size_t i = 0; i < st->n_src; i++) {
		struct counters_end end;

		if (!st->src[i].known)
			continue;
		join_totals(st->join, (uint16_t)i, &end);
		counters_end(st->counters, (uint16_t)i, &end);
	}
}

/* At the end all lives go, one at a time: the facts of all together would
 * take more memory than anything before. */
static void finish(struct stitch *st)
{
	uint32_t slot;

	if (tasks_retire(st->tasks, TIME_NONE, &slot)) {
		retire_one(st, slot);
		return;
	}
	tasks_drop_rest(st->tasks);
	note_unlisted(st);
	join_end(st->join);
	audit_end(st->audit);
	end_sessions(st);
	for (size_t i = 0; i < st->n_src; i++) {
		struct space_owner own = tasks_kernel_owner(st->tasks);

		space_clear(&st->src[i].base, TIME_NONE, &own);
		space_clear(&st->src[i].over, TIME_NONE, &own);
	}
	ledger_end(st->ledger);
	st->ended = true;
}

/* Nothing more comes. A pipe did not say when it would end. */
static void close_sources(struct stitch *st)
{
	account_end(st->account);
	for (size_t i = 0; i < st->n_src; i++)
		if (st->src[i].known && !source_of(st, (uint16_t)i)->info.exact)
			join_last(st->join, (uint16_t)i, st->src[i].last);
}

int stitch_next(struct stitch *st, struct fact *out, struct err *err)
{
	while (!facts_take(&st->facts, out)) {
		if (st->ended)
			return 0;
		int got = st->stopped ? 0 : order_next(st->in, &st->rec, err);

		if (got < 0)
			return -1;
		if (!got) {
			if (!st->closing)
				close_sources(st);
			st->closing = st->stopped = true;
			finish(st);
			continue;
		}
		int64_t t = time_of(&st->rec);

		struct per_source *ps = per_source(st, st->rec.source);

		if (t > ps->last)
			ps->last = t;
		account_record(st->account, &st->rec);
		st->look = (struct audit_in){ .rec = &st->rec, .time = t };
		st->who = TASKS_NONE;
		st->gone.used = false;
		take_record(st);
		audit(st);
		if (t == TIME_NONE)
			continue;
		if (t > st->now)
			st->now = t;
		if (st->now > INT64_MIN + LINGER_NS)
			retire(st, st->now - LINGER_NS);
	}
	return 1;
}
