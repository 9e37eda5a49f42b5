/* waits.c - iterates over the times that threads were off the CPU, and on it;
 * and who ended a wait, as analyze/causes proves it.
 *
 * All items are made from the switches that causes.h reads: a thread that
 * leaves a CPU begins a wait, and ends a run; when it comes back, the other way
 * round. If the caller wants to know who woke, the waits of a kernel are kept
 * until all its events are read, and then each thread's are proved. The stays
 * of a timeline are no basis for this: they are cut wherever records may be
 * missing, and all of a capture are in memory before the first one can be used.
 */
#include "analyze/waits/waits.h"

#include <inttypes.h>

#include "analyze/causes/causes.h"
#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "analyze/stacks/stacks.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/task_state.h"
#include "stitch/verdict.h"

struct wakers {
	const struct stacks *stacks;
	const struct causes *causes;
	struct intern irqs; /* their names */
};

/* A wait, as a range of a thread's pieces. */
struct wait_pieces {
	const struct proofs *p;
	uint32_t thread;
	size_t first, end;
};

/* Returns the proof that an edge, the last one of a wait, ended it. If the
 * thread may have been back in between, another edge may have done so. */
static enum proof wakers_prove(const struct wait_pieces *wait, uint32_t edge)
{
	uint8_t best = PROOF_UNKNOWN;
	uint8_t most = PROOF_PROVED;

	for (size_t i = wait->first; i < wait->end; i++) {
		const struct proof_piece pc =
			proofs_piece(wait->p, wait->thread, i);
		bool woken = best != PROOF_UNKNOWN;

		if (pc.edge == edge)
			raise_to(best, pc.link);
		else if (!woken || !piece_is_runnable(&pc))
			most = PROOF_LIKELY;
	}
	return (enum proof)(best < most ? best : most);
}

/* Returns a waker about which nothing is known. */
static struct woken wakers_none(void)
{
	return (struct woken){ .asleep = true,
			       .what = CHAIN_STATES,
			       .ready = INT64_MAX };
}

/* Returns who ended the wait of a thread of p between two times. */
static struct woken wakers_find(struct wakers *w, struct proofs *p,
				uint32_t thread, int64_t from, int64_t to)
{
	struct wait_pieces wait = { .p = p, .thread = thread };
	struct woken x = { .ready = from };
	uint32_t last = TIMELINE_NONE;
	int64_t end = from;
	int64_t most = 0;
	bool ready = true;

	wait.first = proofs_find(p, thread, from);
	if (wait.first == proofs_pieces(p, thread))
		return wakers_none();
	wait.end = proofs_wait_end(p, thread, wait.first);
	for (size_t i = wait.first; i < wait.end; i++) {
		const struct proof_piece pc = proofs_piece(p, thread, i);

		end = pc.to;
		if (i == wait.first &&
		    (pc.from != from || pc.state == PIECE_RUN))
			return wakers_none();
		ready &= piece_is_runnable(&pc);
		if (piece_is_runnable(&pc) && pc.to - pc.from > most) {
			most = pc.to - pc.from;
			x.runnable = pc.state == PIECE_READY  ? WAIT_READY
				     : pc.state == PIECE_HELD ? WAIT_HELD
							      : WAIT_THROTTLED;
		}
		if (pc.edge == TIMELINE_NONE)
			continue;
		x.ready = pc.to;
		last = pc.edge;
	}
	if (end != to || (last == TIMELINE_NONE && !ready))
		return wakers_none();
	if (last != TIMELINE_NONE) {
		const struct proof_edge e = proofs_edge(p, last);

		x.asleep = true;
		x.stack = e.stack;
		x.tid = e.waker;
		x.what = (uint8_t)chain_leaf(&e);
		const char *irq = x.what != CHAIN_STATES
					  ? causes_irq(w->causes, &e)
					  : NULL;
		uint32_t id = irq ? intern_add(&w->irqs, irq) : UINT16_MAX;

		x.irq = id < UINT16_MAX ? (uint16_t)(id + 1) : 0;
		/* the thread that was current may not be known */
		if (e.waker >= 0 || x.what != CHAIN_STATES)
			x.proof = (uint8_t)wakers_prove(&wait, last) & 3;
		x.premise = causes_wake_has_premise(w->causes, &e);
	}
	return x;
}

/* Returns a waker with its names; w may be NULL for wakers_none(). */
static struct waker wakers_tell(const struct wakers *w, const struct woken *x)
{
	struct waker out = {
		.asleep = x->asleep,
		.proof = (enum proof)x->proof,
		.premise = x->premise,
		.runnable = (enum wait_cause)x->runnable,
		.what = (enum chain_state)x->what,
		.ready = x->ready,
	};

	if (out.proof == PROOF_UNKNOWN)
		return out;
	out.at = w->causes->stack[x->stack];
	if (out.what == CHAIN_STATES) {
		out.tid = x->tid;
		if (!out.at.comm)
			out.at.comm = stacks_comm_of_tid(w->stacks, x->tid);
	} else {
		if (x->irq)
			snprintf(out.irq, sizeof(out.irq), "%s",
				 intern_get(&w->irqs, x->irq - 1U));
		/* the interrupted thread has no part in it */
		out.at.comm = out.at.uraw = 0;
		out.at.verdict = out.at.flags = 0;
	}
	return out;
}

const char *waker_name(const struct stacks *s, const struct waker *w)
{
	if (!waker_is_known(w))
		return "";
	if (w->what == CHAIN_STATES)
		return stacks_comm(s, w->at.comm)->name;
	return *w->irq ? w->irq : chain_state_word(w->what);
}

/* Times in which records may be missing: disjoint, ordered. */
struct waits_lost {
	struct waits_span {
		int64_t from, to;
	} * span;
	size_t n, cap;
};

/* The life of a thread; a later one may have the same id. */
struct waits_life {
	int64_t tid, from, to;
};

/* The waits of a kernel, as its switches show them, or of one capture, as the
 * kernel measured them (perf record --off-cpu): single waits, or sums. */
struct waits_part {
	const struct causes_kernel *kernel;    /* NULL: measured */
	const struct causes_capture *measured; /* has these waits, or NULL */
	int64_t start, end;
	/* set when it is loaded: */
	struct waits_lost lost; /* on any CPU */
	struct waits_lost *of;	/* by CPU + 1; [0]: on one that is not known */
	size_t n_of, cap_of;
	uint64_t records;	 /* lost ones, as far as they are counted */
	bool some_unknown;	 /* some losses have no number */
	struct waits_life *life; /* by id, then by time */
	size_t n_life, cap_life;
	struct rows *rows;		 /* of measured waits */
	struct waits_reported *reported; /* by the parts before this one */
	size_t n_reported, cap_reported;
};

/* A wait that the kernel measured, or a sum of several. */
struct waits_measured {
	int64_t event, tid;
	int64_t from, to; /* of a sum 0, and its length */
	int64_t ns;
	bool sum;
	struct offcpu_stack stack;
	/* Another capture of the same kernel reports this wait, or some of the
	 * sum. A capture reports a wait if it was recording when the wait
	 * began: it then has the end, too, or the wait is open or uncertain. Of
	 * a wait that was under way when recording began, it has only the
	 * return, which is not counted. */
	bool reported;
};

struct waits_parts {
	struct causes_spans *spans;
	struct waits_part *part;
	size_t n, cap;
};

/* Losses of further CPUs may be of any CPU; their threads have no runs. */
#define CPUS_MAX 65536

/* A capture that reports all waits that begin in its time: of all threads, or
 * only of those with an event of its type. */
struct waits_reported {
	int64_t from, to;
	bool of_all;
	struct table tids; /* empty if of_all */
};

/* Adds a part; its time is that of its captures. */
static void waits_add_part(struct waits_parts *p, const struct causes_kernel *k,
			   const struct causes_capture *measured)
{
	const struct causes_capture *c = k ? k->capture : measured;
	struct waits_part *add = mem_add(p->part, p->n, p->cap);

	*add = (struct waits_part){ .kernel = k,
				    .measured = measured,
				    .start = c->begin,
				    .end = c->end };
	for (size_t i = 0; k && i < k->n; i++) {
		c = k->span[i].capture;
		lower_to(add->start, c->begin);
		raise_to(add->end, c->end);
	}
}

/* Finds the kernels with context switches, and after all of these the captures
 * with measured waits. Returns 0, or -1 and *err. */
static int waits_parts_load(struct waits_parts *p, struct store *db,
			    struct err *err)
{
	struct causes_spans *s = causes_spans_load(db, true, err);

	p->spans = s;
	for (size_t i = 0; s && i < s->n; i++)
		waits_add_part(p, &s->kernel[i], NULL);
	/* Waits that the kernel has measured are read after all switches,
	 * which report the same ones as far as they were recorded. */
	for (size_t i = 0; s && i < s->n_measured; i++)
		waits_add_part(p, NULL, &s->measured[i]);
	return s ? 0 : -1;
}

static void waits_part_release(struct waits_part *p)
{
	free(p->lost.span);
	for (size_t i = 0; i < p->n_of; i++)
		free(p->of[i].span);
	for (size_t i = 0; i < p->n_reported; i++)
		table_release(&p->reported[i].tids);
	if (p->rows)
		rows_stop(p->rows);
	free_all(p->reported, p->of, p->life);
	*p = (struct waits_part){ .kernel = p->kernel,
				  .measured = p->measured };
}

/* ---- what is missing in a part */

/* Adds a time. Calls must be in the order of starts; times that touch are
 * merged. */
static void waits_lose(struct waits_lost *l, int64_t from, int64_t to)
{
	struct waits_span *last = l->n ? &l->span[l->n - 1] : NULL;

	if (!last || last->to < from)
		*mem_add(l->span, l->n, l->cap) =
			(struct waits_span){ from, to };
	else if (to > last->to)
		last->to = to;
}

static void waits_lose_on(struct waits_part *p, int64_t cpu, int64_t from,
			  int64_t to)
{
	size_t at = cpu >= 0 && cpu < CPUS_MAX ? (size_t)cpu + 1 : 0;

	mem_reach(p->of, p->n_of, p->cap_of, at + 1);
	waits_lose(&p->of[at], from, to);
	waits_lose(&p->lost, from, to);
}

/* Notes a loss or, with l NULL, what a capture's span leaves out. */
static void waits_take_loss(void *arg, const struct causes_span *s,
			    const struct timeline_loss *l)
{
	struct waits_part *p = arg;

	if (l) {
		p->records += l->n > 0 ? (uint64_t)l->n : 0;
		p->some_unknown |= l->n < 0;
		waits_lose_on(p, l->cpu, l->from, l->to);
		return;
	}
	/* no capture has the time between one and the next */
	if (s > p->kernel->span && s == &p->kernel->span[s->line])
		waits_lose_on(p, -1, s[-1].to, s->from);
	if (causes_capture_sampled(s->capture))
		waits_lose_on(p, -1, s->from, s->to);
}

COMPARE_FUNCTION(waits_compare_lives, struct waits_life,
		 compare_numbers(x->tid, y->tid)
			 ?: compare_numbers(x->from, y->from)
			 ?: compare_numbers(y->to, x->to));

/* Reads when threads began and exited. Of the captures that know a thread, one
 * may have its exit. Captures that were recorded together have the same
 * threads. */
static int waits_load_lives(struct waits_part *p, struct store *db,
			    struct err *err)
{
	const struct causes_kernel *k = p->kernel;

	for (size_t i = 0; i < k->n; i++) {
		int64_t together = k->span[i].capture->together;
		size_t before = 0;

		while (k->span[before].capture->together != together)
			before++;
		if (before < i)
			continue;
		struct rows *r = ROWS_BY(db, "offcpu_exits", err, together);

		while (rows_step(r))
			*mem_add(p->life, p->n_life, p->cap_life) =
				(struct waits_life){
					rows_int(r, OFFCPU_EXITS_TID),
					rows_int(r, OFFCPU_EXITS_START_NS),
					rows_int(r, OFFCPU_EXITS_END_NS),
				};
		if (rows_end(r, err))
			return -1;
	}
	sort_items(p->life, p->n_life, waits_compare_lives);
	return 0;
}

/* ---- measured waits */

/* Notes that a capture reports waits by its switches. */
static int waits_add_reported(struct waits_part *p, struct store *db,
			      const struct causes_capture *by, struct err *err)
{
	struct waits_reported *t =
		mem_add(p->reported, p->n_reported, p->cap_reported);
	struct rows *r;

	*t = (struct waits_reported){ .from = by->begin,
				      .to = by->end,
				      .of_all = !by->some };
	if (t->of_all)
		return 0;
	r = ROWS_BY(db, "offcpu_told", err, by->type);
	while (rows_step(r))
		table_add(&t->tids,
			  hash_u64((uint64_t)rows_int(r, OFFCPU_TOLD_TID)), 0);
	return rows_end(r, err);
}

/* Returns whether another capture reports waits of a thread in that time. */
static bool waits_is_reported(const struct waits_part *p, int64_t tid,
			      int64_t from, int64_t to)
{
	uint64_t hash = hash_u64((uint64_t)tid);

	for (size_t i = 0; i < p->n_reported; i++) {
		const struct waits_reported *t = &p->reported[i];

		if (from <= t->to && to >= t->from &&
		    (t->of_all ||
		     table_find_hash(&t->tids, hash) != TABLE_NONE))
			return true;
	}
	return false;
}

/* Loads what a part lost, and which threads exited, and opens measured waits.
 */
static int waits_part_load(struct waits_parts *all, size_t i, struct store *db,
			   struct err *err)
{
	struct waits_part *p = &all->part[i];
	const struct causes_capture *m = p->measured;

	if (!m)
		return causes_kernel_losses(p->kernel, db, "offcpu_losses",
					    waits_take_loss, p, err) ||
				       waits_load_lives(p, db, err)
			       ? -1
			       : 0;
	for (size_t k = 0; k < i && !all->part[k].measured; k++) {
		const struct causes_kernel *by = all->part[k].kernel;

		for (size_t j = 0; j < by->n; j++)
			if (by->span[j].capture->together == m->together &&
			    waits_add_reported(p, db, by->span[j].capture, err))
				return -1;
	}
	p->rows = ROWS_BY(db, "offcpu_measured", err, m->type, m->first_event,
			  m->last_event);
	return p->rows ? 0 : -1;
}

/* Places a measured wait in time (time 0: a sum), and finds whether another
 * capture reports it. The waits of a sum began at any time of its capture,
 * which contains all single waits: these come before the sums. */
static void waits_place(struct waits_part *p, struct waits_measured *w,
			int64_t time)
{
	w->sum = !time;
	w->to = time ? time : w->ns;
	if (!time) {
		w->reported = waits_is_reported(p, w->tid, p->start, p->end);
		return;
	}
	if (__builtin_sub_overflow(time, w->ns, &w->from))
		w->from = INT64_MIN;
	lower_to(p->start, w->from);
	raise_to(p->end, time);
	w->reported = waits_is_reported(p, w->tid, w->from, w->from);
}

/* Returns 1 and the next measured wait, 0 at the end, or -1 and *err. */
static int waits_part_next(struct waits_part *p, struct waits_measured *out,
			   struct err *err)
{
	struct rows *r = p->rows;

	if (!rows_step(r)) {
		p->rows = NULL;
		return rows_end(r, err);
	}
	*out = (struct waits_measured){
		.event = rows_int(r, OFFCPU_MEASURED_ID),
		.tid = rows_int(r, OFFCPU_MEASURED_TID),
		.ns = rows_int(r, OFFCPU_MEASURED_WEIGHT),
	};
	out->stack = (struct offcpu_stack){
		.type = (uint32_t)p->measured->type,
		.comm = id_of_row(rows_int(r, OFFCPU_MEASURED_COMM)),
		.kraw = id_of_row(rows_int(r, OFFCPU_MEASURED_KRAW)),
		.uraw = id_of_row(rows_int(r, OFFCPU_MEASURED_URAW)),
		.verdict = (uint8_t)rows_int(r, OFFCPU_MEASURED_VERDICT),
		.flags = (uint8_t)rows_int(r, OFFCPU_MEASURED_FLAGS) &
			 VERDICT_EXEC,
	};
	waits_place(p, out, rows_int(r, OFFCPU_MEASURED_TIME_NS));
	return 1;
}

/* ---- lookups */

/* Returns whether anything is lost between from and to, and widens `in` to it.
 */
static bool waits_is_lost(const struct waits_lost *l, int64_t from, int64_t to,
			  struct waits_span *in)
{
	size_t at = search_where(l->n, i, l->span[i].to > from);
	size_t end = search_where(l->n, i, l->span[i].from >= to);

	if (at >= end)
		return false;
	lower_to(in->from, l->span[at].from > from ? l->span[at].from : from);
	raise_to(in->to, l->span[end - 1].to < to ? l->span[end - 1].to : to);
	return true;
}

/* Returns whether a switch between from and to may have been lost, on this CPU
 * or, for -1, on any. Stores in which part of that time unless `in` is NULL. */
static bool waits_part_lost(const struct waits_part *p, int32_t cpu,
			    int64_t from, int64_t to, struct waits_span *in)
{
	size_t at = (size_t)(cpu + 1);
	struct waits_span lost = { to, from };
	bool any;

	if (cpu < 0) {
		any = waits_is_lost(&p->lost, from, to, &lost);
	} else {
		any = p->n_of && waits_is_lost(&p->of[0], from, to, &lost);
		any |= at < p->n_of &&
		       waits_is_lost(&p->of[at], from, to, &lost);
	}
	if (any && in)
		*in = lost;
	return any;
}

static const struct waits_life *waits_part_life(const struct waits_part *p,
						int64_t tid, int64_t time)
{
	static const struct waits_life unknown = { 0, INT64_MIN, INT64_MAX };
	size_t at =
		search_where(p->n_life, i,
			     p->life[i].tid > tid || (p->life[i].tid == tid &&
						      p->life[i].from > time));

	return at && p->life[at - 1].tid == tid ? &p->life[at - 1] : &unknown;
}

/* Returns when the thread that had this id at a time exited; INT64_MAX: there
 * is no record of that. */
static int64_t waits_part_exit(const struct waits_part *p, int64_t tid,
			       int64_t time)
{
	return waits_part_life(p, tid, time)->to;
}

/* A CPU: who is on it, since when, and by which event. */
struct waits_seat {
	bool taken;
	int64_t tid, from, came;
	const struct causes_capture *capture;
};

/* One thread of the capture that is being read. */
struct waits_thread {
	int64_t tid;
	bool away;
	bool seen;		 /* a switch named it; set only for ask.maybe */
	bool chosen;		 /* its wait is selected by the filters */
	int32_t cpu;		 /* to which it came last; 0: also if to none */
	uint32_t comm;		 /* of its last event; 0: not known */
	struct waits_seat place; /* if its CPU is not known */
	uint32_t number;	 /* causes_switch.number of its wait */
	uint32_t kept; /* 1 + the last of its waits in kept[]; 0: none */
	struct offcpu_wait wait; /* its wait, if it is off the CPU */
};

/* A wait that is kept until it is known who woke its thread. */
struct waits_kept {
	int64_t event, from, to;
	struct woken woken;
	uint32_t number; /* causes_switch.number */
	uint32_t thread;
	uint32_t before; /* 1 + that of the same thread before it */
	int32_t state;
	int32_t cpu : 18;
	uint32_t end : 2; /* enum offcpu_end */
	uint32_t sampled : 1;
};

/* The part that is being read. */
struct waits_now {
	struct waits_part *part;  /* NULL: none */
	struct causes *causes;	  /* NULL: measured waits */
	struct row_cursor chosen; /* events that pass filters; else empty */
	struct waits_thread *thread;
	size_t n, cap;
	struct table index;	 /* tid to thread */
	struct waits_seat *seat; /* by CPU */
	size_t n_seat, cap_seat;
	bool whole, some; /* all CPUs were recorded, or only some tasks */
	bool torn;	  /* a thread left a CPU to which another had come */
	bool wakes;	  /* the caller wants to know who woke */
	bool ended;	  /* all events are read */
	int64_t end;	  /* of the capture */
	struct wakers wakers;
	struct waits_kept *kept;
	size_t n_kept, cap_kept,
		next; /* next: index of the next one to return */
};

struct waits {
	struct store *db;
	const char *path;
	struct waits_ask ask;
	struct waits_parts parts;
	size_t at; /* in parts */
	struct offcpu_sums sums;
	bool overflow; /* of a sum of times */
	struct waits_now now;
	struct waits_item *out; /* items of one step */
	size_t n_out, cap_out, at_out;
};

static struct waits_thread *waits_thread_of(struct waits *w, int64_t tid)
{
	uint32_t id = table_find_or_add(&w->now.index, hash_u64((uint64_t)tid),
					w->now.n);

	if (id == w->now.n)
		*mem_add(w->now.thread, w->now.n, w->now.cap) =
			(struct waits_thread){ .tid = tid };
	return &w->now.thread[id];
}

static void waits_give(struct waits *w, const struct waits_item *item)
{
	*mem_add(w->out, w->n_out, w->cap_out) = *item;
}

/* Where a thread was at the ends of a time. */
enum waits_ends {
	WAITS_OFF,   /* not on the CPU, at both */
	WAITS_GONE,  /* not at its begin; its end is not known */
	WAITS_LEFT,  /* on it at its end; its begin is not known */
	WAITS_CAME,  /* on it at its begin; its end is not known */
	WAITS_STAYS, /* the same, and only a loss could hide that it left */
	WAITS_ON,    /* on it at both */
};

/* Adds when, in a time, a thread certainly ran, and when it may have run: if
 * there are losses, between the first and the last one. */
static void waits_give_maybe(struct waits *w, int64_t tid, int32_t cpu,
			     int64_t from, int64_t to, enum waits_ends ends)
{
	struct waits_span in = { ends >= WAITS_STAYS ? to : from, to };
	struct waits_item item = { .run.tid = tid };

	if (!w->ask.maybe)
		return;
	if (waits_part_lost(w->now.part, cpu, from, to, &in)) {
		if (ends != WAITS_OFF && ends != WAITS_LEFT && ends != WAITS_ON)
			in.to = to;
		/* the last record before the loss still saw the thread */
		in.from = ends == WAITS_LEFT ? from : in.from + 1;
	}
	const struct waits_span part[] = { { from, in.from },
					   in,
					   { in.to, to } };

	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		item.kind = i == 1 ? WAITS_MAYBE : WAITS_RUN;
		item.run.from = part[i].from;
		item.run.to = part[i].to;
		if (part[i].to > part[i].from && (i == 1 || ends >= WAITS_LEFT))
			waits_give(w, &item);
	}
}

/* ---- waits */

static void waits_count(struct waits *w, uint64_t *n, uint64_t *sum,
			uint64_t ns)
{
	*n += 1;
	w->overflow |= __builtin_add_overflow(*sum, ns, sum);
}

/* Counts a wait that has ended, and adds or keeps it. */
static void waits_end_wait(struct waits *w, struct waits_thread *th, int64_t to,
			   enum offcpu_end end)
{
	struct offcpu_wait *x = &th->wait;
	struct woken none = wakers_none();
	bool lost = waits_part_lost(w->now.part, -1, x->from, to, NULL);

	th->away = false;
	x->to = to;
	x->end = end;
	if (end == OFFCPU_BACK && lost)
		x->end = OFFCPU_UNCERTAIN;
	if (lost || end == OFFCPU_UNCERTAIN)
		waits_give_maybe(w, th->tid, -1, x->from, to,
				 end == OFFCPU_BACK ? WAITS_OFF : WAITS_GONE);
	if (!th->chosen || to < x->from)
		return;
	waits_count(w, &w->sums.waits[x->end], &w->sums.ns[x->end],
		    (uint64_t)to - (uint64_t)x->from);
	if (w->now.wakes) {
		*mem_add(w->now.kept, w->now.n_kept, w->now.cap_kept) =
			(struct waits_kept){
				.event = x->event,
				.from = x->from,
				.to = to,
				.woken = none,
				.number = th->number,
				.thread = (uint32_t)(th - w->now.thread),
				.before = th->kept,
				.state = (int32_t)x->state,
				.cpu = x->cpu < CPUS_MAX ? x->cpu : -1,
				.end = (unsigned int)x->end & 3,
				.sampled = x->sampled,
			};
		th->kept = (uint32_t)w->now.n_kept;
		return;
	}
	x->waker = wakers_tell(NULL, &none);
	waits_give(w, &(struct waits_item){ .kind = WAITS_WAIT, .wait = *x });
}

/* Ends a wait whose return was not recorded. To exit, a thread must have come
 * back. After its EXIT record it may still leave and come back, until it leaves
 * for good, which is no wait. */
static void waits_end_unseen(struct waits *w, struct waits_thread *th,
			     int64_t to, enum offcpu_end end)
{
	int64_t from = th->wait.from;
	int64_t exit = waits_part_exit(w->now.part, th->tid, from);

	if (exit <= from &&
	    (end == OFFCPU_OPEN ||
	     waits_part_exit(w->now.part, th->tid, to) != exit)) {
		th->away = false;
		return;
	}
	if (exit > from && exit <= to)
		waits_end_wait(w, th, exit, OFFCPU_UNCERTAIN);
	else
		waits_end_wait(w, th, to, end);
}

/* Begins the wait of a thread that leaves. If it leaves twice, its return in
 * between was lost. */
static void waits_leave(struct waits *w, const struct causes_switch *e,
			bool chosen)
{
	struct waits_thread *th;
	bool wanted =
		chosen && offcpu_takes_state(w->ask.filter->state, e->state);

	if (e->out <= 0)
		return; /* the idle task, or not known */
	th = waits_thread_of(w, e->out);
	th->comm = e->stack.comm;
	if (th->away)
		waits_end_unseen(w, th, e->time, OFFCPU_UNCERTAIN);
	if (task_state_ends(e->state))
		return;
	th->away = true;
	th->chosen = wanted;
	th->number = e->number;
	th->wait = (struct offcpu_wait){
		.event = e->event,
		.from = e->time,
		.sampled = causes_capture_sampled(e->capture),
		.tid = e->out,
		.state = e->state,
		.cpu = e->cpu,
		.at = e->stack,
	};
}

/* ---- what runs on the CPUs */

/* Ends a run. e: the switch out; NULL: the capture ended. */
static void waits_give_run(struct waits *w, const struct waits_thread *th,
			   int32_t cpu, const struct waits_seat *s,
			   const struct causes_switch *e)
{
	const struct waits_item run = {
		.kind = WAITS_RUN,
		.run = { .tid = th->tid,
			 .comm = th->comm,
			 .cpu = cpu,
			 .from = s->from,
			 .to = e ? e->time : w->now.end,
			 .came = s->came,
			 .left = e ? e->event : 0,
			 .state = e ? e->state : -1,
			 .capture = s->capture->id,
			 .record = s->capture->records },
	};

	if (run.run.to >= s->from &&
	    !waits_part_lost(w->now.part, cpu, s->from, run.run.to, NULL)) {
		waits_give(w, &run);
	} else {
		w->sums.cut++;
		waits_give_maybe(w, th->tid, cpu, s->from, run.run.to,
				 WAITS_ON);
	}
}

/* Ends the run of a thread that is no longer on a seat, though no switch shows
 * that it left: it exited, which is its end in captures of single threads, or
 * the switch is lost. */
static void waits_leave_unseen(struct waits *w, const struct waits_seat *s,
			       int32_t cpu, int64_t to)
{
	int64_t exit = waits_part_exit(w->now.part, s->tid, s->from);

	w->sums.cut++;
	waits_give_maybe(w, s->tid, cpu, s->from, exit < to ? exit : to,
			 exit <= to ? WAITS_ON : WAITS_CAME);
}

/* Adds what a seat does not show about the thread of a switch: that it is still
 * on the seat of another CPU, as its switch out is lost; or that it ran before
 * it leaves, as its switch in is lost or precedes the capture. */
static void waits_begin_unseen(struct waits *w, const struct causes_switch *e,
			       const struct waits_seat *at)
{
	int64_t tid = e->has_out ? e->out : e->in;
	struct waits_thread *th = tid > 0 ? waits_thread_of(w, tid) : NULL;
	int64_t start = w->now.part->start;
	int64_t born;

	if (!th)
		return;
	struct waits_seat *other =
		(size_t)th->cpu < w->now.n_seat ? &w->now.seat[th->cpu] : NULL;

	if (other && other != at && other->taken && other->tid == tid) {
		waits_leave_unseen(w, other, th->cpu, e->time);
		other->taken = false;
	}
	if (e->has_out && !th->seen && !(at->taken && at->tid == tid)) {
		born = waits_part_life(w->now.part, tid, e->time)->from;
		waits_give_maybe(w, tid, e->cpu, born > start ? born : start,
				 e->time, born > start ? WAITS_LEFT : WAITS_ON);
	}
	th->seen = true;
	if (e->has_in && e->in > 0)
		waits_thread_of(w, e->in)->seen = true;
}

/* Takes a switch: a thread leaves, another comes, or both. */
static int waits_take_event(struct waits *w, const struct causes_switch *e,
			    struct err *err)
{
	int chosen = 1;

	raise_to(w->now.end, e->time);
	if (w->now.chosen.rows)
		chosen = row_cursor_seek(&w->now.chosen, e->event, err);
	if (chosen < 0)
		return -1;
	if (e->has_out)
		waits_leave(w, e, chosen > 0);
	/* Notes who leaves and who comes. If another thread seemed to be
	 * there, its end was lost. Records of one task need not have their
	 * CPU; then a thread stays where it came until it leaves. */
	bool placed = e->cpu >= 0 && e->cpu < CPUS_MAX;
	struct waits_thread *th;
	struct waits_seat *s;
	bool left;

	if (w->ask.runs && (e->has_out || e->has_in) &&
	    (placed || e->capture->records)) {
		s = placed ? mem_at(w->now.seat, w->now.n_seat, w->now.cap_seat,
				    e->cpu)
			   : &waits_thread_of(w, e->has_out ? e->out : e->in)
				      ->place;
		if (w->ask.maybe)
			waits_begin_unseen(w, e, s);
		th = s->taken ? waits_thread_of(w, s->tid) : NULL;
		left = e->has_out && (s->tid == e->out || e->out < 0);
		if (th && left && chosen > 0)
			waits_give_run(w, th, placed ? e->cpu : -1, s, e);
		else if (th)
			waits_leave_unseen(w, s, placed ? e->cpu : -1, e->time);
		w->now.torn |= th && placed && !left;
		s->taken = e->has_in && e->in;
		if (s->taken && placed)
			waits_thread_of(w, e->in)->cpu = e->cpu;
		s->tid = e->in;
		s->from = e->time;
		s->came = e->event;
		s->capture = e->capture;
	}
	if (!e->has_in || !e->in)
		return 0;
	struct waits_thread *came = waits_thread_of(w, e->in);

	if (e->capture->records)
		came->comm = e->stack.comm;
	if (came->away)
		waits_end_wait(w, came, e->time, OFFCPU_BACK);
	return 0;
}

/* ---- the end of a capture */

/* Ends the run of a thread about which nothing was recorded since it came: it
 * ran until it exited or, because all records of it are there, until the
 * capture ended. */
static void waits_end_place(struct waits *w, const struct waits_seat *s,
			    int32_t cpu)
{
	int64_t exit = waits_part_exit(w->now.part, s->tid, s->from);
	bool exited = exit <= w->now.end;

	w->sums.cut++;
	waits_give_maybe(w, s->tid, cpu, s->from, exited ? exit : w->now.end,
			 exited ? WAITS_ON : WAITS_STAYS);
}

/* ---- parts */

/* Opens the events of a part that pass the filters. */
static int waits_open_chosen(struct waits *w, const struct waits_part *p,
			     struct err *err)
{
	char *types;
	FILE *f = mem_stream(&types, NULL);
	struct sql_gap gap = { "types", NULL };

	if (p->measured)
		fprintf(f, "%" PRId64, p->measured->type);
	for (size_t i = 0; p->kernel && i < p->kernel->n; i++)
		fprintf(f, "%s%" PRId64, i ? ", " : "",
			p->kernel->span[i].capture->type);
	mem_stream_end(f);
	gap.text = types;
	w->now.chosen.rows = filter_rows(w->ask.filter, w->db, "offcpu_chosen",
					 &gap, 1, err);
	free(types);
	return w->now.chosen.rows ? row_cursor_step(&w->now.chosen, err) : -1;
}

/* Opens the part at w->at, and adds what its captures have to the sums. */
static int waits_open_part(struct waits *w, struct err *err)
{
	struct waits_part *p = &w->parts.part[w->at];
	struct waits_now *n = &w->now;

	n->part = p;
	n->end = p->end;
	if (waits_part_load(&w->parts, w->at, w->db, err))
		return -1;
	const struct causes_kernel *k = p->kernel;

	for (size_t i = 0; k && i < k->n; i++) {
		const struct causes_capture *c = k->span[i].capture;
		size_t before = 0;

		while (k->span[before].capture != c)
			before++;
		if (before < i)
			continue;
		w->sums.records |= c->records;
		raise_to(w->sums.cpus, c->rules.cpus);
		if (c->records)
			continue;
		w->sums.partial |= c->some;
		w->sums.recorded += (uint64_t)c->switches;
		w->sums.happened +=
			(uint64_t)(causes_capture_sampled(c) ? c->happened
							     : c->switches);
	}
	w->sums.whole |= p->measured != NULL;
	w->sums.lost += p->records;
	w->sums.lost_unknown |= p->some_unknown;
	if (filter_given(w->ask.filter) && waits_open_chosen(w, p, err))
		return -1;
	if (p->measured)
		return 0;
	n->whole = true;
	for (size_t i = 0; i < p->kernel->n; i++) {
		n->whole &= p->kernel->span[i].capture->whole;
		n->some |= p->kernel->span[i].capture->some;
	}
	/* single threads have no timeline */
	n->wakes = w->ask.causes && !p->kernel->capture->threads;
	n->causes = causes_open(w->db, p->kernel,
				n->wakes ? w->ask.causes : NULL, err);
	return n->causes ? 0 : -1;
}

static void waits_close_part(struct waits *w)
{
	struct waits_now *n = &w->now;

	intern_release(&n->wakers.irqs);
	causes_free(n->causes);
	row_cursor_close(&n->chosen);
	if (n->part)
		waits_part_release(n->part);
	table_release(&n->index);
	free_all(n->thread, n->seat, n->kept);
	*n = (struct waits_now){ 0 };
}

/* Ends the waits and runs that are still open when all events of the part have
 * been read. */
static void waits_end_part(struct waits *w)
{
	struct waits_now *n = &w->now;

	n->ended = true;
	for (size_t i = 0; i < n->n; i++) {
		if (n->thread[i].place.taken)
			waits_end_place(w, &n->thread[i].place, -1);
		if (n->thread[i].away)
			waits_end_unseen(w, &n->thread[i], n->end, OFFCPU_OPEN);
	}
	for (size_t i = 0; i < n->n_seat; i++) {
		/* Ends the run on a CPU at the end of the capture. perf
		 * disables CPU after CPU: a thread may leave a disabled one
		 * unseen. */
		const struct waits_seat *s = &w->now.seat[i];
		const struct waits_thread *th =
			s->taken ? waits_thread_of(w, s->tid) : NULL;

		/* If nothing shows that it left, it was there until the capture
		 * ended. If only some tasks are recorded, or may be, as a
		 * switch that does not fit shows, it may have left unseen.
		 * Filters select by the switch out, which is missing for
		 * threads that stay. */
		if (th && th->cpu == (int32_t)i &&
		    !filter_given(w->ask.filter) &&
		    (w->now.whole || (!w->now.some && !w->now.torn)))
			waits_give_run(w, th, (int32_t)i, s, NULL);
		else if (th)
			waits_end_place(w, s, (int32_t)i);
	}
	if (!n->wakes)
		return;
	/* Finds who ended the waits that are kept, thread by thread, so that
	 * only one thread's pieces are in memory at a time. */
	const struct timeline *t = n->causes->t;
	struct proofs *p = proofs_new(t);

	n->wakers =
		(struct wakers){ .causes = n->causes, .stacks = w->ask.stacks };
	for (size_t i = 0; i < n->n; i++) {
		uint32_t thread =
			timeline_thread(t, causes_id(n->thread[i].tid));
		uint32_t k = thread == TIMELINE_NONE ? 0 : n->thread[i].kept;

		for (; k; k = n->kept[k - 1].before) {
			struct waits_kept *x = &n->kept[k - 1];

			x->woken = wakers_find(&n->wakers, p, thread, x->from,
					       x->to);
		}
		proofs_forget(p);
	}
	proofs_free(p);
	w->sums.wakes |= t->types & (TIMELINE_HAS_WAKING | TIMELINE_HAS_WAKEUP);
}

/* Does the next step, which may add items. */
static int waits_step(struct waits *w, struct err *err)
{
	struct waits_now *n = &w->now;
	int rc;

	if (!n->part)
		return waits_open_part(w, err);
	if (!n->ended) {
		struct waits_measured m = { 0 };
		struct causes_switch e;

		rc = n->causes ? causes_next(n->causes, &e, err)
			       : waits_part_next(n->part, &m, err);
		if (!rc)
			waits_end_part(w);
		if (rc <= 0)
			return rc;
		if (n->causes)
			return waits_take_event(w, &e, err);
		/* a wait that the kernel has measured is no item if a capture
		 * of switches reports it, too */
		struct offcpu_sums *s = &w->sums;
		const struct woken none = wakers_none();
		const struct waits_item item = {
			.kind = WAITS_WAIT,
			.wait = { .event = m.event,
				  .from = m.from,
				  .to = m.to,
				  .sum = m.sum,
				  .tid = m.tid,
				  .state = -1,
				  .cpu = -1,
				  .at = m.stack,
				  .waker = wakers_tell(NULL, &none) },
		};
		int chosen = 1;

		if (w->now.chosen.rows)
			chosen = row_cursor_seek(&w->now.chosen, m.event, err);
		if (chosen <= 0 ||
		    !offcpu_takes_state(w->ask.filter->state, -1) || m.ns < 0 ||
		    (m.reported && !m.sum))
			return chosen < 0 ? -1 : 0;
		if (m.reported) {
			waits_count(w, &s->mixed, &s->mixed_ns, (uint64_t)m.ns);
			return 0;
		}
		waits_give(w, &item);
		waits_count(w, &s->waits[OFFCPU_BACK], &s->ns[OFFCPU_BACK],
			    (uint64_t)m.ns);
		return 0;
	}
	if (n->next < n->n_kept) {
		const struct waits_kept *k = &n->kept[n->next++];
		struct waits_item item = { .kind = WAITS_WAIT };

		item.wait = (struct offcpu_wait){
			.event = k->event,
			.from = k->from,
			.to = k->to,
			.sampled = k->sampled,
			.end = (enum offcpu_end)k->end,
			.tid = w->now.thread[k->thread].tid,
			.state = k->state,
			.cpu = k->cpu,
			.waker = wakers_tell(&w->now.wakers, &k->woken),
			.at = w->now.causes->stack[k->number],
		};
		waits_give(w, &item);
	} else if (n->wakes && n->next++ == n->n_kept) {
		waits_give(w, &(struct waits_item){ .kind = WAITS_ALL });
	} else {
		waits_close_part(w);
		w->at++;
	}
	return 0;
}

/* ---- all of them */

struct waits *waits_open(struct store *db, const char *path,
			 const struct waits_ask *a, struct err *err)
{
	struct waits *w = mem_new(1, sizeof(*w));

	w->db = db;
	w->path = path;
	w->ask = *a;
	if (waits_parts_load(&w->parts, db, err)) {
		waits_close(w, NULL);
		return NULL;
	}
	w->sums.bare = w->parts.spans->bare;
	return w;
}

void waits_close(struct waits *w, struct offcpu_sums *sums)
{
	if (sums)
		*sums = w ? w->sums : (struct offcpu_sums){ 0 };
	if (!w)
		return;
	waits_close_part(w);
	for (size_t i = 0; i < w->parts.n; i++)
		waits_part_release(&w->parts.part[i]);
	free(w->parts.part);
	causes_spans_free(w->parts.spans);
	free_all(w->out, w);
}

/* Fails at the end if no wait is certain, or the sums overflowed. */
static int waits_end(const struct waits *w, struct err *err)
{
	const struct offcpu_sums *s = &w->sums;

	if (w->overflow)
		return err_set(err, ERR_LIMIT,
			       "the times sum up to more than 64 bits");
	if (s->waits[OFFCPU_BACK])
		return 0;
	if (!w->parts.n)
		return causes_missing(w->parts.spans, w->db, w->path,
				      LACKS_SWITCHES, err);
	if (!s->waits[OFFCPU_UNCERTAIN] && !s->waits[OFFCPU_OPEN])
		return err_set(
			err, ERR_FORMAT, "%s: no thread left a CPU%s", w->path,
			filter_given(w->ask.filter) || w->ask.filter->state
				? " that the filters let through"
				: "");
	if (offcpu_sampled(s))
		return err_set(err, ERR_FORMAT,
			       "%s: switches were sampled, %llu of %llu, so "
			       "that no wait is certain; 'perf record -c 1' "
			       "records all",
			       w->path, (unsigned long long)s->recorded,
			       (unsigned long long)s->happened);
	return err_set(err, ERR_FORMAT,
		       "%s: threads left their CPU %llu times, but no return "
		       "is certain; record all CPUs (perf record -a), or with "
		       "--switch-events, and without loss",
		       w->path,
		       (unsigned long long)(s->waits[OFFCPU_UNCERTAIN] +
					    s->waits[OFFCPU_OPEN]));
}

int waits_next(struct waits *w, struct waits_item *out, struct err *err)
{
	if (!w)
		return -1;
	while (w->at_out == w->n_out) {
		w->at_out = w->n_out = 0;
		if (w->at == w->parts.n)
			return w->ask.any ? 0 : waits_end(w, err);
		if (waits_step(w, err))
			return -1;
	}
	*out = w->out[w->at_out++];
	return 1;
}

const struct causes *waits_causes(const struct waits *w)
{
	return w->now.wakes ? w->now.causes : NULL;
}

bool offcpu_sampled(const struct offcpu_sums *s)
{
	return s->recorded < s->happened;
}

enum wait_cause offcpu_cause(struct wait_causes *c, const struct offcpu_wait *w)
{
	enum wait_cause cause = wait_causes_get(c, w->state, &w->at);

	return cause == WAIT_READY && w->waker.runnable ? w->waker.runnable
							: cause;
}

const char *offcpu_reason(const struct offcpu_sums *s)
{
	if (offcpu_sampled(s))
		return "switches were sampled, and the thread may have been "
		       "back in between ('perf record -c 1' records all)";
	if (s->partial)
		return "not all CPUs were recorded (perf record -a), and the "
		       "thread may have been back in between";
	if (s->lost || s->lost_unknown)
		return "switches may be lost, and the thread may have been "
		       "back in between";
	return "the thread was back in between, unseen";
}
