/* nest.c - calls inside of calls, from records that are paired by depth or
 * order. */
#include "analyze/latency/nest.h"

#include "analyze/latency/lost_times.h"
#include "analyze/latency/interval.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"

/* A call whose caller is still open. */
struct nest_inner {
	uint64_t number;
	int64_t first; /* time of its first record */
	int64_t to;    /* when it ended by the recorder's clock */
	int64_t ns;    /* how long it took; -1: it has no end */
	uint32_t next; /* index + 1 of the call before it; 0: none */
};

/* An open call at a depth. begun: its begin was recorded; else calls that are
 * deeper by one show that it is there. */
struct nest_frame {
	struct pairing_record at;
	uint32_t depth;
	uint32_t inner; /* index + 1 of the last call inside; 0: none */
	uint32_t open;	/* index + 1 in nest.open[]; 0: it has no key */
	bool begun;
};

struct nest_thread {
	struct nest_frame *frame; /* the deepest last */
	size_t n, cap;
	int64_t first, last; /* times of its records */
};

struct nest {
	const struct lost_times *lost;
	const struct nest_tell *tell;
	void *arg;
	struct nest_thread *thread;
	size_t n, cap;
	struct table by_thread;
	struct nest_inner *inner;
	size_t n_inner, cap_inner;
	uint32_t free; /* index + 1 of a free entry; 0: none */
	/* how many open frames of a thread have a key: an end whose key has
	 * none need not search them */
	uint32_t *open;
	size_t n_open, cap_open;
	struct table by_key;
};

struct nest *nest_new(const struct lost_times *lost,
		      const struct nest_tell *tell, void *arg)
{
	struct nest *n = mem_new(1, sizeof(*n));

	n->lost = lost;
	n->tell = tell;
	n->arg = arg;
	return n;
}

void nest_free(struct nest *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->n; i++)
		free(n->thread[i].frame);
	table_release(&n->by_thread);
	table_release(&n->by_key);
	free_all(n->thread, n->inner, n->open, n);
}

/* Returns the records that may be missing in a thread between two times. */
static struct lost_sum nest_lost(const struct nest *n,
				 const struct pairing_record *r, int64_t from,
				 int64_t to)
{
	/* the records of an idle thread are all on one CPU */
	const struct lost_ask ask = { .world = r->world,
				      .cpu = (int32_t)r->key[PAIR_KEYS - 1] - 1,
				      .from = from,
				      .to = to,
				      .recorded = true };

	return lost_times_between(n->lost, &ask);
}

/* Returns the deepest frame, and adds one at `depth` if none is so deep. */
static struct nest_frame *nest_reach(struct nest_thread *t, uint32_t depth)
{
	if (!t->n || t->frame[t->n - 1].depth < depth)
		*mem_add(t->frame, t->n, t->cap) =
			(struct nest_frame){ .depth = depth };
	return &t->frame[t->n - 1];
}

/* Returns the index in open[] for a thread and a key. */
static uint32_t nest_open_of(struct nest *n, const struct nest_thread *t,
			     int64_t key)
{
	const uint64_t word[2] = { (uint64_t)(t - n->thread), (uint64_t)key };
	uint32_t id =
		table_find_or_add(&n->by_key, hash_u64s(word, 2, 0), n->n_open);

	if (id == n->n_open)
		*mem_add(n->open, n->n_open, n->cap_open) = 0;
	return id;
}

/* Takes the deepest frame from a thread, which has one. */
static struct nest_frame nest_pop(struct nest *n, struct nest_thread *t)
{
	const struct nest_frame f = t->frame[--t->n];

	if (f.open)
		n->open[f.open - 1]--;
	return f;
}

/* Adds a call to the frame of its caller, which may be new. */
static void nest_add_inner(struct nest *n, struct nest_thread *t,
			   uint32_t depth, const struct nest_inner *i)
{
	uint32_t at = n->free ? n->free - 1 : (uint32_t)n->n_inner;
	struct nest_frame *f;

	if (!depth)
		return;
	f = nest_reach(t, depth - 1);
	if (n->free)
		n->free = n->inner[at].next;
	else
		mem_add(n->inner, n->n_inner, n->cap_inner);
	n->inner[at] = *i;
	n->inner[at].next = f->inner;
	f->inner = at + 1;
}

/* Removes the last call inside a frame, and stores it. Returns false if there
 * is none. */
static bool nest_take_inner(struct nest *n, struct nest_frame *f,
			    struct nest_inner *out)
{
	uint32_t at = f->inner;

	if (!at)
		return false;
	*out = n->inner[at - 1];
	f->inner = out->next;
	n->inner[at - 1].next = n->free;
	n->free = at;
	return true;
}

/* Returns whether a record at `time` is inside the call that r began: if it was
 * in another call, an end and a begin are missing in between. */
static bool nest_follows(const struct nest *n, const struct pairing_record *r,
			 int64_t time)
{
	return time >= r->time &&
	       nest_lost(n, r, r->time, time).n < (r->kind->counted ? 2 : 1);
}

/* Reports a call, without times if it has none. Returns its number. */
static uint64_t nest_tell(const struct nest *n, const struct pairing_record *r,
			  struct interval *i)
{
	if (r->untimed)
		i->begin = i->end = INTERVAL_NEVER;
	return n->tell->call(n->arg, i);
}

/* Reports a call that did not end before `until`, and whose end is not known.
 * Returns its number. */
static uint64_t nest_tell_begin(const struct nest *n,
				const struct pairing_record *r, int64_t until)
{
	struct lost_sum lost = nest_lost(n, r, r->time, until);
	struct interval i = pairing_of(r);

	i.begin = r->time;
	i.begin_event = r->event;
	i.loss = lost.id;
	i.reason = pairing_reason(&lost);
	i.verdict = i.reason ? INTERVAL_END_LOST
		    : until == INT64_MAX || lost.off || !r->kind->counted
			    ? INTERVAL_UNFINISHED
			    : INTERVAL_UNEXPLAINED;
	return nest_tell(n, r, &i);
}

/* Reports the innermost open call as one without an end, and then which calls
 * are inside it. */
static void nest_close(struct nest *n, struct nest_thread *t, int64_t until)
{
	struct nest_frame f = nest_pop(n, t);
	struct nest_inner i;
	uint64_t number = f.begun ? nest_tell_begin(n, &f.at, until) : 0;

	while (nest_take_inner(n, &f, &i))
		if (number && nest_follows(n, &f.at, i.first))
			n->tell->inside(n->arg, i.number, number);
	if (number)
		nest_add_inner(n, t, f.depth,
			       &(struct nest_inner){ .number = number,
						     .first = f.at.time,
						     .ns = -1 });
}

/* Returns whether a call is proved to be inside one that has ended. If clocks
 * differ, which they do by no more than 1/1024, the begin must be that much
 * later. */
static bool nest_is_inside(const struct nest_inner *i,
			   const struct pairing_record *r)
{
	if (i->ns >= 0)
		return interval_span(r->from, i->to) >= r->blur &&
		       i->to >= r->from && i->to <= r->to;
	return interval_span(i->first, r->time) <=
	       r->took - (r->took >> 10) - r->blur;
}

/* Returns whether an end is proved to belong to the begin of a frame. Sets
 * *apart if that begin is of another call. */
static bool nest_is_begin(const struct nest *n, const struct nest_frame *f,
			  const struct pairing_record *r, bool *apart)
{
	if (!f->begun)
		return false;
	/* the end of a text may have no function */
	*apart = r->name && f->at.name != r->name;
	if (*apart)
		return false;
	if (nest_lost(n, &f->at, f->at.time, r->time).n < 2)
		return true;
	/* no other call of this depth begins while this one runs; Linux 7.2
	 * takes the start of that time before it writes the begin */
	if (interval_span(f->at.time, r->time) <
	    r->took - (r->took >> 10) - r->blur)
		return true;
	for (uint32_t at = f->inner; at; at = n->inner[at - 1].next)
		*apart |= n->inner[at - 1].ns >= 0 &&
			  n->inner[at - 1].to < r->from;
	return false;
}

/* Takes an end that has its depth, and reports the call. */
static void nest_take_end(struct nest *n, struct nest_thread *t,
			  const struct pairing_record *r)
{
	struct nest_frame *f = nest_reach(t, r->depth), own;
	struct interval i = pairing_of(r);
	int64_t ns = r->took, self = ns;
	struct nest_inner in;
	struct lost_sum lost;
	uint64_t number, other = 0;
	bool apart = false;

	own = *f;
	t->n--;
	if (nest_is_begin(n, &own, r, &apart)) {
		i = pairing_of_both(&own.at, r);
		/* a record that is begin and end has the time of the begin */
		if (r->event == own.at.event)
			i.end = r->to;
		/* the option nofuncgraph-duration leaves the duration out */
		if (ns < 0 && !r->untimed)
			ns = self = interval_span(i.begin, i.end);
	} else {
		i.name = i.name ?: INTERVAL_NO_NAME;
		i.end = r->time;
		i.end_event = r->event;
		i.ret = r->ret;
		i.has_ret = r->has_ret;
		if (ns < 0 || __builtin_sub_overflow(r->time, ns, &i.begin))
			i.begin = INTERVAL_NEVER;
		lost = nest_lost(n, r,
				 own.begun		       ? own.at.time
				 : t->last < i.begin || ns < 0 ? t->last
							       : i.begin,
				 r->time);
		i.loss = lost.id;
		i.reason = pairing_reason(&lost)
				   ?: lost.off ? INTERVAL_BY_START
					       : INTERVAL_NO_REASON;
	}
	/* from the recorder's clock alone, the begin is not known exactly */
	lost = nest_lost(n, r,
			 i.begin_event	      ? i.begin
			 : i.begin > t->first ? t->first
					      : INT64_MIN,
			 i.end);
	for (uint32_t at = own.inner; at; at = n->inner[at - 1].next) {
		const struct nest_inner *c = &n->inner[at - 1];

		if (c->ns < 0 || ((i.begin_event || nest_is_inside(c, r)) &&
				  __builtin_sub_overflow(self, c->ns, &self)))
			lost.n = 1;
	}
	/* a pair from a text without times and durations may have any length */
	i.verdict = ns >= 0	    ? INTERVAL_PROVED
		    : i.begin_event ? INTERVAL_CONSISTENT
		    : i.reason == INTERVAL_BY_START || !i.reason
			    ? INTERVAL_BEFORE
			    : INTERVAL_BEGIN_LOST;
	i.least = ns >= 0 ? ns : 0;
	i.most = ns >= 0 ? ns : INT64_MAX;
	i.self = self < 0 ? -1 : self;
	i.whole = !lost.n && self >= 0;
	if (apart) {
		other = nest_tell_begin(n, &own.at, r->time);
		nest_add_inner(n, t, r->depth,
			       &(struct nest_inner){ .number = other,
						     .first = own.at.time,
						     .ns = -1 });
	}
	number = nest_tell(n, r, &i);
	while (nest_take_inner(n, &own, &in))
		if (i.begin_event || nest_is_inside(&in, r))
			n->tell->inside(n->arg, in.number, number);
		else if (apart && nest_follows(n, &own.at, in.first))
			n->tell->inside(n->arg, in.number, other);
	nest_add_inner(n, t, r->depth,
		       &(struct nest_inner){
			       .number = number,
			       .first = i.begin_event ? own.at.time : r->time,
			       .to = r->to,
			       .ns = ns });
}

/* Takes a record without a depth: an end belongs to the last begin, or to the
 * last with its key, if it has one. Begins after that have no end: longjmp left
 * them, or the kernel missed the return of a probe. */
static void nest_take_uncounted(struct nest *n, struct nest_thread *t,
				const struct pairing_record *r)
{
	struct nest_inner in;
	struct nest_frame own;
	struct lost_sum lost;
	struct interval i;
	uint64_t number;

	if (r->role == PAIRING_BEGIN) {
		struct nest_frame *f = nest_reach(t, (uint32_t)t->n);

		f->at = *r;
		f->at.depth = f->depth;
		f->begun = true;
		if (r->key[0]) {
			f->open = nest_open_of(n, t, r->key[0]) + 1;
			n->open[f->open - 1]++;
		}
		return;
	}
	if (!t->n || (r->key[0] && !n->open[nest_open_of(n, t, r->key[0])])) {
		/* Reports an end without a begin. */
		struct lost_sum gone = nest_lost(n, r, t->last, r->time);
		struct interval k = pairing_of(r);

		k.end = r->time;
		k.end_event = r->event;
		k.loss = gone.id;
		k.reason = pairing_reason(&gone);
		/* all calls since the thread's first record have their begins
		 */
		k.verdict = k.reason ? INTERVAL_BEGIN_LOST
			    : r->born != INT64_MIN && !gone.off
				    ? INTERVAL_UNEXPLAINED
				    : INTERVAL_BEFORE;
		n->tell->call(n->arg, &k);
		return;
	}
	while (r->key[0] && t->frame[t->n - 1].at.key[0] != r->key[0])
		nest_close(n, t, r->time);
	own = nest_pop(n, t);
	i = pairing_of_both(&own.at, r);
	lost = nest_lost(n, &own.at, i.begin, i.end);
	i.verdict = lost.n ? INTERVAL_CONSISTENT : INTERVAL_PROVED;
	i.reason = lost.n ? pairing_reason(&lost) ?: INTERVAL_BY_START
			  : INTERVAL_NO_REASON;
	i.loss = lost.id;
	i.whole = !lost.n;
	i.self = i.least = lost.n ? 0 : i.most;
	for (uint32_t k = own.inner; k; k = n->inner[k - 1].next)
		if (n->inner[k - 1].ns < 0)
			i.whole = false;
		else if (!lost.n)
			i.self -= n->inner[k - 1].ns;
	number = n->tell->call(n->arg, &i);
	while (nest_take_inner(n, &own, &in))
		if (i.whole || nest_follows(n, &own.at, in.first))
			n->tell->inside(n->arg, in.number, number);
	nest_add_inner(
		n, t, own.depth,
		&(struct nest_inner){ .number = number,
				      .first = i.begin,
				      .ns = interval_span(i.begin, i.end) });
}

void nest_take(struct nest *n, const struct pairing_record *r)
{
	/* an idle thread has one nest for each CPU, by its key */
	const uint64_t word[3] = { (uint64_t)r->pair << 32 | r->world,
				   r->thread, (uint64_t)r->key[PAIR_KEYS - 1] };
	uint32_t id =
		table_find_or_add(&n->by_thread, hash_u64s(word, 3, 0), n->n);

	if (id == n->n)
		*mem_add(n->thread, n->n, n->cap) =
			(struct nest_thread){ .first = r->time,
					      .last = r->time };
	struct nest_thread *t = &n->thread[id];
	bool ends = r->role == PAIRING_END;

	if (!r->kind->counted) {
		nest_take_uncounted(n, t, r);
		t->last = r->time;
		return;
	}
	while (t->n && (t->frame[t->n - 1].depth > r->depth ||
			(!ends && t->frame[t->n - 1].depth == r->depth)))
		nest_close(n, t, r->time);
	if (ends) {
		nest_take_end(n, t, r);
	} else {
		struct nest_frame *f = nest_reach(t, r->depth);

		f->at = *r;
		f->begun = true;
	}
	t->last = r->time;
}

void nest_end(struct nest *n)
{
	for (size_t i = 0; i < n->n; i++)
		while (n->thread[i].n)
			nest_close(n, &n->thread[i], INT64_MAX);
}
