/* timeline_ask.c - what a finished timeline tells of threads, CPUs and losses.
 */
#include "cli/causes/timeline.h"

#include <stdlib.h>

#include "cli/causes/timeline_inner.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* A loss that nothing tells shows only if another thread is on the CPU behind
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
	free(l->id);
	free(l->first);
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_ring; i++)
		free(t->ring[i].loss);
	free(t->ring);
	free(t->told);
	free(t->anywhere);
	free(t->loss);
	free(t->reach);
	moments_release(&t->stay);
	moments_release(&t->wake);
	kinds_release(&t->stayed);
	kinds_release(&t->woken);
	kinds_release(&t->woke);
	free(t->tid);
	free(t->recorder);
	free(t->gone);
	free(t->voice);
	free(t->silent);
	free(t->renames.at);
	free(t->ring_part);
	free(t->part);
	free(t->doubts.at);
	table_release(&t->index);
	timeline_free_lists(&t->stays);
	timeline_free_lists(&t->wakes);
	timeline_free_lists(&t->seats);
	free(t);
}

uint32_t timeline_threads(const struct timeline *t)
{
	return (uint32_t)t->n;
}

int32_t timeline_tid(const struct timeline *t, uint32_t thread)
{
	return thread == TIMELINE_NONE ? 0 : t->tid[thread];
}

uint32_t timeline_thread(const struct timeline *t, int32_t tid)
{
	return tid <= 0 ? TIMELINE_NONE
			: table_find_hash(&t->index,
					  hash_u64((uint64_t)(uint32_t)tid));
}

bool timeline_is_recorder(const struct timeline *t, uint32_t thread)
{
	return t->recorder[thread];
}

static const uint32_t *timeline_list(const struct lists *l, uint32_t owner,
				     size_t *n)
{
	*n = l->first[owner + 1] - l->first[owner];
	return l->id + l->first[owner];
}

const uint32_t *timeline_stays(const struct timeline *t, uint32_t thread,
			       size_t *n)
{
	return timeline_list(&t->stays, thread, n);
}

const uint32_t *timeline_seats(const struct timeline *t, int32_t cpu, size_t *n)
{
	*n = 0;
	if (cpu < 0 || (size_t)cpu >= t->n_ring)
		return NULL;
	return timeline_list(&t->seats, (uint32_t)cpu, n);
}

/* ---- stays and wake-ups, as they are kept */

void timeline_put_stay(struct timeline *t, const struct timeline_stay *s)
{
	moments_put(&t->stay, s->number,
		    &(struct moment){ s->to, s->event,
				      (uint64_t)s->to - (uint64_t)s->from,
				      kinds_add(&t->stayed, &s->common) });
}

struct timeline_stay timeline_stay(const struct timeline *t, uint32_t i)
{
	const struct moment x = moments_get(&t->stay, i);

	return (struct timeline_stay){
		.from = (int64_t)((uint64_t)x.time - x.a),
		.to = x.time,
		.event = x.event,
		.number = i,
		.common = t->stayed.at[x.b],
	};
}

void timeline_put_wake(struct timeline *t, const struct timeline_wake *w)
{
	moments_put(&t->wake, w->number,
		    &(struct moment){ w->time, w->event,
				      kinds_add(&t->woken, &w->woken),
				      kinds_add(&t->woke, &w->woke) });
}

struct timeline_wake timeline_wake(const struct timeline *t, uint32_t i)
{
	const struct moment x = moments_get(&t->wake, i);

	return (struct timeline_wake){
		.time = x.time,
		.event = x.event,
		.number = i,
		.woken = t->woken.at[x.a],
		.woke = t->woke.at[x.b],
	};
}

uint32_t timeline_loss_number(const struct timeline *t,
			      const struct timeline_loss *l)
{
	return (uint32_t)(l - t->loss);
}

size_t timeline_all_stays(const struct timeline *t)
{
	return t->stay.n;
}

size_t timeline_all_wakes(const struct timeline *t)
{
	return t->wake.n;
}

const uint32_t *timeline_wakes(const struct timeline *t, uint32_t thread,
			       size_t *n)
{
	return timeline_list(&t->wakes, thread, n);
}

bool timeline_stack(const struct timeline *t, int64_t event, uint32_t *stack)
{
	size_t at = moments_find(&t->stay, event);

	if (event && at < t->stay.n) {
		const struct timeline_stay s = timeline_stay(t, (uint32_t)at);

		*stack = s.stack;
		if (timeline_stay_out(&s) == event)
			return true;
	}
	at = moments_find(&t->wake, event);
	if (!event || at == t->wake.n)
		return false;
	*stack = timeline_wake(t, (uint32_t)at).stack;
	return true;
}

size_t timeline_losses(const struct timeline *t)
{
	return t->n_loss;
}

const struct timeline_loss *timeline_loss(const struct timeline *t, size_t i)
{
	return &t->loss[i];
}

static int64_t timeline_later(int64_t time, int64_t by)
{
	int64_t sum;

	if (time == TIMELINE_START || time == TIMELINE_END ||
	    __builtin_add_overflow(time, by, &sum))
		return time;
	return sum;
}

struct timeline_visit {
	const struct timeline *t;
	int64_t from, to;
	timeline_loss_fn *fn;
	void *arg;
};

/* One loss may last as long as all others: their ends have no order. */
static void timeline_visit_losses(const struct timeline_visit *v, size_t low,
				  size_t high)
{
	size_t i = low + (high - low) / 2;

	if (low == high || v->t->reach[i] < v->from)
		return;
	if (v->t->loss[i].from <= v->to) {
		timeline_visit_losses(v, i + 1, high);
		if (v->t->loss[i].to >= v->from)
			v->fn(v->arg, i);
	}
	timeline_visit_losses(v, low, i);
}

void timeline_each_loss(const struct timeline *t, int64_t from, int64_t to,
			timeline_loss_fn *fn, void *arg)
{
	const struct timeline_visit v = {
		.t = t,
		.from = timeline_later(from, -t->rules.skew),
		.to = timeline_later(to, t->rules.skew),
		.fn = fn,
		.arg = arg,
	};

	timeline_visit_losses(&v, 0, t->n_loss);
}

struct timeline_found {
	const struct timeline *t;
	int64_t from, to;
	size_t *loss;
	size_t n, cap;
};

static void timeline_find_loss(void *arg, size_t loss)
{
	struct timeline_found *f = arg;

	if (f->t->loss[loss].from < f->to && f->t->loss[loss].to > f->from)
		*mem_add(f->loss, f->n, f->cap) = loss;
}

size_t *timeline_losses_in(const struct timeline *t, int64_t from, int64_t to,
			   size_t *n)
{
	struct timeline_found f = { .t = t, .from = from, .to = to };

	timeline_each_loss(t, from, to, timeline_find_loss, &f);
	for (size_t i = 0; i < f.n / 2; i++) {
		size_t last = f.loss[f.n - 1 - i];

		f.loss[f.n - 1 - i] = f.loss[i];
		f.loss[i] = last;
	}
	*n = f.n;
	return f.loss;
}

const struct timeline_rules *timeline_rules(const struct timeline *t)
{
	return &t->rules;
}

unsigned int timeline_types(const struct timeline *t)
{
	return t->types;
}

bool timeline_is_on(const struct timeline *t, unsigned int type, int64_t from,
		    int64_t to)
{
	size_t k = search_where(t->n_part, i, t->part[i].from >= from);
	const struct timeline_part *p = &t->part[k ? k - 1 : 0];

	for (unsigned int i = 0; i < TIMELINE_TYPES; i++)
		if ((type >> i & 1) &&
		    (p->since_on[i] > from || p->until[i] < to))
			return false;
	return true;
}

struct timeline_silent timeline_silent(const struct timeline *t, size_t i,
				       size_t *n)
{
	*n = t->n_silent;
	return i < *n ? t->silent[i] : (struct timeline_silent){ .cpu = -1 };
}

bool timeline_is_silent(const struct timeline *t, uint32_t thread)
{
	return t->n_silent && !t->voice[thread].heard;
}

uint64_t timeline_contradictions(const struct timeline *t)
{
	return t->contradictions;
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
	size_t n;
	const uint32_t *id = timeline_seats(t, cpu, &n);
	size_t at = search_where(n, i, timeline_stay(t, id[i]).from > time);

	if (at)
		*out = timeline_stay(t, id[at - 1]);
	return at > 0;
}
