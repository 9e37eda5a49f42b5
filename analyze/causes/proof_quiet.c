/* proof_quiet.c - the states of a thread in a time in which it was off all CPUs
 * and was woken at most once: what losses can hide of it, its pieces, and who
 * ended them. */
#include <assert.h>

#include "analyze/causes/missing.h"
#include "analyze/causes/proof_inner.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/task_state.h"

/* State R does not prove "ready": a thread that is held back stays runnable.
 * Quotas and freezing hold threads back (limits.h), and causes that no reading
 * shows: core scheduling, a virtual CPU that the host does not run. That
 * real-time throttling did not hold a real-time thread is a premise.
 *
 * A thread is not ready while a CPU that it may use is idle for longer than the
 * balance of an idle CPU takes: at most 2 ms for each CPU of the domain
 * (sd_init(): max_interval, kernel/sched/topology.c, and
 * get_sd_balance_interval(), kernel/sched/fair.c), and a tick of 10 ms or less,
 * at which a busy CPU asks for it (nohz_balancer_kick()). The CPUs that it may
 * use are the one that it left, the one that it comes to, and those that were
 * read; if they were not read, "ready" while another CPU is idle has a premise.
 * Nor is a thread ready if it left its CPU runnable and the CPU went idle:
 * __schedule() chooses the idle task only where no thread is queued. */

#define BALANCE_NS 2000000 /* for each CPU */
#define TICK_NS 10000000

struct idle_time {
	int32_t cpu;
	int64_t from, to;
};

COMPARE_BY(held_compare_idle, struct idle_time, cpu, from);

static int32_t held_cpus(const struct timeline *t)
{
	return t->rules.cpus > (int32_t)t->n_ring ? t->rules.cpus
						  : (int32_t)t->n_ring;
}

static int64_t held_least(const struct timeline *t)
{
	return held_cpus(t) * (int64_t)BALANCE_NS + TICK_NS;
}

void held_init(struct proofs *p)
{
	for (size_t i = 0; i < p->t->stay.n; i++) {
		const struct timeline_stay s = timeline_stay(p->t, (uint32_t)i);

		if (s.thread == TIMELINE_NONE &&
		    s.to - s.from > held_least(p->t))
			*mem_add(p->idle, p->n_idle, p->cap_idle) =
				(struct idle_time){ s.cpu, s.from, s.to };
	}
	sort_items(p->idle, p->n_idle, held_compare_idle);
}

/* Returns whether a CPU was idle for long within a time. */
static bool held_was_idle(const struct proofs *p, int32_t cpu, int64_t from,
			  int64_t to)
{
	size_t i =
		search_where(p->n_idle, k,
			     p->idle[k].cpu > cpu || (p->idle[k].cpu == cpu &&
						      p->idle[k].to > from));

	for (; i < p->n_idle && p->idle[i].cpu == cpu && p->idle[i].from < to;
	     i++) {
		int64_t a = p->idle[i].from > from ? p->idle[i].from : from;
		int64_t b = p->idle[i].to < to ? p->idle[i].to : to;

		if (b - a > held_least(p->t))
			return true;
	}
	return false;
}

struct limits_answer proofs_held(const struct proofs *p, uint32_t thread,
				 const struct proof_piece *pc)
{
	const struct numbers id = lists_get(&p->t->stays, thread);
	struct limits_ask ask = { .tid = timeline_tid(p->t, thread),
				  .from = pc->from,
				  .to = pc->to,
				  .first = TIMELINE_END,
				  .last = TIMELINE_START };

	if (pc->from == TIMELINE_START || pc->to == TIMELINE_END)
		return (struct limits_answer){ .idle = -1 };
	if (id.n) {
		ask.first = timeline_stay(p->t, numbers_get(&id, 0)).from;
		ask.last = timeline_stay(p->t, numbers_get(&id, id.n - 1)).to;
	}
	struct limits_answer out = limits_tell(p->t->limits, &ask);
	bool is_long = pc->to - pc->from > held_least(p->t);

	for (int32_t i = 0; is_long && !out.cpus && i < held_cpus(p->t); i++)
		if (out.idle < 0 && held_was_idle(p, i, pc->from, pc->to))
			out.idle = i;
	return out;
}

/* Sets the state of a runnable piece, which ends at `to`, to THROTTLED or HELD
 * if the thread was kept from running. */
static void held_judge(const struct proofs *p, uint32_t thread,
		       struct piece *pc, int64_t to)
{
	const struct proof_piece of = { .from = pc->from, .to = to };
	const struct limits_answer told = proofs_held(p, thread, &of);
	struct timeline_stay out = { .cpu = 0 }, in;
	bool left = pc->stay != TIMELINE_NONE;
	bool idle = held_was_idle(p, (int32_t)pc->cpu - 1, pc->from, to);

	if (left) {
		out = timeline_stay(p->t, pc->stay);
		idle |= held_was_idle(p, out.cpu, pc->from, to) ||
			(out.exact_to && is_ready(out.state) &&
			 timeline_on(p->t, out.cpu, pc->from, &in) &&
			 in.thread == TIMELINE_NONE && in.from == pc->from &&
			 in.to > in.from);
	}
	for (int32_t i = 0;
	     told.cpus && !idle && to - pc->from > held_least(p->t) &&
	     i < held_cpus(p->t);
	     i++)
		idle = limits_has_cpu(told.cpus, i) &&
		       held_was_idle(p, i, pc->from, to);
	/* in a short time rather another thread was on the CPU */
	if (told.cgroup && !told.frozen && (idle || to - pc->from > TICK_NS))
		pc->state = PIECE_THROTTLED;
	else if (idle || (told.cgroup && told.frozen))
		pc->state = PIECE_HELD;
	/* the thread may have been ready for some or all of the time */
	if (told.cgroup && !idle && pc->proof == PROOF_PROVED)
		pc->proof = PROOF_LIKELY;
}

/* ---- pieces, and what ended them */

struct piece *piece_add(struct gap *g, int64_t from, int64_t to,
			enum piece_state state, enum proof proof)
{
	struct pieces *out = g->out;
	struct piece *pc = mem_add(out->piece, out->n, out->cap);

	assert(from == out->end);
	out->end = to;
	/* The absence of records of another state proves that a thread stayed
	 * in its state; a record proves its birth or death. */
	bool told = state == PIECE_UNBORN || state == PIECE_DEAD;
	*pc = (struct piece){
		.from = from,
		.stay = TIMELINE_NONE,
		.edge = TIMELINE_NONE,
		.state = state,
		.proof = g->p->blind && !told && proof == PROOF_PROVED
				 ? PROOF_LIKELY
				 : proof,
		.link = PROOF_UNKNOWN,
	};
	if (state == PIECE_READY && g->b && g->exact_to)
		pc->cpu = (uint32_t)g->b->cpu + 1;
	/* A stay of length 0 has no piece, but ends a wait: the last known
	 * switch of a CPU may be to the thread. */
	if (g->a &&
	    (g->exact_from || (g->a->exact_from && g->a->from == g->a->to)))
		pc->stay = g->a->number;
	return pc;
}

/* Adds a piece, unless it is empty or extends the last one. */
void piece_add_time(struct gap *g, int64_t from, int64_t to,
		    enum piece_state state, enum proof proof)
{
	struct pieces *out = g->out;
	struct piece *last = out->n ? &out->piece[out->n - 1] : NULL;

	if (from >= to)
		return;
	if (last && state == PIECE_UNKNOWN && last->state == PIECE_UNKNOWN &&
	    last->edge == TIMELINE_NONE && last->from >= g->from) {
		out->end = to;
		return;
	}
	piece_add(g, from, to, state, proof);
}

static void piece_add_blocked(struct gap *g, int64_t from, int64_t to,
			      enum proof proof, uint32_t edge, enum proof link)
{
	struct piece *pc;

	if (from >= to)
		return;
	pc = piece_add(g, from, to, PIECE_BLOCKED, proof);
	pc->edge = edge;
	pc->link = link;
}

/* Bits for TIMELINE_NONE, in place of which the last other number is kept, so
 * that the numbers of adjacent pieces pack well. */
#define NO_STAY 1
#define NO_EDGE 2

void pieces_keep(struct proofs *p, uint32_t thread)
{
	struct pieces *of = &p->of[thread];

	for (size_t i = 0; i < of->n; i++) {
		struct piece *pc = &of->piece[i];
		unsigned int none = 0;

		if (pc->state == PIECE_READY)
			held_judge(p, thread, pc,
				   i + 1 < of->n ? pc[1].from : of->end);
		if (pc->stay == TIMELINE_NONE)
			none |= NO_STAY;
		else
			of->stay = pc->stay;
		if (pc->edge == TIMELINE_NONE)
			none |= NO_EDGE;
		else
			of->edge = pc->edge;
		packed_times_put(&of->kept, of->kept.n,
				 &(struct packed_time){
					 .time = pc->from,
					 .event = of->stay,
					 .a = of->edge,
					 .b = pc->cpu << 10 | pc->state << 6 |
					      pc->proof << 4 | pc->link << 2 |
					      none });
	}
	of->n = 0;
}

/* Returns piece i of the packed ones. */
static struct piece pieces_get(const struct pieces *of, size_t i)
{
	const struct packed_time x = packed_times_get(&of->kept, i);

	return (struct piece){
		.from = x.time,
		.stay = x.b & NO_STAY ? TIMELINE_NONE : (uint32_t)x.event,
		.edge = x.b & NO_EDGE ? TIMELINE_NONE : (uint32_t)x.a,
		.cpu = x.b >> 10 & 0x1ffff,
		.state = x.b >> 6 & 15,
		.proof = x.b >> 4 & 3,
		.link = x.b >> 2 & 3,
	};
}

struct proof_piece proofs_piece(const struct proofs *p, uint32_t thread,
				size_t i)
{
	const struct pieces *of = &p->of[thread];
	const struct piece pc = pieces_get(of, i);
	struct proof_piece out = {
		.from = pc.from,
		.to = i + 1 < of->kept.n
			      ? packed_times_get(&of->kept, i + 1).time
			      : of->end,
		.edge = pc.edge,
		.cpu = (int32_t)pc.cpu - 1,
		.bits = -1,
		.state = (uint8_t)pc.state,
		.proof = (uint8_t)pc.proof,
		.link = (uint8_t)pc.link,
		.open = pc.proof != PROOF_PROVED ||
			(pc.state == PIECE_BLOCKED && pc.link != PROOF_PROVED),
	};

	if (pc.stay != TIMELINE_NONE) {
		const struct timeline_stay s = timeline_stay(p->t, pc.stay);

		out.out = timeline_stay_out(&s);
		out.bits = (int16_t)s.state;
		out.came = !s.exact_to;
	}
	return out;
}

size_t proofs_wait_end(const struct proofs *p, uint32_t thread, size_t first)
{
	const struct pieces *of = &p->of[thread];
	const uint32_t stay = pieces_get(of, first).stay;
	size_t i = first + 1;

	for (; i < of->kept.n; i++) {
		const struct piece pc = pieces_get(of, i);

		if (pc.state == PIECE_RUN ||
		    (pc.stay != stay && pc.stay != TIMELINE_NONE))
			break;
	}
	return i;
}

/* ---- edges */

/* Returns how far a wake-up proves its waker. The CPU of the woken thread may
 * write sched_wakeup, in an interrupt or in the idle thread; written in another
 * thread, it is the waker's. The idle thread makes no system calls in which a
 * softirq could run. */
static enum proof edge_proof(const struct timeline_wake *w)
{
	bool open = w->context == CONTEXT_UNKNOWN ||
		    (w->context == CONTEXT_SOFTIRQ_UNKNOWN && w->waker != 0);

	if (w->waker < 0 || open)
		return PROOF_LIKELY;
	if (w->kind == TIMELINE_WAKEUP &&
	    (w->waker == 0 ||
	     (w->context != CONTEXT_TASK && w->context != CONTEXT_SIGNAL)))
		return PROOF_UNKNOWN;
	return PROOF_PROVED;
}

static uint32_t edge_put(struct proofs *p, uint32_t wake, bool is_odd,
			 const struct edge_odd *odd)
{
	if (is_odd)
		*mem_add(p->odd, p->n_odd, p->cap_odd) = *odd;
	packed_times_put(&p->edge, p->edge.n,
			 &(struct packed_time){ .time = wake,
						.a = is_odd ? p->n_odd : 0 });
	return (uint32_t)p->edge.n - 1;
}

uint32_t edge_add(struct gap *g, const struct timeline_wake *w, int64_t from)
{
	return edge_put(g->p, w->number, from != w->time,
			&(struct edge_odd){ from, TIMELINE_NONE });
}

struct proof_edge proofs_edge(const struct proofs *p, uint32_t i)
{
	const struct packed_time e = packed_times_get(&p->edge, i);
	const struct edge_odd *odd = e.a ? &p->odd[e.a - 1] : NULL;

	if (odd && odd->loss != TIMELINE_NONE) {
		uint32_t waiter = (uint32_t)e.time;
		const struct timeline_loss *l = &p->t->loss[odd->loss];

		return (struct proof_edge){
			.time = l->from,
			.from = l->from,
			.to = l->to,
			.waiter = waiter,
			.waker = l->before,
			.cpu = l->cpu,
			.kind = EDGE_DEDUCED,
			.context = CONTEXT_UNKNOWN,
			.proof = PROOF_LIKELY, /* the waker may also be an
						* interrupt during its run */
		};
	}

	const struct timeline_wake w = timeline_wake(p->t, (uint32_t)e.time);

	return (struct proof_edge){
		.time = w.time,
		.from = odd ? odd->from : w.time,
		.to = w.time,
		.event = w.event,
		.stack = w.stack,
		.waiter = w.waiter,
		.waker = w.waker,
		.cpu = w.cpu,
		.kind = w.kind == TIMELINE_NEW ? EDGE_FORK : EDGE_WAKE,
		.context = w.context,
		.proof = w.kind == TIMELINE_NEW ? PROOF_PROVED : edge_proof(&w),
	};
}

/* ---- what losses hide */

bool gap_has_loss(const struct gap *g, const struct timeline_loss *l)
{
	/* not before the switch out, or after the switch in, of its ring */
	return !(g->a && l->cpu == g->a->cpu && l->to <= g->from &&
		 g->exact_from) &&
	       !(g->b && l->cpu == g->b->cpu && l->from >= g->to &&
		 g->exact_to);
}

bool is_known_number(const struct proofs *p, const struct timeline_loss *l)
{
	return p->counts && l->n >= 0;
}

/* Returns whether n records (0: any) may be lost between two times. Without
 * skew, a loss that only touches these times does not count. */
static bool gap_loses(const struct gap *g, int64_t from, int64_t to, int64_t n)
{
	bool exact = !g->p->t->rules.skew;
	const struct timeline_loss *l = NULL;

	while ((l = timeline_next_loss(g->p->t, from, to, l))) {
		if (exact && (l->from >= to || l->to <= from))
			continue;
		if (!is_known_number(g->p, l) || l->n >= n)
			return true;
		n -= l->n;
	}
	return false;
}

/* ---- the sleep at the start of a gap */

struct timeline_wake wake_at(const struct gap *g, const struct numbers *id,
			     size_t i)
{
	uint32_t number = numbers_get(id, i);
	struct timeline_wake *w = &g->p->at_hand[number % WAKES_AT_HAND];

	/* wake-ups are requested many times; all zeros: unused */
	if (w->number != number || !w->time)
		*w = timeline_wake(g->p->t, number);
	return *w;
}

bool gap_race(const struct gap *g, int64_t since)
{
	bool race = false;

	for (size_t i = 0; i < g->before.n; i++) {
		const struct timeline_wake w = wake_at(g, &g->before, i);

		if (w.time < since)
			continue;
		if (w.kind == TIMELINE_WAKING)
			race = true;
		else if (w.kind == TIMELINE_WAKEUP && w.time < g->from)
			race = false;
	}
	return race;
}

bool gap_first(const struct gap *g, enum timeline_kind kind, int64_t from,
	       int64_t to, struct timeline_wake *w)
{
	for (size_t i = 0; i < g->wake.n; i++) {
		const struct timeline_wake x = wake_at(g, &g->wake, i);

		if (x.kind != kind || x.time < from || x.time > to)
			continue;
		if (w)
			*w = x;
		return true;
	}
	return false;
}

int64_t gap_count(const struct gap *g)
{
	struct timeline_wake w;
	bool woken = gap_first(g, TIMELINE_WAKING, g->from, g->to, &w);
	int64_t until = woken ? w.time : g->to;
	int64_t need = UNSEEN_RUN;

	if (!g->p->counts || !g->exact_from || !is_sleep(g->bits) ||
	    task_state_ends(g->bits) || !g->p->wakings ||
	    g->p->t->rules.signal_bug || g->p->t->thread[g->thread].recorder ||
	    gap_race(g, TIMELINE_START))
		return g->from;
	if (!g->p->wakeups ||
	    !timeline_is_on(g->p->t, TIMELINE_HAS_WAKEUP, g->run_from, until) ||
	    gap_first(g, TIMELINE_WAKEUP, g->from, until, NULL))
		need--;
	return gap_loses(g, g->run_from, until, need) ? g->from : until;
}

/* ---- one quiet time */

/* A quiet time of a gap. */
struct quiet {
	int64_t from, to;
	bool first, last; /* it begins, or ends, with a known switch */
	struct timeline_wake waking, wakeup; /* first one of each kind; valid if
					      * has_ is true */
	bool has_waking, has_wakeup;
	size_t n_waking;
	int64_t lost_from, lost_to; /* of the losses that may hide a wake-up */
	unsigned int n_lost;	    /* number of these losses; 2: two or more */
	const struct timeline_loss *only; /* the loss, if n_lost is 1 */
};

/* Judges a quiet time with a recorded sched_waking: the thread slept before it
 * and was ready after it. */
static void quiet_woken(struct gap *g, const struct quiet *q)
{
	const struct timeline_wake *w = &q->waking;
	int64_t skew = g->p->t->rules.skew;
	bool same = q->first && g->a && g->a->cpu == w->cpu;
	bool doubt = w->time - q->from <= (same ? 0 : skew) ||
		     (q->last && w->time == q->to &&
		      w->cpu != (g->b ? g->b->cpu : -1)) ||
		     (q->first && !is_sleep(g->bits) &&
		      (g->bits >= 0 || g->p->t->rules.unmarked));
	enum proof proof = doubt ? PROOF_LIKELY : PROOF_PROVED;
	enum proof link = edge_proof(w);

	/* two wake-ups, or a wake-up of a queued thread, need a run in between,
	 * but there is none in a quiet time */
	if (q->n_waking > 1 || (q->has_wakeup && q->wakeup.time < w->time)) {
		piece_add_time(g, q->from, q->to, PIECE_UNKNOWN, PROOF_UNKNOWN);
		return;
	}
	piece_add_blocked(g, q->from, w->time, proof, edge_add(g, w, w->time),
			  proof < link ? proof : link);
	piece_add_time(g, w->time, q->to, PIECE_READY, proof);
}

/* Returns a new edge that follows from sched_wakeup or from the size of a
 * single loss, and its proof in *link; TIMELINE_NONE: none. */
static uint32_t quiet_deduce(struct gap *g, const struct quiet *q,
			     enum proof *link)
{
	const struct timeline_loss *l = q->only;
	const struct timeline_wake *u = q->has_wakeup ? &q->wakeup : NULL;
	int64_t need = g->p->wakeups && !u ? 2 : 1;

	*link = PROOF_UNKNOWN;
	if (u && edge_proof(u) != PROOF_UNKNOWN) {
		*link = edge_proof(u);
		return edge_add(
			g, u, q->lost_from < u->time ? q->lost_from : q->from);
	}
	if (q->n_lost == 1 && is_known_number(g->p, l) && l->n == need &&
	    l->before > 0 && l->before == l->after && !l->only_wakes) {
		*link = PROOF_LIKELY;
		return edge_put(
			g->p, g->thread, true,
			&(struct edge_odd){ l->from,
					    (uint32_t)(l - g->p->t->loss) });
	}
	return TIMELINE_NONE;
}

/* Judges a quiet time at whose start the thread was asleep, without a recorded
 * sched_waking. */
static void quiet_asleep(struct gap *g, const struct quiet *q)
{
	enum proof proof =
		g->exact_from && is_sleep(g->bits) && g->p->wakings &&
				!g->p->t->rules.signal_bug &&
				!g->p->t->thread[g->thread].recorder &&
				!gap_race(g, TIMELINE_START) &&
				!gap_loses(g, g->run_from, g->from, 0)
			? PROOF_PROVED
			: PROOF_LIKELY;
	enum proof link = PROOF_UNKNOWN;
	int64_t lost = q->n_lost ? q->lost_from : q->to;
	int64_t ready = q->to;
	uint32_t edge = TIMELINE_NONE;

	if (gap_race(g, TIMELINE_START) && g->p->wakeups &&
	    timeline_is_on(g->p->t, TIMELINE_HAS_WAKEUP, g->run_from,
			   g->from) &&
	    !g->p->t->thread[g->thread].recorder &&
	    !gap_loses(g, g->run_from, g->from, 0)) {
		piece_add_time(g, q->from, q->to, PIECE_READY, PROOF_PROVED);
		return;
	}
	if (g->p->t->thread[g->thread].recorder) {
		piece_add_time(g, q->from, q->to, PIECE_UNKNOWN, PROOF_UNKNOWN);
		return;
	}
	if (q->last && !q->n_lost) {
		/* Judges a quiet time without losses and without a wake-up.
		 * A thread that a pending signal kept from sleeping stays on
		 * the run queue of its CPU, which is then not idle. */
		bool loses = gap_loses(g, g->run_from, g->from, 0);
		struct timeline_stay s;
		/* whether the CPU went idle when the thread left it */
		bool idle = g->a &&
			    timeline_on(g->p->t, g->a->cpu, g->from, &s) &&
			    s.from == g->from && s.thread == TIMELINE_NONE;

		if (gap_race(g, TIMELINE_START) || loses ||
		    (g->p->t->rules.signal_bug && !idle))
			piece_add_time(g, q->from, q->to, PIECE_READY,
				       PROOF_LIKELY);
		else
			piece_add_time(g, q->from, q->to, PIECE_UNKNOWN,
				       PROOF_UNKNOWN);
		return;
	}
	if (q->last && q->n_lost)
		ready = q->lost_to;
	if (q->has_wakeup && q->wakeup.time < ready)
		ready = q->wakeup.time;
	lower_to(lost, ready);
	if (ready < q->to || q->last)
		edge = quiet_deduce(g, q, &link);
	piece_add_blocked(g, q->from, lost, proof, edge,
			  link < proof ? link : proof);
	if (edge == TIMELINE_NONE)
		piece_add_time(g, lost, ready, PIECE_UNKNOWN, PROOF_UNKNOWN);
	else
		piece_add_blocked(g, lost, ready, PROOF_LIKELY, edge,
				  link < PROOF_LIKELY ? link : PROOF_LIKELY);
	piece_add_time(g, ready, q->to, PIECE_READY, PROOF_PROVED);
}

/* Judges a quiet time where only sched_wakeup was recorded, which the waker
 * writes slightly after the wake-up, in the same stay on its CPU. */
static void quiet_wakeup_only(struct gap *g, const struct quiet *q)
{
	const struct timeline_wake *u = q->has_wakeup ? &q->wakeup : NULL;
	struct timeline_stay s;
	int64_t since = q->from;
	enum proof link;
	uint32_t edge;

	if (!u || q->n_lost || !q->first || edge_proof(u) == PROOF_UNKNOWN) {
		piece_add_time(g, q->from, u ? u->time : q->to, PIECE_UNKNOWN,
			       PROOF_UNKNOWN);
		if (u)
			piece_add_time(g, u->time, q->to, PIECE_READY,
				       PROOF_PROVED);
		return;
	}
	if (timeline_on(g->p->t, u->cpu, u->time, &s) && s.to >= u->time &&
	    s.exact_from && s.from > q->from)
		since = s.from;
	edge = edge_add(g, u, since);
	link = edge_proof(u);
	piece_add_blocked(g, q->from, since, PROOF_PROVED, edge, link);
	piece_add_blocked(g, since, u->time, PROOF_LIKELY, edge, PROOF_LIKELY);
	piece_add_time(g, u->time, q->to, PIECE_READY, PROOF_PROVED);
}

void quiet_judge(struct gap *g, int64_t from, int64_t to, bool first, bool last)
{
	struct quiet q = {
		.from = from, .to = to, .first = first, .last = last
	};
	bool asleep = first && is_sleep(g->bits);
	/* another thread took over its tid by exec */
	bool over = !g->b || (g->b->exec && g->exact_to);
	/* a thread that never returned may have ended */
	bool lives = g->b || (first && g->bits >= 0);

	if (from >= to)
		return;
	/* the wake-ups, and the losses that may hide one */
	const struct timeline_loss *l = NULL;
	int64_t since = q.from;

	q.has_waking = gap_first(g, TIMELINE_WAKING, q.from, q.to, &q.waking);
	q.has_wakeup = gap_first(g, TIMELINE_WAKEUP, q.from, q.to, &q.wakeup);
	q.lost_from = TIMELINE_END;
	q.lost_to = TIMELINE_START;
	for (size_t i = 0; i < g->wake.n; i++) {
		const struct timeline_wake w = wake_at(g, &g->wake, i);

		q.n_waking += w.kind == TIMELINE_WAKING && w.time >= q.from &&
			      w.time <= q.to;
	}
	while ((q.n_lost < 2 || q.lost_to < q.to) &&
	       (l = timeline_next_loss(g->p->t, since, q.to, l))) {
		/* a loss that ends where the quiet time begins, or begins where
		 * it ends, bounds it and is outside */
		if (!gap_has_loss(g, l) ||
		    (l->to <= q.from && !(q.first && l->to == q.from)) ||
		    (l->from >= q.to && !(q.last && l->from == q.to)))
			continue;
		q.only = l;
		lower_to(q.lost_from, l->from);
		raise_to(q.lost_to, l->to);
		if (q.n_lost < 2 && ++q.n_lost < 2)
			continue;
		/* one look-up finds the latest end of all others */
		raise_to(q.lost_to, timeline_loss_end(g->p->t, q.to));
		since = q.to;
	}
	raise_to(q.lost_from, q.from);
	lower_to(q.lost_to, q.to);
	if (q.has_waking)
		quiet_woken(g, &q);
	else if (first && is_ready(g->bits))
		piece_add_time(g, from, to, PIECE_READY, PROOF_PROVED);
	else if (first && task_state_ends(g->bits))
		piece_add_time(g, from, to, over ? PIECE_DEAD : PIECE_UNKNOWN,
			       over ? PROOF_PROVED : PROOF_UNKNOWN);
	else if (!g->p->wakings && g->p->wakeups)
		quiet_wakeup_only(g, &q);
	else if (!g->p->wakings)
		piece_add_time(g, from, to, lives ? PIECE_OFF : PIECE_UNKNOWN,
			       lives ? PROOF_PROVED : PROOF_UNKNOWN);
	else if (asleep)
		quiet_asleep(g, &q);
	else {
		/* the state at the start is unknown; a thread not seen before
		 * may have been born in this time, unless births were recorded
		 */
		bool lived = g->a || timeline_is_on(g->p->t, TIMELINE_HAS_NEW,
						    q.from, q.to);
		int64_t ready = q.to;
		int64_t queued = q.has_wakeup ? q.wakeup.time : q.to;

		if (q.last && !g->p->t->thread[g->thread].recorder)
			ready = q.n_lost ? q.lost_to : q.from;
		lower_to(ready, queued);
		piece_add_time(g, q.from, ready, PIECE_UNKNOWN, PROOF_UNKNOWN);
		piece_add_time(g, ready, queued,
			       lived ? PIECE_READY : PIECE_UNKNOWN,
			       !lived		? PROOF_UNKNOWN
			       : g->p->complete ? PROOF_PROVED
						: PROOF_LIKELY);
		piece_add_time(g, queued, q.to, PIECE_READY, PROOF_PROVED);
	}
}
