/* model.c - what must be said of requests and chains, by the rules of
 * backstitch-formats(5), "Deferred stacks: join rules" to "Deferred stacks:
 * verdicts", and nothing but searches through all the records. */
#include <stdlib.h>
#include <string.h>

#include "tests/truth/truth.h"

/* A chain may come after its thread's EXIT, at most this much later. */
#define AFTER_EXIT_NS 2000000

static bool model_same_cookie(const struct half *a, const struct half *b)
{
	return a->cookie == b->cookie &&
	       (a->tid == b->tid || a->tid < 0 || b->tid < 0);
}

static void find_halves(const struct list *l, struct expect *ex)
{
	ex->n_half = 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct record *r = l->at[i].rec;

		if (!has_cookie(r))
			continue;
		mem_grow(ex->half, ex->cap_half, ex->n_half + 1);
		ex->half[ex->n_half++] =
			(struct half){ cookie_of(r), r->tid, (uint32_t)i,
				       l->at[i].source, r->kind == REC_CHAIN };
	}
}

/* ---- losses */

static void model_add_loss(struct expect *ex, uint16_t source, int32_t cpu,
			   int64_t t0, int64_t t1, uint64_t n)
{
	*mem_add(ex->loss, ex->n_loss, ex->cap_loss) =
		(struct expect_loss){ source, cpu, t0, t1, n };
}

/* After the last record of that ring, up to the LOST record. */
static void find_losses(const struct list *l, struct expect *ex)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct record *r = l->at[i].rec;
		int64_t t0 = TIME_NONE;

		if (r->kind != REC_LOST)
			continue;
		for (size_t k = 0; k < i && r->cpu >= 0; k++) {
			const struct record *o = l->at[k].rec;

			if (is_timed(o) && o->cpu == r->cpu &&
			    l->at[k].source == l->at[i].source &&
			    o->time < r->time && (int64_t)o->time > t0)
				t0 = (int64_t)o->time;
		}
		model_add_loss(ex, l->at[i].source, r->cpu, t0,
			       (int64_t)r->time, r->lost.n);
	}
}

static uint64_t told(const struct list *l, uint16_t source, int32_t cpu,
		     enum record_kind kind)
{
	uint64_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		if (l->at[i].rec->kind == kind && l->at[i].rec->cpu == cpu &&
		    l->at[i].source == source)
			n += l->at[i].rec->lost.n;
	return n;
}

/* What the sums at the end know more than the LOST records was lost after the
 * last record of that ring. */
static void find_end_losses(const struct list *l, uint16_t source,
			    struct expect *ex)
{
	for (int32_t cpu = 0; cpu < 64; cpu++) {
		uint64_t all = told(l, source, cpu, REC_LOST_TOTAL);
		uint64_t in_time = told(l, source, cpu, REC_LOST);
		int64_t t0 = TIME_NONE;

		if (all <= in_time)
			continue;
		for (size_t i = 0; i < l->n; i++)
			if (l->at[i].rec->cpu == cpu &&
			    l->at[i].source == source &&
			    truth_time_of(l->at[i].rec) > t0)
				t0 = truth_time_of(l->at[i].rec);
		model_add_loss(ex, source, cpu, t0, INT64_MAX, all - in_time);
	}
}

uint32_t model_loss(const struct expect *ex, uint16_t source, int32_t cpu,
		    int64_t from, int64_t to)
{
	uint32_t best = NOWHERE;

	for (uint32_t i = 0; i < ex->n_loss; i++) {
		const struct expect_loss *x = &ex->loss[i];

		if (x->source != source ||
		    (cpu >= 0 && x->cpu >= 0 && x->cpu != cpu) ||
		    x->t1 <= from || x->t0 >= to || x->t0 >= x->t1)
			continue;
		if (best == NOWHERE || x->t1 < ex->loss[best].t1)
			best = i;
	}
	return best;
}

uint32_t model_any_loss(const struct expect *ex, uint16_t source, int32_t cpu,
			int64_t from, int64_t to)
{
	uint32_t loss = model_loss(ex, source, cpu, from, to);

	return loss != NOWHERE ? loss : model_loss(ex, !source, cpu, from, to);
}

/* ---- cookies and lives */

static void find_firsts(const struct list *l, struct expect *ex)
{
	for (size_t i = 0; i < l->n; i++)
		ex->first[i] = NOWHERE;
	for (size_t i = 0; i < ex->n_half; i++) {
		size_t k = 0;

		while (!model_same_cookie(&ex->half[k], &ex->half[i]))
			k++;
		ex->first[ex->half[i].item] = ex->half[k].item;
	}
}

/* First item behind `at` in its life that is such; NOWHERE. */
static uint32_t later(const struct list *l, const struct expect *ex, size_t at,
		      enum record_kind kind)
{
	for (size_t i = at + 1; i < l->n; i++) {
		const struct record *r = l->at[i].rec;

		if (r->kind == kind && model_of_thread(r) &&
		    r->tid == l->at[at].rec->tid && ex->life[i] == ex->life[at])
			return (uint32_t)i;
	}
	return NOWHERE;
}

static uint32_t newer_cookie(const struct list *l, const struct expect *ex,
			     size_t at)
{
	for (size_t k = 0; k < ex->n_half; k++) {
		uint32_t i = ex->half[k].item;

		if (i > at && ex->first[i] == i &&
		    ex->half[k].tid == l->at[at].rec->tid &&
		    ex->life[i] == ex->life[at])
			return i;
	}
	return NOWHERE;
}

/* Item with which the next life of the thread's id begins; NOWHERE. */
static uint32_t other_life(const struct list *l, const struct expect *ex,
			   size_t at)
{
	uint32_t life = ex->life[at];

	(void)l;
	for (size_t i = life + 1; i < ex->n_lives; i++)
		if (ex->lives[i].tid == ex->lives[life].tid)
			return ex->lives[i].first;
	return NOWHERE;
}

/* ---- requests */

/* As far as the sample's own capture went. */
static void find_end(const struct slice *s, const struct list *l,
		     const struct expect *ex, size_t at, uint16_t source,
		     struct expect_request *q)
{
	int64_t own_last = (int64_t)info_of(s, source)->last_ns;
	uint32_t i = newer_cookie(l, ex, at);

	q->end = END_COOKIE;
	if (i == NOWHERE) {
		q->end = END_EXIT;
		i = later(l, ex, at, REC_EXIT);
	}
	if (i == NOWHERE) {
		q->end = END_REUSED;
		i = other_life(l, ex, at);
		if (i != NOWHERE && (l->at[i].rec->kind != REC_FORK ||
				     l->at[i].rec->tid != l->at[at].rec->tid)) {
			q->until = TIME_NONE;
			return;
		}
	}
	if (i == NOWHERE || truth_time_of(l->at[i].rec) > own_last)
		q->end = END_CAPTURE;
	q->until =
		q->end == END_CAPTURE ? own_last : truth_time_of(l->at[i].rec);
	if (q->end == END_EXIT)
		q->until += AFTER_EXIT_NS;
}

static void without_chain(const struct slice *s, const struct list *l,
			  const struct expect *ex, size_t i,
			  struct expect_request *q)
{
	uint16_t source = l->at[i].source;
	const struct source_info *info = info_of(s, source);
	size_t at = ex->first[i];

	find_end(s, l, ex, at, source, q);
	int64_t due = q->until == TIME_NONE ? INT64_MAX : q->until;
	int64_t last = TIME_NONE;

	q->confidence = CONF_EXPLAINED;
	q->latency = TIME_NONE;
	if (q->end == END_EXIT && info->system_wide != TRI_YES) {
		q->verdict = REQ_EXIT_PER_TASK;
		return;
	}
	q->verdict = REQ_PENDING_END;
	if (q->end == END_CAPTURE)
		return;
	/* the one after the last sample is the likely one */
	for (size_t k = at; k < l->n; k++)
		if (ex->first[k] == at)
			last = truth_time_of(l->at[k].rec);
	q->loss = model_loss(ex, source, -1, last, due);
	if (q->loss == NOWHERE)
		q->loss = model_loss(ex, source, -1,
				     truth_time_of(l->at[at].rec), due);
	if (q->loss != NOWHERE) {
		q->verdict = REQ_CHAIN_LOST;
	} else if (q->end != END_EXIT || due < (int64_t)info->last_ns) {
		q->verdict = REQ_UNEXPLAINED;
		q->confidence = CONF_UNEXPLAINED;
	}
}

static bool exec_between(const struct list *l, size_t a, size_t b)
{
	const struct record *r = l->at[a].rec;

	for (size_t i = a; i < b; i++)
		if (l->at[i].rec->kind == REC_COMM &&
		    l->at[i].rec->flags & REC_F_EXEC &&
		    l->at[i].rec->tid == r->tid && l->at[i].rec->time > r->time)
			return true;
	return false;
}

/* Did this capture record the chain of the cookie? */
static bool model_is_told(const struct expect *ex, const struct half *of,
			  uint16_t source)
{
	for (const struct half *h = ex->half; h < ex->half + ex->n_half; h++)
		if (h->is_chain && h->source == source &&
		    model_same_cookie(h, of))
			return true;
	return false;
}

static void with_chain(const struct list *l, size_t i, size_t c,
		       struct expect_request *q)
{
	size_t a = i < c ? i : c;
	size_t b = i < c ? c : i;

	q->chain = (uint32_t)c;
	q->verdict = l->at[c].rec->chain.user.n ? REQ_MATCHED : REQ_EMPTY;
	q->confidence = CONF_PROVED;
	q->latency = (int64_t)(l->at[c].rec->time - l->at[i].rec->time);
	if (c < i)
		q->flags |= VERDICT_AFTER;
	if (exec_between(l, a, b))
		q->flags |= VERDICT_EXEC;
}

static bool is_first_lost(const struct list *l, const struct expect *ex,
			  const struct half *h)
{
	int32_t cpu = l->at[h->item].rec->cpu;
	bool later = false;

	for (const struct half *o = ex->half; o < h; o++) {
		if (o->cookie == h->cookie)
			return false;
		later |= o->source == h->source &&
			 cookie_cpu(o->cookie) == cookie_cpu(h->cookie) &&
			 (int32_t)(cookie_count(o->cookie) -
				   cookie_count(h->cookie)) > 0;
	}
	return later || (cpu >= 0 && cpu != cookie_cpu(h->cookie));
}

static void find_request(const struct slice *s, const struct list *l,
			 struct expect *ex, const struct half *h)
{
	size_t i = h->item;
	const struct record *r = l->at[i].rec;
	struct expect_request *q = &ex->request[i];
	size_t c = 0;

	q->has = true;
	q->loss = q->chain = q->as_tid = NOWHERE;
	q->flags = ex->lives[ex->life[i]].reused ? VERDICT_REUSED_TID : 0;
	if (r->flags & REC_F_USER && !r->sample.kern.n && r->sample.ip)
		q->flags |= VERDICT_USER_HIT;
	while (c < ex->n_half &&
	       !(ex->half[c].is_chain && model_same_cookie(&ex->half[c], h)))
		c++;
	if (c < ex->n_half)
		with_chain(l, i, ex->half[c].item, q);
	if (c < ex->n_half && !model_is_told(ex, h, h->source))
		q->flags |= VERDICT_OTHER_CAPTURE;
	if (c == ex->n_half)
		without_chain(s, l, ex, i, q);
	if (is_first_lost(l, ex, h))
		q->flags |= VERDICT_FIRST_LOST;
}

/* ---- what perf would have done: a list that every chain walks */

static void perf_gives(struct expect *ex, size_t i, enum as_perf how,
		       int64_t held, size_t *newest)
{
	struct expect_request *q = &ex->request[i];

	q->as_perf = how;
	q->held = held;
	if (i < *newest)
		q->flags |= VERDICT_PERF_LATE;
	else
		*newest = i;
}

/* The chain h comes: all that wait for its thread go. */
static void perf_walks(const struct list *l, struct expect *ex,
		       const struct half *h, size_t *newest)
{
	for (const struct half *o = ex->half; o < h; o++) {
		if (o->is_chain || ex->request[o->item].as_perf ||
		    o->source != h->source || o->tid != h->tid)
			continue;
		ex->request[o->item].as_tid = ex->chain[h->item].copy
						      ? ex->chain[h->item].of
						      : h->item;
		perf_gives(ex, o->item,
			   o->cookie == h->cookie ? AS_PERF_MERGED
						  : AS_PERF_BARE,
			   (int64_t)(l->at[h->item].rec->time -
				     l->at[o->item].rec->time),
			   newest);
	}
}

static void as_perf(const struct list *l, struct expect *ex)
{
	const struct half *h = ex->half;
	size_t newest[2] = { 0, 0 };

	for (size_t i = 0; i < l->n; i++) {
		const struct record *r = l->at[i].rec;

		if (r->kind == REC_SAMPLE && !has_cookie(r))
			newest[l->at[i].source] = i;
		if (!has_cookie(r))
			continue;
		if (h->is_chain)
			perf_walks(l, ex, h, &newest[h->source]);
		h++;
	}
	for (size_t k = 0; k < ex->n_half; k++) {
		size_t i = ex->half[k].item;

		if (!ex->half[k].is_chain && !ex->request[i].as_perf)
			perf_gives(ex, i, AS_PERF_BARE_END, TIME_NONE,
				   &newest[ex->half[k].source]);
	}
}

/* ---- chains */

/* The same chain was there before, of the other capture of a pair. */
static bool model_is_copy(const struct expect *ex, const struct half *h,
			  uint32_t *of)
{
	for (const struct half *o = ex->half; o < h; o++) {
		*of = o->item;
		if (o->is_chain && model_same_cookie(o, h))
			return o->source != h->source;
	}
	return false;
}

static bool is_for_others(const struct expect *ex, const struct half *h)
{
	for (const struct half *o = ex->half; o < ex->half + ex->n_half; o++)
		if (!o->is_chain && model_same_cookie(o, h) &&
		    model_is_told(ex, h, o->source))
			return false;
	return true;
}

static void find_chain(const struct list *l, struct expect *ex,
		       const struct half *h)
{
	size_t i = h->item;
	const struct record *r = l->at[i].rec;
	struct expect_chain *c = &ex->chain[i];

	c->copy = model_is_copy(ex, h, &c->of);
	c->has = !c->copy;
	if (c->copy)
		return;
	c->from = TIME_NONE;
	c->loss = NOWHERE;
	c->verdict = CHAIN_USED;
	c->confidence = CONF_PROVED;
	c->flags = ex->lives[ex->life[i]].reused ? VERDICT_REUSED_TID : 0;
	for (uint32_t k = ex->prev[i];
	     k != NOWHERE && ex->life[k] == ex->life[i]; k = ex->prev[k])
		if (l->at[k].rec->kind == REC_EXIT &&
		    l->at[k].source == h->source)
			c->flags |= VERDICT_AFTER_EXIT;
	for (size_t k = 0; k < ex->n_half; k++)
		c->n_events += !ex->half[k].is_chain &&
			       model_same_cookie(&ex->half[k], h);
	if (c->n_events && is_for_others(ex, h))
		c->flags |= VERDICT_OTHER_CAPTURE;
	if (c->n_events)
		return;
	for (const struct half *o = ex->half; o < h; o++)
		if (ex->life[o->item] == ex->life[i] &&
		    !ex->chain[o->item].copy)
			c->from = truth_time_of(l->at[o->item].rec);
	c->loss = model_any_loss(ex, h->source, cookie_cpu(cookie_of(r)),
				 c->from, truth_time_of(r));
	c->verdict = c->loss != NOWHERE ? CHAIN_SAMPLE_LOST : CHAIN_UNEXPLAINED;
	c->confidence = c->loss != NOWHERE ? CONF_EXPLAINED : CONF_UNEXPLAINED;
}

/* Chains of this life that nobody explains; *follow: two of them have no other
 * cookie of the life between them. */
static uint32_t model_orphans(const struct list *l, const struct expect *ex,
			      uint32_t life, bool *follow)
{
	uint32_t n = 0;

	*follow = false;
	for (size_t i = 0; i < l->n; i++) {
		if (!ex->chain[i].has || ex->life[i] != life ||
		    ex->chain[i].verdict != CHAIN_UNEXPLAINED)
			continue;
		n++;
		for (size_t k = 0; k < i; k++)
			*follow |= ex->chain[k].has && ex->life[k] == life &&
				   ex->chain[k].verdict == CHAIN_UNEXPLAINED &&
				   ex->chain[i].from != TIME_NONE &&
				   ex->chain[i].from ==
					   truth_time_of(l->at[k].rec);
	}
	return n;
}

static bool model_asked(const struct list *l, const struct expect *ex,
			uint32_t life)
{
	for (size_t i = 0; i < l->n; i++)
		if (ex->request[i].has && ex->life[i] == life)
			return true;
	return false;
}

/* Who asked for chains without a sample: another session, if several threads
 * have traces of it. */
static void find_sessions(const struct list *l, struct expect *ex)
{
	uint32_t threads = 0;
	bool proved = false;

	for (size_t i = 0; i < l->n; i++)
		if (ex->request[i].has &&
		    ex->request[i].verdict == REQ_UNEXPLAINED)
			return;
	for (uint32_t i = 0; i < ex->n_lives; i++) {
		bool follow;
		uint32_t n = model_orphans(l, ex, i, &follow);

		threads += follow;
		proved |= n > 1 && !model_asked(l, ex, i);
	}
	if (!proved && threads < 2)
		return;
	for (size_t i = 0; i < l->n; i++) {
		struct expect_chain *c = &ex->chain[i];

		if (!c->has || c->verdict != CHAIN_UNEXPLAINED)
			continue;
		c->verdict = CHAIN_FOREIGN;
		c->confidence = CONF_EXPLAINED;
	}
}

static void find_refused(const struct slice *s, const struct list *l,
			 struct expect *ex, size_t i)
{
	const struct rec_sample *rs = &l->at[i].rec->sample;
	struct expect_request *q = &ex->request[i];

	if (rs->defer != DEFER_DIRECT || rs->event >= s->cap->src->n_events ||
	    !s->cap->src->events[rs->event].defer)
		return;
	*q = (struct expect_request){ .has = true,
				      .chain = NOWHERE,
				      .as_tid = NOWHERE,
				      .loss = NOWHERE,
				      .verdict = REQ_REFUSED,
				      .confidence = CONF_PROVED,
				      .latency = TIME_NONE };
}

static void model_clear(const struct list *l, struct expect *ex)
{
	ex->n = l->n;
	ex->n_loss = ex->n_gap = ex->n_counter = 0;
	mem_grow(ex->request, ex->cap_request, l->n + 1);
	mem_grow(ex->chain, ex->cap_chain, l->n + 1);
	mem_grow(ex->first, ex->cap_first, l->n + 1);
	mem_grow(ex->life, ex->cap_life, l->n + 1);
	mem_grow(ex->prev, ex->cap_prev, l->n + 1);
	mem_grow(ex->forgot, ex->cap_forgot, l->n + 1);
	memset(ex->request, 0, l->n * sizeof(*ex->request));
	memset(ex->chain, 0, l->n * sizeof(*ex->chain));
}

void model_run(const struct slice *s, const struct list *l, struct expect *ex)
{
	model_clear(l, ex);
	find_halves(l, ex);
	find_losses(l, ex);
	find_end_losses(l, 0, ex);
	find_end_losses(l, 1, ex);
	find_firsts(l, ex);
	model_lives(l, ex);
	for (size_t i = 0; i < ex->n_half; i++) {
		if (ex->half[i].is_chain)
			find_chain(l, ex, &ex->half[i]);
		else
			find_request(s, l, ex, &ex->half[i]);
	}
	for (size_t i = 0; i < l->n; i++)
		if (l->at[i].rec->kind == REC_SAMPLE)
			find_refused(s, l, ex, i);
	find_sessions(l, ex);
	as_perf(l, ex);
	model_counters(s, l, ex);
}

void expect_release(struct expect *ex)
{
	free(ex->half);
	free(ex->request);
	free(ex->chain);
	free(ex->first);
	free(ex->life);
	free(ex->prev);
	free(ex->forgot);
	free(ex->lives);
	free(ex->loss);
	free(ex->gap);
	free(ex->gap_late);
	free(ex->counter);
	*ex = (struct expect){ 0 };
}
