/* proof_lost.c - what losses can hide of a thread: a run, a wake-up, or too few
 * records for either. */
#include "cli/causes/proof_inner.h"

#include "stitch/base/mem.h"

/* Records that a run from sleep to sleep leaves: sched_waking, sched_wakeup,
 * and two of sched_switch. */
#define UNSEEN_RUN 4

/* ---- what losses hide */

bool gap_has_loss(const struct gap *g, const struct timeline_loss *l)
{
	/* not before the switch out, or behind the switch in, of the ring */
	return !(g->a && l->cpu == g->a->cpu && l->to <= g->from &&
		 g->exact_from) &&
	       !(g->b && l->cpu == g->b->cpu && l->from >= g->to &&
		 g->exact_to);
}

static void gap_take_loss(void *arg, size_t loss)
{
	struct gap *g = arg;

	if (!gap_has_loss(g, timeline_loss(g->p->t, loss)))
		return;
	*mem_add(g->p->scratch, g->p->n_scratch, g->p->cap_scratch) = loss;
}

bool is_known_number(const struct gap *g, const struct timeline_loss *l)
{
	return g->p->counts && l->n >= 0;
}

/* With one record missing, there was one switch at most: only those current on
 * either side were there. */
static bool may_hide_run(const struct gap *g, const struct timeline_loss *l)
{
	int32_t tid = timeline_tid(g->p->t, g->thread);

	if (l->only_wakes)
		return false;
	if (!is_known_number(g, l) || l->n >= 2)
		return true;
	return l->before < 0 || l->after < 0 || l->before == tid ||
	       l->after == tid;
}

static void lost_sum_add(void *arg, size_t loss)
{
	struct lost_sum *s = arg;
	const struct timeline_loss *l = timeline_loss(s->g->p->t, loss);

	if (!timeline_rules(s->g->p->t)->skew &&
	    (l->from >= s->to || l->to <= s->from))
		return;
	s->any = true;
	if (s->n >= 0 && (!is_known_number(s->g, l) ||
			  __builtin_add_overflow(s->n, l->n, &s->n)))
		s->n = -1;
}

struct lost_sum gap_lost(const struct gap *g, int64_t from, int64_t to)
{
	struct lost_sum s = { .g = g, .from = from, .to = to };

	timeline_each_loss(g->p->t, from, to, lost_sum_add, &s);
	return s;
}

/* ---- the sleep at the start of a gap */

const struct timeline_wake *wake_at(const struct gap *g, const uint32_t *id,
				    size_t i)
{
	return timeline_wake(g->p->t, id[i]);
}

/* Returns the wake-up that came while the thread was on its way to sleep: the
 * last sched_waking of the run without a sched_wakeup up to the switch out. */
const struct timeline_wake *gap_race(const struct gap *g)
{
	const struct timeline_wake *race = NULL;

	for (size_t i = 0; i < g->n_before; i++) {
		const struct timeline_wake *w = wake_at(g, g->before, i);

		if (w->kind == TIMELINE_WAKING)
			race = w;
		else if (w->kind == TIMELINE_WAKEUP && w->time < g->from)
			race = NULL;
	}
	return race;
}

/* Whether the thread certainly slept right behind the switch out. */
bool gap_slept(const struct gap *g)
{
	return g->exact_from && is_sleep(g->bits) && g->p->wakings &&
	       !timeline_rules(g->p->t)->signal_bug &&
	       !timeline_is_recorder(g->p->t, g->thread) && !gap_race(g) &&
	       !gap_lost(g, g->run_from, g->from).any;
}

const struct timeline_wake *gap_first(const struct gap *g,
				      enum timeline_kind kind, int64_t from,
				      int64_t to)
{
	for (size_t i = 0; i < g->n_wake; i++) {
		const struct timeline_wake *w = wake_at(g, g->wake, i);

		if (w->kind == kind && w->time >= from && w->time <= to)
			return w;
	}
	return NULL;
}

/* Returns until when the thread, asleep at the start, cannot have run unseen
 * because too few records are lost; gap.from: nothing is proved so. */
static int64_t gap_count(const struct gap *g)
{
	const struct timeline_wake *w =
		gap_first(g, TIMELINE_WAKING, g->from, g->to);
	int64_t until = w ? w->time : g->to;
	int64_t need = UNSEEN_RUN;
	int64_t lost;

	if (!g->p->counts || !g->exact_from || !is_sleep(g->bits) ||
	    is_dead_state(g->bits) || !g->p->wakings ||
	    timeline_rules(g->p->t)->signal_bug ||
	    timeline_is_recorder(g->p->t, g->thread) || gap_race(g))
		return g->from;
	if (!g->p->wakeups ||
	    !is_on_since(g, TIMELINE_HAS_WAKEUP, g->run_from) ||
	    gap_first(g, TIMELINE_WAKEUP, g->from, until))
		need--;
	lost = gap_lost(g, g->run_from, until).n;
	return lost >= 0 && lost < need ? until : g->from;
}

/* Whether nothing is known of a quiet time between two losses: there is no
 * wake-up in it, which are recorded. Then it needs not to be judged: a thread
 * that is away for long has thousands of them. */
static bool gap_is_dark(const struct gap *g, int64_t from, int64_t to)
{
	bool woken = false;

	for (size_t i = 0; !woken && i < g->n_wake; i++) {
		const struct timeline_wake *w = wake_at(g, g->wake, i);

		woken = w->time >= from && w->time <= to;
	}
	return !woken && (g->p->wakings || g->p->wakeups);
}

/* Finds the losses of a gap, and the times in which the thread may have run.
 * They come latest first. */
void gap_find_hidden(struct gap *g)
{
	int64_t skew = timeline_rules(g->p->t)->skew;
	int64_t counted;

	g->p->n_scratch = 0;
	timeline_each_loss(g->p->t, g->from, g->to, gap_take_loss, g);
	g->loss = g->p->scratch;
	g->n_loss = g->p->n_scratch;
	if (!g->n_loss)
		return;
	counted = gap_count(g);
	for (size_t i = g->n_loss; i-- > 0;) {
		const struct timeline_loss *l =
			timeline_loss(g->p->t, g->loss[i]);
		int64_t from = l->from;
		int64_t to = l->to;
		struct span *last;

		if (!may_hide_run(g, l))
			continue;
		/* the switch in itself is in the loss before b */
		if (counted > g->from && (g->exact_to || l->to < g->to)) {
			if (l->to <= counted)
				continue;
			from = from < counted ? counted : from;
		}
		from = from < g->from + skew ? g->from : from - skew;
		to = to > g->to - skew ? g->to : to + skew;
		if (from > to)
			continue;
		last = g->n_hidden ? &g->hidden[g->n_hidden - 1] : NULL;
		if (!last ||
		    (last->to < from && !gap_is_dark(g, last->to, from)))
			*mem_add(g->hidden, g->n_hidden, g->cap_hidden) =
				(struct span){ from, to };
		else if (last->to < to)
			last->to = to;
	}
}
