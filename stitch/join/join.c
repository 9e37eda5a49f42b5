/* join.c - which deferred chain belongs to which sample.
 *
 * Between two calls every cookie is in its thread's recent[] list, in the queue
 * of those that wait for the end, or, where captures share their line, among
 * the last that were complete: the record of another capture may follow. A
 * request goes out when its verdict is known and what others would have shown
 * (pending_requests.h). */
#include "stitch/join/join.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/join/cookies.h"
#include "stitch/join/missing_reason.h"
#include "stitch/fact_queue.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "stitch/join/shared_threads.h"
#include "stitch/join/sessions.h"
#include "stitch/fact.h"
#include "stitch/join/unwinders.h"
#include "stitch/join/pending_requests.h"

/* Entries without their other half are kept this long, so that a LOST record
 * that comes much later can still explain them. */
#define UNRESOLVED_MAX (1u << 17)
/* kernel/unwind/deferred.c (7.2): one page of addresses is the limit. */
#define CHAIN_LIMIT 508

/* Cookies with both halves that are kept for records of other captures, whose
 * clocks may be apart: even at a million cookies a second these are 4 ms. */
#define LINGER 4096

struct join {
	struct facts *out;
	struct losses *losses;
	const struct frames *frames;
	struct cookies cookies;
	struct waits waits;
	struct unwinders unwinders;
	uint32_t *queue; /* entries that wait for the end */
	size_t n_queue, cap_queue;
	uint32_t *linger; /* ring of LINGER entries; 0: none. NULL: no line */
	size_t oldest, n_linger;
	struct sessions sessions;
	struct peers peers;
};

struct join *join_new(struct facts *out, struct losses *ls,
		      const struct frames *fr)
{
	struct join *jn = mem_new(1, sizeof(*jn));

	jn->out = out;
	jn->losses = ls;
	jn->frames = fr;
	cookies_init(&jn->cookies);
	waits_init(&jn->waits, out);
	return jn;
}

void join_free(struct join *jn)
{
	if (!jn)
		return;
	cookies_release(&jn->cookies);
	waits_release(&jn->waits);
	unwinders_release(&jn->unwinders);
	sessions_release(&jn->sessions);
	peers_release(&jn->peers);
	free(jn->linger);
	free(jn->queue);
	free(jn);
}

void join_source(struct join *jn, uint16_t source,
		 const struct source_info *info)
{
	struct session *se = sessions_at(&jn->sessions, source);

	se->overwrite = info->overwrite;
	se->injected = info->injected;
	se->has_time = info->has_time;
	se->system_wide = info->system_wide;
	se->cookies = info->cookies;
	se->last = info->last_ns <= INT64_MAX ? (int64_t)info->last_ns : 0;
	waits_source(&jn->waits, source);
}

void join_together(struct join *jn, uint16_t source, uint16_t first)
{
	sessions_together(&jn->sessions, source, first);
}

struct join_task *join_task_of(struct join *jn, uint16_t source, uint32_t row,
			       struct join_task *view)
{
	if (session_is_alone(jn->sessions.at[source]))
		return view;
	return peers_task(&jn->peers, row, view);
}

void join_last(struct join *jn, uint16_t source, int64_t time)
{
	if (time != TIME_NONE)
		jn->sessions.at[source]->last = time;
}

void join_other(struct join *jn, uint16_t source, uint32_t event)
{
	waits_other(&jn->waits, source, event);
}

void join_totals(const struct join *jn, uint16_t source,
		 struct cookie_totals *out)
{
	*out = jn->sessions.at[source]->totals;
}

static struct cookie_entry *entry_at(struct join *jn, uint32_t i)
{
	return &jn->cookies.entry[i];
}

static struct session *session_at(struct join *jn, uint16_t source)
{
	return jn->sessions.at[source];
}

/* The captures of a set, one after the other: NULL for the first. */
static struct session *next_of(struct join *jn, const struct cookie_entry *e,
			       uint64_t set, const struct session *se)
{
	struct session *head = session_at(jn, e->line);
	struct session *p = se ? se->next : head;

	for (; !se || p != head; p = p->next) {
		if (set & p->bit)
			return p;
		se = p;
	}
	return NULL;
}

/* What is known of a request when its sample comes. */
static struct fact_request request_of(const struct join_sample *s)
{
	return (struct fact_request){
		.event = s->event,
		.cookie = s->cookie,
		.ip = s->ip,
		.flags = s->ip ? VERDICT_USER_HIT : 0,
		.latency = TIME_NONE,
		.exec = TIME_NONE,
		.until = TIME_NONE,
		.held = TIME_NONE,
	};
}

static uint32_t add_wait(struct join *jn, const struct join_task *task,
			 const struct join_sample *s)
{
	struct wait w = {
		.r = request_of(s),
		.time = s->time,
		.execs = task->execs,
		.tid = s->tid,
		.source = s->source,
	};

	if (s->reused_tid)
		w.r.flags |= VERDICT_REUSED_TID;
	if (s->first_lost)
		w.r.flags |= VERDICT_FIRST_LOST;
	if (s->nonce)
		w.r.flags |= VERDICT_NONCE;
	w.alone =
		s->nonce || session_at(jn, s->source)->cookies != COOKIES_PERF;
	return waits_add(&jn->waits, &w);
}

static void wait_for_chain(struct join *jn, struct cookie_entry *e, uint32_t i)
{
	if (e->last)
		jn->waits.wait[e->last].next = i;
	else
		e->first = i;
	e->last = i;
	jn->waits.wait[i].next = 0;
}

static int64_t latency(struct join *jn, const struct cookie_entry *e,
		       int64_t sample)
{
	int64_t d;

	if (!session_at(jn, e->chain.source)->has_time || sample == TIME_NONE ||
	    e->chain.time == TIME_NONE ||
	    __builtin_sub_overflow(e->chain.time, sample, &d))
		return TIME_NONE;
	return d;
}

/* Did the task exec since `from`? Without times the number of its execs
 * tells, if it is known that both halves are of one task. */
static bool exec_since(const struct join_task *t, const struct cookie_entry *e,
		       const struct wait *w, bool after)
{
	int64_t from = after ? e->chain.time : w->time;

	if (from != TIME_NONE)
		return t->has_exec && t->exec > from;
	if (w->tid < 0 || e->chain.tid < 0)
		return false;
	return t->execs != (after ? e->chain_execs : w->execs);
}

/* Its own capture has the chain too. */
static bool has_copy(struct join *jn, const struct cookie_entry *e,
		     const struct wait *w)
{
	return e->told_by & session_at(jn, w->source)->bit;
}

/* The sample got its chain. after: the chain came first. Whether that is in
 * its own capture as well may show later. */
static void match(struct join *jn, struct cookie_entry *e,
		  const struct join_task *t, uint32_t i, bool after)
{
	struct wait *w = &jn->waits.wait[i];

	w->r.chain = e->chain.id;
	w->r.uraw = e->chain.uraw;
	w->r.verdict = REQ_MATCHED;
	w->r.confidence = CONF_PROVED;
	w->r.latency = latency(jn, e, w->time);
	if (after)
		w->r.flags |= VERDICT_AFTER;
	if (exec_since(t, e, w, after)) {
		w->r.flags |= VERDICT_EXEC;
		w->r.exec = t->exec;
	}
	e->n_events++;
	if (has_copy(jn, e, w))
		waits_decided(&jn->waits, i);
	else
		wait_for_chain(jn, e, i);
}

static void match_waiting(struct join *jn, struct cookie_entry *e,
			  const struct join_task *t)
{
	uint32_t i = e->first;

	e->first = e->last = 0;
	for (uint32_t next; i; i = next) {
		next = jn->waits.wait[i].next;
		match(jn, e, t, i, false);
	}
}

/* The chain came again, in another capture: its samples need not wait. */
static void match_copies(struct join *jn, struct cookie_entry *e)
{
	uint32_t i = e->first;

	e->first = e->last = 0;
	for (uint32_t next; i; i = next) {
		next = jn->waits.wait[i].next;
		if (has_copy(jn, e, &jn->waits.wait[i]))
			waits_decided(&jn->waits, i);
		else
			wait_for_chain(jn, e, i);
	}
}

/* Why there is no chain, the same for all samples of one capture. */
static struct fact_request
why_none(struct join *jn, const struct cookie_entry *e, uint16_t source)
{
	struct fact_request why = { .event = 0 };
	const struct unwinder_life life =
		unwinders_life(&jn->unwinders, e->thread, e->process);

	excuse_request(jn->losses, session_at(jn, source), e, &life, &why);
	return why;
}

static void give_up_waiting(struct join *jn, struct cookie_entry *e)
{
	struct fact_request why = { .event = 0 };
	int source = -1;

	for (uint32_t i = e->first, next; i; i = next) {
		struct wait *w = &jn->waits.wait[i];

		next = w->next;
		if (e->has_chain) {
			w->r.flags |= VERDICT_OTHER_CAPTURE;
			waits_decided(&jn->waits, i);
			continue;
		}
		if (source != w->source)
			why = why_none(jn, e, w->source);
		source = w->source;
		w->r.verdict = why.verdict;
		w->r.confidence = why.confidence;
		w->r.end = why.end;
		w->r.until = why.until;
		w->r.loss = why.loss;
		waits_decided(&jn->waits, i);
	}
	e->first = e->last = 0;
}

static enum quality quality_of(const struct join_chain *c)
{
	if (!c->n)
		return QUALITY_EMPTY;
	if (c->n == 1)
		return QUALITY_ONE;
	return c->n >= CHAIN_LIMIT ? QUALITY_CUT : QUALITY_OPEN;
}

/* A used chain; the caller says what is different. */
static struct fact chain_fact(const struct join_chain *c)
{
	struct fact f = {
		.kind = FACT_CHAIN,
		.chain = {
			.id = c->id,
			.time = c->time,
			.cpu = c->cpu,
			.thread = c->thread,
			.source = c->source,
			.cookie = c->cookie,
			.uraw = c->uraw,
			.verdict = CHAIN_USED,
			.confidence = CONF_PROVED,
			.quality = quality_of(c),
			.from = TIME_NONE,
		},
	};

	if (c->after_exit)
		f.chain.flags |= VERDICT_AFTER_EXIT;
	if (c->reused_tid)
		f.chain.flags |= VERDICT_REUSED_TID;
	if (c->parts)
		f.chain.flags |= VERDICT_PARTS;
	if (c->unproved)
		f.chain.flags |= VERDICT_UNPROVED;
	if (c->nonce)
		f.chain.flags |= VERDICT_NONCE;
	return f;
}

static void resolve_chain(struct join *jn, const struct cookie_entry *e)
{
	struct session *se = NULL;
	struct fact f = chain_fact(&e->chain);

	f.chain.n_events = e->n_events;
	if (e->n_events && !(e->asked_by & e->told_by))
		f.chain.flags |= VERDICT_OTHER_CAPTURE;
	if (!e->n_events) {
		excuse_chain(jn->losses, session_at(jn, e->chain.source), e,
			     &f.chain);
		while ((se = next_of(jn, e, e->told_by, se))) {
			se->totals.no_sample++;
			se->totals.foreign += f.chain.verdict == CHAIN_FOREIGN;
		}
	}
	facts_push(jn->out, &f);
}

/* Everything about the entry is known that ever will be. */
static void resolve(struct join *jn, uint32_t i)
{
	struct cookie_entry *e = entry_at(jn, i);
	struct session *se = NULL;

	give_up_waiting(jn, e);
	if (e->has_chain)
		resolve_chain(jn, e);
	else
		while ((se = next_of(jn, e, e->asked_by, se)))
			se->totals.no_chain++;
	cookies_drop(&jn->cookies, i);
}

/* Decides the older half of what waits for the end, by what is known now. */
static void resolve_half(struct join *jn)
{
	size_t n = (jn->n_queue + 1) / 2;

	if (!n)
		return;
	for (size_t k = 0; k < n; k++)
		resolve(jn, jn->queue[k]);
	jn->n_queue -= n;
	memmove(jn->queue, jn->queue + n, jn->n_queue * sizeof(*jn->queue));
}

static void queue_unresolved(struct join *jn, uint32_t i)
{
	if (jn->n_queue >= UNRESOLVED_MAX)
		resolve_half(jn);
	jn->queue = mem_grow(jn->queue, &jn->cap_queue, jn->n_queue + 1,
			     sizeof(*jn->queue));
	jn->queue[jn->n_queue++] = i;
}

/* The oldest of those that are kept for other captures goes; i 0: nothing
 * comes in its place. */
static void linger(struct join *jn, uint32_t i)
{
	if (!jn->linger)
		jn->linger = mem_new(LINGER, sizeof(*jn->linger));
	uint32_t old = jn->linger[jn->oldest];

	jn->linger[jn->oldest] = i;
	jn->oldest = (jn->oldest + 1) % LINGER;
	jn->n_linger += (i != 0) - (size_t)(old != 0);
	if (old)
		resolve(jn, old);
}

static void resolve_lingering(struct join *jn)
{
	while (jn->n_linger)
		linger(jn, 0);
}

/* The entry leaves its thread's list of recent cookies. */
static void evict(struct join *jn, uint32_t i)
{
	const struct cookie_entry *e = entry_at(jn, i);

	if (!e->has_chain || !e->n_events)
		queue_unresolved(jn, i);
	else if (session_is_alone(session_at(jn, e->line)))
		resolve(jn, i);
	else
		linger(jn, i);
}

/* Its chain should have been written by then. */
static void close_entry(struct join *jn, uint32_t i, enum request_end why,
			int64_t time)
{
	struct cookie_entry *e = entry_at(jn, i);

	if (e->end)
		return;
	e->end = why;
	e->closed_at = time;
}

/* Puts a new cookie in front: the one before it is closed by that. */
static void remember(struct join *jn, struct join_cookies *line, uint32_t i,
		     int64_t time)
{
	uint32_t newest = line->recent[0];

	if (newest && !entry_at(jn, newest)->end) {
		const struct cookie_entry *e = entry_at(jn, newest);
		bool bare = !e->has_chain && !e->nonce;
		struct session *se = NULL;

		close_entry(jn, newest, END_COOKIE, time);
		while (bare && (se = next_of(jn, e, e->asked_by, se)))
			se->n_closed++;
	}
	if (line->recent[JOIN_RECENT - 1])
		evict(jn, line->recent[JOIN_RECENT - 1]);
	memmove(line->recent + 1, line->recent,
		(JOIN_RECENT - 1) * sizeof(*line->recent));
	line->recent[0] = i;
	/* tid -1 is no task but several: when this one was seen is not known */
	if (line->seen && entry_at(jn, i)->tid >= 0)
		entry_at(jn, i)->before = line->last;
	entry_at(jn, i)->has_mark = line->has_mark;
	line->has_mark = false;
}

static void see(struct join_cookies *line, int64_t time)
{
	line->seen = true;
	line->last = time;
}

static struct join_cookies *line_of(struct join_task *task, bool nonce)
{
	return nonce ? &task->nonces : &task->cookies;
}

/* Samples that hit the thread while it unwound itself for entry i: they are
 * later than its request, and it answers now. */
static void mark_hits(struct join *jn, const struct join_cookies *line,
		      uint32_t i)
{
	uint64_t asked = entry_at(jn, i)->asked;

	for (size_t k = 0; k < JOIN_RECENT && line->recent[k]; k++) {
		struct cookie_entry *e = entry_at(jn, line->recent[k]);

		if (asked && e->asked > asked && !e->has_chain)
			e->in_unwinder = true;
	}
}

void join_sample(struct join *jn, struct join_task *task,
		 const struct join_sample *s)
{
	if (waits_full(&jn->waits) && !waits_make_room(&jn->waits)) {
		resolve_half(jn);
		resolve_lingering(jn);
		waits_make_room(&jn->waits);
	}
	const struct session *se = session_at(jn, s->source);
	const struct cookie_key key = { s->cookie, s->tid, se->line, s->nonce };
	struct join_cookies *line = line_of(task, s->nonce);
	uint32_t i = cookies_find(&jn->cookies, &key);

	if (!i) {
		i = cookies_new(&jn->cookies, &key);
		if (s->tid < 0)
			queue_unresolved(jn, i);
		else
			remember(jn, line, i, s->time);
	}
	struct cookie_entry *e = entry_at(jn, i);

	see(line, s->time);
	if (s->nonce && !e->asked)
		e->asked = unwinders_tick(&jn->unwinders);
	e->thread = s->thread;
	e->process = s->process;
	e->asked_by |= se->bit;
	if (!e->first)
		e->sample_time = s->time;
	e->last_time = s->time;
	if (waits_full(&jn->waits)) {
		give_up_waiting(jn, e);
		waits_make_room(&jn->waits);
	}
	if (e->has_chain)
		match(jn, e, task, add_wait(jn, task, s), true);
	else
		wait_for_chain(jn, e, add_wait(jn, task, s));
}

/* Do both have the same addresses? What these are may look different to two
 * captures. */
static bool same_addresses(const struct join *jn, uint32_t a, uint32_t b)
{
	if (a == b)
		return true;
	if (!a || !b || !jn->frames)
		return false;
	const struct raw_chain *x = frames_get_raw(jn->frames, a);
	const struct raw_chain *y = frames_get_raw(jn->frames, b);

	return x->n == y->n && !memcmp(x->ip, y->ip, x->n * sizeof(*x->ip));
}

/* Did another capture of its kernel record it before? */
static bool is_copy(struct join *jn, const struct cookie_entry *e,
		    const struct join_chain *c)
{
	return !(e->told_by & session_at(jn, c->source)->bit) &&
	       same_addresses(jn, c->uraw, e->chain.uraw);
}

static void take_copy(struct join *jn, struct cookie_entry *e,
		      const struct join_chain *c)
{
	struct fact f = {
		.kind = FACT_COPY,
		.copy = {
			.chain = e->chain.id,
			.time = c->time,
			.cpu = c->cpu,
			.source = c->source,
		},
	};

	e->told_by |= session_at(jn, c->source)->bit;
	match_copies(jn, e);
	facts_push(jn->out, &f);
}

/* A second chain for a cookie that has one: written twice by perf record, or
 * once for each event that listens; anything else is a conflict. */
static void second_chain(struct join *jn, const struct cookie_entry *e,
			 const struct join_chain *c)
{
	struct fact f = chain_fact(c);

	f.chain.verdict = CHAIN_DUPLICATE;
	if (!c->duplicate && !same_addresses(jn, c->uraw, e->chain.uraw)) {
		f.chain.confidence = CONF_UNEXPLAINED;
		f.chain.flags |= VERDICT_CONFLICT;
	}
	facts_push(jn->out, &f);
}

/* For what the others make of it, a copy is the chain that it is one of. */
static void count_chain(struct join *jn, const struct join_chain *c,
			const struct cookie_entry *e)
{
	struct session *se = session_at(jn, c->source);

	if (c->nonce) {
		unwinders_tick(&jn->unwinders);
		unwinders_logged(&jn->unwinders, c->thread, c->process);
		se->n_logged++;
	} else {
		struct join_chain own = *c;

		if (e && e->has_chain && is_copy(jn, e, c))
			own.id = e->chain.id;
		se->n_chains++;
		waits_chain(&jn->waits, &own);
	}
}

bool join_chain(struct join *jn, struct join_task *task,
		const struct join_chain *c)
{
	const struct session *se = session_at(jn, c->source);
	const struct cookie_key key = { c->cookie, c->tid, se->line, c->nonce };
	struct join_cookies *line = line_of(task, c->nonce);
	uint32_t i = cookies_find(&jn->cookies, &key);

	count_chain(jn, c, i ? entry_at(jn, i) : NULL);
	if (i && entry_at(jn, i)->has_chain) {
		bool copy = is_copy(jn, entry_at(jn, i), c);

		if (copy)
			take_copy(jn, entry_at(jn, i), c);
		else
			second_chain(jn, entry_at(jn, i), c);
		return !copy;
	}
	if (!i) {
		i = cookies_new(&jn->cookies, &key);
		remember(jn, line, i, c->time);
	}
	if (c->nonce)
		mark_hits(jn, line, i);
	struct cookie_entry *e = entry_at(jn, i);

	e->has_chain = true;
	e->told_by = se->bit;
	e->chain = *c;
	e->chain_execs = task->execs;
	if (c->tid >= 0 && e->tid != c->tid)
		cookies_set_tid(&jn->cookies, i, c->tid);
	see(line, c->time);
	match_waiting(jn, e, task);
	return true;
}

/* A request that waits for no chain. */
static void push_request(struct join *jn, const struct join_sample *s,
			 enum request_verdict v, enum confidence conf)
{
	struct fact f = { .kind = FACT_REQUEST, .request = request_of(s) };

	f.request.verdict = v;
	f.request.confidence = conf;
	facts_push(jn->out, &f);
}

void join_mark(struct join *jn, struct join_task *task,
	       const struct join_sample *s)
{
	struct join_cookies *line = &task->cookies;

	line->has_mark = true;
	if (line->recent[0] && !entry_at(jn, line->recent[0])->n_events)
		entry_at(jn, line->recent[0])->has_mark = true;
	push_request(jn, s, REQ_UNJOINABLE, CONF_EXPLAINED);
}

void join_refused(struct join *jn, const struct join_sample *s)
{
	struct join_sample taken = *s;

	taken.ip = 0; /* the sample's own user half has it */
	push_request(jn, &taken, REQ_REFUSED, CONF_PROVED);
}

static void retire_line(struct join *jn, struct join_cookies *line,
			enum join_reason why, int64_t end)
{
	for (size_t k = JOIN_RECENT; k-- > 0;) {
		uint32_t i = line->recent[k];

		if (!i)
			continue;
		line->recent[k] = 0;
		if (why != JOIN_CAPTURE)
			close_entry(jn, i,
				    why == JOIN_EXIT ? END_EXIT : END_REUSED,
				    end);
		evict(jn, i);
	}
}

void join_retire(struct join *jn, struct join_task *task, enum join_reason why,
		 int64_t end)
{
	struct join_task behind;

	if (task->peer) {
		if (!peers_retire(&jn->peers, task, &why, &end, &behind))
			return;
		task = &behind;
	}
	retire_line(jn, &task->cookies, why, end);
	retire_line(jn, &task->nonces, why, end);
}

void join_end(struct join *jn)
{
	resolve_lingering(jn);
	for (size_t k = 0; k < jn->n_queue; k++)
		resolve(jn, jn->queue[k]);
	jn->n_queue = 0;
	waits_end(&jn->waits);
}
