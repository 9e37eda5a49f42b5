/* join.c - joins deferred chains to samples, and decides who asked for chains
 * without one.
 *
 * Between two calls, every cookie is in its thread's recent[] list, in the
 * queue of incomplete cookies, or in the ring of the last complete ones,
 * because another record may follow: of another capture that shares the line,
 * or of a cookie that left recent[] before it was complete. A request
 * is output when its verdict and what perf would show are both known. */
#include "stitch/join/join.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/fact_queue.h"
#include "stitch/join/cookies.h"
#include "stitch/join/missing_reason.h"
#include "stitch/join/sessions.h"
#include "stitch/join/unwinders.h"
#include "stitch/record.h"
#include "stitch/tasks/frame.h"

#define WAITING_MAX (1u << 20)

/* Unique for each (source, tid), so the hash is the key. */
static uint64_t pending_tid_key(uint16_t source, int32_t tid)
{
	return hash_u64((uint64_t)source << 32 | (uint32_t)tid);
}

/* Notes that perf holds the sample of a request, whose source and tid are
 * set. */
static void pending_requests_hold(struct pending_requests *ws, uint32_t i)
{
	struct pending_request *w = &ws->wait[i];
	uint64_t key = pending_tid_key(w->source, w->tid);
	uint32_t first = table_find_hash(&ws->by_tid, key);

	w->held = true;
	w->left = w->right = i;
	if (first == TABLE_NONE) {
		table_add(&ws->by_tid, key, i);
		return;
	}
	w->right = first;
	w->left = ws->wait[first].left;
	ws->wait[w->left].right = i;
	ws->wait[first].left = i;
}

/* Removes a request from the ring of its tid. */
static void pending_release_held(struct pending_requests *ws, uint32_t i)
{
	struct pending_request *w = &ws->wait[i];
	uint64_t key = pending_tid_key(w->source, w->tid);

	w->held = false;
	if (table_remove(&ws->by_tid, key, i) && w->right != i)
		table_add(&ws->by_tid, key, w->right);
	ws->wait[w->left].right = w->right;
	ws->wait[w->right].left = w->left;
}

/* Outputs a request whose verdict and perf result are known. */
static void pending_push_request(struct pending_requests *ws, uint32_t i)
{
	struct pending_request *w = &ws->wait[i];
	struct fact *f = fact_queue_add(ws->out);

	f->kind = FACT_REQUEST;
	f->request = w->r;
	w->next = ws->free;
	ws->free = i;
	ws->used--;
}

/* Notes that a verdict is set; outputs the request if perf's result is
 * known. */
static void pending_requests_decided(struct pending_requests *ws, uint32_t i)
{
	struct pending_request *w = &ws->wait[i];

	w->decided = true;
	if (!w->held) {
		pending_push_request(ws, i);
		return;
	}
	w->next = 0;
	w->prev = ws->newest;
	if (ws->newest)
		ws->wait[ws->newest].next = i;
	else
		ws->oldest = i;
	ws->newest = i;
}

/* Notes that a request's perf result is known; outputs it if decided. */
static void pending_settle(struct pending_requests *ws, uint32_t i)
{
	const struct pending_request *w = &ws->wait[i];

	if (!w->decided)
		return;
	if (w->prev)
		ws->wait[w->prev].next = w->next;
	else
		ws->oldest = w->next;
	if (w->next)
		ws->wait[w->next].prev = w->prev;
	else
		ws->newest = w->prev;
	pending_push_request(ws, i);
}

/* Returns the ns between two times; TIME_NONE: one is unknown. */
static int64_t pending_span(int64_t from, int64_t to)
{
	int64_t d;

	if (from == TIME_NONE || to == TIME_NONE ||
	    __builtin_sub_overflow(to, from, &d))
		return TIME_NONE;
	return d;
}

static void pending_mark_late(const struct pending_requests *ws,
			      struct pending_request *w)
{
	if (w->r.event < ws->given[w->source])
		w->r.flags |= VERDICT_PERF_LATE;
}

/* Settles what perf does with all held requests of the chain's tid. */
static void pending_requests_chain(struct pending_requests *ws,
				   const struct join_chain *c)
{
	uint64_t key = pending_tid_key(c->source, c->tid);
	uint32_t first = table_find_hash(&ws->by_tid, key);
	uint32_t i = first;

	if (first == TABLE_NONE)
		return;
	table_remove(&ws->by_tid, key, first);
	do {
		struct pending_request *w = &ws->wait[i];
		uint32_t right = w->right;

		w->held = false;
		w->r.as_perf = w->r.cookie == c->cookie ? AS_PERF_MERGED
							: AS_PERF_BARE;
		w->r.as_tid = c->id;
		w->r.held = pending_span(w->time, c->time);
		pending_mark_late(ws, w);
		raise_to(ws->given[w->source], w->r.event);
		pending_settle(ws, i);
		i = right;
	} while (i != first);
}

/* Returns true if there are too many requests, which bounds the memory for
 * hostile captures. */
static bool pending_requests_full(const struct pending_requests *ws)
{
	return ws->used >= WAITING_MAX;
}

/* Outputs the oldest requests that have a verdict, without what perf shows,
 * until there is room. Returns false if none is left. */
static bool pending_requests_make_room(struct pending_requests *ws)
{
	while (pending_requests_full(ws) && ws->oldest) {
		uint32_t i = ws->oldest;

		pending_release_held(ws, i);
		pending_settle(ws, i);
	}
	return !pending_requests_full(ws);
}

/* A chain without a sample: its samples may have vanished uncounted, or another
 * session asked for it. One chain cannot tell these apart. Another session is
 * proved by its traces in several threads: a session that samples again and
 * again leaves chains that directly follow each other in a thread. */

struct orphan {
	struct fact_chain f;
	uint16_t line;	   /* first source of its line */
	uint64_t chain_by; /* set of captures that have the chain */
	int32_t asked_cpu; /* CPU on which its cookie was made; -1: unknown */
};

/* All zeros but out: empty. */
struct orphans {
	struct fact_queue *out;
	struct orphan *at;
	size_t n, cap;
	/* By row id of the thread: whether a sample requested a stack. */
	bool *asked;
	size_t n_asked, cap_asked;
};

/* Number of orphans that wait for the end. More of them than this are enough to
 * see who asked. */
#define ORPHANS_MAX (1u << 16)

/* Threads that must have orphans which directly follow each other. */
#define THREADS_MIN 2

/* Notes that a sample of the thread requested a stack. */
static void orphans_requested(struct orphans *os, uint32_t thread)
{
	*mem_at(os->asked, os->n_asked, os->cap_asked, thread) = true;
}

COMPARE_BY(orphan_compare, struct orphan, line, f.thread, f.time, f.id);

/* Returns whether the orphans from..to-1 prove another session: two threads
 * have orphans that directly follow each other, or a thread has several but
 * never asked here. They are sorted. */
static bool orphans_prove_session(const struct orphans *os, size_t from,
				  size_t to)
{
	size_t threads = 0;

	for (size_t i = from, next; i < to; i = next) {
		uint32_t thread = os->at[i].f.thread;
		bool follows = false;

		for (next = i + 1; next < to && os->at[next].f.thread == thread;
		     next++)
			follows |=
				os->at[next].f.from != TIME_NONE &&
				os->at[next].f.from == os->at[next - 1].f.time;
		if (next - i > 1 &&
		    (thread >= os->n_asked || !os->asked[thread]))
			return true;
		threads += follows;
	}
	return threads >= THREADS_MIN;
}

/* Outputs an orphan with its verdict. foreign: another session asked for it. */
static void orphans_push(struct orphans *os, struct sessions *ss,
			 const struct orphan *o, bool foreign)
{
	struct session *head = ss->at[o->line];
	struct session *se = head;
	struct fact f = { .kind = FACT_CHAIN, .chain = o->f };

	f.chain.verdict = foreign ? CHAIN_FOREIGN : CHAIN_UNEXPLAINED;
	f.chain.confidence = foreign ? CONF_EXPLAINED : CONF_UNEXPLAINED;
	*fact_queue_add(os->out) = f;
	if (!foreign)
		return;
	do {
		if (o->chain_by & se->bit)
			session_add_foreign(se, o->asked_cpu);
		se = se->next;
	} while (se != head);
}

/* Decides who asked for the orphans so far, and outputs them all. If requests
 * of this session lack their chain without a reason, then records vanished, and
 * the samples of the orphans may have vanished as well. */
static void orphans_judge(struct orphans *os, struct sessions *ss)
{
	sort_items(os->at, os->n, orphan_compare);
	for (size_t i = 0, next; i < os->n; i = next) {
		struct session *head = ss->at[os->at[i].line];

		for (next = i; next < os->n && os->at[next].line == head->line;)
			next++;
		head->other_session |= !head->n_unexplained &&
				       orphans_prove_session(os, i, next);
		for (size_t k = i; k < next; k++)
			orphans_push(os, ss, &os->at[k], head->other_session);
	}
	os->n = 0;
}

/* Takes a chain without a sample and without a loss. It is output when it is
 * known who asked. The nonce of a stack that a process logged may be older
 * than the capture. */
static void orphans_take(struct orphans *os, struct sessions *ss,
			 const struct cookie_entry *e,
			 const struct fact_chain *f)
{
	const struct session *se = ss->at[e->chain.source];
	const struct orphan o = { *f, e->line, e->chain_by,
				  e->chain.asked_cpu };

	if (se->filtered || ss->at[e->line]->other_session)
		orphans_push(os, ss, &o, true);
	else if (e->nonce || se->cookies != COOKIES_PERF)
		orphans_push(os, ss, &o, e->before == TIME_NONE);
	else
		*mem_add(os->at, os->n, os->cap) = o;
	if (os->n >= ORPHANS_MAX)
		orphans_judge(os, ss);
}

/* Number of incomplete entries to keep, because a LOST record that explains
 * them may come much later. */
#define UNRESOLVED_MAX (1u << 17)

/* Number of complete cookies to keep for records of other captures, whose
 * clocks may differ: at a million cookies a second they are 4 ms. */
#define LINGER 4096

struct join {
	struct fact_queue *out;
	struct losses *losses;
	const struct frames *frames;
	struct cookies cookies;
	struct pending_requests pending;
	struct unwinders unwinders;
	struct cookie_list queue; /* incomplete ones, resolved at the end */
	uint32_t *linger; /* ring of LINGER entries; 0: none. NULL: empty */
	size_t oldest, n_linger;
	struct sessions sessions;
	struct shared_threads peers;
	struct orphans orphans;
	struct contradictions contradictions;
	bool dropped_early; /* entries were resolved before the end */
};

struct join *join_new(struct fact_queue *out, struct losses *ls,
		      const struct frames *fr)
{
	struct join *jn = mem_new(1, sizeof(*jn));

	jn->out = out;
	jn->losses = ls;
	jn->frames = fr;
	cookies_init(&jn->cookies);
	jn->pending = (struct pending_requests){ .out = out, .n = 1 };
	jn->pending.wait = mem_grow_to(NULL, &jn->pending.cap, 1,
				       sizeof(*jn->pending.wait));
	jn->orphans.out = out;
	return jn;
}

void join_free(struct join *jn)
{
	if (!jn)
		return;
	cookies_release(&jn->cookies);
	table_release(&jn->pending.by_tid);
	free_all(jn->pending.wait, jn->pending.given);
	unwinders_release(&jn->unwinders);
	sessions_release(&jn->sessions);
	shared_threads_release(&jn->peers);
	free_all(jn->orphans.at, jn->orphans.asked);
	free_all(jn->linger, jn);
}

void join_source(struct join *jn, uint16_t source,
		 const struct source_info *info)
{
	struct session *se = sessions_at(&jn->sessions, source);

	se->overwrite = info->overwrite;
	se->injected = info->injected;
	se->filtered |= info->filtered || info->paused;
	se->has_time = info->has_time;
	se->system_wide = info->system_wide;
	se->cookies = info->cookies;
	se->last = info->last_ns <= INT64_MAX ? (int64_t)info->last_ns : 0;
	mem_reach(jn->pending.given, jn->pending.n_given, jn->pending.cap_given,
		  source + 1u);
}

struct session *join_session(struct join *jn, uint16_t source)
{
	return jn->sessions.at[source];
}

void join_found(struct join *jn, join_found_fn *fn, void *arg)
{
	jn->contradictions = (struct contradictions){ fn, arg };
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
	return shared_threads_task(&jn->peers, row, view);
}

void join_last(struct join *jn, uint16_t source, int64_t time)
{
	if (time != TIME_NONE)
		jn->sessions.at[source]->last = time;
}

void join_other(struct join *jn, uint16_t source, uint32_t event)
{
	raise_to(jn->pending.given[source], event);
}

static struct cookie_entry *join_entry(struct join *jn, uint32_t i)
{
	return &jn->cookies.entry[i];
}

/* Iterates over the captures of a set. Start with se = NULL; returns NULL at
 * the end. */
static struct session *next_session_of(struct join *jn,
				       const struct cookie_entry *e,
				       uint64_t set, const struct session *se)
{
	struct session *head = join_session(jn, e->line);
	struct session *p = se ? se->next : head;

	for (; !se || p != head; p = p->next) {
		if (set & p->bit)
			return p;
		se = p;
	}
	return NULL;
}

/* Sets what is known about a request when its sample comes. */
static void fill_request(struct fact_request *r, const struct join_sample *s)
{
	*r = (struct fact_request){
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

/* Adds the request of a sample and returns its number. */
static uint32_t join_add_request(struct join *jn, const struct join_task *task,
				 const struct join_sample *s)
{
	struct pending_requests *ws = &jn->pending;
	uint32_t i = ws->free;

	if (i) {
		ws->free = ws->wait[i].next;
	} else {
		mem_grow(ws->wait, ws->cap, ws->n + 1);
		i = (uint32_t)ws->n++;
	}
	ws->used++;
	/* It is written in place: a processor waits if it reads in wide pieces
	 * what it has just written in narrow ones (measured: 3 % of an ingest
	 * with many requests). */
	struct pending_request *w = &ws->wait[i];

	*w = (struct pending_request){
		.time = s->time,
		.execs = task->execs,
		.tid = s->tid,
		.source = s->source,
	};
	fill_request(&w->r, s);
	w->r.flags |= s->flags | (s->nonce ? VERDICT_NONCE : 0);
	if (!s->nonce && join_session(jn, s->source)->cookies == COOKIES_PERF)
		pending_requests_hold(&jn->pending, i);
	return i;
}

static void wait_for_chain(struct join *jn, struct cookie_entry *e, uint32_t i)
{
	if (e->last)
		jn->pending.wait[e->last].next = i;
	else
		e->first = i;
	e->last = i;
	jn->pending.wait[i].next = 0;
}

/* Returns true if the task called exec since `from`. In captures without times,
 * compares the number of execs, if both halves are known to be of one task. */
static bool exec_since(const struct join_task *t, const struct cookie_entry *e,
		       const struct pending_request *w, bool after)
{
	int64_t from = after ? e->chain.time : w->time;

	if (from != TIME_NONE)
		return t->has_exec && t->exec > from;
	if (w->tid < 0 || e->chain.tid < 0)
		return false;
	return t->execs != (after ? e->chain_execs : w->execs);
}

static bool has_copy(struct join *jn, const struct cookie_entry *e,
		     const struct pending_request *w)
{
	return e->chain_by & join_session(jn, w->source)->bit;
}

/* Gives the chain to a sample. after: the chain came first. The sample's own
 * capture may still bring the chain later. */
static void join_match_request(struct join *jn, struct cookie_entry *e,
			       const struct join_task *t, uint32_t i,
			       bool after)
{
	struct pending_request *w = &jn->pending.wait[i];

	w->r.chain = e->chain.id;
	w->r.uraw = e->chain.uraw;
	w->r.verdict = e->chain.uraw ? REQ_MATCHED : REQ_EMPTY;
	w->r.confidence = CONF_PROVED;
	w->r.latency = join_session(jn, e->chain.source)->has_time
			       ? pending_span(w->time, e->chain.time)
			       : TIME_NONE;
	if (after)
		w->r.flags |= VERDICT_AFTER;
	if (exec_since(t, e, w, after)) {
		w->r.flags |= VERDICT_EXEC;
		w->r.exec = t->exec;
	}
	e->n_events++;
	if (has_copy(jn, e, w))
		pending_requests_decided(&jn->pending, i);
	else
		wait_for_chain(jn, e, i);
}

/* Matches the samples that wait for the entry's chain, or for another capture's
 * copy of it (t NULL: they are matched already). */
static void join_match_waiting(struct join *jn, struct cookie_entry *e,
			       const struct join_task *t)
{
	uint32_t i = e->first;

	e->first = e->last = 0;
	for (uint32_t next; i; i = next) {
		next = jn->pending.wait[i].next;
		if (t)
			join_match_request(jn, e, t, i, false);
		else if (has_copy(jn, e, &jn->pending.wait[i]))
			pending_requests_decided(&jn->pending, i);
		else
			wait_for_chain(jn, e, i);
	}
}

/* Gives all samples that wait for the entry's chain their final verdict. */
static void give_up_waiting(struct join *jn, struct cookie_entry *e)
{
	struct fact_request why = { .event = 0 };
	int source = -1;

	for (uint32_t i = e->first, next; i; i = next) {
		struct pending_request *w = &jn->pending.wait[i];

		next = w->next;
		if (e->has_chain) {
			w->r.flags |= VERDICT_OTHER_CAPTURE;
			pending_requests_decided(&jn->pending, i);
			continue;
		}
		/* the reason is the same for all samples of a capture */
		if (source != w->source) {
			const struct unwinder_life life = unwinders_life(
				&jn->unwinders, e->thread, e->process);

			why = (struct fact_request){ .event = 0 };
			missing_reason_request(jn->losses,
					       join_session(jn, w->source), e,
					       &life, &why);
		}
		source = w->source;
		if (why.verdict == REQ_UNEXPLAINED && !e->nonce)
			join_session(jn, e->line)->n_unexplained++;
		w->r.verdict = why.verdict;
		w->r.confidence = why.confidence;
		w->r.end = why.end;
		w->r.until = why.until;
		w->r.loss = why.loss;
		pending_requests_decided(&jn->pending, i);
	}
	e->first = e->last = 0;
}

/* kernel/unwind/deferred.c (7.2) limits a chain to one page of addresses. */
#define CHAIN_LIMIT 508

static enum quality chain_quality(const struct join_chain *c)
{
	if (!c->n)
		return QUALITY_EMPTY;
	if (c->n == 1)
		return QUALITY_ONE;
	return c->n >= CHAIN_LIMIT ? QUALITY_CUT : QUALITY_OPEN;
}

/* Sets *f to the fact of a chain that is used. The caller changes what
 * differs. */
static void chain_fill_fact(struct fact *f, const struct join_chain *c)
{
	*f = (struct fact){
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
			.quality = chain_quality(c),
			.flags = c->flags | (c->nonce ? VERDICT_NONCE : 0),
			.from = TIME_NONE,
		},
	};
}

/* Outputs the verdicts of an entry that gets no more records, and drops it. */
static void join_resolve_entry(struct join *jn, uint32_t i)
{
	struct cookie_entry *e = join_entry(jn, i);
	struct session *se = NULL;

	give_up_waiting(jn, e);
	if (!e->has_chain) {
		while ((se = next_session_of(jn, e, e->asked_by, se)))
			se->totals.no_chain++;
		cookies_drop(&jn->cookies, i);
		return;
	}
	struct fact own;
	struct fact *f = e->n_events ? fact_queue_add(jn->out) : &own;

	chain_fill_fact(f, &e->chain);
	f->chain.n_events = e->n_events;
	if (e->n_events && !(e->asked_by & e->chain_by))
		f->chain.flags |= VERDICT_OTHER_CAPTURE;
	/* without a sample, the chain may become an orphan */
	if (!e->n_events) {
		missing_reason_chain(jn->losses,
				     join_session(jn, e->chain.source), e,
				     &own.chain);
		while ((se = next_session_of(jn, e, e->chain_by, se)))
			se->totals.no_sample++;
		if (own.chain.verdict == CHAIN_FOREIGN)
			orphans_take(&jn->orphans, &jn->sessions, e,
				     &own.chain);
		else
			*fact_queue_add(jn->out) = own;
	}
	cookies_drop(&jn->cookies, i);
}

/* Resolves the oldest n entries of the queue with what is known now. */
static void resolve_queued(struct join *jn, size_t n)
{
	for (; n; n--) {
		uint32_t i = jn->queue.first;

		cookies_unlist(&jn->cookies, &jn->queue, i);
		join_resolve_entry(jn, i);
	}
}

static void join_resolve_older_half(struct join *jn)
{
	jn->dropped_early |= jn->queue.n > 0;
	resolve_queued(jn, (jn->queue.n + 1) / 2);
}

static void queue_unresolved(struct join *jn, uint32_t i)
{
	if (jn->queue.n >= UNRESOLVED_MAX)
		join_resolve_older_half(jn);
	cookies_list(&jn->cookies, &jn->queue, i);
}

/* Puts entry i into the ring in place of the oldest, which is resolved. i 0:
 * only resolves the oldest. One that is soon due is prefetched, as it was
 * written megabytes ago. */
static void join_linger_entry(struct join *jn, uint32_t i)
{
	if (!jn->linger)
		jn->linger = mem_new(LINGER, sizeof(*jn->linger));
	uint32_t old = jn->linger[jn->oldest];

	jn->linger[jn->oldest] = i;
	jn->oldest = (jn->oldest + 1) % LINGER;
	jn->n_linger += (i != 0) - (size_t)(old != 0);
	cookies_prefetch(&jn->cookies, jn->linger[(jn->oldest + 8) % LINGER]);
	if (old)
		join_resolve_entry(jn, old);
}

static void resolve_lingering(struct join *jn)
{
	while (jn->n_linger)
		join_linger_entry(jn, 0);
}

/* Moves a queued entry that now has both halves to the ring of complete ones.
 * Otherwise, for a thread with many requests at a time, half of all cookies
 * would stay in the queue, and their chains be output long after later ones. */
static void queue_leave_complete(struct join *jn, uint32_t i)
{
	const struct cookie_entry *e = join_entry(jn, i);

	if (!e->listed || !e->has_chain || !e->n_events)
		return;
	cookies_unlist(&jn->cookies, &jn->queue, i);
	join_linger_entry(jn, i);
}

static void join_evict_entry(struct join *jn, uint32_t i)
{
	const struct cookie_entry *e = join_entry(jn, i);

	if (!e->has_chain || !e->n_events)
		queue_unresolved(jn, i);
	else if (session_is_alone(join_session(jn, e->line)))
		join_resolve_entry(jn, i);
	else
		join_linger_entry(jn, i);
}

/* Notes why and when the entry's chain was due, unless it is closed already. */
static void close_entry(struct join *jn, uint32_t i, enum request_end why,
			int64_t time, int32_t cpu)
{
	struct cookie_entry *e = join_entry(jn, i);

	if (e->end)
		return;
	e->end = why;
	e->closed_at = time;
	e->closed_cpu = cpu;
}

/* Puts a new cookie at the front of the list, which closes the one before. */
static void join_remember_entry(struct join *jn, struct join_cookies *line,
				uint32_t i, int64_t time, int32_t cpu)
{
	uint32_t newest = line->recent[0];

	if (newest && !join_entry(jn, newest)->end) {
		const struct cookie_entry *e = join_entry(jn, newest);
		bool bare = !e->has_chain && !e->nonce;
		struct session *se = NULL;

		close_entry(jn, newest, END_COOKIE, time, cpu);
		while (bare && (se = next_session_of(jn, e, e->asked_by, se)))
			se->n_closed++;
	}
	if (line->recent[JOIN_RECENT - 1])
		join_evict_entry(jn, line->recent[JOIN_RECENT - 1]);
	memmove(line->recent + 1, line->recent,
		(JOIN_RECENT - 1) * sizeof(*line->recent));
	line->recent[0] = i;
	/* tid -1 stands for several tasks, so the time of the last one means
	 * nothing. */
	if (line->seen && join_entry(jn, i)->tid >= 0)
		join_entry(jn, i)->before = line->last;
	join_entry(jn, i)->has_mark = line->has_mark;
	line->has_mark = false;
}

static void join_note_cookie_time(struct join_cookies *line, int64_t time)
{
	line->seen = true;
	line->last = time;
}

static struct join_cookies *join_task_cookies(struct join_task *task,
					      bool nonce)
{
	return nonce ? &task->nonces : &task->cookies;
}

/* Like cookies_find(), but returns 0 for a cookie that was over before: later
 * records get a new entry. */
static uint32_t join_find_open(struct join *jn, const struct cookie_key *key,
			       struct join_half *half)
{
	uint32_t i = cookies_find(&jn->cookies, key);

	if (!i || !contradiction_is_over(&jn->contradictions, join_entry(jn, i),
					 join_session(jn, half->source), half))
		return i;
	cookies_seal(&jn->cookies, i);
	half->again = false; /* this is reported */
	return 0;
}

/* Checks a new cookie for contradictions. */
static void join_check_new(struct join *jn, const struct join_task *task,
			   uint32_t i, struct join_half *half)
{
	struct cookie_entry *e = join_entry(jn, i);
	const uint32_t *recent = task->cookies.recent;
	struct join_past past = { NULL, NULL };

	if (recent[JOIN_RECENT - 1]) {
		past.oldest = join_entry(jn, recent[JOIN_RECENT - 1]);
		past.newest = join_entry(jn, recent[1]);
	}

	e->first_cpu = half->cpu;
	e->first_time = half->time;
	half->again &= !jn->dropped_early;
	contradiction_new_cookie(&jn->contradictions, e,
				 e->older ? join_entry(jn, e->older) : NULL,
				 &past, join_session(jn, half->source), task,
				 half);
}

void join_sample(struct join *jn, struct join_task *task,
		 const struct join_sample *s)
{
	if (pending_requests_full(&jn->pending) &&
	    !pending_requests_make_room(&jn->pending)) {
		join_resolve_older_half(jn);
		resolve_lingering(jn);
		pending_requests_make_room(&jn->pending);
	}
	const struct session *se = join_session(jn, s->source);
	const struct cookie_key key =
		cookie_key_of(s->cookie, s->tid, se->line, s->nonce);
	struct join_cookies *line = join_task_cookies(task, s->nonce);
	struct join_half half = { s->source,  s->cpu,	s->time,  s->thread,
				  s->process, s->event, s->again, s->late };
	uint32_t i = join_find_open(jn, &key, &half);

	if (!i) {
		i = cookies_new(&jn->cookies, &key);
		if (s->tid < 0)
			queue_unresolved(jn, i);
		else
			join_remember_entry(jn, line, i, s->time, s->cpu);
		join_check_new(jn, task, i, &half);
	}
	struct cookie_entry *e = join_entry(jn, i);

	join_note_cookie_time(line, s->time);
	orphans_requested(&jn->orphans, s->thread);
	if (s->nonce && !e->asked)
		e->asked = ++jn->unwinders.now;
	e->thread = s->thread;
	e->process = s->process;
	e->asked_by |= se->bit;
	if (!e->first)
		e->sample_time = s->time;
	e->last_time = s->time;
	if (pending_requests_full(&jn->pending)) {
		give_up_waiting(jn, e);
		pending_requests_make_room(&jn->pending);
	}
	if (e->has_chain && s->nonce && !s->late && !e->n_events &&
	    contradiction_is_early(&e->chain, s->time, s->cpu))
		contradiction_found(&jn->contradictions, RULE_NONCE_EARLY,
				    &half, e->chain.time);
	if (e->has_chain)
		join_match_request(jn, e, task, join_add_request(jn, task, s),
				   true);
	else
		wait_for_chain(jn, e, join_add_request(jn, task, s));
	queue_leave_complete(jn, i);
}

/* Compares addresses, because two captures may resolve them differently. */
static bool same_addresses(const struct join *jn, uint32_t a, uint32_t b)
{
	if (a == b)
		return true;
	if (!a || !b || !jn->frames)
		return false;
	const struct raw_chain *x = frames_get_raw(jn->frames, a);
	const struct raw_chain *y = frames_get_raw(jn->frames, b);

	bool same = x->n == y->n;

	for (uint32_t i = 0; same && i < x->n;) {
		uint32_t n, m;
		const uint64_t *p = frames_raw_ips(jn->frames, x, i, &n);
		const uint64_t *q = frames_raw_ips(jn->frames, y, i, &m);

		lower_to(n, m);
		same = !memcmp(p, q, n * sizeof(*p));
		i += n;
	}
	return same;
}

/* Returns true if another capture of the kernel recorded the chain before. */
static bool join_is_copy(struct join *jn, const struct cookie_entry *e,
			 const struct join_chain *c)
{
	return !(e->chain_by & join_session(jn, c->source)->bit) &&
	       same_addresses(jn, c->uraw, e->chain.uraw);
}

bool join_chain(struct join *jn, struct join_task *task,
		const struct join_chain *c)
{
	struct session *se = join_session(jn, c->source);
	const struct cookie_key key =
		cookie_key_of(c->cookie, c->tid, se->line, c->nonce);
	struct join_cookies *line = join_task_cookies(task, c->nonce);
	struct join_half half = { c->source,  c->cpu, c->time,	c->thread,
				  c->process, 0,      c->again, c->late };
	uint32_t i = c->duplicate ? cookies_find(&jn->cookies, &key)
				  : join_find_open(jn, &key, &half);

	/* count it for its capture, and for perf's rule, in which a copy counts
	 * like its original */
	const bool copy = i && join_entry(jn, i)->has_chain &&
			  join_is_copy(jn, join_entry(jn, i), c);

	if (c->nonce) {
		jn->unwinders.now++;
		unwinders_logged(&jn->unwinders, c->thread, c->process);
		se->n_logged++;
	} else {
		struct join_chain own = *c;

		if (copy)
			own.id = join_entry(jn, i)->chain.id;
		se->n_chains++;
		pending_requests_chain(&jn->pending, &own);
	}
	if (i && join_entry(jn, i)->has_chain) {
		if (copy) {
			struct cookie_entry *e = join_entry(jn, i);
			struct fact f = {
				.kind = FACT_COPY,
				.copy = {
					.chain = e->chain.id,
					.time = c->time,
					.cpu = c->cpu,
					.source = c->source,
				},
			};

			e->chain_by |= join_session(jn, c->source)->bit;
			join_match_waiting(jn, e, NULL);
			*fact_queue_add(jn->out) = f;
		} else {
			/* A second chain for a cookie: perf record wrote it
			 * twice, or once for each event that gets deferred
			 * chains. Other addresses are a conflict. */
			const struct cookie_entry *e = join_entry(jn, i);
			struct fact f;

			chain_fill_fact(&f, c);
			f.chain.verdict = CHAIN_DUPLICATE;
			if (!c->duplicate &&
			    !same_addresses(jn, c->uraw, e->chain.uraw)) {
				f.chain.confidence = CONF_UNEXPLAINED;
				f.chain.flags |= VERDICT_CONFLICT;
				contradiction_found(&jn->contradictions,
						    RULE_COOKIE_CONFLICT, &half,
						    e->chain.time);
			}
			*fact_queue_add(jn->out) = f;
		}
		return !copy;
	}
	if (!i) {
		i = cookies_new(&jn->cookies, &key);
		join_remember_entry(jn, line, i, c->time, c->cpu);
		join_check_new(jn, task, i, &half);
	}
	if (c->nonce)
		unwinders_mark_inside(&jn->cookies, line->recent,
				      jn->queue.last, i);
	struct cookie_entry *e = join_entry(jn, i);

	e->has_chain = true;
	e->chain_by = se->bit;
	e->chain = *c;
	e->chain_execs = task->execs;
	if (c->tid >= 0 && e->tid != c->tid)
		cookies_set_tid(&jn->cookies, i, c->tid);
	join_note_cookie_time(line, c->time);
	join_match_waiting(jn, e, task);
	queue_leave_complete(jn, i);
	return true;
}

/* Outputs a request that waits for no chain. */
static void push_request(struct join *jn, const struct join_sample *s,
			 enum request_verdict v, enum confidence conf)
{
	struct fact *f = fact_queue_add(jn->out);

	orphans_requested(&jn->orphans, s->thread);
	f->kind = FACT_REQUEST;
	fill_request(&f->request, s);
	f->request.verdict = v;
	f->request.confidence = conf;
}

void join_mark(struct join *jn, struct join_task *task,
	       const struct join_sample *s)
{
	struct join_cookies *line = &task->cookies;

	line->has_mark = true;
	if (line->recent[0] && !join_entry(jn, line->recent[0])->n_events)
		join_entry(jn, line->recent[0])->has_mark = true;
	push_request(jn, s, REQ_UNJOINABLE, CONF_EXPLAINED);
}

void join_refused(struct join *jn, const struct join_sample *s)
{
	struct join_sample taken = *s;

	taken.ip = 0; /* the sample has its own user stack */
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
				    end, -1);
		join_evict_entry(jn, i);
	}
}

void join_retire(struct join *jn, struct join_task *task, enum join_reason why,
		 int64_t end)
{
	struct join_task behind;

	if (task->shared) {
		if (!shared_threads_retire(&jn->peers, task, &why, &end,
					   &behind))
			return;
		task = &behind;
	}
	retire_line(jn, &task->cookies, why, end);
	retire_line(jn, &task->nonces, why, end);
}

void join_end(struct join *jn)
{
	resolve_lingering(jn);
	resolve_queued(jn, jn->queue.n);
	orphans_judge(&jn->orphans, &jn->sessions);
	/* perf outputs the remaining samples in the order in which they came,
	 * so only samples that were output before can make one late. */
	for (size_t k = 1; k < jn->pending.n; k++) {
		struct pending_request *w = &jn->pending.wait[k];

		if (!w->held)
			continue;
		pending_release_held(&jn->pending, (uint32_t)k);
		w->r.as_perf = AS_PERF_BARE_END;
		pending_mark_late(&jn->pending, w);
		pending_settle(&jn->pending, (uint32_t)k);
	}
}
