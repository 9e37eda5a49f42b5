/* join.c - which deferred chain belongs to which sample, and why one is
 * missing.
 *
 * An entry is one cookie of one capture. Between two calls every entry is
 * either in its thread's recent[] list or in the queue of those that wait for
 * the end. Entries of one (cookie, source) form a list whose head is in the
 * table by_cookie; kernels give a cookie to one thread only, so that it is
 * mostly the head alone. The others are found by (cookie, source, tid). */
#include "stitch/join.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/counters.h"
#include "stitch/facts.h"
#include "stitch/losses.h"
#include "stitch/mem.h"
#include "stitch/stitch.h"
#include "stitch/table.h"

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

struct entry {
	uint64_t cookie;
	uint16_t source;
	int32_t tid;
	bool used;
	uint32_t newer, older; /* of the same cookie; 0: none. Head: older 0 */
	uint32_t first, last;  /* waiting; 0: none */
	uint32_t n_events;     /* samples that got the chain */
	bool has_chain, has_mark;
	struct join_chain chain;
	uint32_t chain_execs;
	int64_t sample_time; /* of the first sample */
	int64_t before;	     /* time of the record before it */
	bool closed;	     /* a newer cookie or the EXIT followed */
	int64_t closed_at;   /* its time */
	bool exited;	     /* the thread's EXIT followed */
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
	struct entry *entry; /* [0] is not used */
	struct waiting *wait;
	size_t n_entry, cap_entry, n_wait, cap_wait, waiting;
	uint32_t free_entry, free_wait;
	struct table by_cookie, by_tid; /* heads; all others */
	uint32_t *queue;		/* entries that wait for the end */
	size_t n_queue, cap_queue;
	struct session *session;
	size_t n_session, cap_session;
};

struct join *join_new(struct facts *out, struct losses *ls)
{
	struct join *jn = mem_new(1, sizeof(*jn));

	jn->out = out;
	jn->losses = ls;
	jn->n_entry = jn->n_wait = 1;
	jn->entry = mem_grow(NULL, &jn->cap_entry, 1, sizeof(*jn->entry));
	jn->wait = mem_grow(NULL, &jn->cap_wait, 1, sizeof(*jn->wait));
	return jn;
}

void join_free(struct join *jn)
{
	if (!jn)
		return;
	table_release(&jn->by_cookie);
	table_release(&jn->by_tid);
	free(jn->session);
	free(jn->entry);
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

static uint64_t key_of(uint64_t cookie, uint16_t source)
{
	return hash_pair(cookie, source);
}

static uint64_t tid_key_of(uint64_t cookie, uint16_t source, int32_t tid)
{
	return hash_pair(cookie, (uint64_t)(uint32_t)tid << 32 | source);
}

struct entry_key {
	uint64_t cookie;
	int32_t tid;
	uint16_t source;
};

static bool same_cookie(const void *owner, uint32_t id, const void *key)
{
	const struct entry *e = &((const struct join *)owner)->entry[id];
	const struct entry_key *k = key;

	return e->cookie == k->cookie && e->source == k->source;
}

static bool same_tid(const void *owner, uint32_t id, const void *key)
{
	const struct entry *e = &((const struct join *)owner)->entry[id];
	const struct entry_key *k = key;

	return same_cookie(owner, id, key) && e->tid == k->tid;
}

static uint32_t find_head(const struct join *jn, uint64_t cookie,
			  uint16_t source)
{
	struct entry_key k = { .cookie = cookie, .source = source };
	uint32_t i = table_find(&jn->by_cookie, key_of(cookie, source),
				same_cookie, jn, &k);

	return i == TABLE_NONE ? 0 : i;
}

static uint32_t find_tid(const struct join *jn, uint64_t cookie, int32_t tid,
			 uint16_t source)
{
	struct entry_key k = { cookie, tid, source };
	uint32_t i = table_find(&jn->by_tid, tid_key_of(cookie, source, tid),
				same_tid, jn, &k);

	return i == TABLE_NONE ? 0 : i;
}

/* A thread that is already unhashed has tid -1: then the cookie decides. */
static uint32_t find_entry(const struct join *jn, uint64_t cookie, int32_t tid,
			   uint16_t source)
{
	uint32_t i = find_head(jn, cookie, source);

	if (!i || tid < 0 || jn->entry[i].tid < 0 || jn->entry[i].tid == tid)
		return i;
	if (!jn->entry[i].newer)
		return 0;
	i = find_tid(jn, cookie, tid, source);
	return i ? i : find_tid(jn, cookie, -1, source);
}

static void index_other(struct join *jn, uint32_t i, bool add)
{
	const struct entry *e = &jn->entry[i];
	uint64_t key = tid_key_of(e->cookie, e->source, e->tid);

	if (add)
		table_add(&jn->by_tid, key, i);
	else
		table_remove(&jn->by_tid, key, i);
}

static void index_entry(struct join *jn, uint32_t i)
{
	struct entry *e = &jn->entry[i];
	uint32_t head = find_head(jn, e->cookie, e->source);

	if (!head) {
		table_add(&jn->by_cookie, key_of(e->cookie, e->source), i);
		return;
	}
	e->older = head;
	e->newer = jn->entry[head].newer;
	jn->entry[head].newer = i;
	if (e->newer)
		jn->entry[e->newer].older = i;
	index_other(jn, i, true);
}

static void unindex_entry(struct join *jn, uint32_t i)
{
	struct entry *e = &jn->entry[i];
	uint64_t key = key_of(e->cookie, e->source);

	if (e->newer)
		jn->entry[e->newer].older = e->older;
	if (e->older) {
		jn->entry[e->older].newer = e->newer;
		index_other(jn, i, false);
		return;
	}
	table_remove(&jn->by_cookie, key, i);
	if (!e->newer)
		return;
	index_other(jn, e->newer, false);
	table_add(&jn->by_cookie, key, e->newer);
}

/* The sample did not know whose it is, the chain does. */
static void set_tid(struct join *jn, uint32_t i, int32_t tid)
{
	bool other = jn->entry[i].older != 0;

	if (other)
		index_other(jn, i, false);
	jn->entry[i].tid = tid;
	if (other)
		index_other(jn, i, true);
}

static uint32_t new_entry(struct join *jn, uint64_t cookie, int32_t tid,
			  uint16_t source)
{
	uint32_t i = jn->free_entry;

	if (i) {
		jn->free_entry = jn->entry[i].first;
	} else {
		jn->entry = mem_grow(jn->entry, &jn->cap_entry, jn->n_entry + 1,
				     sizeof(*jn->entry));
		i = (uint32_t)jn->n_entry++;
	}
	jn->entry[i] = (struct entry){
		.cookie = cookie,
		.tid = tid,
		.source = source,
		.used = true,
		.closed_at = TIME_NONE,
		.sample_time = TIME_NONE,
		.before = TIME_NONE,
	};
	index_entry(jn, i);
	return i;
}

static void drop_entry(struct join *jn, uint32_t i)
{
	struct entry *e = &jn->entry[i];

	unindex_entry(jn, i);
	e->used = false;
	e->first = jn->free_entry;
	jn->free_entry = i;
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

static void wait_for_chain(struct join *jn, struct entry *e,
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

static int64_t latency(const struct join *jn, const struct entry *e,
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
static bool exec_since(const struct join_task *t, const struct entry *e,
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
static void match(struct join *jn, struct entry *e, const struct join_task *t,
		  const struct waiting *w, bool after)
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

static void match_waiting(struct join *jn, struct entry *e,
			  const struct join_task *t)
{
	for (uint32_t i = e->first; i; i = stop_waiting(jn, i))
		match(jn, e, t, &jn->wait[i], false);
	e->first = e->last = 0;
}

/* When the chain should have been written at the latest; INT64_MAX: not
 * known. That of a thread that ended comes after its EXIT. */
static int64_t due(const struct entry *e)
{
	if (e->closed_at == TIME_NONE)
		return INT64_MAX;
	if (e->exited && e->closed_at < INT64_MAX - AFTER_EXIT_NS)
		return e->closed_at + AFTER_EXIT_NS;
	return e->closed_at;
}

/* Why has this cookie no chain? */
static enum request_verdict no_chain(struct join *jn, const struct entry *e,
				     enum confidence *conf)
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

static void give_up_waiting(struct join *jn, struct entry *e)
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
static enum chain_verdict no_sample(struct join *jn, const struct entry *e,
				    enum confidence *conf)
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
	struct entry *e = &jn->entry[i];

	give_up_waiting(jn, e);
	if (e->has_chain) {
		enum confidence conf = CONF_PROVED;
		enum chain_verdict v = CHAIN_USED;

		if (!e->n_events)
			v = no_sample(jn, e, &conf);
		push_chain(jn, &e->chain, v, conf, e->n_events, 0);
	}
	drop_entry(jn, i);
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
	const struct entry *e = &jn->entry[i];

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

	if (newest && !jn->entry[newest].closed) {
		struct entry *e = &jn->entry[newest];

		e->closed = true;
		e->closed_at = time;
		jn->session[e->source].n_closed += !e->has_chain;
	}
	if (task->recent[JOIN_RECENT - 1])
		evict(jn, task->recent[JOIN_RECENT - 1]);
	memmove(task->recent + 1, task->recent,
		(JOIN_RECENT - 1) * sizeof(*task->recent));
	task->recent[0] = i;
	jn->entry[i].before = task->last;
	jn->entry[i].has_mark = task->has_mark;
	task->has_mark = false;
}

void join_sample(struct join *jn, struct join_task *task,
		 const struct join_sample *s)
{
	struct waiting w = waiting_of(task, s);

	if (jn->waiting >= WAITING_MAX)
		resolve_half(jn);
	uint32_t i = find_entry(jn, s->cookie, s->tid, s->source);

	if (!i) {
		i = new_entry(jn, s->cookie, s->tid, s->source);
		if (s->tid < 0)
			queue_unresolved(jn, i);
		else
			remember(jn, task, i, s->time);
	}
	struct entry *e = &jn->entry[i];

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
static void second_chain(struct join *jn, const struct entry *e,
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
	uint32_t i = find_entry(jn, c->cookie, c->tid, c->source);

	jn->session[c->source].n_chains++;
	if (i && jn->entry[i].has_chain) {
		second_chain(jn, &jn->entry[i], c);
		return;
	}
	if (!i) {
		i = new_entry(jn, c->cookie, c->tid, c->source);
		remember(jn, task, i, c->time);
	}
	struct entry *e = &jn->entry[i];

	e->has_chain = true;
	e->chain = *c;
	e->chain_execs = task->execs;
	if (c->tid >= 0 && e->tid != c->tid)
		set_tid(jn, i, c->tid);
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
	if (task->recent[0] && !jn->entry[task->recent[0]].n_events)
		jn->entry[task->recent[0]].has_mark = true;
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
		if (why != JOIN_CAPTURE && !jn->entry[i].closed) {
			jn->entry[i].exited = why == JOIN_EXIT;
			jn->entry[i].closed = true;
			jn->entry[i].closed_at = end;
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
