/* proof_lost.c - what losses can hide of a thread: a run, a wake-up, or too few
 * records for either. */
#include "analyze/causes/proof_inner.h"

#include "analyze/causes/missing.h"
#include "stitch/task_state.h"

/* ---- what losses hide */

bool gap_has_loss(const struct gap *g, const struct timeline_loss *l)
{
	/* not before the switch out, or behind the switch in, of the ring */
	return !(g->a && l->cpu == g->a->cpu && l->to <= g->from &&
		 g->exact_from) &&
	       !(g->b && l->cpu == g->b->cpu && l->from >= g->to &&
		 g->exact_to);
}

bool is_known_number(const struct proofs *p, const struct timeline_loss *l)
{
	return p->counts && l->n >= 0;
}

struct lost_sum gap_lost(const struct gap *g, int64_t from, int64_t to)
{
	bool exact = !g->p->t->rules.skew;
	const struct timeline_loss *l = NULL;
	struct lost_sum s = { 0 };

	while ((l = timeline_next_loss(g->p->t, from, to, l))) {
		if (exact && (l->from >= to || l->to <= from))
			continue;
		s.any = true;
		if (s.n >= 0 && (!is_known_number(g->p, l) ||
				 __builtin_add_overflow(s.n, l->n, &s.n)))
			s.n = -1;
	}
	return s;
}

/* ---- the sleep at the start of a gap */

struct timeline_wake wake_at(const struct gap *g, const struct numbers *id,
			     size_t i)
{
	uint32_t number = numbers_get(id, i);
	struct timeline_wake *w = &g->p->at_hand[number % WAKES_AT_HAND];

	/* each is asked for again and again; that of all zeros is none yet */
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

/* Whether the thread certainly slept right behind the switch out. */
bool gap_slept(const struct gap *g)
{
	return g->exact_from && is_sleep(g->bits) && g->p->wakings &&
	       !g->p->t->rules.signal_bug &&
	       !g->p->t->thread[g->thread].recorder &&
	       !gap_race(g, TIMELINE_START) &&
	       !gap_lost(g, g->run_from, g->from).any;
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
	int64_t lost;

	if (!g->p->counts || !g->exact_from || !is_sleep(g->bits) ||
	    task_state_ends(g->bits) || !g->p->wakings ||
	    g->p->t->rules.signal_bug || g->p->t->thread[g->thread].recorder ||
	    gap_race(g, TIMELINE_START))
		return g->from;
	if (!g->p->wakeups ||
	    !timeline_is_on(g->p->t, TIMELINE_HAS_WAKEUP, g->run_from, until) ||
	    gap_first(g, TIMELINE_WAKEUP, g->from, until, NULL))
		need--;
	lost = gap_lost(g, g->run_from, until).n;
	return lost >= 0 && lost < need ? until : g->from;
}
