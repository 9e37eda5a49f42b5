/* proof_quiet.c - the states of a thread in a time in which it was off all CPUs
 * and was woken at most once. */
#include "analyze/causes/proof_inner.h"

#include "stitch/task_state.h"

/* One quiet time of a gap. */
struct quiet {
	int64_t from, to;
	bool first, last; /* begins, or ends, with a known switch */
	struct timeline_wake waking, wakeup; /* the first */
	bool has_waking, has_wakeup;
	size_t n_waking;
	int64_t lost_from, lost_to; /* of losses that may hide a wake-up */
	size_t n_lost;
	const struct timeline_loss *only; /* if n_lost is 1 */
};

static void quiet_look(const struct gap *g, struct quiet *q)
{
	const struct timeline_loss *l = NULL;

	q->has_waking =
		gap_first(g, TIMELINE_WAKING, q->from, q->to, &q->waking);
	q->has_wakeup =
		gap_first(g, TIMELINE_WAKEUP, q->from, q->to, &q->wakeup);
	q->lost_from = TIMELINE_END;
	q->lost_to = TIMELINE_START;
	for (size_t i = 0; i < g->wake.n; i++) {
		const struct timeline_wake w = wake_at(g, &g->wake, i);

		q->n_waking += w.kind == TIMELINE_WAKING && w.time >= q->from &&
			       w.time <= q->to;
	}
	while ((l = timeline_next_loss(g->p->t, q->from, q->to, l))) {
		/* a loss that ends where the quiet time begins, or begins where
		 * it ends, is what bounds it */
		if (!gap_has_loss(g, l) ||
		    (l->to <= q->from && !(q->first && l->to == q->from)) ||
		    (l->from >= q->to && !(q->last && l->from == q->to)))
			continue;
		q->n_lost++;
		q->only = l;
		lower_to(q->lost_from, l->from);
		raise_to(q->lost_to, l->to);
	}
	raise_to(q->lost_from, q->from);
	lower_to(q->lost_to, q->to);
}

/* Whether clocks leave open if a wake-up came before the switch out, or the
 * record behind a loss. */
static bool quiet_is_close(const struct gap *g, const struct quiet *q,
			   const struct timeline_wake *w)
{
	int64_t skew = g->p->t->rules.skew;
	bool same = q->first && g->a && g->a->cpu == w->cpu;

	return w->time - q->from <= (same ? 0 : skew) ||
	       (q->last && w->time == q->to &&
		w->cpu != (g->b ? g->b->cpu : -1));
}

/* A wake-up is recorded: the thread slept before it and was ready behind it. */
static void quiet_woken(struct gap *g, const struct quiet *q)
{
	const struct timeline_wake *w = &q->waking;
	bool doubt = quiet_is_close(g, q, w) ||
		     (q->first && !is_sleep(g->bits) &&
		      (g->bits >= 0 || g->p->t->rules.unmarked));
	enum proof proof = doubt ? PROOF_LIKELY : PROOF_PROVED;
	enum proof link = edge_proof(w);

	/* two wake-ups, or one of a thread that is on a run queue, need a run
	 * in between, for which there is no room */
	if (q->n_waking > 1 || (q->has_wakeup && q->wakeup.time < w->time)) {
		piece_add_time(g, q->from, q->to, PIECE_UNKNOWN, PROOF_UNKNOWN);
		return;
	}
	piece_add_blocked(g, q->from, w->time, proof, edge_add(g, w, w->time),
			  proof < link ? proof : link);
	piece_add_time(g, w->time, q->to, PIECE_READY, proof);
}

/* Whether the wake-up certainly came while the thread was on its way to sleep:
 * then it was ready all the time. */
static bool quiet_raced(const struct gap *g)
{
	return gap_race(g, TIMELINE_START) && g->p->wakeups &&
	       timeline_is_on(g->p->t, TIMELINE_HAS_WAKEUP, g->run_from,
			      g->from) &&
	       !g->p->t->thread[g->thread].recorder &&
	       !gap_lost(g, g->run_from, g->from).any;
}

/* Whether the CPU found nothing to run when the thread left it. */
static bool quiet_left_idle(const struct gap *g)
{
	struct timeline_stay s;

	return g->a && timeline_on(g->p->t, g->a->cpu, g->from, &s) &&
	       s.from == g->from && s.thread == TIMELINE_NONE;
}

/* Nothing is lost, and there is no wake-up. A thread that a pending signal kept
 * from sleeping stays on the run queue of its CPU, which is not idle then. */
static void quiet_unwoken(struct gap *g, const struct quiet *q)
{
	bool lost = gap_lost(g, g->run_from, g->from).any;
	bool signal = g->p->t->rules.signal_bug;

	if (gap_race(g, TIMELINE_START) || lost ||
	    (signal && !quiet_left_idle(g)))
		piece_add_time(g, q->from, q->to, PIECE_READY, PROOF_LIKELY);
	else
		piece_add_time(g, q->from, q->to, PIECE_UNKNOWN, PROOF_UNKNOWN);
}

/* Returns the edge that sched_wakeup, or the number of one loss, tells. */
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
		return edge_deduce(g, l);
	}
	return TIMELINE_NONE;
}

/* Asleep at the start, and no sched_waking is recorded. */
static void quiet_asleep(struct gap *g, const struct quiet *q)
{
	enum proof proof = gap_slept(g) ? PROOF_PROVED : PROOF_LIKELY;
	enum proof link = PROOF_UNKNOWN;
	int64_t lost = q->n_lost ? q->lost_from : q->to;
	int64_t ready = q->to;
	uint32_t edge = TIMELINE_NONE;

	if (quiet_raced(g)) {
		piece_add_time(g, q->from, q->to, PIECE_READY, PROOF_PROVED);
		return;
	}
	if (q->last && !q->n_lost) {
		quiet_unwoken(g, q);
		return;
	}
	if (g->p->t->thread[g->thread].recorder) {
		piece_add_time(g, q->from, q->to, PIECE_UNKNOWN, PROOF_UNKNOWN);
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

/* The state at the start is not known, and no sched_waking is recorded. */
static void quiet_open(struct gap *g, const struct quiet *q)
{
	/* a thread that was not seen before may have been born in between,
	 * unless births were recorded */
	bool lived = g->a ||
		     timeline_is_on(g->p->t, TIMELINE_HAS_NEW, q->from, q->to);
	int64_t ready = q->to;
	int64_t queued = q->has_wakeup ? q->wakeup.time : q->to;

	if (q->last && !g->p->t->thread[g->thread].recorder)
		ready = q->n_lost ? q->lost_to : q->from;
	lower_to(ready, queued);
	piece_add_time(g, q->from, ready, PIECE_UNKNOWN, PROOF_UNKNOWN);
	piece_add_time(g, ready, queued, lived ? PIECE_READY : PIECE_UNKNOWN,
		       !lived		? PROOF_UNKNOWN
		       : g->p->complete ? PROOF_PROVED
					: PROOF_LIKELY);
	piece_add_time(g, queued, q->to, PIECE_READY, PROOF_PROVED);
}

/* Only sched_wakeup was recorded, which comes a little later than the wake-up,
 * by the same thread in the same stay on its CPU. */
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
	/* a thread that never came back may have left for good */
	bool lives = g->b || (first && g->bits >= 0);

	if (from >= to)
		return;
	quiet_look(g, &q);
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
	else
		quiet_open(g, &q);
}
