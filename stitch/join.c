/* join.c - which deferred chain belongs to which sample, and why one is
 * missing.
 *
 * Between two calls every cookie is either in its thread's recent[] list or in
 * the queue of those that wait for the end. */
#include "stitch/join.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/cookies.h"
#include "stitch/counters.h"
#include "stitch/facts.h"
#include "stitch/losses.h"
#include "stitch/mem.h"
#include "stitch/stitch.h"

/* Entries without their other half are kept this long, so that a LOST record
 * that comes much later can still explain them. */
#define UNRESOLVED_MAX (1u << 17)
/* kernel/unwind/deferred.c (7.2): one page of addresses is the limit. */
#define CHAIN_LIMIT 508
/* Samples that wait for chains: not even a capture made to hurt fills the
 * memory with them. */
#define WAITING_MAX (1u << 20)
/* From EXIT to the chain; up to 0.4 ms was seen (formats.md C.3). */
#define AFTER_EXIT_NS 2000000

/* A sample that waits for its chain. */
struct waiting {
	uint32_t event, next;
	int64_t time;
	uint64_t ip;
	uint32_t execs; /* join_task.execs when it came */
	int32_t tid;
	bool reused_tid;
};

/* What is known of one capture. */
struct session {
	bool overwrite, injected, has_time;
	enum tri system_wide;
	int64_t last; /* time of the last record; 0: not known */
	uint64_t n_chains;
	uint64_t n_closed; /* cookies that ended without a chain */
};

struct join {
	struct facts *out;
	struct losses *losses;
	struct cookies cookies;
	struct waiting *wait; /* [0] is not used */
	size_t n_wait, cap_wait, waiting;
	uint32_t free_wait;
	uint32_t *queue; /* entries that wait for the end */
	size_t n_queue, cap_queue;
	struct session *session;
	size_t n_session, cap_session;
};

struct join *join_new(struct facts *out, struct losses *ls)
{
	struct join *jn = mem_new(1, sizeof(*jn));

	jn->out = out;
	jn->losses = ls;
	cookies_init(&jn->cookies);
	jn->n_wait = 1;
	jn->wait = mem_grow(NULL, &jn->cap_wait, 1, sizeof(*jn->wait));
	return jn;
}

void join_free(struct join *jn)
{
	if (!jn)
		return;
	cookies_release(&jn->cookies);
	free(jn->session);
	free(jn->wait);
	free(jn->queue);
	free(jn);
}

void join_source(struct join *jn, uint16_t source,
		 const struct source_info *info)
{
	size_t old = jn->n_session;

	if (source >= old) {
		jn->session = mem_grow(jn->session, &jn->cap_session,
				       source + 1u, sizeof(*jn->session));
		memset(jn->session + old, 0,
		       (source + 1u - old) * sizeof(*jn->session));
		jn->n_session = source + 1u;
	}
	jn->session[source].overwrite = info->overwrite;
	jn->session[source].injected = info->injected;
	jn->session[source].has_time = info->has_time;
	jn->session[source].system_wide = info->system_wide;
	jn->session[source].last =
		info->last_ns <= INT64_MAX ? (int64_t)info->last_ns : 0;
}

void join_other(struct join *jn, uint16_t source, uint32_t event)
{
	(void)jn;
	(void)source;
	(void)event;
}

void join_totals(const struct join *jn, uint16_t source,
		 struct counters_end *out)
{
	(void)jn;
	(void)source;
	*out = (struct counters_end){ 0 };
}

/* Were records dropped in (from, to)? Which ring lost is not asked: a task
 * may return to user mode on any CPU. */
static bool lost_between(struct join *jn, uint16_t source, int64_t from,
			 int64_t to)
{
	if (!jn->session[source].has_time)
		return losses_any(jn->losses, source);
	return losses_find(jn->losses, source, -1, from, to);
}

static struct cookie_entry *entry_at(struct join *jn, uint32_t i)
{
	return &jn->cookies.entry[i];
}

static struct waiting waiting_of(const struct join_task *task,
				 const struct join_sample *s)
{
	return (struct waiting){
		.event = s->event,
		.time = s->time,
		.ip = s->ip,
		.execs = task->execs,
		.tid = s->tid,
		.reused_tid = s->reused_tid,
	};
}

static void wait_for_chain(struct join *jn, struct cookie_entry *e,
			   const struct waiting *w)
{
	uint32_t i = jn->free_wait;

	if (i) {
		jn->free_wait = jn->wait[i].next;
	} else {
		jn->wait = mem_grow(jn->wait, &jn->cap_wait, jn->n_wait + 1,
				    sizeof(*jn->wait));
		i = (uint32_t)jn->n_wait++;
	}
	jn->wait[i] = *w;
	jn->waiting++;
	if (e->last)
		jn->wait[e->last].next = i;
	else
		e->first = i;
	e->last = i;
}

/* The next one that waited. */
static uint32_t stop_waiting(struct join *jn, uint32_t i)
{
	uint32_t next = jn->wait[i].next;

	jn->wait[i].next = jn->free_wait;
	jn->free_wait = i;
	jn->waiting--;
	return next;
}

static void push_request(struct join *jn, struct fact_request r)
{
	struct fact f = { .kind = FACT_REQUEST, .request = r };

	if (r.ip)
		f.request.flags |= VERDICT_USER_HIT;
	facts_push(jn->out, &f);
}

static int64_t latency(const struct join *jn, const struct cookie_entry *e,
		       int64_t sample)
{
	int64_t d;

	if (!jn->session[e->source].has_time || sample == TIME_NONE ||
	    e->chain.time == TIME_NONE ||
	    __builtin_sub_overflow(e->chain.time, sample, &d))
		return TIME_NONE;
	return d;
}

/* Did the task exec since `from`? Without times the number of its execs
 * tells, if it is known that both halves are of one task. */
static bool exec_since(const struct join_task *t, const struct cookie_entry *e,
		       const struct waiting *w, bool after)
{
	int64_t from = after ? e->chain.time : w->time;

	if (from != TIME_NONE)
		return t->has_exec && t->exec > from;
	if (w->tid < 0 || e->chain.tid < 0)
		return false;
	return t->execs != (after ? e->chain_execs : w->execs);
}

/* The sample got its chain. after: the chain came first. */
static void match(struct join *jn, struct cookie_entry *e,
		  const struct join_task *t, const struct waiting *w,
		  bool after)
{
	struct fact_request r = {
		.event = w->event,
		.cookie = e->cookie,
		.chain = e->chain.id,
		.uraw = e->chain.uraw,
		.ip = w->ip,
		.verdict = REQ_MATCHED,
		.confidence = CONF_PROVED,
		.latency = latency(jn, e, w->time),
	};

	if (after)
		r.flags |= VERDICT_AFTER;
	if (exec_since(t, e, w, after))
		r.flags |= VERDICT_EXEC;
	if (w->reused_tid)
		r.flags |= VERDICT_REUSED_TID;
	e->n_events++;
	push_request(jn, r);
}

static void match_waiting(struct join *jn, struct cookie_entry *e,
			  const struct join_task *t)
{
	for (uint32_t i = e->first; i; i = stop_waiting(jn, i))
		match(jn, e, t, &jn->wait[i], false);
	e->first = e->last = 0;
}

/* When the chain should have been written at the latest; INT64_MAX: not
 * known. That of a thread that ended comes after its EXIT. */
static int64_t due(const struct cookie_entry *e)
{
	if (e->closed_at == TIME_NONE)
		return INT64_MAX;
	if (e->exited && e->closed_at < INT64_MAX - AFTER_EXIT_NS)
		return e->closed_at + AFTER_EXIT_NS;
	return e->closed_at;
}

/* Why has this cookie no chain? */
static enum request_verdict
no_chain(struct join *jn, const struct cookie_entry *e, enum confidence *conf)
{
	struct session *se = &jn->session[e->source];
	int64_t to = due(e);

	*conf = CONF_EXPLAINED;
	/* perf inject (7.2) drops every chain and says nothing of it. */
	if (!se->n_chains && !losses_any(jn->losses, e->source) &&
	    (se->injected || se->n_closed))
		return REQ_STRIPPED;
	if (e->exited && se->system_wide != TRI_YES)
		return REQ_EXIT_PER_TASK;
	if (!e->closed)
		return REQ_PENDING_END;
	if (lost_between(jn, e->source, e->sample_time, to) || se->overwrite)
		return REQ_CHAIN_LOST;
	/* The capture ended between the EXIT and the chain. */
	if (e->exited && se->last && to >= se->last)
		return REQ_PENDING_END;
	*conf = CONF_UNEXPLAINED;
	return REQ_UNEXPLAINED;
}

static void give_up_waiting(struct join *jn, struct cookie_entry *e)
{
	enum confidence conf;
	enum request_verdict v;

	if (!e->first)
		return;
	v = no_chain(jn, e, &conf);
	for (uint32_t i = e->first; i; i = stop_waiting(jn, i)) {
		const struct waiting *w = &jn->wait[i];
		struct fact_request r = {
			.event = w->event,
			.cookie = e->cookie,
			.ip = w->ip,
			.verdict = v,
			.confidence = conf,
			.flags = w->reused_tid ? VERDICT_REUSED_TID : 0,
			.latency = TIME_NONE,
		};

		push_request(jn, r);
	}
	e->first = e->last = 0;
}

/* Why has this chain no sample? */
static enum chain_verdict
no_sample(struct join *jn, const struct cookie_entry *e, enum confidence *conf)
{
	struct session *se = &jn->session[e->source];

	*conf = CONF_EXPLAINED;
	if (e->has_mark)
		return CHAIN_UNJOINABLE;
	if (lost_between(jn, e->source, e->before, e->chain.time))
		return CHAIN_SAMPLE_LOST;
	if (se->overwrite)
		return CHAIN_OVERWRITTEN;
	return CHAIN_FOREIGN;
}

static enum quality quality_of(const struct join_chain *c)
{
	if (!c->n)
		return QUALITY_EMPTY;
	if (c->n == 1)
		return QUALITY_ONE;
	return c->n >= CHAIN_LIMIT ? QUALITY_CUT : QUALITY_OPEN;
}

static void push_chain(struct join *jn, const struct join_chain *c,
		       enum chain_verdict v, enum confidence conf,
		       uint32_t n_events, uint32_t flags)
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
			.verdict = v,
			.confidence = conf,
			.quality = quality_of(c),
			.flags = flags,
			.n_events = n_events,
		},
	};

	if (c->after_exit)
		f.chain.flags |= VERDICT_AFTER_EXIT;
	if (c->reused_tid)
		f.chain.flags |= VERDICT_REUSED_TID;
	facts_push(jn->out, &f);
}

/* Everything about the entry is known that ever will be. */
static void resolve(struct join *jn, uint32_t i)
{
	struct cookie_entry *e = entry_at(jn, i);

	give_up_waiting(jn, e);
	if (e->has_chain) {
		enum confidence conf = CONF_PROVED;
		enum chain_verdict v = CHAIN_USED;

		if (!e->n_events)
			v = no_sample(jn, e, &conf);
		push_chain(jn, &e->chain, v, conf, e->n_events, 0);
	}
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

/* The entry leaves its thread's list of recent cookies. */
static void evict(struct join *jn, uint32_t i)
{
	const struct cookie_entry *e = entry_at(jn, i);

	if (e->has_chain && e->n_events && !e->first)
		resolve(jn, i);
	else
		queue_unresolved(jn, i);
}

/* Puts a new cookie in front: the one before it is closed by that. */
static void remember(struct join *jn, struct join_task *task, uint32_t i,
		     int64_t time)
{
	uint32_t newest = task->recent[0];

	if (newest && !entry_at(jn, newest)->closed) {
		struct cookie_entry *e = entry_at(jn, newest);

		e->closed = true;
		e->closed_at = time;
		jn->session[e->source].n_closed += !e->has_chain;
	}
	if (task->recent[JOIN_RECENT - 1])
		evict(jn, task->recent[JOIN_RECENT - 1]);
	memmove(task->recent + 1, task->recent,
		(JOIN_RECENT - 1) * sizeof(*task->recent));
	task->recent[0] = i;
	entry_at(jn, i)->before = task->last;
	entry_at(jn, i)->has_mark = task->has_mark;
	task->has_mark = false;
}

void join_sample(struct join *jn, struct join_task *task,
		 const struct join_sample *s)
{
	struct waiting w = waiting_of(task, s);

	if (jn->waiting >= WAITING_MAX)
		resolve_half(jn);
	uint32_t i = cookies_find(&jn->cookies, s->cookie, s->tid, s->source);

	if (!i) {
		i = cookies_new(&jn->cookies, s->cookie, s->tid, s->source);
		if (s->tid < 0)
			queue_unresolved(jn, i);
		else
			remember(jn, task, i, s->time);
	}
	struct cookie_entry *e = entry_at(jn, i);

	task->last = s->time;
	if (e->has_chain) {
		match(jn, e, task, &w, true);
		return;
	}
	if (!e->first)
		e->sample_time = s->time;
	if (jn->waiting >= WAITING_MAX)
		give_up_waiting(jn, e);
	wait_for_chain(jn, e, &w);
}

/* A second chain for a cookie that has one: written twice by perf record, or
 * once for each event that listens; anything else is a conflict. */
static void second_chain(struct join *jn, const struct cookie_entry *e,
			 const struct join_chain *c)
{
	bool same = c->duplicate || c->uraw == e->chain.uraw;

	push_chain(jn, c, CHAIN_DUPLICATE,
		   same ? CONF_PROVED : CONF_UNEXPLAINED, 0,
		   same ? 0 : VERDICT_CONFLICT);
}

void join_chain(struct join *jn, struct join_task *task,
		const struct join_chain *c)
{
	uint32_t i = cookies_find(&jn->cookies, c->cookie, c->tid, c->source);

	jn->session[c->source].n_chains++;
	if (i && entry_at(jn, i)->has_chain) {
		second_chain(jn, entry_at(jn, i), c);
		return;
	}
	if (!i) {
		i = cookies_new(&jn->cookies, c->cookie, c->tid, c->source);
		remember(jn, task, i, c->time);
	}
	struct cookie_entry *e = entry_at(jn, i);

	e->has_chain = true;
	e->chain = *c;
	e->chain_execs = task->execs;
	if (c->tid >= 0 && e->tid != c->tid)
		cookies_set_tid(&jn->cookies, i, c->tid);
	task->last = c->time;
	match_waiting(jn, e, task);
}

void join_mark(struct join *jn, struct join_task *task,
	       const struct join_sample *s)
{
	struct fact_request r = {
		.event = s->event,
		.ip = s->ip,
		.verdict = REQ_UNJOINABLE,
		.confidence = CONF_EXPLAINED,
		.latency = TIME_NONE,
	};

	task->has_mark = true;
	if (task->recent[0] && !entry_at(jn, task->recent[0])->n_events)
		entry_at(jn, task->recent[0])->has_mark = true;
	push_request(jn, r);
}

void join_refused(struct join *jn, const struct join_sample *s)
{
	struct fact_request r = {
		.event = s->event,
		.verdict = REQ_REFUSED,
		.confidence = CONF_PROVED,
		.latency = TIME_NONE,
	};

	push_request(jn, r);
}

void join_exec(struct join_task *task, int64_t time)
{
	task->has_exec = true;
	task->exec = time;
	task->execs++;
}

void join_retire(struct join *jn, struct join_task *task, enum join_reason why,
		 int64_t end)
{
	for (size_t k = JOIN_RECENT; k-- > 0;) {
		uint32_t i = task->recent[k];

		if (!i)
			continue;
		task->recent[k] = 0;
		if (why != JOIN_CAPTURE && !entry_at(jn, i)->closed) {
			entry_at(jn, i)->exited = why == JOIN_EXIT;
			entry_at(jn, i)->closed = true;
			entry_at(jn, i)->closed_at = end;
		}
		evict(jn, i);
	}
}

void join_end(struct join *jn)
{
	for (size_t k = 0; k < jn->n_queue; k++)
		resolve(jn, jn->queue[k]);
	jn->n_queue = 0;
}
