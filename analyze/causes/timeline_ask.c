/* timeline_ask.c - what a finished timeline knows about threads, CPUs and
 * losses.
 */
#include "analyze/causes/timeline.h"

#include "analyze/causes/timeline_inner.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* A loss that is not reported shows only if another thread is on the CPU after
 * it, so about as many more do not show. With 668 that did, 3 of 23 programs
 * had false proofs elsewhere; with more than this, absence proves nothing. */
#define SILENT_MAX 100

struct timeline *timeline_new(const struct timeline_rules *r)
{
	struct timeline *t = mem_new(1, sizeof(*t));

	t->rules = *r;
	t->first = TIMELINE_END;
	t->last = TIMELINE_START;
	t->part_from = t->undead = TIMELINE_START;
	return t;
}

static void timeline_free_lists(struct lists *l)
{
	packed_times_release(&l->number);
	free(l->first);
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_ring; i++)
		free(t->ring[i].loss);
	free_all(t->ring, t->told, t->anywhere, t->loss);
	loss_ends_release(&t->ends);
	loss_ends_release(&t->ends_on);
	packed_times_release(&t->stay);
	packed_times_release(&t->wake);
	intern_release(&t->stayed);
	intern_release(&t->woke);
	intern_release(&t->pairs);
	free_all(t->thread, t->silent, t->rename, t->ring_part, t->part,
		 t->doubt);
	table_release(&t->index);
	timeline_free_lists(&t->stays);
	timeline_free_lists(&t->wakes);
	timeline_free_lists(&t->seats);
	timeline_free_lists(&t->losses);
	free(t);
}

int32_t timeline_tid(const struct timeline *t, uint32_t thread)
{
	return thread == TIMELINE_NONE ? 0 : t->thread[thread].tid;
}

uint32_t timeline_thread(const struct timeline *t, int32_t tid)
{
	return tid <= 0 ? TIMELINE_NONE
			: table_find_hash(&t->index,
					  hash_u64((uint64_t)(uint32_t)tid));
}

struct numbers timeline_seats(const struct timeline *t, int32_t cpu)
{
	return cpu < 0 || (size_t)cpu >= t->n_ring
		       ? (struct numbers){ .n = 0 }
		       : lists_get(&t->seats, (size_t)cpu);
}

/* ---- stays and wake-ups, as they are kept */

void timeline_put_stay(struct timeline *t, const struct timeline_stay *s)
{
	packed_times_put(&t->stay, s->number,
			 &(struct packed_time){
				 .time = s->to,
				 .event = s->event,
				 .a = (uint64_t)s->to - (uint64_t)s->from,
				 .b = kinds_add(&t->stayed, &s->common) });
}

struct timeline_stay timeline_stay(const struct timeline *t, uint32_t i)
{
	const struct packed_time x = packed_times_get(&t->stay, i);

	return (struct timeline_stay){
		.from = (int64_t)((uint64_t)x.time - x.a),
		.to = x.time,
		.event = x.event,
		.number = i,
		.common = kinds_get(&t->stayed, x.b),
	};
}

/* Most sched_wakeups come a few microseconds after the sched_waking of their
 * thread. Both are one moment then, with the time between them below the thread
 * in `a`, and that between their events below the number of a pair in `b`. */
#define LATER_TIME 20
#define LATER_EVENT 8

/* What many pairs have in common. */
union wake_pair {
	struct kind kind;
	struct {
		uint32_t woke[2]; /* the second is TIMELINE_NONE if it is one */
		int32_t target[2];
	};
};

static union wake_pair wake_pair(const struct timeline *t,
				 const struct packed_time *x)
{
	return (union wake_pair){ kinds_get(&t->pairs, x->b >> LATER_EVENT) };
}

uint32_t timeline_wake_number(struct timeline *t, const struct timeline_wake *w)
{
	uint32_t *waking = &t->thread[w->waiter].waking;
	uint32_t number = 2 * (uint32_t)t->wake.n;

	if (w->kind == TIMELINE_WAKEUP && *waking) {
		const struct packed_time x =
			packed_times_get(&t->wake, *waking / 2);

		if (x.event > 0 && w->event > x.event &&
		    w->event - x.event < 1 << LATER_EVENT &&
		    w->time >= x.time && w->time - x.time < 1 << LATER_TIME)
			number = *waking;
	}
	*waking = w->kind == TIMELINE_WAKING ? number + 1 : 0;
	return number;
}

void timeline_put_wake(struct timeline *t, const struct timeline_wake *w)
{
	bool second = w->number & 1;
	struct packed_time x = { .time = w->time, .event = w->event };
	union wake_pair pair = { .woke[1] = TIMELINE_NONE };

	if (w->number / 2 < t->wake.n) {
		x = packed_times_get(&t->wake, w->number / 2);
		pair = wake_pair(t, &x);
	}
	pair.woke[second] = kinds_add(&t->woke, &w->woke);
	pair.target[second] = w->target;
	x.a &= (1 << LATER_TIME) - 1;
	x.b &= (1 << LATER_EVENT) - 1;
	if (second) {
		x.a = (uint64_t)(w->time - x.time);
		x.b = (uint64_t)(w->event - x.event);
	}
	x.a |= (uint64_t)w->waiter << LATER_TIME;
	x.b |= (uint64_t)kinds_add(&t->pairs, &pair.kind) << LATER_EVENT;
	packed_times_put(&t->wake, w->number / 2, &x);
}

struct timeline_wake timeline_wake(const struct timeline *t, uint32_t i)
{
	const struct packed_time x = packed_times_get(&t->wake, i / 2);
	const union wake_pair pair = wake_pair(t, &x);
	bool second = i & 1;
	int64_t time = x.a & ((1 << LATER_TIME) - 1);
	int64_t event = x.b & ((1 << LATER_EVENT) - 1);

	if (pair.woke[second] == TIMELINE_NONE)
		return (struct timeline_wake){ .waiter = TIMELINE_NONE };
	return (struct timeline_wake){
		.time = x.time + (second ? time : 0),
		.event = x.event + (second ? event : 0),
		.number = i,
		.target = pair.target[second],
		.waiter = (uint32_t)(x.a >> LATER_TIME),
		.woke = kinds_get(&t->woke, pair.woke[second]),
	};
}

uint32_t timeline_next_wake(const struct timeline *t, uint32_t i)
{
	size_t next = i / 2 + (size_t)1;

	return next < t->wake.n ? 2 * (uint32_t)next : TIMELINE_NONE;
}

bool timeline_stack(const struct timeline *t, int64_t event, uint32_t *stack)
{
	size_t at = packed_times_find(&t->stay, event);
	struct timeline_wake w;
	uint32_t i;

	if (event <= 0)
		return false;
	if (at < t->stay.n) {
		const struct timeline_stay s = timeline_stay(t, (uint32_t)at);

		*stack = s.stack;
		if (timeline_stay_out(&s) == event)
			return true;
	}
	/* the second of a pair is a few events after its first */
	at = packed_times_find(&t->wake, event);
	i = 2 * (uint32_t)(at + (at < t->wake.n));
	while (i-- > 0) {
		w = timeline_wake(t, i);
		if (w.waiter == TIMELINE_NONE)
			continue;
		*stack = w.stack;
		if (w.event <= event - (1 << LATER_EVENT))
			break;
		if (w.event == event)
			return true;
	}
	return false;
}

static int64_t timeline_later(int64_t time, int64_t by)
{
	int64_t sum;

	if (time == TIMELINE_START || time == TIMELINE_END ||
	    __builtin_add_overflow(time, by, &sum))
		return time;
	return sum;
}

const struct timeline_loss *timeline_next_loss(const struct timeline *t,
					       int64_t from, int64_t to,
					       const struct timeline_loss *l)
{
	int64_t first = timeline_later(from, -t->rules.skew);
	int64_t last = timeline_later(to, t->rules.skew);
	size_t i = l ? (size_t)(l - t->loss) + 1 : 0;

	/* they are in the order of their beginnings */
	i = loss_ends_find(&t->ends, i, first);
	return i < t->n_loss && t->loss[i].from <= last ? &t->loss[i] : NULL;
}

const struct timeline_loss *timeline_next_loss_in(const struct timeline *t,
						  int64_t from, int64_t to,
						  const struct timeline_loss *l)
{
	while ((l = timeline_next_loss(t, from, to, l)) &&
	       (l->from >= to || l->to <= from))
		;
	return l;
}

const struct timeline_loss *timeline_next_loss_on(const struct timeline *t,
						  int32_t cpu, int64_t from,
						  int64_t to,
						  const struct timeline_loss *l)
{
	int64_t first = timeline_later(from, -t->rules.skew);
	int64_t last = timeline_later(to, t->rules.skew);

	/* those of no known CPU come after those of this one */
	for (int32_t on = l ? l->cpu : cpu;; on = -1, l = NULL) {
		const struct numbers id =
			lists_get(&t->losses, (size_t)(on + 1));
		size_t i = id.first;

		if (l)
			i += search_where(id.n, k,
					  numbers_get(&id, k) > l - t->loss);
		i = loss_ends_find(&t->ends_on, i, first) - id.first;
		if (i < id.n) {
			const struct timeline_loss *next =
				&t->loss[numbers_get(&id, i)];

			if (next->from <= last)
				return next;
		}
		if (on < 0)
			return NULL;
	}
}

int64_t timeline_loss_end(const struct timeline *t, int64_t time)
{
	return loss_ends_latest(
		&t->ends, 0,
		search_where(t->n_loss, i, t->loss[i].from >= time));
}

bool timeline_is_on(const struct timeline *t, unsigned int type, int64_t from,
		    int64_t to)
{
	size_t k = search_where(t->n_part, i, t->part[i].from >= from);
	const struct timeline_part *p = &t->part[k ? k - 1 : 0];

	return !any_where(TIMELINE_TYPES, i,
			  (type >> i & 1) &&
				  (p->since_on[i] > from || p->until[i] < to));
}

bool timeline_is_blind(const struct timeline *t)
{
	return t->contradictions > (t->rules.pauses > 0 ? 0 : SILENT_MAX);
}

void timeline_span(const struct timeline *t, int64_t *from, int64_t *to)
{
	*from = t->first;
	*to = t->last;
}

bool timeline_on(const struct timeline *t, int32_t cpu, int64_t time,
		 struct timeline_stay *out)
{
	const struct numbers id = timeline_seats(t, cpu);
	size_t at = search_where(
		id.n, i, timeline_stay(t, numbers_get(&id, i)).from > time);

	if (at)
		*out = timeline_stay(t, numbers_get(&id, at - 1));
	return at > 0;
}
