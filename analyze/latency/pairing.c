/* pairing.c - makes intervals of the records that begin and end them. */
#include "analyze/latency/pairing.h"

#include "analyze/latency/lost_times.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/base/words.h"

/* A begin without an end so far. */
struct open_pair {
	struct pairing_record at;
	uint64_t hash;
	uint32_t below; /* index + 1 of the one that it is inside of, or of the
			 * next free one; 0: none */
	int64_t again;	/* the last begin that is a part of it */
	struct lost_sum before; /* where an earlier begin of it may be missing
				 */
	bool used;
};

/* The last record of a pair of events. */
struct pairing_last {
	uint64_t hash;
	int64_t time;
	uint8_t role;
};

struct pairing {
	const struct lost_times *lost;
	pairing_fn *fn;
	void *arg;
	struct open_pair *open;
	size_t n, cap;
	uint32_t free; /* index + 1 */
	struct table by_key;
	uint64_t doubled;
	/* times of the last record of each key that may come again, for kinds
	 * with few of them */
	int64_t *seen;
	size_t n_seen, cap_seen;
	struct table by_seen;
	struct pairing_last *last; /* by pairing_record.pair */
	size_t n_last, cap_last;
};

struct pairing *pairing_new(const struct lost_times *lost, pairing_fn *fn,
			    void *arg)
{
	struct pairing *p = mem_new(1, sizeof(*p));

	p->lost = lost;
	p->fn = fn;
	p->arg = arg;
	return p;
}

void pairing_free(struct pairing *p)
{
	if (!p)
		return;
	free_all(p->open, p->seen, p->last);
	table_release(&p->by_key);
	table_release(&p->by_seen);
	free(p);
}

uint64_t pairing_doubled(const struct pairing *p)
{
	return p->doubled;
}

/* ---- keys */

static uint64_t pairing_place(const struct pairing_record *r)
{
	switch (r->kind->scope) {
	case PAIR_THREAD:
		return r->thread;
	case PAIR_CPU:
		return (uint32_t)r->cpu;
	default:
		return 0;
	}
}

static uint64_t pairing_hash(const struct pairing_record *r)
{
	uint64_t word[PAIR_KEYS + 2] = { (uint64_t)r->pair << 32 | r->world,
					 pairing_place(r) };

	for (size_t i = 0; i < PAIR_KEYS; i++)
		word[2 + i] = (uint64_t)r->key[i];
	return hash_u64s(word, PAIR_KEYS + 2, 0);
}

static bool pairing_same(const void *owner, uint32_t id, const void *key)
{
	const struct pairing *p = owner;
	const struct pairing_record *a = &p->open[id].at;
	const struct pairing_record *b = key;

	for (size_t i = 0; i < PAIR_KEYS; i++)
		if (a->key[i] != b->key[i])
			return false;
	return a->pair == b->pair && a->world == b->world &&
	       pairing_place(a) == pairing_place(b);
}

/* Returns the time of the last record of a key of few; INT64_MIN: none, or one
 * of so many keys that they are not kept. */
static int64_t *pairing_seen(struct pairing *p, const struct pairing_record *r,
			     uint64_t hash)
{
	bool few = r->kind->scope == PAIR_CPU ||
		   (r->kind->scope == PAIR_THREAD && !r->kind->key[0]);
	uint32_t id;

	if (!few)
		return NULL;
	id = table_find_hash(&p->by_seen, hash);
	if (id == TABLE_NONE) {
		id = (uint32_t)p->n_seen;
		table_add(&p->by_seen, hash, id);
		*mem_add(p->seen, p->n_seen, p->cap_seen) = INT64_MIN;
	}
	return &p->seen[id];
}

/* ---- verdicts */

/* Where a lost record of this key may have been made. */
static struct lost_sum pairing_lost(const struct pairing *p,
				    const struct pairing_record *r,
				    int64_t from, int64_t to, uint64_t enough)
{
	const struct lost_ask ask = {
		.world = r->world,
		.cpu = r->kind->scope == PAIR_CPU ? r->cpu : -1,
		.from = from,
		.to = to,
		.enough = enough,
		.recorded = r->kind->scope == PAIR_THREAD,
	};

	return lost_times_between(p->lost, &ask);
}

/* Returns why records are missing; INTERVAL_NO_REASON: none are, or the
 * recorder was not on. */
static uint8_t pairing_reason(const struct lost_sum *lost)
{
	return lost->id	      ? INTERVAL_BY_LOSS
	       : lost->silent ? INTERVAL_BY_SILENT
			      : INTERVAL_NO_REASON;
}

static struct interval pairing_of(const struct pairing_record *r)
{
	return (struct interval){
		.begin = INTERVAL_NEVER,
		.end = INTERVAL_NEVER,
		.key = r->key[0],
		.pair = r->pair,
		.thread = r->thread,
		.name = r->name,
		.by = r->by,
		.cpu = r->cpu,
	};
}

static void pairing_say(struct pairing *p, struct interval *i, uint8_t verdict,
			uint8_t reason)
{
	i->verdict = verdict;
	i->reason = reason;
	p->fn(p->arg, i);
}

/* Tells of a begin whose end is not known. until: there is none before that. */
static void pairing_tell_open(struct pairing *p, const struct open_pair *o,
			      int64_t until, uint8_t reason)
{
	struct interval i = pairing_of(&o->at);
	struct lost_sum lost = { 0 };

	i.begin = o->at.time;
	i.begin_event = o->at.event;
	if (o->at.call == PAIRING_NEVER_RETURNS)
		return;
	if (!reason)
		lost = pairing_lost(p, &o->at, i.begin, until, UINT64_MAX);
	i.loss = lost.id;
	if (reason)
		pairing_say(p, &i, INTERVAL_CANCELLED, reason);
	else if (pairing_reason(&lost))
		pairing_say(p, &i, INTERVAL_END_LOST, pairing_reason(&lost));
	else if (until == INT64_MAX)
		pairing_say(p, &i, INTERVAL_UNFINISHED, INTERVAL_NO_REASON);
	else if (lost.off)
		pairing_say(p, &i, INTERVAL_UNFINISHED, INTERVAL_BY_START);
	else
		pairing_say(p, &i, INTERVAL_UNEXPLAINED,
			    o->at.kind->loose ? INTERVAL_BY_MERGE
					      : INTERVAL_NO_REASON);
}

/* Tells of an end without a begin. since: there is none before that. */
static void pairing_tell_end(struct pairing *p, const struct pairing_record *r,
			     int64_t since)
{
	struct interval i = pairing_of(r);
	struct lost_sum lost = pairing_lost(p, r, since, r->time, UINT64_MAX);

	i.end = r->time;
	i.end_event = r->event;
	i.ret = r->ret;
	i.has_ret = r->has_ret;
	i.loss = lost.id;
	/* the child's return of the call that made it */
	if (r->call == PAIRING_CLONE && r->has_ret && !r->ret)
		return;
	if (pairing_reason(&lost))
		pairing_say(p, &i, INTERVAL_BEGIN_LOST, pairing_reason(&lost));
	else if (r->kind->loose || r->loose)
		pairing_say(p, &i, INTERVAL_UNEXPLAINED, INTERVAL_BY_MERGE);
	else if (lost.off || since == INT64_MIN)
		pairing_say(p, &i, INTERVAL_BEFORE, INTERVAL_NO_REASON);
	else
		pairing_say(p, &i, INTERVAL_UNEXPLAINED, INTERVAL_NO_REASON);
}

/* Tells of a begin and its end. */
static void pairing_tell_both(struct pairing *p, const struct open_pair *o,
			      const struct pairing_record *r)
{
	struct interval i = pairing_of(&o->at);
	enum pair_rule rule = o->at.kind->rule;
	/* So many records must be missing if they do not belong together:
	 * nested or begun again, one begin; else the end of the one, and the
	 * begin of the other. */
	unsigned int needs = rule == PAIR_AGAIN || rule == PAIR_STACK ? 1 : 2;
	struct lost_sum lost =
		pairing_lost(p, &o->at, o->at.time, r->time, needs);
	bool hidden = lost.n >= needs || o->before.n;

	/* what begins again may have ended before: one record would tell */
	if (lost.n && o->again > o->at.time)
		hidden |=
			pairing_lost(p, &o->at, o->at.time, o->again, 1).n > 0;
	i.begin = o->at.time;
	i.begin_event = o->at.event;
	i.end = r->time;
	i.end_event = r->event;
	i.ret = r->ret;
	i.has_ret = r->has_ret && r->call != PAIRING_SIGRETURN;
	i.loss = o->before.id ?: lost.id;
	if (!i.name)
		i.name = r->name;
	if (!i.by)
		i.by = r->by;
	if (o->at.loose || r->loose)
		pairing_say(p, &i, INTERVAL_CONSISTENT, INTERVAL_BY_MERGE);
	else if (hidden)
		pairing_say(p, &i, INTERVAL_CONSISTENT,
			    pairing_reason(&lost)
				    ?: pairing_reason(&o->before)
				    ?: INTERVAL_BY_START);
	else
		pairing_say(p, &i, INTERVAL_PROVED, INTERVAL_NO_REASON);
}

/* ---- what is open */

static void pairing_push(struct pairing *p, const struct pairing_record *r,
			 uint64_t hash, uint32_t below,
			 const struct lost_sum *before)
{
	uint32_t at = p->free ? p->free - 1 : (uint32_t)p->n;

	if (p->free)
		p->free = p->open[at].below;
	else
		mem_add(p->open, p->n, p->cap);
	p->open[at] = (struct open_pair){ .at = *r,
					  .hash = hash,
					  .below = below,
					  .again = r->time,
					  .before = *before,
					  .used = true };
	table_add(&p->by_key, hash, at);
}

static void pairing_pop(struct pairing *p, uint32_t at)
{
	struct open_pair *o = &p->open[at];
	uint32_t below = o->below;

	table_remove(&p->by_key, o->hash, at);
	if (below)
		table_add(&p->by_key, o->hash, below - 1);
	o->used = false;
	o->below = p->free;
	p->free = at + 1;
}

/* An exec in a thread that is not the first one of its process returns in the
 * first one, which is gone by then, as are all others. Few are open. Returns
 * TABLE_NONE if there is no such begin. */
static uint32_t pairing_find_exec(const struct pairing *p,
				  const struct pairing_record *r)
{
	for (size_t i = 0; r->process && i < p->n; i++) {
		const struct pairing_record *at = &p->open[i].at;

		if (p->open[i].used && at->call == PAIRING_EXEC &&
		    at->process == r->process && at->pair == r->pair &&
		    at->world == r->world && at->tag == r->tag)
			return (uint32_t)i;
	}
	return TABLE_NONE;
}

static void pairing_begin(struct pairing *p, const struct pairing_record *r,
			  uint64_t hash, uint32_t at, int64_t since)
{
	const struct pair_kind *k = r->kind;
	uint32_t below = 0;
	struct lost_sum before = { 0 };

	if (at != TABLE_NONE && k->rule == PAIR_FIRST && !r->whole) {
		p->open[at].again = r->time;
		return;
	}
	if (at != TABLE_NONE && k->rule == PAIR_STACK) {
		below = at + 1;
		table_remove(&p->by_key, hash, at);
	} else if (at != TABLE_NONE) {
		struct open_pair o = p->open[at];
		uint8_t reason = k->rule == PAIR_AGAIN ? INTERVAL_BY_RESTART
				 : o.at.call == PAIRING_SIGRETURN
					 ? INTERVAL_BY_RETURN
					 : INTERVAL_NO_REASON;

		pairing_pop(p, at);
		pairing_tell_open(p, &o, r->time, reason);
	}
	if (k->rule == PAIR_FIRST && !r->whole)
		before = pairing_lost(p, r, since, r->time, 1);
	pairing_push(p, r, hash, below, &before);
}

/* An end of another call than the one that is open: the end of that one is
 * missing, and the begin of this one; or an exec ended it. */
static void pairing_end_other(struct pairing *p, const struct pairing_record *r,
			      uint32_t at)
{
	struct open_pair o = p->open[at];
	uint32_t exec =
		r->call == PAIRING_EXEC ? pairing_find_exec(p, r) : TABLE_NONE;

	pairing_pop(p, at);
	pairing_tell_open(p, &o, r->time,
			  exec == TABLE_NONE ? INTERVAL_NO_REASON
					     : INTERVAL_BY_EXEC);
	if (exec == TABLE_NONE) {
		pairing_tell_end(p, r, o.at.time);
		return;
	}
	o = p->open[exec];
	pairing_pop(p, exec);
	pairing_tell_both(p, &o, r);
}

static bool pairing_is_end(const struct pairing_record *begin,
			   const struct pairing_record *end)
{
	return begin->tag == end->tag ||
	       (begin->kind->calls && end->tag == -1 &&
		begin->call == PAIRING_SIGRETURN);
}

static void pairing_end_one(struct pairing *p, const struct pairing_record *r,
			    uint32_t at, int64_t since)
{
	struct pairing_record end = *r;
	struct open_pair o;

	if (at == TABLE_NONE && r->call == PAIRING_EXEC)
		at = pairing_find_exec(p, r);
	if (at == TABLE_NONE) {
		pairing_tell_end(p, r, since);
		return;
	}
	if (!pairing_is_end(&p->open[at].at, r)) {
		pairing_end_other(p, r, at);
		return;
	}
	o = p->open[at];
	pairing_pop(p, at);
	end.call = o.at.call;
	pairing_tell_both(p, &o, &end);
}

/* Returns whether a record is there twice. In guests with Linux 6.18, perf 6.1
 * has all records of some tasks twice. Two calls are never at one time. */
static bool pairing_is_double(struct pairing *p, const struct pairing_record *r,
			      uint64_t hash, uint32_t at, int64_t since)
{
	struct pairing_last last;

	mem_reach(p->last, p->n_last, p->cap_last, r->pair + 1);
	last = p->last[r->pair];
	p->last[r->pair] = (struct pairing_last){ hash, r->time, r->role };
	if (r->kind->rule == PAIR_STACK)
		return false;
	/* of keys of which there are many, the last one is kept */
	if (last.hash == hash && last.time == r->time && last.role == r->role)
		return true;
	if (r->role == PAIRING_BEGIN)
		return at != TABLE_NONE && p->open[at].at.time == r->time &&
		       p->open[at].at.cpu == r->cpu &&
		       p->open[at].at.tag == r->tag;
	return at == TABLE_NONE && since == r->time;
}

void pairing_take(struct pairing *p, const struct pairing_record *r)
{
	uint64_t hash = pairing_hash(r);
	uint32_t at = table_find(&p->by_key, hash, pairing_same, p, r);
	int64_t *seen = pairing_seen(p, r, hash);
	int64_t since = seen ? *seen : INT64_MIN;

	if (pairing_is_double(p, r, hash, at, since)) {
		p->doubled++;
		return;
	}
	if (seen)
		*seen = r->time;
	if (r->role == PAIRING_BEGIN) {
		pairing_begin(p, r, hash, at, since);
	} else if (r->role == PAIRING_END) {
		pairing_end_one(p, r, at, since);
	} else if (at != TABLE_NONE) {
		struct open_pair o = p->open[at];

		pairing_pop(p, at);
		pairing_tell_open(p, &o, r->time, INTERVAL_BY_CANCEL);
	}
}

void pairing_end(struct pairing *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->open[i].used)
			pairing_tell_open(p, &p->open[i], INT64_MAX,
					  INTERVAL_NO_REASON);
}

/* ---- words */

WORDS_FUNCTION(interval_verdict_word, uint8_t, "proved", "consistent",
	       "began before", "unfinished", "begin lost", "end lost",
	       "unexplained", "cancelled");

WORDS_FUNCTION(interval_reason_word, uint8_t, "", "loss", "silent", "start",
	       "restart", "cancel", "exec", "sigreturn", "merged");

int64_t interval_span(int64_t from, int64_t to)
{
	int64_t ns;

	if (from == INTERVAL_NEVER || to == INTERVAL_NEVER || to < from)
		return 0;
	return __builtin_sub_overflow(to, from, &ns) ? INT64_MAX : ns;
}

struct interval_range interval_range(const struct interval *i, int64_t first,
				     int64_t last)
{
	struct interval_range r = { 0, INT64_MAX };

	if (i->begin != INTERVAL_NEVER && i->end != INTERVAL_NEVER)
		r.most = interval_span(i->begin, i->end);
	else if (i->verdict == INTERVAL_BEFORE)
		r.least = interval_span(first, i->end);
	else if (i->verdict == INTERVAL_UNFINISHED)
		r.least = interval_span(i->begin, last);
	return r;
}
