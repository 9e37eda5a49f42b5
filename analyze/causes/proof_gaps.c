/* proof_gaps.c - makes the pieces of a thread: its states, each with what the
 * records prove.
 *
 * The time between two stays is a struct gap. Losses that can hide a run of the
 * thread cut it into quiet times, in which it was off all CPUs and was woken at
 * most once; each is judged alone (quiet_judge()). */
#include "analyze/causes/proof_inner.h"

#include "analyze/causes/missing.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/words.h"
#include "stitch/task_state.h"

/* With fewer pieces, proofs_forget() does nothing: it walks over all
 * threads. */
#define KEPT_MAX 65536

/* ---- times of a gap in which a thread may have run unseen
 *
 * If there are thousands of losses, a thread that is away for long has most of
 * them in one gap, so they are not visited one by one: losses that may hide a
 * run of any thread are in an array by their start, with a tree of their ends,
 * and one step takes all losses up to the thread's next wake-up. */

static int64_t hidden_later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

COMPARE_BY(hides_compare_own, struct own_loss, tid, loss);

/* ---- the times of a gap */

/* Returns the time of the first wake-up in a gap at or after a time;
 * TIMELINE_END: none. */
static int64_t hidden_woken(const struct gap *g, int64_t time)
{
	int64_t first = TIMELINE_END;

	/* without records of wake-ups, one may have come at any time */
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

/* Adds the time in which a loss may hide a run. It extends the hidden time
 * before it if the quiet time in between has no wake-up, so that nothing is
 * known about it and it need not be judged: a thread that is away for long has
 * thousands of such times. */
static void hidden_add(struct gap *g, const struct timeline_loss *l)
{
	int64_t skew = g->p->t->rules.skew;
	int64_t from = l->from;
	int64_t to = l->to;
	struct span *last;

	if (!gap_has_loss(g, l))
		return;
	/* else the switch to the thread is itself in the loss before b */
	if (g->counted > g->from && (g->exact_to || l->to < g->to)) {
		if (l->to <= g->counted)
			return;
		from = hidden_later(from, g->counted);
	}
	from = from < g->from + skew ? g->from : from - skew;
	to = to > g->to - skew ? g->to : to + skew;
	if (from > to)
		return;
	last = g->n_hidden ? &g->hidden[g->n_hidden - 1] : NULL;
	if (!last || (last->to < from && hidden_woken(g, last->to) <= from))
		*mem_add(g->hidden, g->n_hidden, g->cap_hidden) =
			(struct span){ from, to };
	else
		last->to = hidden_later(last->to, to);
}

/* Extends the last hidden time up to the end of a loss. */
static void hidden_extend(struct gap *g, int64_t to)
{
	struct span *last = &g->hidden[g->n_hidden - 1];
	int64_t skew = g->p->t->rules.skew;

	last->to =
		hidden_later(last->to, to > g->to - skew ? g->to : to + skew);
}

/* Extends the last hidden time by the losses from number i on that began before
 * the gap: each CPU has one before its first record and one after its last.
 * Returns the number of the first loss that is not added. */
static size_t hidden_pass_early(struct gap *g, size_t i)
{
	const struct hides *h = &g->p->hides;
	const struct timeline *t = g->p->t;
	size_t next =
		i + search_where(h->n - i, k,
				 t->loss[h->loss[i + k]].from > g->from ||
					 t->loss[h->loss[i + k]].from >= g->to);
	int64_t to = loss_ends_latest(&h->ends, i, next);

	/* a loss that ends with the switch out may be on another CPU: it is
	 * judged alone */
	if (to <= g->from || to < g->since)
		next = i;
	else
		hidden_extend(g, to);
	return next;
}

/* Extends the last hidden time by all losses from number i on that begin in the
 * gap and continue that time. Returns the number of the first loss that does
 * not. */
static size_t hidden_pass(struct gap *g, size_t i)
{
	const struct hides *h = &g->p->hides;
	const struct timeline *t = g->p->t;
	int64_t skew = t->rules.skew;
	const struct span *last = &g->hidden[g->n_hidden - 1];
	size_t n = h->n - i;

	n = search_where(n, k, t->loss[h->loss[i + k]].from >= g->to);
	while (n) {
		int64_t woken = hidden_woken(g, last->to);
		size_t next = search_where(
			n, k,
			t->loss[h->loss[i + k]].from - skew >= woken &&
				t->loss[h->loss[i + k]].from - skew > last->to);
		int64_t to = loss_ends_latest(&h->ends, i, i + next);

		if (!next)
			break;
		hidden_extend(g, to);
		i += next;
		n -= next;
	}
	return i;
}

/* Finds the times of a gap in which the thread may have run. */
static void gap_find_hidden(struct gap *g)
{
	const struct hides *h = &g->p->hides;
	const struct timeline *t = g->p->t;
	int64_t skew = t->rules.skew;
	int64_t from = g->from == TIMELINE_START ? g->from : g->from - skew;
	int64_t to = g->to == TIMELINE_END ? g->to : g->to + skew;
	size_t i = loss_ends_find(&h->ends, 0, from);
	size_t own = 0;
	const struct timeline_loss *run = NULL;

	/* later gaps do not need losses that end before this one */
	while (g->n_own && t->loss[g->own->loss].to < from) {
		g->own++;
		g->n_own--;
	}
	g->n_hidden = 0;
	g->came = false;
	g->came_from = TIMELINE_START;
	if ((i == h->n || t->loss[h->loss[i]].from > to) &&
	    (!g->n_own || t->loss[g->own->loss].from > to))
		return;
	g->counted = gap_count(g);
	g->since = from;
	if (g->counted > g->from)
		g->since = g->exact_to || g->counted < g->to ? g->counted + 1
							     : g->to;
	for (;;) {
		i = loss_ends_find(&h->ends, i, g->since);

		/* once the gap is hidden up to its end, losses add nothing */
		bool all = i < h->n && t->loss[h->loss[i]].from <= to &&
			   !(g->n_hidden &&
			     g->hidden[g->n_hidden - 1].to == g->to);
		bool some =
			own < g->n_own && t->loss[g->own[own].loss].from <= to;

		if (!all && !some)
			break;
		if (some && (!all || g->own[own].loss < h->loss[i])) {
			const struct timeline_loss *l =
				&t->loss[g->own[own++].loss];

			if (l->of_task && g->b && l->cpu == g->b->cpu &&
			    l->to == g->to && gap_has_loss(g, l))
				run = l;
			else if (l->to >= from)
				hidden_add(g, l);
			continue;
		}

		int64_t begin = t->loss[h->loss[i]].from;

		hidden_add(g, &t->loss[h->loss[i++]]);
		if (g->n_hidden && begin > g->counted)
			i = hidden_pass(g, i);
		else if (g->n_hidden && begin <= g->from)
			i = hidden_pass_early(g, i);
	}
	if (run) {
		/* Adds the part of a gap in which the thread may have run
		 * after a silent task, at the end of this loss. It cannot have
		 * come while the silent task was seen there, nor before a
		 * wake-up that shows it on another CPU's run queue:
		 * target_cpu of sched_waking is task_cpu(), where the thread
		 * last ran, read before the kernel chooses the next CPU
		 * (Linux 4.3 to 6.18). */
		int64_t came = run->seen;
		struct span late;

		for (size_t k = 0; k < g->wake.n; k++) {
			const struct timeline_wake w = wake_at(g, &g->wake, k);

			if (w.kind == TIMELINE_WAKING && w.target >= 0 &&
			    w.target != run->cpu)
				came = hidden_later(came, w.time);
		}
		came -= g->p->t->rules.skew;
		late = (struct span){ hidden_later(g->from, came), g->to };
		if (late.from > late.to)
			return;
		g->came = !g->n_hidden;
		g->came_from = late.from;
		while (g->n_hidden &&
		       g->hidden[g->n_hidden - 1].to >= late.from) {
			const struct span *last = &g->hidden[--g->n_hidden];

			lower_to(late.from, last->from);
		}
		*mem_add(g->hidden, g->n_hidden, g->cap_hidden) = late;
	}
}

/* Returns whether a loss in a gap may contain a whole wait. */
static bool gap_holds(const struct gap *g)
{
	const struct hides *h = &g->p->hides;
	const struct timeline *t = g->p->t;
	int64_t skew = t->rules.skew;
	int64_t to = g->to == TIMELINE_END ? g->to : g->to + skew;
	size_t i = loss_ends_find(&h->holding, 0, g->since);

	while (i < h->n && t->loss[h->loss[i]].from <= to &&
	       !gap_has_loss(g, &t->loss[h->loss[i]]))
		i = loss_ends_find(&h->holding, i + 1, g->since);
	return i < h->n && t->loss[h->loss[i]].from <= to;
}

/* ---- gaps, and all of a thread */

/* Returns the end of piece i of those not packed yet. */
static int64_t piece_to(const struct pieces *of, size_t i)
{
	return i + 1 < of->n ? of->piece[i + 1].from : of->end;
}

struct proofs *proofs_new(const struct timeline *t)
{
	struct proofs *p = mem_new(1, sizeof(*p));

	p->t = t;
	p->of = mem_new(t->n_thread + 1, sizeof(*p->of));
	p->wakings = t->types & TIMELINE_HAS_WAKING;
	p->wakeups = t->types & TIMELINE_HAS_WAKEUP;
	p->counts = missing_counts(t);
	p->complete = !t->contradictions;
	p->blind = timeline_is_blind(t);
	struct hides *h = &p->hides;
	size_t cap = 0;

	for (uint32_t i = 0; i < t->n_loss; i++) {
		int32_t tid[2];
		int n = missing_runs(t, &t->loss[i], tid);

		if (n < 0)
			*mem_add(h->loss, h->n, cap) = i;
		for (int k = 0; k < n; k++)
			*mem_add(h->own, h->n_own, h->cap_own) =
				(struct own_loss){ tid[k], i };
	}
	sort_items(h->own, h->n_own, hides_compare_own);
	loss_ends_init(&h->ends, h->n);
	loss_ends_init(&h->holding, h->n);
	for (size_t i = 0; i < h->n; i++) {
		const struct timeline_loss *l = &p->t->loss[h->loss[i]];

		loss_ends_put(&h->ends, i, l->to);
		if (missing_holds(p->t, l))
			loss_ends_put(&h->holding, i, l->to);
	}
	loss_ends_seal(&h->ends);
	loss_ends_seal(&h->holding);
	held_init(p);
	return p;
}

static void proofs_forget_all(struct proofs *p)
{
	for (uint32_t i = 0; i < p->t->n_thread; i++) {
		packed_times_release(&p->of[i].kept);
		p->of[i] = (struct pieces){ 0 };
	}
	packed_times_release(&p->edge);
	p->n_odd = p->kept = 0;
}

void proofs_forget(struct proofs *p)
{
	if (p->kept > KEPT_MAX)
		proofs_forget_all(p);
}

void proofs_free(struct proofs *p)
{
	if (!p)
		return;
	proofs_forget_all(p);
	free(p->of);
	loss_ends_release(&p->hides.ends);
	loss_ends_release(&p->hides.holding);
	free_all(p->odd, p->idle, p->hides.loss, p->hides.own, p);
}

uint32_t proofs_edges(const struct proofs *p)
{
	return (uint32_t)p->edge.n;
}

WORDS_FUNCTION(proof_word, enum proof, "unknown", "likely", "proved");

const char *proof_key(enum proof proof)
{
	return proof == PROOF_LIKELY ? "consistent" : proof_word(proof);
}

const char *proof_key_of(enum proof proof, bool premise)
{
	return premise && proof == PROOF_PROVED ? "proved with premise"
						: proof_key(proof);
}

/* ---- gaps */

/* Sets *from to the time from which on the thread was likely ready;
 * TIMELINE_START: none. Returns whether that is the time of a wake-up, which is
 * stored in *w. */
static bool gap_likely(const struct gap *g, int64_t *from,
		       struct timeline_wake *w)
{
	bool woken = gap_first(g, TIMELINE_WAKING, g->from, g->to, w);

	*from = TIMELINE_START;
	if (!g->n_hidden || (!g->exact_to && !g->came) || gap_holds(g) ||
	    !g->exact_from || task_state_ends(g->bits) ||
	    gap_race(g, g->a ? g->a->from : TIMELINE_START))
		return false;
	if (!woken && is_ready(g->bits))
		*from = g->from;
	if (!woken || !is_sleep(g->bits) ||
	    (w->time < g->to &&
	     gap_first(g, TIMELINE_WAKING, w->time + 1, g->to, NULL)))
		return false;
	*from = w->time;
	return true;
}

/* Splits the piece of unknown state that contains the time `at`. */
static void gap_cut(struct gap *g, size_t first_piece, int64_t at)
{
	struct pieces *of = g->out;
	size_t i = first_piece;

	while (i < of->n && piece_to(of, i) <= at)
		i++;
	if (i == of->n || of->piece[i].from >= at ||
	    of->piece[i].state != PIECE_UNKNOWN)
		return;
	mem_add(of->piece, of->n, of->cap);
	memmove(&of->piece[i + 1], &of->piece[i],
		(of->n - 1 - i) * sizeof(*of->piece));
	of->piece[i + 1].from = at;
}

/* Returns whether the thread ran through the gap. A thread that was on the same
 * CPU before and after a single lost record stayed there: to leave and to
 * return takes two records. */
static bool gap_is_run(const struct gap *g)
{
	const struct timeline_loss *l = NULL;

	if (!g->p->counts || !g->a || !g->b || g->exact_from || g->exact_to ||
	    g->a->cpu != g->b->cpu)
		return false;
	while ((l = timeline_next_loss_on(g->p->t, g->a->cpu, g->from, g->from,
					  l)))
		if (l->cpu == g->a->cpu && !l->only_wakes &&
		    l->from <= g->from && l->to >= g->to)
			break;
	return l && is_known_number(g->p, l) && l->n < 2 &&
	       l->from == g->from && l->to == g->to && l->before == l->after;
}

struct walk {
	struct gap g;
	struct timeline_stay last; /* g.a */
	struct numbers wake;
	size_t at_wake; /* the first wake-up that is not before the gap */
};

/* Returns the wake-ups from number `at` on that are at or before a time, and
 * moves past those before it: one at exactly that time may belong to what
 * follows, too. */
static struct numbers walk_wakes(struct walk *w, size_t at, int64_t time)
{
	struct numbers x = { w->wake.of, w->wake.first + at, 0 };

	while (at < w->wake.n && wake_at(&w->g, &w->wake, at).time <= time)
		at++;
	x.n = w->wake.first + at - x.first;
	while (at && wake_at(&w->g, &w->wake, at - 1).time == time)
		at--;
	w->at_wake = at;
	return x;
}

/* Collects the wake-ups of the gap at which the walk is, and judges it. */
static void walk_gap(struct walk *w)
{
	struct gap *g = &w->g;
	struct timeline_wake birth;
	bool born = false;

	/* a wake-up at the time of the switch in may belong to the run that
	 * begins */
	g->wake = walk_wakes(w, w->at_wake, g->to);
	g->mixed = false;
	for (size_t i = 0; i < g->wake.n; i++) {
		const struct timeline_wake x = wake_at(g, &g->wake, i);

		g->mixed |= i && wake_at(g, &g->wake, i - 1).time > x.time;
		/* a record that comes late may be from before the gap */
		if (x.kind == TIMELINE_NEW && x.time >= g->from) {
			birth = x;
			born = true;
		}
	}
	if (born) {
		/* Before its birth the thread is PIECE_UNBORN: its parent
		 * counts. */
		bool free =
			!g->a || (g->exact_from && task_state_ends(g->bits));

		if (free && g->from < birth.time) {
			struct piece *pc =
				piece_add(g, g->from, birth.time, PIECE_UNBORN,
					  PROOF_PROVED);

			pc->edge = edge_add(g, &birth, birth.time);
			pc->link = PROOF_PROVED;
		} else {
			piece_add_time(g, g->from, birth.time, PIECE_UNKNOWN,
				       PROOF_UNKNOWN);
		}
		g->a = NULL;
		g->from = g->run_from = birth.time;
		g->exact_from = true;
		g->bits = 0;
		g->before.n = 0;
	}
	size_t first_piece = g->out->n;
	int64_t at = g->from;

	if (g->p->t->n_silent && !g->p->t->thread[g->thread].voice.heard) {
		piece_add_time(g, g->from, g->to, PIECE_UNKNOWN, PROOF_UNKNOWN);
		return;
	}
	gap_find_hidden(g);
	if (gap_is_run(g)) {
		piece_add(g, g->from, g->to, PIECE_RUN, PROOF_PROVED)->cpu =
			(uint32_t)g->a->cpu + 1;
		return;
	}
	for (size_t i = 0; i < g->n_hidden; i++) {
		quiet_judge(g, at, g->hidden[i].from, i == 0 && g->exact_from,
			    false);
		piece_add_time(g, g->hidden[i].from, g->hidden[i].to,
			       PIECE_UNKNOWN, PROOF_UNKNOWN);
		at = g->hidden[i].to;
	}
	quiet_judge(g, at, g->to, !g->n_hidden && g->exact_from, g->exact_to);
	/* If no loss is large enough for a whole wait, it is likely that
	 * unknown pieces hide no run. A thread that slept at the start likely
	 * slept until the only wake-up, and a runnable one was ready. */
	struct pieces *of = g->out;
	int64_t ready;
	struct timeline_wake waking;
	bool woken = gap_likely(g, &ready, &waking);
	uint32_t edge = TIMELINE_NONE;

	if (ready == TIMELINE_START)
		return;
	gap_cut(g, first_piece, ready);
	for (size_t i = first_piece; woken && i < of->n; i++)
		if (of->piece[i].state == PIECE_BLOCKED &&
		    piece_to(of, i) == ready)
			edge = of->piece[i].edge;
	if (woken && edge == TIMELINE_NONE)
		edge = edge_add(g, &waking, waking.time);
	for (size_t i = first_piece; i < of->n; i++) {
		struct piece *pc = &of->piece[i];
		bool asleep = piece_to(of, i) <= ready;

		if (pc->edge == edge && woken)
			continue;
		/* if the thread came unseen, it is unknown when */
		if (pc->state == PIECE_UNKNOWN && (asleep || !g->came)) {
			pc->state = asleep ? PIECE_BLOCKED : PIECE_READY;
			pc->proof = PROOF_LIKELY;
			if (!asleep)
				pc->cpu = (uint32_t)g->b->cpu + 1;
		}
		if (asleep && pc->state == PIECE_BLOCKED) {
			pc->edge = edge;
			pc->link = PROOF_LIKELY;
		}
	}
}

/* Returns the start of the loss before a stay's first record: the start of the
 * thread's run, and a race, may be in it. */
static int64_t walk_loss_start(const struct walk *w,
			       const struct timeline_stay *s)
{
	const struct timeline *t = w->g.p->t;
	const struct timeline_loss *l = NULL;
	int64_t start = s->from;
	int64_t seen = TIMELINE_START; /* end of the last stay before it
					* there */
	struct timeline_stay before;

	if (timeline_on(t, s->cpu, s->from - 1, &before))
		seen = before.to;
	while ((l = timeline_next_loss_on(t, s->cpu, s->from, s->from, l)))
		lower_to(start, l->spans && l->from < seen ? seen : l->from);
	raise_to(start, w->g.came_from);
	return start;
}

/* Makes all pieces of a thread, stay by stay. */
static void proofs_make(struct proofs *p, uint32_t thread)
{
	struct pieces *out = &p->of[thread];
	struct walk w = { .g = { .p = p,
				 .out = out,
				 .thread = thread,
				 .from = TIMELINE_START,
				 .run_from = TIMELINE_START,
				 .came_from = TIMELINE_START,
				 .bits = -1 } };
	const struct numbers id = lists_get(&p->t->stays, thread);

	out->end = TIMELINE_START;
	w.wake = lists_get(&p->t->wakes, thread);
	/* the losses that hide runs of only this thread */
	const struct hides *h = &p->hides;
	int32_t tid = timeline_tid(p->t, thread);
	size_t at = search_where(h->n_own, i, h->own[i].tid >= tid);

	w.g.n_own = search_where(h->n_own - at, i, h->own[at + i].tid > tid);
	w.g.own = w.g.n_own ? &h->own[at] : NULL;
	for (size_t i = 0; i < id.n; i++) {
		const struct timeline_stay stay =
			timeline_stay(p->t, numbers_get(&id, i));
		const struct timeline_stay *s = &stay;
		/* the thread is on two CPUs at once: a record is wrong */
		bool twice = s->from < w.g.from;
		int64_t from = twice ? w.g.from : s->from;

		pieces_keep(p, thread);
		w.g.b = s;
		w.g.to = from;
		w.g.exact_to = s->exact_from;
		if (!twice)
			walk_gap(&w);
		w.g.a = NULL;
		if (from < s->to)
			piece_add(&w.g, from, s->to, PIECE_RUN,
				  twice ? PROOF_LIKELY : PROOF_PROVED)
				->cpu = (uint32_t)s->cpu + 1;
		if (s->to >= w.g.from) {
			/* Moves to the end of the stay, where the next gap
			 * begins. */
			struct gap *g = &w.g;
			size_t first = w.at_wake;

			g->run_from = s->exact_from ? s->from
						    : walk_loss_start(&w, s);
			g->came_from = TIMELINE_START;
			w.last = *s;
			g->a = &w.last;
			g->from = s->to;
			g->exact_from = s->exact_to;
			g->bits = s->exact_to ? s->state : -1;
			while (!s->exact_from && first &&
			       wake_at(g, &w.wake, first - 1).time >=
				       g->run_from)
				first--;
			/* a wake-up at the time of the switch out, by another
			 * CPU, may belong to the run or to the gap */
			g->before = walk_wakes(&w, first, s->to);
		}
		if (twice)
			w.g.exact_from = false;
	}
	w.g.b = NULL;
	w.g.to = TIMELINE_END;
	w.g.exact_to = false;
	walk_gap(&w);
	free(w.g.hidden);
	pieces_keep(p, thread);
	packed_times_close(&out->kept);
	free(out->piece);
	out->piece = NULL;
	p->kept += out->kept.n;
	out->made = true;
}

size_t proofs_pieces(struct proofs *p, uint32_t thread)
{
	if (!p->of[thread].made)
		proofs_make(p, thread);
	return p->of[thread].kept.n;
}

size_t proofs_find(struct proofs *p, uint32_t thread, int64_t time)
{
	size_t n = proofs_pieces(p, thread);
	const struct pieces *of = &p->of[thread];
	size_t i =
		search_where(n, k, packed_times_get(&of->kept, k).time > time);

	return i < n || of->end > time ? i - (i > 0) : n;
}
