/* pairing.c - makes intervals of the records that begin and end them. */
#include "analyze/latency/pairing.h"

#include "analyze/latency/lost_times.h"
#include "analyze/latency/nest.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"

/* All that is open with one key, in time order. */
struct pairing_set {
	struct pairing_record *begin, *end;
	size_t n_begin, cap_begin, n_end, cap_end;
};

/* A begin without an end so far. */
struct open_pair {
	struct pairing_record at;
	uint64_t hash, began; /* of its key, now and at its begin */
	uint32_t below; /* index + 1 of the one around it, or next free; 0 */
	uint32_t older, newer; /* index + 1 of those with the same
				* pairing_exec_hash(); 0: none */
	int64_t first; /* PAIR_EITHER: the earliest begin that may be its own */
	int64_t again; /* time of the last begin that may be a part of it */
	int64_t left;  /* of its length, by parts that ended */
	struct lost_sum before;	 /* records missing for an earlier begin */
	struct pairing_set *set; /* all of this key; NULL: it is alone */
	bool used;
	bool cancelled; /* or it is about to end */
	bool ghost; /* PAIR_EITHER: it was reported, but is still open if that
		     * end was of an earlier begin */
};

/* The last record of a pair of events. */
struct pairing_last {
	uint64_t hash;
	int64_t time;
	int32_t cpu;
	uint8_t role;
};

/* An interval that was the only open one of its key. It is held back: later
 * records may show that others of the key were open too, and then it is not
 * proved. */
struct pairing_late {
	struct interval i;
	uint64_t hash;
	uint64_t before; /* number + 1 of the last one of its key; 0: none */
};

/* Intervals that are held back at a time: later records that disprove them
 * seldom come after so many. */
#define PAIRING_LATE 16384
/* Ends of one key that wait until each of its begins has one. When there are
 * more, they are paired with the first begins, because some begins never get an
 * end. */
#define PAIRING_SET_MAX 65536

struct pairing {
	const struct lost_times *lost;
	pairing_fn *fn;
	pairing_inside_fn *inside;
	void *arg;
	/* intervals reported so far */
	uint64_t given;
	struct nest *nest; /* NULL: no kind of PAIR_NEST had a record */
	struct open_pair *open;
	size_t n, cap;
	uint32_t free; /* index + 1 of a free entry; 0: none */
	struct table by_key, by_exec;
	uint64_t doubled;
	unsigned int premise;
	/* time of the last record of each key, for kinds with few keys that
	 * come again; for kinds with parts, when the thread was last seen
	 * without a wait */
	int64_t *seen;
	size_t n_seen, cap_seen;
	struct table by_seen;
	struct pairing_last *last; /* by pairing_record.pair */
	size_t n_last, cap_last;
	struct pairing_late *late;   /* a ring */
	uint64_t first_late, n_late; /* numbers; index: modulo PAIRING_LATE */
	struct table by_late; /* of the last one of each key, in the ring */
	struct table several; /* keys of which several were open at a time */
	struct table started; /* works that ran */
};

struct pairing *pairing_new(const struct lost_times *lost, pairing_fn *fn,
			    pairing_inside_fn *inside, void *arg)
{
	struct pairing *p = mem_new(1, sizeof(*p));

	p->lost = lost;
	p->fn = fn;
	p->inside = inside;
	p->arg = arg;
	return p;
}

static void pairing_set_free(struct pairing_set *s)
{
	if (s)
		free_all(s->begin, s->end, s);
}

void pairing_free(struct pairing *p)
{
	if (!p)
		return;
	nest_free(p->nest);
	for (size_t i = 0; i < p->n; i++)
		pairing_set_free(p->open[i].set);
	free_all(p->open, p->seen, p->last, p->late);
	table_release(&p->by_key);
	table_release(&p->by_exec);
	table_release(&p->by_seen);
	table_release(&p->started);
	table_release(&p->by_late);
	table_release(&p->several);
	free(p);
}

uint64_t pairing_doubled(const struct pairing *p)
{
	return p->doubled;
}

unsigned int pairing_premise(const struct pairing *p)
{
	return p->premise;
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

/* Returns the hash of the process: an exec in a thread that is not the first
 * one returns in the first one, whose begin is gone by then, as are all other
 * threads. */
static uint64_t pairing_exec_hash(const struct pairing_record *r)
{
	const uint64_t word[3] = { (uint64_t)r->pair << 32 | r->world,
				   r->process, (uint64_t)r->tag };

	return hash_u64s(word, 3, 0);
}

SAME_FUNCTION(pairing_same, struct pairing, open[id].at, struct pairing_record,
	      !memcmp(x->key, y->key, sizeof(x->key)) && x->pair == y->pair &&
		      x->world == y->world &&
		      pairing_place(x) == pairing_place(y));

/* Returns where the time of the last record of a key or thread is kept,
 * INT64_MIN if it had none; NULL: the kind has too many keys. */
static int64_t *pairing_seen(struct pairing *p, const struct pairing_record *r,
			     uint64_t hash)
{
	bool parts = r->kind->part.field;
	bool few = parts || r->kind->scope == PAIR_CPU ||
		   (r->kind->scope == PAIR_THREAD && !r->kind->key[0]);
	uint32_t id;

	if (!few)
		return NULL;
	if (parts)
		hash = hash_u32s(r->pair, r->thread) ^ hash_u64(r->world);
	id = table_find_or_add(&p->by_seen, hash, p->n_seen);
	if (id == p->n_seen)
		*mem_add(p->seen, p->n_seen, p->cap_seen) = INT64_MIN;
	return &p->seen[id];
}

/* ---- verdicts */

/* Returns the lost records that may have had this key. */
static struct lost_sum pairing_lost(const struct pairing *p,
				    const struct pairing_record *r,
				    int64_t from, int64_t to)
{
	const struct lost_ask ask = {
		.world = r->world,
		.cpu = r->kind->scope == PAIR_CPU ? r->cpu : -1,
		.from = from,
		.to = to,
		.recorded = r->kind->scope == PAIR_THREAD,
	};

	return lost_times_between(p->lost, &ask);
}

static uint64_t pairing_give(void *pairing, const struct interval *i)
{
	struct pairing *p = pairing;

	if (i->verdict == INTERVAL_PROVED)
		p->premise |= i->premise;
	p->fn(p->arg, i);
	return ++p->given;
}

static void pairing_give_inside(void *pairing, uint64_t call, uint64_t of)
{
	const struct pairing *p = pairing;

	if (p->inside)
		p->inside(p->arg, call, of);
}

/* Reports an interval with a verdict. */
static void pairing_say(struct pairing *p, struct interval *i, uint8_t verdict,
			uint8_t reason)
{
	i->verdict = verdict;
	i->reason = reason;
	if (verdict == INTERVAL_PROVED)
		i->least = i->most;
	pairing_give(p, i);
}

/* Reports a begin whose end is not known. until: it did not end before that. */
static void pairing_tell_open(struct pairing *p, const struct open_pair *o,
			      int64_t until, uint8_t reason)
{
	struct interval i = pairing_of(&o->at);
	struct lost_sum lost = { 0 };

	i.begin = o->at.time;
	i.begin_event = o->at.event;
	if (o->at.call == PAIRING_NEVER_RETURNS)
		return;
	if (o->cancelled)
		reason = INTERVAL_BY_CANCEL;
	if (!reason && o->at.died && o->at.died < until) {
		lost = pairing_lost(p, &o->at, i.begin, o->at.died);
		if (!pairing_reason(&lost))
			return;
	}
	if (!reason)
		lost = pairing_lost(p, &o->at, i.begin, until);
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
			    o->at.kind->length ? INTERVAL_BY_MERGE
					       : INTERVAL_NO_REASON);
}

/* Reports an end without a begin. since: it did not begin before that;
 * INT64_MIN: this is not known; SINCE_A_START: it began in the recording. part:
 * a time when it was already open; INTERVAL_NEVER: not known. */
#define SINCE_A_START (INT64_MIN + 1)
static void pairing_tell_end(struct pairing *p, const struct pairing_record *r,
			     int64_t since, int64_t part)
{
	struct interval i = pairing_of(r);
	struct lost_sum lost = pairing_lost(p, r, since, r->time);

	i.end = r->time;
	i.end_event = r->event;
	i.least = interval_span(part, i.end);
	i.ret = r->ret;
	i.has_ret = r->has_ret;
	i.loss = lost.id;
	/* the child's return of the call that made it; without the value, this
	 * is not told from the parent's, of a call that began before */
	if (r->call == PAIRING_CLONE && (!r->has_ret || !r->ret))
		return;
	if (r->call == PAIRING_UNNAMED && r->has_ret && !r->ret &&
	    r->born != INT64_MIN) {
		const struct lost_sum own =
			pairing_lost(p, r, r->born, r->time);

		if (!pairing_reason(&own))
			return;
	}
	if (pairing_reason(&lost))
		pairing_say(p, &i, INTERVAL_BEGIN_LOST, pairing_reason(&lost));
	else if (r->kind->direct)
		return;
	else if (r->kind->length)
		pairing_say(p, &i, INTERVAL_UNEXPLAINED, INTERVAL_BY_MERGE);
	else if (since == INT64_MIN || (lost.off && since != SINCE_A_START))
		pairing_say(p, &i, INTERVAL_BEFORE, INTERVAL_NO_REASON);
	else
		pairing_say(p, &i, INTERVAL_UNEXPLAINED, INTERVAL_NO_REASON);
}

/* ---- intervals that were the only open one */

/* Returns the records that are missing up to a record. An earlier begin of its
 * key that is still open may be one of them. */
static struct lost_sum pairing_lost_before(const struct pairing *p,
					   const struct pairing_record *r)
{
	return pairing_lost(p, r, INT64_MIN, r->time);
}

/* Reports the intervals that are held back, up to number `to`. */
static void pairing_late_tell(struct pairing *p, uint64_t to)
{
	for (; p->first_late < to; p->first_late++) {
		uint32_t at = (uint32_t)(p->first_late % PAIRING_LATE);

		/* it is not there if a later one has its key */
		table_remove(&p->by_late, p->late[at].hash, at);
		pairing_give(p, &p->late[at].i);
	}
}

/* Several of a key were open at once, which may have been so before: the
 * intervals of that key that are held back are then not proved. */
static void pairing_late_doubt(struct pairing *p,
			       const struct pairing_record *r, uint64_t hash)
{
	struct lost_sum lost = pairing_lost_before(p, r);
	uint32_t at = table_find_hash(&p->by_late, hash);
	uint64_t next = 0;

	table_find_or_add(&p->several, hash, 0);
	for (; at != TABLE_NONE; at = (uint32_t)((next - 1) % PAIRING_LATE)) {
		struct interval *i = &p->late[at].i;

		if (i->verdict != INTERVAL_PROVED)
			break;
		i->verdict = INTERVAL_CONSISTENT;
		i->reason = pairing_reason(&lost) ?: INTERVAL_BY_START;
		i->loss = lost.id;
		i->least = 0;
		i->most = INT64_MAX;
		next = p->late[at].before;
		if (next <= p->first_late)
			break;
	}
}

/* Returns whether an end may belong to another begin than the open one. */
static bool pairing_has_others(const struct pair_kind *k)
{
	return k->again == PAIR_SET || k->again == PAIR_EITHER;
}

/* Reports a begin and its end. */
static void pairing_tell_both(struct pairing *p, const struct open_pair *o,
			      const struct pairing_record *r)
{
	struct interval i = pairing_of_both(&o->at, r);
	const struct pair_kind *k = o->at.kind;
	/* Number of records that must be missing if begin and end do not belong
	 * together: where one is open at a time, an end and a begin; else one
	 * begin. */
	unsigned int needs =
		k->again == PAIR_ONE || k->again == PAIR_PART ? 2 : 1;
	struct lost_sum lost = pairing_lost(p, &o->at, o->at.time, r->time);
	bool hidden = lost.n >= needs || o->before.n;

	/* if it began again, one missing record may have ended it before */
	if (lost.n && o->again > o->at.time)
		hidden |= pairing_lost(p, &o->at, o->at.time, o->again).n > 0;
	i.loss = o->before.id ?: lost.id;
	if (pairing_has_others(k) && !hidden &&
	    table_find_hash(&p->several, o->began) != TABLE_NONE) {
		lost = pairing_lost_before(p, r);
		hidden = pairing_reason(&lost);
		i.loss = lost.id;
		if (hidden)
			i.most = INT64_MAX;
	}
	if ((o->left != r->length && k->length) ||
	    (o->hash != o->began &&
	     table_find_hash(&p->several, o->hash) != TABLE_NONE)) {
		i.most = INT64_MAX;
		pairing_say(p, &i, INTERVAL_CONSISTENT, INTERVAL_BY_MERGE);
	} else if (o->first < i.begin) {
		i.least = interval_span(i.begin, i.end);
		i.most = interval_span(o->first, i.end);
		pairing_say(p, &i, INTERVAL_CONSISTENT, INTERVAL_BY_RESTART);
	} else if (hidden) {
		pairing_say(p, &i, INTERVAL_CONSISTENT,
			    pairing_reason(&lost)
				    ?: pairing_reason(&o->before)
				    ?: INTERVAL_BY_START);
	} else if (pairing_has_others(k)) {
		if (k->direct && !o->at.cancels)
			i.premise |= INTERVAL_IF_NOT_CANCELLED;
		/* Holds back an interval that is proved if no other one of
		 * its key was open. */
		uint32_t at = (uint32_t)(p->n_late % PAIRING_LATE);
		struct lost_sum sum = pairing_lost_before(p, r);
		uint32_t before;

		if (pairing_reason(&sum))
			i.premise |= INTERVAL_IF_ALONE;
		if (!p->late)
			p->late = mem_new(PAIRING_LATE, sizeof(*p->late));
		if (p->n_late - p->first_late == PAIRING_LATE)
			pairing_late_tell(p, p->first_late + 1);
		before = table_find_hash(&p->by_late, o->began);
		if (before != TABLE_NONE)
			table_remove(&p->by_late, o->began, before);
		i.verdict = INTERVAL_PROVED;
		i.least = i.most;
		p->late[at] = (struct pairing_late){
			.i = i,
			.hash = o->began,
			.before =
				before == TABLE_NONE
					? 0
					: p->n_late -
						  (at + PAIRING_LATE - before) %
							  PAIRING_LATE +
						  1,
		};
		p->n_late++;
		table_add(&p->by_late, o->began, at);
	} else {
		pairing_say(p, &i, INTERVAL_PROVED, INTERVAL_NO_REASON);
	}
}

/* ---- open begins */

/* Opens a begin. below: index + 1 of the one around it. Returns its index. */
static uint32_t pairing_push(struct pairing *p, const struct pairing_record *r,
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
					  .began = hash,
					  .below = below,
					  .first = r->time,
					  .again = r->time,
					  .left = r->length,
					  .before = *before,
					  .used = true };
	table_add(&p->by_key, hash, at);
	if (r->call == PAIRING_EXEC && r->process) {
		uint64_t exec = pairing_exec_hash(r);
		uint32_t older = table_find_hash(&p->by_exec, exec);

		if (older != TABLE_NONE) {
			table_remove(&p->by_exec, exec, older);
			p->open[older].newer = at + 1;
			p->open[at].older = older + 1;
		}
		table_add(&p->by_exec, exec, at);
	}
	return at;
}

/* Removes an open begin, and what it owns. */
static void pairing_pop(struct pairing *p, uint32_t at)
{
	struct open_pair *o = &p->open[at];
	uint32_t below = o->below;

	table_remove(&p->by_key, o->hash, at);
	if (below)
		table_add(&p->by_key, o->hash, below - 1);
	if (o->at.call == PAIRING_EXEC && o->at.process && !o->newer) {
		table_remove(&p->by_exec, pairing_exec_hash(&o->at), at);
		if (o->older)
			table_add(&p->by_exec, pairing_exec_hash(&o->at),
				  o->older - 1);
	}
	if (o->newer)
		p->open[o->newer - 1].older = o->older;
	if (o->older)
		p->open[o->older - 1].newer = o->newer;
	pairing_set_free(o->set);
	o->set = NULL;
	o->used = false;
	o->below = p->free;
	p->free = at + 1;
}

/* ---- several of one key */

/* Reports the intervals of a set that have an end: the n-th begin has the n-th
 * end. If as many ended as began, an end may belong to each begin before it. */
static void pairing_set_tell(struct pairing *p, const struct open_pair *o)
{
	const struct pairing_set *s = o->set;
	int64_t last = s->end[s->n_end - 1].time, length = 0;
	struct lost_sum lost = pairing_lost(p, &o->at, s->begin[0].time, last);
	struct lost_sum ever = pairing_lost_before(p, &s->end[s->n_end - 1]);
	bool whole = s->n_begin == s->n_end && !lost.n && !o->before.n &&
		     !pairing_reason(&ever);
	uint8_t reason = pairing_reason(&ever)
				 ?: lost.n ? INTERVAL_BY_START
					   : INTERVAL_BY_MERGE;
	size_t next = 0;

	for (size_t k = 0; k < s->n_begin; k++)
		length += s->begin[k].length;
	for (size_t k = 0; k < s->n_end; k++)
		length -= s->end[k].length;
	for (size_t k = 0; k < s->n_end; k++) {
		struct interval i = pairing_of_both(&s->begin[k], &s->end[k]);

		i.loss = ever.id;
		while (s->end[next].time < i.begin)
			next++;
		i.least = whole ? interval_span(i.begin, s->end[next].time) : 0;
		i.most = whole ? interval_span(i.begin, last) : INT64_MAX;
		if (whole && !length)
			pairing_say(p, &i, INTERVAL_AMBIGUOUS,
				    INTERVAL_NO_REASON);
		else
			pairing_say(p, &i, INTERVAL_CONSISTENT, reason);
	}
}

/* Returns whether a record ends only the first part of an open interval. The
 * next end then belongs to the rest. */
static bool pairing_is_part(struct pairing *p, uint32_t at,
			    const struct pairing_record *r)
{
	struct open_pair *o = &p->open[at];
	struct pairing_record rest = o->at;
	uint32_t other;

	if (r->kind->again != PAIR_SET || !r->length || r->length >= o->left ||
	    __builtin_add_overflow(rest.key[1], r->length, &rest.key[1]))
		return false;
	other = table_find(&p->by_key, pairing_hash(&rest), pairing_same, p,
			   &rest);
	/* two that overlap cannot be told apart */
	if (other != TABLE_NONE) {
		p->open[other].before.n = UINT64_MAX;
		return false;
	}
	table_remove(&p->by_key, o->hash, at);
	o->hash = pairing_hash(&rest);
	o->at.key[1] = rest.key[1];
	o->left -= r->length;
	table_add(&p->by_key, o->hash, at);
	return true;
}

/* Returns the last open exec in the process of a record, or TABLE_NONE. */
static uint32_t pairing_find_exec(const struct pairing *p,
				  const struct pairing_record *r)
{
	return r->process ? table_find_hash(&p->by_exec, pairing_exec_hash(r))
			  : TABLE_NONE;
}

/* Returns the records that are missing where the same interval may have begun
 * before, or adds to *premise that it did not. A wait for a mutex begins twice
 * before it may begin again: nothing shows whether it did so before the
 * recording. */
static struct lost_sum pairing_before(const struct pairing *p,
				      const struct pairing_record *r,
				      int64_t since, uint8_t *premise)
{
	struct lost_sum before;

	if (r->kind->again != PAIR_PART || r->begins != PAIRING_EITHER)
		return (struct lost_sum){ 0 };
	if (!r->kind->part.field)
		return pairing_lost(p, r, since, r->time);
	raise_to(since, r->born);
	before = pairing_lost(p, r, since, r->time);
	if (!pairing_reason(&before)) {
		if (before.off)
			*premise |= INTERVAL_IF_IDLE;
		return (struct lost_sum){ 0 };
	}
	return before.n < 2 ? (struct lost_sum){ 0 } : before;
}

/* Takes a begin. at: the open begin of its key, or TABLE_NONE. */
static void pairing_begin(struct pairing *p, const struct pairing_record *r,
			  uint64_t hash, uint32_t at, int64_t since)
{
	enum pair_again again = r->kind->again;
	struct lost_sum before;
	uint8_t premise = r->premise;
	uint32_t below = 0;
	int64_t first = r->time;

	if (at == TABLE_NONE) {
		before = pairing_before(p, r, since, &premise);
		at = pairing_push(p, r, hash, 0, &before);
		p->open[at].at.premise = premise;
		return;
	}
	if (again == PAIR_PART && r->begins != PAIRING_FIRST) {
		/* had the open one ended, the next begin would be a first */
		if (r->begins == PAIRING_EITHER)
			p->open[at].again = r->time;
		return;
	}
	if (again == PAIR_SET) {
		/* Takes a begin of a key that is already open. */
		struct open_pair *o = &p->open[at];
		struct lost_sum lost = pairing_lost(p, r, o->again, r->time);
		struct pairing_set *s = o->set;

		/* The end of the open one is more likely to be lost than that
		 * two are open: the next end may then belong to this one. */
		if (!s && lost.n) {
			struct open_pair old = *o;

			pairing_pop(p, at);
			pairing_tell_open(p, &old, r->time, INTERVAL_NO_REASON);
			pairing_push(p, r, hash, 0, &lost);
			return;
		}
		if (!s) {
			s = o->set = mem_new(1, sizeof(*s));
			*mem_add(s->begin, s->n_begin, s->cap_begin) = o->at;
			s->begin[0].length = o->left;
		}
		*mem_add(s->begin, s->n_begin, s->cap_begin) = *r;
		lost = pairing_lost_before(p, r);
		if (pairing_reason(&lost))
			pairing_late_doubt(p, r, hash);
		if (s->n_end < PAIRING_SET_MAX)
			return;
		pairing_set_tell(p, o);
		s->n_begin -= s->n_end;
		memmove(s->begin, s->begin + s->n_end,
			s->n_begin * sizeof(*s->begin));
		s->n_end = 0;
		o->at = s->begin[0];
		o->before.n = UINT64_MAX;
		return;
	}
	if (again == PAIR_STACK) {
		below = at + 1;
		table_remove(&p->by_key, hash, at);
	} else {
		struct open_pair o = p->open[at];
		uint8_t reason = again == PAIR_RESTART ? INTERVAL_BY_RESTART
				 : o.at.call == PAIRING_SIGRETURN
					 ? INTERVAL_BY_RETURN
					 : INTERVAL_NO_REASON;

		/* a work that may have been pending no longer is when it can be
		 * queued: it was cancelled, or is about to start */
		if (again == PAIR_EITHER && o.ghost && r->kind->is_pending)
			premise |= INTERVAL_IF_STARTED;
		else if (again == PAIR_EITHER)
			first = o.first;
		pairing_pop(p, at);
		if (!o.ghost)
			pairing_tell_open(p, &o, r->time, reason);
	}
	before = (struct lost_sum){ 0 };
	at = pairing_push(p, r, hash, below, &before);
	p->open[at].first = first;
	p->open[at].at.premise = premise;
}

/* Takes an end. at: the open begin of its key, or TABLE_NONE. */
static void pairing_end_one(struct pairing *p, const struct pairing_record *r,
			    uint64_t hash, uint32_t at, int64_t since)
{
	struct pairing_record end = *r;
	struct open_pair o;

	if (at == TABLE_NONE && r->call == PAIRING_EXEC)
		at = pairing_find_exec(p, r);
	if (at != TABLE_NONE && p->open[at].ghost) {
		pairing_pop(p, at);
		at = TABLE_NONE;
	}
	if (at == TABLE_NONE) {
		if (pairing_has_others(r->kind) && !r->kind->direct)
			pairing_late_doubt(p, r, hash);
		pairing_tell_end(p, r, since, INTERVAL_NEVER);
		return;
	}
	if (p->open[at].set) {
		struct pairing_set *s = p->open[at].set;
		struct pairing_record rest = *r;

		*mem_add(s->end, s->n_end, s->cap_end) = *r;
		/* the rest of one of them will end with that key */
		if (r->length < s->begin[0].length &&
		    !__builtin_add_overflow(r->key[1], r->length, &rest.key[1]))
			table_find_or_add(&p->several, pairing_hash(&rest), 0);
		if (s->n_end < s->n_begin)
			return;
		pairing_set_tell(p, &p->open[at]);
		pairing_pop(p, at);
		return;
	}
	if (pairing_is_part(p, at, r))
		return;
	if (p->open[at].at.tag != r->tag &&
	    !(p->open[at].at.kind->calls && r->tag == -1 &&
	      (p->open[at].at.call == PAIRING_SIGRETURN ||
	       p->open[at].at.call == PAIRING_UNNAMED))) {
		/* Takes the end of another call than the open one: the end
		 * of the open one and the begin of this one are missing, or
		 * an exec ended the open one. */
		struct open_pair other = p->open[at];
		uint32_t exec = r->call == PAIRING_EXEC
					? pairing_find_exec(p, r)
					: TABLE_NONE;

		pairing_pop(p, at);
		pairing_tell_open(p, &other, r->time,
				  exec == TABLE_NONE ? INTERVAL_NO_REASON
						     : INTERVAL_BY_EXEC);
		if (exec == TABLE_NONE) {
			pairing_tell_end(p, r, other.at.time, INTERVAL_NEVER);
			return;
		}
		other = p->open[exec];
		pairing_pop(p, exec);
		pairing_tell_both(p, &other, r);
		return;
	}
	o = p->open[at];
	/* if the end belongs to an earlier begin, this one is still open */
	if (o.first < o.at.time) {
		p->open[at].first = o.at.time;
		p->open[at].ghost = true;
	} else {
		pairing_pop(p, at);
	}
	end.call = o.at.call;
	/* a wait that is first seen by a part of it began before that */
	if (o.at.begins == PAIRING_PART)
		pairing_tell_end(p, r, since, o.at.time);
	else
		pairing_tell_both(p, &o, &end);
}

/* Returns whether a record is there twice. In guests with Linux 6.18, perf 6.1
 * has all records of some tasks twice. Two calls are never at one time; where
 * several may be open, two records may have one time if that is from a text, in
 * microseconds. */
static bool pairing_is_double(struct pairing *p, const struct pairing_record *r,
			      uint64_t hash, uint32_t at, int64_t since)
{
	struct pairing_last last;

	mem_reach(p->last, p->n_last, p->cap_last, r->pair + 1);
	last = p->last[r->pair];
	p->last[r->pair] =
		(struct pairing_last){ hash, r->time, r->cpu, r->role };
	if (r->kind->again == PAIR_STACK ||
	    (pairing_has_others(r->kind) && r->time % 1000 == 0))
		return false;
	/* only the last record is kept where there are many keys */
	if (last.hash == hash && last.time == r->time && last.cpu == r->cpu &&
	    last.role == r->role)
		return true;
	if (r->kind->part.field)
		return false;
	if (r->role == PAIRING_BEGIN)
		return at != TABLE_NONE && p->open[at].at.time == r->time &&
		       p->open[at].at.cpu == r->cpu &&
		       p->open[at].at.tag == r->tag;
	return at == TABLE_NONE && since == r->time;
}

void pairing_take(struct pairing *p, const struct pairing_record *r)
{
	static const struct nest_tell tell = { pairing_give,
					       pairing_give_inside };

	if (r->kind->again == PAIR_NEST) {
		if (!p->nest)
			p->nest = nest_new(p->lost, &tell, p);
		nest_take(p->nest, r);
		return;
	}
	uint64_t hash = pairing_hash(r);
	uint32_t at = table_find(&p->by_key, hash, pairing_same, p, r);
	int64_t *seen = pairing_seen(p, r, hash);
	int64_t since = seen ? *seen : INT64_MIN;

	/* a work that starts again was queued in the recording, perhaps without
	 * a record, as by insert_wq_barrier(); that may have been just before
	 * the record of its last start */
	if (r->kind->is_pending && r->role == PAIRING_END) {
		if (table_find_hash(&p->started, hash) != TABLE_NONE)
			since = SINCE_A_START;
		else
			table_add(&p->started, hash, 0);
	}
	if (pairing_is_double(p, r, hash, at, since)) {
		p->doubled++;
		return;
	}
	/* a thread that waits for a mutex does not end another wait */
	if (seen && (!r->kind->part.field ||
		     (r->role == PAIRING_END && at != TABLE_NONE &&
		      p->open[at].at.begins != PAIRING_FIRST)))
		*seen = r->time;
	if (r->role == PAIRING_BEGIN) {
		pairing_begin(p, r, hash, at, since);
	} else if (r->role == PAIRING_END) {
		pairing_end_one(p, r, hash, at, since);
	} else if (at != TABLE_NONE && r->kind->cancel_ends &&
		   !p->open[at].cancelled) {
		p->open[at].cancelled = true;
	} else if (at != TABLE_NONE) {
		/* Takes a cancel. Of several, it is not known which one was
		 * cancelled: the last one is reported, and nothing is proved
		 * about the others. */
		struct open_pair *o = &p->open[at];
		struct open_pair one = *o;
		struct pairing_set *s = o->set;

		if (s)
			one.at = s->begin[--s->n_begin];
		if (!o->ghost)
			pairing_tell_open(p, &one, r->time, INTERVAL_BY_CANCEL);
		o->before.n = UINT64_MAX;
		if (!s || s->n_end >= s->n_begin) {
			if (s && s->n_end)
				pairing_set_tell(p, o);
			pairing_pop(p, at);
		}
	}
}

void pairing_end(struct pairing *p)
{
	if (p->nest)
		nest_end(p->nest);
	for (size_t i = 0; i < p->n; i++) {
		struct open_pair *o = &p->open[i];
		const struct pairing_set *s = o->set;

		if (!o->used || o->ghost)
			continue;
		if (s && s->n_end)
			pairing_set_tell(p, o);
		for (size_t k = s ? s->n_end : 0; k < (s ? s->n_begin : 1);
		     k++) {
			if (s)
				o->at = s->begin[k];
			pairing_tell_open(p, o, INT64_MAX, INTERVAL_NO_REASON);
		}
	}
	pairing_late_tell(p, p->n_late);
}
