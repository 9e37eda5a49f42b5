/* proof_hidden.c - the times of a gap in which a thread may have run unseen.
 *
 * With thousands of losses a thread that is away for long has most of them in
 * one gap, so they are not looked at one by one: those that may hide a run of
 * any thread are an array by their start, with a tree of their ends, and all up
 * to the next wake-up of the thread are one step. */
#include "analyze/causes/proof_inner.h"

#include "analyze/causes/missing.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

static int64_t hidden_later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

COMPARE_BY(hides_compare_own, struct own_loss, tid, loss);

static void hides_sort_loss(struct proofs *p, uint32_t i, size_t *cap)
{
	struct hides *h = &p->hides;
	int32_t tid[2];
	int n = missing_runs(p->t, &p->t->loss[i], tid);

	if (n < 0)
		*mem_add(h->loss, h->n, *cap) = i;
	for (int k = 0; k < n; k++)
		*mem_add(h->own, h->n_own, h->cap_own) =
			(struct own_loss){ tid[k], i };
}

void hides_init(struct proofs *p)
{
	struct hides *h = &p->hides;
	size_t cap = 0;

	for (size_t i = 0; i < p->t->n_loss; i++)
		hides_sort_loss(p, (uint32_t)i, &cap);
	h->holds = mem_new(h->n + 1, sizeof(*h->holds));
	for (size_t i = 0; i < h->n; i++)
		h->holds[i + 1] = h->holds[i] +
				  missing_holds(p->t, &p->t->loss[h->loss[i]]);
	sort_items(h->own, h->n_own, hides_compare_own);
	for (h->size = 1; h->size < h->n; h->size *= 2)
		;
	h->latest = mem_new(h->size * 2, sizeof(*h->latest));
	for (size_t i = 0; i < h->size; i++)
		h->latest[h->size + i] =
			i < h->n ? p->t->loss[h->loss[i]].to : TIMELINE_START;
	for (size_t i = h->size; i-- > 1;)
		h->latest[i] =
			hidden_later(h->latest[2 * i], h->latest[2 * i + 1]);
}

void hides_release(struct hides *h)
{
	free_all(h->loss, h->holds, h->latest, h->own);
}

const struct own_loss *hides_own(const struct proofs *p, uint32_t thread,
				 size_t *n)
{
	const struct hides *h = &p->hides;
	int32_t tid = timeline_tid(p->t, thread);
	size_t at = search_where(h->n_own, i, h->own[i].tid >= tid);

	*n = search_where(h->n_own - at, i, h->own[at + i].tid > tid);
	return *n ? &h->own[at] : NULL;
}

/* Returns the latest end of losses i to j - 1. */
static int64_t hides_latest(const struct hides *h, size_t i, size_t j)
{
	int64_t latest = TIMELINE_START;

	for (i += h->size, j += h->size; i < j; i /= 2, j /= 2) {
		if (i & 1)
			latest = hidden_later(latest, h->latest[i++]);
		if (j & 1)
			latest = hidden_later(latest, h->latest[--j]);
	}
	return latest;
}

/* Returns the first loss from i on that ends at or behind a time; h->n. */
static size_t hides_find(const struct hides *h, size_t i, int64_t time)
{
	size_t at = i + h->size;

	if (i >= h->n)
		return h->n;
	while (h->latest[at] < time) {
		at++;
		if (!(at & (at - 1)))
			return h->n; /* that was the last one of its row */
		while (!(at & 1))
			at /= 2;
	}
	while (at < h->size)
		at = 2 * at + (h->latest[2 * at] < time);
	return at - h->size;
}

/* ---- the times of a gap */

/* Returns when the first wake-up of a gap at or behind a time is. */
static int64_t hidden_woken(const struct gap *g, int64_t time)
{
	int64_t first = TIMELINE_END;

	/* without such records nothing is known of any time */
	if (!g->p->wakings && !g->p->wakeups)
		return time;
	if (!g->mixed) {
		size_t at = search_where(g->wake.n, i,
					 wake_at(g, &g->wake, i).time >= time);

		return at < g->wake.n ? wake_at(g, &g->wake, at).time : first;
	}
	for (size_t i = 0; i < g->wake.n; i++) {
		int64_t woken = wake_at(g, &g->wake, i).time;

		if (woken >= time && woken < first)
			first = woken;
	}
	return first;
}

/* Adds the time in which a loss may hide a run: to that of the losses before it
 * if nothing is known of the quiet time in between, as there is no wake-up in
 * it. Then it needs not to be judged: a thread that is away for long has
 * thousands of them. */
static void hidden_add(struct gap *g, const struct timeline_loss *l)
{
	int64_t skew = g->p->t->rules.skew;
	int64_t from = l->from;
	int64_t to = l->to;
	struct span *last;

	if (!gap_has_loss(g, l))
		return;
	/* the switch in itself is in the loss before b */
	if (g->counted > g->from && (g->exact_to || l->to < g->to)) {
		if (l->to <= g->counted)
			return;
		from = hidden_later(from, g->counted);
	}
	from = from < g->from + skew ? g->from : from - skew;
	to = to > g->to - skew ? g->to : to + skew;
	if (from > to)
		return;
	g->holds |= missing_holds(g->p->t, l);
	last = g->n_hidden ? &g->hidden[g->n_hidden - 1] : NULL;
	if (!last || (last->to < from && hidden_woken(g, last->to) <= from))
		*mem_add(g->hidden, g->n_hidden, g->cap_hidden) =
			(struct span){ from, to };
	else
		last->to = hidden_later(last->to, to);
}

/* Returns whether a loss is of a silent task, and the thread came in it for the
 * run that ends the gap. */
static bool hidden_is_run(const struct gap *g, const struct timeline_loss *l)
{
	return l->of_task && g->b && l->cpu == g->b->cpu && l->to == g->to &&
	       gap_has_loss(g, l);
}

/* Adds what of that run may be in the gap. The thread cannot have come while
 * the silent task was seen there, nor before it was woken on another CPU's run
 * queue, where it must have been since it last ran: target_cpu of sched_waking
 * is task_cpu() in front of the choice of the next one (Linux 4.3 to 6.18). */
static void hidden_add_run(struct gap *g, const struct timeline_loss *l)
{
	int64_t from = l->seen;
	struct span run;

	for (size_t i = 0; i < g->wake.n; i++) {
		const struct timeline_wake w = wake_at(g, &g->wake, i);

		if (w.kind == TIMELINE_WAKING && w.target >= 0 &&
		    w.target != l->cpu)
			from = hidden_later(from, w.time);
	}
	from -= g->p->t->rules.skew;
	run = (struct span){ hidden_later(g->from, from), g->to };
	if (run.from > run.to)
		return;
	g->came = !g->n_hidden;
	g->came_from = run.from;
	while (g->n_hidden && g->hidden[g->n_hidden - 1].to >= run.from) {
		const struct span *last = &g->hidden[--g->n_hidden];

		lower_to(run.from, last->from);
	}
	*mem_add(g->hidden, g->n_hidden, g->cap_hidden) = run;
}

/* Adds all losses from number i on that go on what is hidden so far, and begin
 * in the gap. Returns the number of the first one that does not. */
static size_t hidden_pass(struct gap *g, size_t i)
{
	const struct hides *h = &g->p->hides;
	const struct timeline *t = g->p->t;
	int64_t skew = t->rules.skew;
	struct span *last = &g->hidden[g->n_hidden - 1];
	size_t n = h->n - i;

	n = search_where(n, k, t->loss[h->loss[i + k]].from >= g->to);
	while (n) {
		int64_t woken = hidden_woken(g, last->to);
		size_t next = search_where(
			n, k,
			t->loss[h->loss[i + k]].from - skew >= woken &&
				t->loss[h->loss[i + k]].from - skew > last->to);
		int64_t to = hides_latest(h, i, i + next);

		if (!next)
			break;
		last->to = hidden_later(last->to,
					to > g->to - skew ? g->to : to + skew);
		g->holds |= h->holds[i + next] > h->holds[i];
		i += next;
		n -= next;
	}
	return i;
}

void gap_find_hidden(struct gap *g)
{
	const struct hides *h = &g->p->hides;
	const struct timeline *t = g->p->t;
	int64_t skew = t->rules.skew;
	int64_t from = g->from == TIMELINE_START ? g->from : g->from - skew;
	int64_t to = g->to == TIMELINE_END ? g->to : g->to + skew;
	size_t i = hides_find(h, 0, from);
	size_t own = 0;
	const struct timeline_loss *run = NULL;

	/* nothing behind this gap begins before it */
	while (g->n_own && t->loss[g->own->loss].to < from) {
		g->own++;
		g->n_own--;
	}
	g->n_hidden = 0;
	g->holds = g->came = false;
	g->came_from = TIMELINE_START;
	g->counted = TIMELINE_START;
	for (;;) {
		bool all = i < h->n && t->loss[h->loss[i]].from <= to;
		bool some =
			own < g->n_own && t->loss[g->own[own].loss].from <= to;

		if (!all && !some)
			break;
		if (g->counted == TIMELINE_START)
			g->counted = gap_count(g);
		if (some && (!all || g->own[own].loss < h->loss[i])) {
			const struct timeline_loss *l =
				&t->loss[g->own[own++].loss];

			if (hidden_is_run(g, l))
				run = l;
			else if (l->to >= from)
				hidden_add(g, l);
			continue;
		}
		hidden_add(g, &t->loss[h->loss[i]]);
		if (g->n_hidden && g->counted == g->from &&
		    t->loss[h->loss[i]].from > g->from)
			i = hidden_pass(g, i + 1);
		else
			i = hides_find(h, i + 1, from);
	}
	if (run)
		hidden_add_run(g, run);
}
