/* stitch.c - turns ordered records into facts.
 *
 * There is one function for each kind of record. It changes the state (tasks,
 * address spaces, join) or pushes an event. Facts wait in a queue until the
 * caller takes them. */
#include "stitch/stitch.h"

#include "stitch/audit/account.h"
#include "stitch/audit/audit.h"
#include "stitch/audit/counters.h"
#include "stitch/audit/rules.h"
#include "stitch/base/ledger.h"
#include "stitch/base/losses.h"
#include "stitch/base/mem.h"
#include "stitch/fact.h"
#include "stitch/fact_queue.h"
#include "stitch/join/join.h"
#include "stitch/join/sessions.h"
#include "stitch/join/unwinders.h"
#include "stitch/order/order.h"
#include "stitch/record.h"
#include "stitch/record_chains.h"
#include "stitch/source.h"
#include "stitch/tasks/mmap_calls.h"
#include "stitch/tasks/resolve.h"
#include "stitch/tasks/shared_tasks.h"
#include "stitch/tasks/tasks.h"
#include "stitch/unwind_ahead.h"

#define CPU_MOST 65536 /* switches of CPUs with higher numbers are ignored */

/* Notes that a thread came to a CPU. Does nothing if the CPU is not known. */
static void cpu_current_take(struct cpu_current *s, int32_t cpu, int32_t tid,
			     const char *name)
{
	if (cpu < 0 || cpu >= CPU_MOST)
		return;
	mem_at(s->at, s->n, s->cap, cpu)->tid = tid;
	s->at[cpu].unsure = false;

	/* snprintf() took 2 % of the main thread's instructions */
	size_t n = strnlen(name, THREAD_NAME - 1);

	memcpy(s->at[cpu].name, name, n);
	s->at[cpu].name[n] = '\0';
}

/* Returns the tid that came to this CPU last; 0: idle, or not known. */
static int32_t cpu_current_tid(const struct cpu_current *s, int32_t cpu)
{
	return cpu < 0 || (size_t)cpu >= s->n || s->at[cpu].unsure
		       ? 0
		       : s->at[cpu].tid;
}

/* Returns the name of the thread if it was the last one to come to this CPU,
 * valid until another one comes; else NULL. */
static const char *cpu_current_name(const struct cpu_current *s, int32_t cpu,
				    int32_t tid)
{
	if (tid <= 0 || cpu < 0 || (size_t)cpu >= s->n ||
	    s->at[cpu].tid != tid || !*s->at[cpu].name)
		return NULL;
	return s->at[cpu].name;
}

/* Thread ids are reused. An incarnation is the time from the start of one
 * thread with an id to its end. These functions find a new incarnation that no
 * FORK record announced. */

static const struct process *task_process(struct tasks *ts, uint32_t slot)
{
	return tasks_process_at(ts, tasks_thread_at(ts, slot)->process);
}

/* Starts another incarnation of the thread's id. */
static uint32_t start_next_life(struct tasks *ts, uint32_t slot)
{
	const struct thread *th = tasks_thread_at(ts, slot);
	int32_t pid = task_process(ts, slot)->pid;
	int32_t tid = th->tid;
	uint16_t source = th->source;

	tasks_forget(ts, slot);
	slot = tasks_thread(ts, source, pid, tid);
	tasks_thread_at(ts, slot)->reused_tid = true;
	return slot;
}

/* Returns the slot of the incarnation that made a record at time t, of a kind
 * that only living threads make: if the EXIT of `slot` came before, starts a
 * new incarnation, and copies the ended one to *gone. A late record belongs to
 * the earlier one. Tid 0 and negative tids stand for several threads. */
static uint32_t incarnations_of_record(struct tasks *ts,
				       const struct record *rec, int64_t t,
				       uint32_t slot, struct thread *gone)
{
	const struct thread *th = tasks_thread_at(ts, slot);

	if (shared_tasks_is_over(ts, slot) && !(rec->flags & REC_F_LATE))
		return tasks_next(ts, slot);
	if (!th->exit_seen || th->end == TIME_NONE || th->tid <= 0 ||
	    t == TIME_NONE || t <= th->end || rec->flags & REC_F_LATE)
		return slot;
	*gone = *th;
	return start_next_life(ts, slot);
}

/* Returns whether a record about an ended thread may still belong to it: it is
 * late, or other threads of the process name their leader after its end. */
static bool named_by_others(struct tasks *ts, const struct record *rec,
			    uint32_t slot)
{
	return rec->flags & REC_F_LATE ||
	       (rec->pid == rec->tid && !task_process(ts, slot)->ended);
}

/* Like incarnations_of_record(), for a COMM record, which may also mean that
 * the thread became the leader of its process by exec. */
static uint32_t incarnations_of_comm(struct tasks *ts, const struct record *rec,
				     int64_t t, uint32_t slot,
				     struct thread *gone)
{
	bool ended = tasks_thread_at(ts, slot)->ended;
	bool introduced = t == TIME_NONE;

	/* When a thread that is not the group leader calls exec, it becomes the
	 * leader, after the old leader has ended (fs/exec.c, de_thread()). The
	 * old leader may have ended so long ago that it is forgotten, or its
	 * EXIT was lost. */
	const struct process *p = task_process(ts, slot);

	if ((rec->flags & REC_F_EXEC) && rec->pid == rec->tid &&
	    (tasks_thread_at(ts, slot)->ended ? !p->ended : p->n_threads > 1)) {
		tasks_take_over(ts, slot, t);
		if (ended)
			slot = start_next_life(ts, slot);
		introduced |= tasks_thread_at(ts, slot)->last == TIME_NONE;
	} else if (ended && !named_by_others(ts, rec, slot)) {
		uint32_t now = incarnations_of_record(ts, rec, t, slot, gone);

		slot = now == slot ? start_next_life(ts, slot) : now;
	} else if (!named_by_others(ts, rec, slot)) {
		slot = incarnations_of_record(ts, rec, t, slot, gone);
	}
	tasks_thread_at(ts, slot)->introduced |= introduced;
	return slot;
}

/* In Linux 7.2 a chain comes up to 0.4 ms after its thread's EXIT record
 * (backstitch-formats(5), "Deferred stacks: order of records"). Keep ended
 * threads for this long, to allow for slow machines. */
#define LINGER_NS 2000000000ll
/* Rank of the capture's own lists of mappings: the user's lists have
 * precedence. */
#define RANK_OWN 100

static void stitch_contradicts(void *arg, const struct fact_finding *f,
			       const struct join_clocks *clocks)
{
	struct stitch *st = arg;

	audit_add(st->audit, f, clocks);
}

struct stitch *stitch_new(struct order *in, struct frames *fr,
			  struct ledger *lg, const struct stitch_opts *o)
{
	static const struct stitch_opts none;
	struct stitch *st = mem_new(1, sizeof(*st));

	o = o ? o : &none;
	st->in = in;
	st->fr = fr;
	st->ledger = lg;
	st->uw = o->unwinder;
	st->infer = o->infer;
	st->dumps_only = o->dumps_only;
	st->find_jit = o->jit;
	st->find_arg = o->jit_arg;
	st->ahead = unwind_ahead_new(in, st->uw);
	st->tasks = tasks_new(&st->facts);
	st->losses = losses_new();
	st->account = account_new(lg, st->losses);
	st->counters = counters_new(&st->facts, st->losses, o->layout);
	st->audit = audit_new(&st->facts, st->losses, lg);
	st->join = join_new(&st->facts, st->losses, fr);
	join_found(st->join, stitch_contradicts, st);
	st->resolve =
		resolve_new(fr, header_ids_new(o->written, o->written_arg));
	st->calls = mmap_calls_new();
	st->whole = (struct partial_maps){ .fr = fr,
					   .fn = o->files,
					   .arg = o->files_arg };
	st->now = TIME_NONE;
	st->rec = &st->none;
	return st;
}

struct late_maps *stitch_late_maps(struct stitch *st)
{
	return &st->late;
}

void stitch_free(struct stitch *st)
{
	if (!st)
		return;
	unwind_ahead_free(st->ahead);
	for (size_t i = 0; i < st->n_src; i++) {
		space_release(&st->src[i].base);
		space_release(&st->src[i].over);
		free(st->src[i].seats.at);
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
	stack_parts_release(&st->parts);
	mmap_calls_free(st->calls);
	group_reads_release(&st->reads);
	partial_maps_release(&st->whole);
	late_maps_release(&st->late);
	fact_queue_release(&st->facts);
	free_all(st->chain, st->gain, st);
}

static struct per_source *stitch_source_slot(struct stitch *st, uint16_t i)
{
	return mem_at(st->src, st->n_src, st->cap_src, i);
}

void stitch_maps(struct stitch *st, uint16_t source, const struct snapshot *s,
		 unsigned int rank)
{
	struct per_source *ps = stitch_source_slot(st, source);
	struct snapshot one = *s;

	if (!ps->maps)
		ps->maps = snapshots_new();
	if (one.time != TIME_NONE)
		one.time =
			(int64_t)order_time(st->in, source, (uint64_t)one.time);
	snapshots_add(ps->maps, &one, rank);
}

void stitch_together(struct stitch *st, uint16_t source, uint16_t first)
{
	struct per_source *ps = stitch_source_slot(st, source);

	join_together(st->join, source, first);
	ps->shares = true;
	ps->line = first;
	tasks_together(st->tasks, source, first);
}

/* Returns the state of a source, which is created at its first record. */
static inline struct per_source *per_source(struct stitch *st, uint16_t i)
{
	if (i < st->n_src && st->src[i].known)
		return &st->src[i];
	struct per_source *ps = stitch_source_slot(st, i);
	const struct source *src = order_source(st->in, i);

	ps->from = src;
	ps->known = true;
	if (!ps->shares)
		ps->line = i;
	ps->last = TIME_NONE;
	ps->base.changed = ps->over.changed = TIME_NONE;
	ps->base.keep_old = ps->over.keep_old = !src->info.exact;
	if (!src->info.exact)
		st->tasks->keep_old = true;
	join_source(st->join, i, &src->info);
	account_source(st->account, i, src);
	counters_source(st->counters, i, &src->info, ps->line);
	audit_source(st->audit, i, src);
	for (size_t k = 0; k < src->info.n_maps; k++)
		stitch_maps(st, i, &src->info.maps[k], RANK_OWN);
	return ps;
}

/* The members of struct fact_event that do not follow from the record. */
struct event_part {
	uint32_t type, leader, kraw, uraw;
	uint64_t weight;
	const uint32_t *held;
};

/* Pushes an event. Returns its id. */
static uint32_t push_event(struct stitch *st, uint32_t slot,
			   const struct event_part *e)
{
	const struct record *rec = st->rec;
	/* tasks_comm() may push a FACT_COMM, which must precede the event. */
	uint32_t comm = tasks_comm(st->tasks, slot);
	struct fact *f = fact_queue_add(&st->facts);

	f->kind = FACT_EVENT;
	f->event.id = ++st->events;
	f->event.time = record_time(rec);
	f->event.cpu = rec->cpu;
	f->event.thread = tasks_thread_at(st->tasks, slot)->id;
	f->event.comm = comm;
	f->event.source = rec->source;
	f->event.type = e->type;
	f->event.weight = e->weight;
	f->event.kraw = e->kraw;
	f->event.uraw = e->uraw;
	f->event.held = e->held;
	f->event.rec = rec;
	f->event.leader = e->leader;
	return f->event.id;
}

static inline void map_snapshots(struct stitch *st, uint32_t process,
				 bool started)
{
	if (st->own->maps) {
		/* Apply the saved lists of mappings that are due. started: the
		 * process has just called exec. */
		struct per_source *ps = st->own;
		const struct snapshots_to to = { st->tasks, st->resolve,
						 st->own->from };

		snapshots_due(ps->maps, &to, process, record_time(st->rec),
			      started);
	}
}

static uint32_t thread_slot(struct stitch *st)
{
	struct per_source *ps = st->own;

	/* A list shows that this id is a process id. */
	if (ps->maps && st->rec->pid < 0 &&
	    snapshots_has(ps->maps, st->rec->tid))
		st->rec->pid = st->rec->tid;
	st->who = tasks_thread(st->tasks, st->rec->source, st->rec->pid,
			       st->rec->tid);
	map_snapshots(st, tasks_thread_at(st->tasks, st->who)->process, false);
	return st->who;
}

/* Returns the slot of the incarnation that made a record which only a living
 * thread can make. If it is a new one, look.ended becomes the previous one. */
static uint32_t slot_of_living(struct stitch *st, uint32_t slot)
{
	slot = incarnations_of_record(st->tasks, st->rec, record_time(st->rec),
				      slot, &st->gone);
	tasks_live(st->tasks, slot, false);
	st->look.ended = st->gone.used ? &st->gone : NULL;
	return slot;
}

/* Returns the join's state of a thread, valid until the next call to the
 * join. */
static inline struct join_task *stitch_join_task(struct stitch *st,
						 struct thread *th)
{
	return st->src[th->source].shares
		       ? join_task_of(st->join, th->source, th->id, &th->join)
		       : &th->join;
}

/* Like counters_see(). Ignores late records, because they were not lost, and
 * the history of threads without an id, which stand for several threads. */
static unsigned int stitch_see_cookie(struct stitch *st, struct thread *th,
				      uint64_t cookie, bool is_sample)
{
	const struct join_cookies *had = &stitch_join_task(st, th)->cookies;
	const struct counters_sight s = {
		.source = st->rec->source,
		.cookie = cookie,
		.cpu = st->rec->cpu,
		.time = record_time(st->rec),
		.since = st->rec->tid < 0 ? TIME_NONE
			 : had->seen	  ? had->last
					  : th->start,
		.is_sample = is_sample,
		.late = st->rec->flags & REC_F_LATE,
	};

	unsigned int seen = counters_see(st->counters, &s);

	return st->rec->flags & REC_F_LATE ? 0 : seen;
}

/* Returns a row id, or 0 if the thread's process is unknown so far. */
static uint32_t known_process(struct stitch *st, uint32_t slot)
{
	const struct process *p = stitch_process_of(st, slot);

	return p->pid >= 0 ? p->id : 0;
}

/* Gives a complete chain to the join. */
static void give_chain(struct stitch *st, uint32_t slot, struct join_chain *jc)
{
	struct thread *th = tasks_thread_at(st->tasks, slot);

	jc->id = st->chains + 1;
	if (join_chain(st->join, stitch_join_task(st, th), jc))
		st->chains++;
}

/* Gives the incomplete stacks of a thread to the join. Call it when no more
 * parts can follow. */
static void end_stack_parts(struct stitch *st, uint32_t slot)
{
	struct join_chain jc;

	while (st->parts.n && stack_parts_take(&st->parts, st->fr, &slot, &jc))
		give_chain(st, slot, &jc);
}

/* Gives the request of a sample to the join. *seen: as for
 * stitch_sample_event(). */
static void stitch_request(struct stitch *st, uint32_t slot, uint32_t event,
			   unsigned int *seen)
{
	const struct rec_sample *s = &st->rec->sample;
	bool nonce = st->rec->flags & REC_F_NONCE;
	bool other = nonce && s->asked >= 0 && s->asked != st->rec->tid;

	if (other)
		slot = tasks_thread(st->tasks, st->rec->source, -1, s->asked);
	struct thread *th = tasks_thread_at(st->tasks, slot);
	struct join_sample js = {
		.event = event,
		.source = st->rec->source,
		.tid = other ? s->asked : st->rec->tid,
		.cpu = st->rec->cpu,
		.late = st->rec->flags & REC_F_LATE,
		.time = record_time(st->rec),
		.cookie = s->cookie,
		.ip = st->rec->flags & REC_F_USER && !s->kern.n ? s->ip : 0,
		.thread = th->id,
		.process = known_process(st, slot),
		.flags = th->reused_tid ? VERDICT_REUSED_TID : 0,
		.nonce = nonce,
	};

	if (nonce)
		end_stack_parts(st, slot);
	if (s->defer == DEFER_COOKIE) {
		if (*seen == UINT32_MAX)
			*seen = js.nonce ? 0
					 : stitch_see_cookie(st, th, js.cookie,
							     true);
		if (*seen & COUNTER_FIRST_LOST)
			js.flags |= VERDICT_FIRST_LOST;
		js.again = *seen & COUNTER_AGAIN;
		join_sample(st->join, stitch_join_task(st, th), &js);
	} else if (s->defer == DEFER_MARK) {
		join_mark(st->join, stitch_join_task(st, th), &js);
	} else {
		join_refused(st->join, &js);
	}
}

/* Pushes the event of a sample, or of a member of its group, and gives it to
 * the join. *seen: what the counters found about the cookie; UINT32_MAX: not
 * asked yet. Returns the event's id. */
static uint32_t stitch_sample_event(struct stitch *st, uint32_t slot,
				    const struct event_part *e,
				    unsigned int *seen)
{
	const struct rec_sample *s = &st->rec->sample;
	const struct source *src = st->own->from;
	uint32_t event = push_event(st, slot, e);
	/* perf's samples do not show that the kernel refused to defer. */
	bool asked = src->info.cookies == COOKIES_PERF &&
		     e->type < src->n_events && src->events[e->type].defer;

	if (s->defer == DEFER_COOKIE || s->defer == DEFER_MARK ||
	    s->defer == DEFER_REFUSED || (asked && s->defer == DEFER_DIRECT))
		stitch_request(st, slot, event, seen);
	if (s->defer != DEFER_COOKIE)
		join_other(st->join, st->rec->source, event);
	return event;
}

/* Takes the names in a switch: that of the thread that leaves, and that of the
 * one that comes, which is kept until it leaves. */
static void stitch_take_names(struct stitch *st, uint32_t slot)
{
	const struct record *rec = st->rec;
	const struct rec_sample *s = &rec->sample;
	struct cpu_current *seats = &st->own->seats;
	const char *name = cpu_current_name(seats, rec->cpu, rec->tid);
	char leaves[THREAD_NAME] = "";

	if (record_time(rec) == TIME_NONE || rec->flags & REC_F_LATE)
		return;
	/* a copy: a file may change while it is read */
	if (s->leaves && s->sched.tid == rec->tid) {
		memcpy(leaves, s->leaves, THREAD_NAME - 1);
		name = leaves;
	}
	if (name)
		tasks_hint_comm(st->tasks, slot, name, record_time(rec));
	if (s->comes)
		cpu_current_take(seats, rec->cpu, s->sched.next_tid, s->comes);
}

/* Returns the slot of the thread of a record with tid -1, or TASKS_NONE. The
 * kernel writes tid -1 for a thread that is no longer hashed, late in
 * do_exit(): it is the thread that leaves by this switch, or that came to the
 * CPU last, if an EXIT shows that it ends. */
static uint32_t stitch_dying_slot(const struct stitch *st)
{
	const struct record *rec = st->rec;

	return rec->flags & REC_F_LATE || rec->sample.defer == DEFER_COOKIE ||
			       rec->sample.defer == DEFER_MARK
		       ? TASKS_NONE
		       : tasks_exited(st->tasks, rec->source,
				      rec->sample.sched.kind == SCHED_SWITCH
					      ? rec->sample.sched.tid
					      : cpu_current_tid(&st->own->seats,
								rec->cpu));
}

static void stitch_take_sample(struct stitch *st)
{
	const struct rec_sample *s = &st->rec->sample;
	uint32_t slot = st->rec->tid < 0 ? stitch_dying_slot(st) : TASKS_NONE;

	if (slot == TASKS_NONE)
		slot = thread_slot(st);
	if (record_chains_is_living(st->rec))
		slot = st->who = slot_of_living(st, slot);
	map_snapshots(st, tasks_thread_at(st->tasks, slot)->process, false);
	if (st->rec->sample.comes ||
	    (st->rec->tid > 0 && tasks_wants_hint(st->tasks, slot)))
		stitch_take_names(st, slot);
	if (s->defer == DEFER_COOKIE || s->defer == DEFER_MARK)
		record_chains_check_hit(st, slot);
	struct event_part e = { .type = s->event };
	unsigned int seen = UINT32_MAX;

	e.kraw = record_chains_kernel_chain(st, &s->kern);
	e.uraw = record_chains_sample_chain(st, slot);
	e.held = record_chains_held_chains(st);
	e.weight = record_chains_weigh(st, slot);
	st->look.event = stitch_sample_event(st, slot, &e, &seen);
	/* Each member of the group that counted something has an event of its
	 * own, with the sample's stacks. */
	e.leader = st->look.event;
	e.held = NULL;
	for (uint32_t i = 0; i < s->n_member; i++) {
		e.type = s->member[i].event;
		e.weight = st->gain[i];
		if (e.weight)
			stitch_sample_event(st, slot, &e, &seen);
	}
	if (s->call)
		record_chains_take_call(st, slot);
}

static void stitch_take_chain(struct stitch *st)
{
	uint32_t slot = thread_slot(st);
	const struct rec_chain *c = &st->rec->chain;
	uint32_t uraw = record_chains_user_chain(st, slot, &c->user);
	struct thread *th = tasks_thread_at(st->tasks, slot);

	struct join_chain jc = {
		.source = st->rec->source,
		.tid = st->rec->tid,
		.cpu = st->rec->cpu,
		.thread = th->id,
		.process = known_process(st, slot),
		.time = record_time(st->rec),
		.cookie = c->cookie,
		.uraw = uraw,
		.n = c->user.n,
		.asked_cpu = -1,
		.flags = (th->ended ? VERDICT_AFTER_EXIT : 0) |
			 (th->reused_tid ? VERDICT_REUSED_TID : 0),
		.duplicate = st->rec->flags & REC_F_DUPLICATE,
		.nonce = st->rec->flags & REC_F_NONCE,
		.late = st->rec->flags & REC_F_LATE,
	};

	if (jc.nonce) {
		if (!stack_parts_wants(&st->parts, slot, c, &jc))
			end_stack_parts(st, slot);
		if (!stack_parts_add(&st->parts, st->fr, slot, c, &jc))
			return;
	} else {
		jc.again = stitch_see_cookie(st, th, c->cookie, false) &
			   COUNTER_AGAIN;
		jc.asked_cpu =
			counters_cpu(st->counters, st->rec->source, c->cookie);
	}
	give_chain(st, slot, &jc);
}

/* Counts and skips a range that wraps around: it can contain no code. */
static bool skip_wrapping_range(struct stitch *st, uint64_t start, uint64_t end)
{
	if (end >= start || end == 0)
		return false;
	ledger_skip(st->ledger, st->rec->source, "mapping that wraps around", 0,
		    st->rec->off, NULL);
	return true;
}

/* Maps kernel code. over: it lies on top of the kernel's own mapping. If
 * another capture of the line has mapped it too, it has a row already. */
static void stitch_map_kernel(struct stitch *st, const struct region *r,
			      bool over)
{
	struct per_source *ps = st->own;
	struct space_owner own = tasks_kernel_owner(st->tasks);

	for (size_t i = 0; ps->shares && i < st->n_src && !own.with_rows; i++) {
		const struct per_source *o = &st->src[i];

		own.with_rows = o != ps && o->shares && o->line == ps->line &&
				space_has(over ? &o->over : &o->base, r);
	}
	space_map(over ? &ps->over : &ps->base, r, &own);
	if (!over)
		record_chains_note_kernel(st, r);
}

/* Notes that the recorder's list of a process, or its exec, was seen: from here
 * on, all mappings are known if the kernel records each. */
static void stitch_set_complete(struct stitch *st, uint32_t process)
{
	if (st->own->from->info.maps_code)
		tasks_process_at(st->tasks, process)->space.complete = true;
}

/* Sets the image of r to a copy if r is memory mapped over a file's code. Large
 * pages need memory without a file: programs copy their text there and map the
 * copy in its place (BOLT's hugify, Chrome, Intel's iodlr), or map a memfd with
 * it. */
static void stitch_find_copied(struct stitch *st, const struct space *sp,
			       struct region *r)
{
	const struct region *was = space_find(sp, r->start, TIME_NONE);

	if (!was || was->derived || !st->uw || !st->uw->ops->has ||
	    !region_is_code(r) || r->end - 1 > was->end - 1 ||
	    !resolve_is_memory(st->resolve, r->image) ||
	    resolve_is_memory(st->resolve, was->image))
		return;
	const struct unwind_map map = record_unwind_map(was);

	if (!map.exec ||
	    !st->uw->ops->has(st->uw, &map, r->start, r->end, UNWIND_TEXT))
		return;
	r->pgoff = was->pgoff + (r->start - was->start);
	r->image =
		resolve_copy_image(st->resolve, was->image, r->end - r->start);
}

/* Applies a mapping record to its process or the kernel. */
static void stitch_take_map(struct stitch *st)
{
	const struct record *rec = st->rec;
	const struct source *src = st->own->from;
	struct region r = {
		.start = rec->map.start,
		.end = rec->map.start + rec->map.len,
		.prot = rec->map.prot,
		.flags = rec->map.flags,
		.t0 = record_time(rec),
		.derived = rec->map.derived,
	};

	if (rec->flags & REC_F_GUEST || skip_wrapping_range(st, r.start, r.end))
		return;
	if (rec->flags & REC_F_KERNEL) {
		r.image = resolve_map_image(st->resolve, src, rec, 0, &r.pgoff);
		stitch_map_kernel(st, &r, false);
		return;
	}
	uint32_t slot = tasks_find(st->tasks, rec->source, rec->pid, rec->tid);

	if (slot != TASKS_NONE)
		st->who = slot_of_living(st, slot);
	uint32_t process = tasks_process(st->tasks, rec->source, rec->pid);

	map_snapshots(st, process, false);
	if (rec->flags & REC_F_GONE) {
		tasks_unmap(st->tasks, process, r.start, r.end, r.t0);
		return;
	}
	r.image = resolve_map_image(st->resolve, src, rec,
				    tasks_process_at(st->tasks, process)->id,
				    &r.pgoff);
	struct region part;

	stitch_find_copied(st, &tasks_process_at(st->tasks, process)->space,
			   &r);
	if (!rec->map.whole)
		tasks_map(st->tasks, process, &r);
	else
		for (size_t i = 0; partial_maps_get(&st->whole, &r, i, &part);
		     i++)
			tasks_map(st->tasks, process, &part);
	record_chains_note_map(st, process, &r);
	record_chains_late_map(st, process, &r);
	if (r.t0 == TIME_NONE || rec->flags & REC_F_SYNTH)
		stitch_set_complete(st, process);
	if (rec->flags & REC_F_MAPS_END) {
		/* The recorder gave up listing a process's mappings. */
		struct process *p = tasks_process_at(st->tasks, process);
		char detail[64];

		if (!p->space.cut_short) {
			p->space.cut_short = true;
			snprintf(detail, sizeof(detail),
				 "perf gave up reading /proc/%d/maps", p->pid);
			ledger_add(st->ledger,
				   &(struct ledger_entry){
					   .kind = LEDGER_LOSS,
					   .capture = st->rec->source,
					   .what = "mappings",
					   .detail = detail,
					   .off = st->rec->off,
					   .cpu = -1,
					   .event = -1 });
		}
	}
	if (jit_is_marker(&rec->map))
		record_unwind_find_jit(st, tasks_process_at(st->tasks, process),
				       &rec->map);
}

/* Takes kernel code that appears or disappears. For trampolines and dispatchers
 * of BPF the kernel reports a whole page, however little they use
 * (bpf_image_ksym_add() in kernel/bpf/trampoline.c), and so does perf for those
 * that existed before. Newer ones (7.2, not 6.1) put other trampolines and
 * programs into the same page. */
static void stitch_take_ksymbol(struct stitch *st)
{
	const struct record *rec = st->rec;
	struct space *over = &st->own->over;
	const struct space_owner own = tasks_kernel_owner(st->tasks);
	struct region r = {
		.start = rec->ksymbol.addr,
		.end = rec->ksymbol.addr + rec->ksymbol.len,
		.t0 = record_time(rec),
	};
	const bool gone = rec->flags & REC_F_GONE;
	uint64_t below, above;

	if (skip_wrapping_range(st, r.start, r.end) ||
	    (!rec->ksymbol.len && !gone))
		return;
	const struct region *was = space_find(over, r.start, TIME_NONE);
	const bool page = rec->ksymbol.type == 1 &&
			  strncmp(rec->ksymbol.name, "bpf_prog_", 9) != 0;

	if (gone && page)
		r.end = was && was->start == r.start ? was->end : r.start;
	/* code that begins inside another one begins after that one's real
	 * end */
	if (!gone && was && was->since <= r.t0)
		space_unmap(over, r.start, was->end, r.t0, &own);
	if (gone) {
		space_unmap(over, r.start, r.end, r.t0, &own);
		return;
	}
	space_hole(over, r.start, &below, &above);
	if (page && above && above < r.end)
		r.end = above;
	r.image = resolve_ksymbol_image(st->resolve, rec);
	stitch_map_kernel(st, &r, true);
}

/* Applies the current record, by its kind. */
static void stitch_take_record(struct stitch *st)
{
	const struct record *rec = st->rec;
	enum record_kind k = rec->kind;

	/* These records change the state, so duplicates are ignored. */
	if (rec->flags & REC_F_DUPLICATE &&
	    (k == REC_COMM || k == REC_FORK || k == REC_EXIT || k == REC_MAP ||
	     k == REC_KSYMBOL))
		return;
	if (k == REC_LOST_TOTAL && rec->flags & REC_F_FILTERED && rec->lost.n)
		join_session(st->join, rec->source)->filtered = true;
	struct cpu_current *seats = &st->own->seats;

	/* cpu -1: of any CPU */
	for (size_t i = 0; k == REC_LOST && i < seats->n; i++)
		seats->at[i].unsure |= rec->cpu < 0 || (size_t)rec->cpu == i;
	if (k == REC_SAMPLE)
		stitch_take_sample(st);
	else if (k == REC_CHAIN)
		stitch_take_chain(st);
	else if (k == REC_MAP)
		stitch_take_map(st);
	else if (k == REC_KSYMBOL) {
		stitch_take_ksymbol(st);
	} else if (k == REC_COMM) {
		int64_t t = record_time(st->rec);

		st->who = incarnations_of_comm(st->tasks, st->rec, t,
					       thread_slot(st), &st->gone);
		st->look.ended = st->gone.used ? &st->gone : NULL;
		tasks_set_comm(st->tasks, st->who, st->rec->comm.name, t,
			       st->rec->flags & REC_F_EXEC);
		/* only perf writes an EXIT for an exec, see tasks_exit() */
		tasks_live(st->tasks, st->who,
			   st->rec->flags & REC_F_EXEC &&
				   st->own->from->info.whole_tasks);
		if (st->rec->flags & REC_F_EXEC)
			stitch_set_complete(
				st,
				tasks_thread_at(st->tasks, st->who)->process);
		/* Tells other captures of the thread about the exec. */
		stitch_join_task(st, tasks_thread_at(st->tasks, st->who));
		map_snapshots(st, tasks_thread_at(st->tasks, st->who)->process,
			      st->rec->flags & REC_F_EXEC);
	} else if (k == REC_FORK) {
		int64_t t = record_time(rec);
		bool synth = t == TIME_NONE || rec->flags & REC_F_SYNTH;
		uint32_t parent = tasks_find(st->tasks, rec->source,
					     rec->fork.ppid, rec->fork.ptid);

		if (parent != TASKS_NONE && !synth)
			slot_of_living(st, parent);
		if (parent != TASKS_NONE)
			map_snapshots(
				st, tasks_thread_at(st->tasks, parent)->process,
				false);
		st->who = tasks_fork(st->tasks, rec->source, rec->pid, rec->tid,
				     rec->fork.ppid, rec->fork.ptid, t, synth);
		map_snapshots(st, tasks_thread_at(st->tasks, st->who)->process,
			      false);
	} else if (k == REC_EXIT)
		tasks_exit(st->tasks, thread_slot(st), record_time(rec));
	else if (k == REC_SWITCH || k == REC_MARK)
		st->look.event =
			push_event(st, thread_slot(st),
				   &(struct event_part){ .type = UINT32_MAX,
							 .weight = 1 });
}

static void retire_one(struct stitch *st, uint32_t slot)
{
	end_stack_parts(st, slot);
	struct thread *th = tasks_thread_at(st->tasks, slot);
	enum join_reason why = th->exit_seen ? JOIN_EXIT
			       : th->ended   ? JOIN_REUSED
					     : JOIN_CAPTURE;

	join_retire(st->join, &th->join, why, th->end);
	tasks_drop(st->tasks, slot);
}

/* At the end of the capture, removes one thread or process at a time: the facts
 * of all together would need more memory than any other step. */
static void stitch_finish(struct stitch *st)
{
	uint32_t slot;

	if (tasks_retire(st->tasks, TIME_NONE, &slot)) {
		retire_one(st, slot);
		return;
	}
	if (tasks_drop_rest(st->tasks))
		return;
	ledger_left_out(st->ledger, 0, "mapping inherited by a fork",
			"limit exceeded", st->tasks->unlisted);
	ledger_left_out(st->ledger, 0, "value of an event group",
			"smaller than the one before it, or one too many",
			st->reads.refused);
	join_end(st->join);
	for (uint16_t i = 0; i < st->n_src; i++)
		if (st->src[i].known) {
			/* Tell the rules by how much the clocks of a capture's
			 * CPUs differ. */
			const struct cookie_totals *end =
				&join_session(st->join, i)->totals;
			struct fact_finding f;

			skew_take_bounds(st->audit, i,
					 counters_bounds(st->counters, i, end));
			while (counters_next_skew(st->counters, i, end, &f))
				audit_add(st->audit, &f, NULL);
		}
	skew_judge(st->audit);
	audit_end(st->audit);
	for (uint16_t i = 0; i < st->n_src; i++)
		if (st->src[i].known)
			counters_end(st->counters, i,
				     &join_session(st->join, i)->totals);
	for (size_t i = 0; i < st->n_src; i++) {
		struct space_owner own = tasks_kernel_owner(st->tasks);

		space_clear(&st->src[i].base, TIME_NONE, &own);
		space_clear(&st->src[i].over, TIME_NONE, &own);
	}
	ledger_end(st->ledger);
	st->ended = true;
}

/* Applies a record to the state and to the rules. */
static void stitch_take(struct stitch *st)
{
	int64_t t = record_time(st->rec);
	uint32_t slot;

	st->own = per_source(st, st->rec->source);
	raise_to(st->own->last, t);
	account_record(st->account, st->rec);
	st->look = (struct audit_in){ .rec = st->rec, .time = t };
	st->who = TASKS_NONE;
	st->gone.used = false;
	st->tasks->now = t;
	stitch_take_record(st);
	/* Runs the rules on the record, then updates its thread. */
	struct thread *th = NULL;

	if (st->who != TASKS_NONE)
		th = tasks_thread_at(st->tasks, st->who);
	st->look.thread = th;
	if (tasks_replaced(st->tasks, &st->before) &&
	    st->before.tid == st->rec->tid)
		st->look.before = &st->before;
	audit_record(st->audit, &st->look);
	/* After a FORK the child lives only if all tasks are recorded: the
	 * record of its end may be missing. */
	if (th && st->look.time > th->last &&
	    (st->rec->kind != REC_FORK ||
	     st->own->from->info.system_wide == TRI_YES)) {
		if (th->last == TIME_NONE)
			th->first = st->look.time;
		th->last = st->look.time;
	}
	if (t == TIME_NONE)
		return;
	raise_to(st->now, t);
	/* remove threads that ended long ago */
	while (st->now > INT64_MIN + LINGER_NS && tasks_any_ended(st->tasks) &&
	       tasks_retire(st->tasks, st->now - LINGER_NS, &slot))
		retire_one(st, slot);
}

/* Prefetches records that come 12, 8 and 4 records later: the record, which
 * another thread wrote, its addresses, and what resolve_user() looks up for
 * these. A stack that its process did not have before costs several cache
 * misses, one after another: without this, ingest of a compile takes 6 %
 * longer. */
static void stitch_prefetch(struct stitch *st)
{
	const struct record *rec = order_soon(st->in, 12);

	if (rec)
		for (size_t i = 0; i < sizeof(*rec); i += 64)
			__builtin_prefetch((const char *)rec + i);
	rec = order_soon(st->in, 8);
	if (rec && rec->kind == REC_SAMPLE)
		__builtin_prefetch(rec->sample.user.ip);
	rec = order_soon(st->in, 4);
	if (!rec || rec->kind != REC_SAMPLE || !rec->sample.user.n)
		return;
	uint32_t slot = tasks_peek(st->tasks, rec->source, rec->pid, rec->tid);

	if (slot != TASKS_NONE)
		resolve_prefetch(st->resolve,
				 stitch_process_of(st, slot)->shared.view,
				 &rec->sample.user);
}

/* Takes the next record, or one step of the end. Returns 1, 0 after the last,
 * or -1. */
static int stitch_step(struct stitch *st, struct err *err)
{
	struct record *rec;

	if (st->ended)
		return 0;
	int got = st->closing ? 0 : order_next(st->in, &rec, err);

	if (got < 0)
		return -1;
	if (got) {
		st->rec = rec;
		stitch_take(st);
		if (st->ahead)
			record_unwind_look_ahead(st);
		else
			stitch_prefetch(st);
		return 1;
	}
	if (!st->closing) {
		account_end(st->account);
		/* a pipe did not announce its last time */
		for (size_t i = 0; i < st->n_src; i++)
			if (st->src[i].known &&
			    !stitch_source(st, (uint16_t)i)->info.exact)
				join_last(st->join, (uint16_t)i,
					  st->src[i].last);
	}
	st->closing = true;
	stitch_finish(st);
	return 1;
}

struct fact_queue *stitch_facts(struct stitch *st)
{
	return &st->facts;
}

uint32_t stitch_events(const struct stitch *st)
{
	return st->events;
}

int stitch_run(struct stitch *st, uint64_t until, struct err *err)
{
	struct fact_queue *q = &st->facts;
	int got = 1;

	while (got > 0 && q->gone + fact_queue_left(q) < until) {
		got = stitch_step(st, err);
		q->due = fact_queue_left(q);
	}
	return got;
}
