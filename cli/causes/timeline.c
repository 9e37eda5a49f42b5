/* timeline.c - who was on which CPU when, and who woke whom. */
#include "cli/causes/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "cli/causes/doubt.h"
#include "cli/causes/rename.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/task_state.h"

#define CPUS_MAX 65536 /* records of further ones are ignored */
#define EVENT_MAX (((int64_t)1 << 40) - 1)
#define TIME_MOST (INT64_MAX / 2) /* 146 years: differences never overflow */
/* A loss that nothing tells shows only if another thread is on the CPU behind
 * it, so about as many more do not show. With 668 that did, 3 of 23 programs
 * had false proofs elsewhere; with more than this, absence proves nothing. */
#define SILENT_MAX 100

_Static_assert(sizeof(struct timeline_stay) == 32 &&
		       sizeof(struct timeline_wake) == 32,
	       "millions of them");

/* The ring of a CPU, up to the record that was added last. */
struct ring {
	int32_t current;		  /* tid; -1: unknown */
	int64_t since;			  /* start of the stay of `current` */
	int64_t last;			  /* time of the last record */
	int64_t since_on[TIMELINE_TYPES]; /* by bit of the type; TIMELINE_END:
					     never */
	/* time of the last record with which they were on */
	int64_t until[TIMELINE_TYPES];
	int32_t coming; /* tid, when another one has left; -1: unknown, or it
			 * has come */
	bool left;	/* the last record is TIMELINE_LEAVE */
	bool exact;	/* whether `since` is a switch, or an exec */
	bool exec;	/* it is an exec */
	bool began;	/* a record was added since switches are on */
	bool changed;	/* no record since the capture changed */
	int64_t start;	/* in this capture; TIMELINE_START in the first */
	size_t *loss;	/* losses of this CPU, in timeline.told */
	size_t n_loss, cap_loss, next_loss;
	size_t spans; /* number in timeline.loss of the one that lasts, + 1 */
	size_t spans_told; /* and in timeline.told */
	int64_t switched;  /* time of the last switch */
	size_t doubt; /* number in timeline.doubts of the one without an end,
		       * + 1 */
};

/* A ring in one of several captures: since when types are on there, and until
 * when. */
struct ring_part {
	int64_t from, to;
	int64_t last; /* time of its last record */
	int64_t since_on[TIMELINE_TYPES], until[TIMELINE_TYPES];
	int32_t cpu;
};

/* The time of one capture: since when types are on at all CPUs, and until
 * when. */
struct timeline_part {
	int64_t from;
	int64_t since_on[TIMELINE_TYPES], until[TIMELINE_TYPES];
};

/* Items by an owner: those of owner i are id[first[i] .. first[i + 1] - 1]. */
struct lists {
	uint32_t *id, *first;
};

struct timeline {
	struct timeline_rules rules;
	struct ring *ring;
	size_t n_ring, cap_ring;
	struct timeline_loss *told; /* as they were added */
	size_t n_told, cap_told;
	size_t *anywhere; /* those of an unknown CPU */
	size_t n_anywhere, cap_anywhere;
	struct timeline_loss *loss; /* as they are in the rings */
	size_t n_loss, cap_loss;
	/* Latest end of those losses that are below loss[i] in the tree whose
	 * root is in the middle, and so on: timeline_visit_losses() */
	int64_t *reach;
	struct timeline_stay *stay;
	size_t n_stay, cap_stay;
	struct timeline_wake *wake;
	size_t n_wake, cap_wake;
	int32_t *tid; /* by thread */
	bool *recorder;
	bool *gone; /* it left its last CPU for good */
	size_t n, cap, cap_recorder, cap_gone;
	struct renames renames;
	timeline_process_fn *process;
	void *process_arg;
	struct table index; /* tid to thread */
	struct lists stays, wakes, seats;
	struct ring_part *ring_part;
	size_t n_ring_part, cap_ring_part;
	struct timeline_part *part; /* the last one begins at part_from */
	size_t n_part, cap_part;
	int64_t part_from;
	unsigned int types;
	int64_t first, last; /* records in rings */
	uint64_t contradictions;
	struct doubts doubts;
	/* when a thread without a tid came last: it had left as if dead */
	int64_t undead;
	bool stray; /* a record is of no CPU, or no time, that is known */
};

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
	free(t->stay);
	free(t->wake);
	free(t->tid);
	free(t->recorder);
	free(t->gone);
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

static struct ring *timeline_ring(struct timeline *t, int32_t cpu)
{
	if (cpu < 0 || cpu >= CPUS_MAX)
		return NULL;
	while (t->n_ring <= (size_t)cpu)
		*mem_add(t->ring, t->n_ring, t->cap_ring) = (struct ring){
			.current = -1,
			.coming = -1,
			.last = TIMELINE_START,
			.switched = TIMELINE_START,
			.start = t->part_from,
			.since_on = { TIMELINE_END, TIMELINE_END, TIMELINE_END,
				      TIMELINE_END },
			.until = { TIMELINE_START, TIMELINE_START,
				   TIMELINE_START, TIMELINE_START },
		};
	return &t->ring[cpu];
}

/* Returns the number of a thread, which may be new; TIMELINE_NONE for the idle
 * thread and for none. */
static uint32_t timeline_take_tid(struct timeline *t, int32_t tid)
{
	uint64_t hash = hash_u64((uint64_t)(uint32_t)tid);
	uint32_t id;

	if (tid <= 0)
		return TIMELINE_NONE;
	id = table_find_hash(&t->index, hash);
	if (id != TABLE_NONE)
		return id;
	id = (uint32_t)t->n;
	t->recorder = mem_grow(t->recorder, &t->cap_recorder, t->n + 1,
			       sizeof(*t->recorder));
	t->recorder[t->n] = false;
	t->gone = mem_grow(t->gone, &t->cap_gone, t->n + 1, sizeof(*t->gone));
	t->gone[t->n] = false;
	*mem_add(t->tid, t->n, t->cap) = tid;
	table_add(&t->index, hash, id);
	return id;
}

void timeline_mark_recorder(struct timeline *t, int32_t tid)
{
	uint32_t id = timeline_take_tid(t, tid);

	if (id != TIMELINE_NONE)
		t->recorder[id] = true;
}

static bool is_time(int64_t time)
{
	return time >= -TIME_MOST && time <= TIME_MOST;
}

void timeline_lose(struct timeline *t, const struct timeline_loss *l)
{
	struct ring *r = timeline_ring(t, l->cpu);
	size_t at = t->n_told;
	struct timeline_loss *told = mem_add(t->told, t->n_told, t->cap_told);

	*told = *l;
	if (!is_time(l->from))
		told->from = TIMELINE_START;
	if (!is_time(l->to))
		told->to = TIMELINE_END;
	t->contradictions += l->silent;
	if (l->silent)
		doubts_add(&t->doubts, told->from, told->to);
	if (r)
		*mem_add(r->loss, r->n_loss, r->cap_loss) = at;
	else
		*mem_add(t->anywhere, t->n_anywhere, t->cap_anywhere) = at;
}

/* Returns the id of an event as it is kept. */
static uint64_t timeline_event(int64_t id)
{
	return id > 0 && id <= EVENT_MAX ? (uint64_t)id : 0;
}

/* ---- stays */

static void timeline_end_stay(struct timeline *t, struct ring *r, int64_t to,
			      const struct timeline_record *out)
{
	uint64_t event = timeline_event(out ? out->id : 0);
	uint32_t thread;

	if (r->current < 0)
		return;
	thread = timeline_take_tid(t, r->current);
	if (thread != TIMELINE_NONE)
		t->gone[thread] = out && task_state_ends(out->state);
	*mem_add(t->stay, t->n_stay, t->cap_stay) = (struct timeline_stay){
		.from = r->since,
		.to = to,
		.thread = thread,
		.cpu = (uint16_t)(r - t->ring),
		.state = out ? out->state : -1,
		.event_low = (uint32_t)event,
		.event_high = (uint8_t)(event >> 32),
		.exact_from = r->exact,
		.exec = r->exec,
		.exact_to = out != NULL,
	};
	r->current = -1;
}

static void timeline_begin_stay(struct ring *r, int32_t tid, int64_t from,
				bool exact)
{
	r->current = tid;
	r->since = from;
	r->exact = exact;
	r->exec = false;
}

/* Returns who was on the CPU right before a record; -1: not known. */
static int32_t timeline_before(const struct timeline_record *rec)
{
	return rec->kind == TIMELINE_COME ? -1 : rec->current;
}

/* Ends what is known of a CPU at l->from; from l->to on, `after` is there. */
static void timeline_break_stay(struct timeline *t, struct ring *r,
				const struct timeline_loss *l, int32_t after)
{
	timeline_end_stay(t, r, l->from, NULL);
	timeline_begin_stay(r, after, l->to, false);
	r->left = false;
	r->coming = -1;
}

static void timeline_break(struct timeline *t, struct ring *r,
			   struct timeline_loss l, int32_t after)
{
	l.before = r->current;
	l.after = after;
	l.cpu = (int32_t)(r - t->ring);
	if (l.silent && !r->doubt)
		r->doubt = doubts_add(&t->doubts, r->switched, TIMELINE_END);
	*mem_add(t->loss, t->n_loss, t->cap_loss) = l;
	timeline_break_stay(t, r, &l, after);
}

/* The same for a loss that began before the last record and goes on. */
static void timeline_extend(struct timeline *t, struct ring *r,
			    const struct timeline_loss *l, int32_t after)
{
	struct timeline_loss *whole = &t->loss[r->spans - 1];

	whole->to = l->to;
	whole->after = after;
	whole->spans = true;
	timeline_break_stay(t, r, l, after);
}

/* Adds a loss that is between the same two records to *sum. */
static void timeline_add_up(struct timeline_loss *sum,
			    const struct timeline_loss *l, bool first)
{
	if (first) {
		*sum = *l;
		return;
	}
	sum->from = l->from < sum->from ? l->from : sum->from;
	sum->to = l->to > sum->to ? l->to : sum->to;
	sum->silent |= l->silent;
	if (l->n < 0 || sum->n < 0 ||
	    __builtin_add_overflow(sum->n, l->n, &sum->n))
		sum->n = -1;
}

/* Takes the losses between the last record of the ring and this one. One that
 * is not between two records may be anywhere in its time. */
static void timeline_pass_losses(struct timeline *t, struct ring *r,
				 const struct timeline_record *rec)
{
	struct timeline_loss sum;
	size_t told = 0;
	size_t n = 0;

	while (r->next_loss < r->n_loss) {
		struct timeline_loss l = t->told[r->loss[r->next_loss]];
		bool within = l.to <= rec->time;

		if (l.from >= rec->time && l.to > rec->time)
			break;
		if (l.from < r->last || !within) {
			l.n = -1;
			l.from = l.from < r->last ? r->last : l.from;
			l.to = within ? l.to : rec->time;
		}
		if (l.to >= l.from) {
			timeline_add_up(&sum, &l, !n++);
			told = r->loss[r->next_loss];
		}
		if (!within)
			break;
		r->next_loss++;
	}
	if (!n)
		return;
	if (n == 1 && r->spans && r->spans_told == told &&
	    t->loss[r->spans - 1].to == sum.from) {
		timeline_extend(t, r, &sum, timeline_before(rec));
		return;
	}
	timeline_break(t, r, sum, timeline_before(rec));
	r->spans = n == 1 ? t->n_loss : 0;
	r->spans_told = told;
}

/* What one capture tells of a CPU ends with its last record there, and what the
 * next one tells begins with its first. */
static void timeline_pass_change(struct timeline *t, struct ring *r,
				 const struct timeline_record *rec)
{
	const struct timeline_loss l = { .from = r->last,
					 .to = rec->time,
					 .n = -1 };

	r->changed = false;
	timeline_break(t, r, l, timeline_before(rec));
	while (r->next_loss < r->n_loss &&
	       t->told[r->loss[r->next_loss]].to <= rec->time)
		r->next_loss++;
}

/* ---- threads whose tid changes */

void timeline_rename(struct timeline *t, int64_t time, int32_t from, int32_t to)
{
	if (from != to && to > 0)
		renames_add(&t->renames,
			    &(struct rename_row){ time, from, to });
}

void timeline_know_processes(struct timeline *t, timeline_process_fn *fn,
			     void *arg)
{
	t->process = fn;
	t->process_arg = arg;
}

/* Returns when at the latest a thread had taken over the tid of the first of
 * its process, if it did at or behind a time; TIMELINE_END: it did not. */
static int64_t timeline_renamed(struct timeline *t, int32_t from, int32_t to,
				int64_t time)
{
	const struct rename_row *x;

	if (!t->renames.n || from <= 0 || to <= 0)
		return TIMELINE_END;
	x = renames_find(&t->renames, from, to, time);
	if (!x && t->process && t->process(t->process_arg, from) == to)
		x = renames_find(&t->renames, -1, to, time);
	return x ? x->time : TIMELINE_END;
}

/* Returns the ring of another CPU on which a thread is; NULL: it is on none. */
static struct ring *timeline_other_seat(struct timeline *t,
					const struct ring *r, int32_t tid)
{
	for (size_t i = 0; i < t->n_ring; i++)
		if (&t->ring[i] != r && t->ring[i].current == tid)
			return &t->ring[i];
	return NULL;
}

/* Returns whether the thread of a record is the one that was on the CPU, or the
 * first thread of its process, and an exec between them changed both their
 * tids. The first thread has ended before, or is about to leave for good: then
 * it has the other's tid for its last records. */
static bool timeline_take_exec(struct timeline *t, struct ring *r,
			       const struct timeline_record *rec)
{
	int64_t at = timeline_renamed(t, r->current, rec->current, r->last);
	const struct timeline_record gone = { .state = STATE_DEAD };
	struct ring *other;

	if (rec->kind == TIMELINE_COME || r->left)
		return false;
	if (at == TIMELINE_END)
		return timeline_renamed(t, rec->current, r->current, r->last) !=
			       TIMELINE_END &&
		       timeline_other_seat(t, r, rec->current);
	other = timeline_other_seat(t, r, rec->current);
	if (!other && !t->gone[timeline_take_tid(t, rec->current)])
		return false;
	at = at < rec->time ? at : rec->time;
	if (other) {
		at = at > other->last ? at : other->last;
		at = at < rec->time ? at : rec->time;
		timeline_end_stay(t, other, at, &gone);
	}
	timeline_end_stay(t, r, at, other ? NULL : &gone);
	timeline_begin_stay(r, rec->current, at, true);
	r->exec = true;
	return true;
}

/* The thread of a record must be the one that the record before it left, or if
 * that thread has left, it comes. */
static void timeline_check_seat(struct timeline *t, struct ring *r,
				const struct timeline_record *rec)
{
	const struct timeline_loss l = {
		.from = r->last, .to = rec->time, .n = -1, .silent = true
	};
	bool odd = r->current >= 0 && r->current != rec->current;

	/* who was to come may have lost its tid since */
	if (rec->kind == TIMELINE_COME)
		odd = r->current >= 0 || (r->coming >= 0 && rec->current >= 0 &&
					  r->coming != rec->current);
	else if (r->left)
		odd = true;
	if (odd && !timeline_take_exec(t, r, rec)) {
		t->contradictions++;
		timeline_break(t, r, l, timeline_before(rec));
	}
	if (r->current < 0)
		timeline_begin_stay(r, timeline_before(rec), rec->time, false);
}

/* Ends the stay of who leaves by a record, and begins that of who comes. */
static void timeline_change_seat(struct timeline *t, struct ring *r,
				 const struct timeline_record *rec)
{
	bool leaves =
		rec->kind == TIMELINE_SWITCH || rec->kind == TIMELINE_LEAVE;

	r->left = rec->kind == TIMELINE_LEAVE;
	r->coming = r->left ? rec->other : -1;
	if (leaves)
		timeline_end_stay(t, r, rec->time, rec);
	if (rec->kind == TIMELINE_SWITCH)
		timeline_begin_stay(r, rec->other, rec->time, true);
	if (rec->kind == TIMELINE_COME)
		timeline_begin_stay(r, rec->current, rec->time, true);
	if (!leaves && rec->kind != TIMELINE_COME)
		return;
	if (r->doubt)
		t->doubts.at[r->doubt - 1].to = rec->time;
	r->doubt = 0;
	r->switched = rec->time;
}

static void timeline_take_wake(struct timeline *t,
			       const struct timeline_record *rec, int32_t waker)
{
	uint32_t waiter = timeline_take_tid(t, rec->other);
	uint64_t event = timeline_event(rec->id);

	if (waiter == TIMELINE_NONE)
		return;
	*mem_add(t->wake, t->n_wake, t->cap_wake) = (struct timeline_wake){
		.time = rec->time,
		.event_low = (uint32_t)event,
		.event_high = (uint8_t)(event >> 32),
		.cpu = rec->cpu >= 0 && rec->cpu < CPUS_MAX ? rec->cpu : -1,
		.target = rec->target,
		.waker = waker,
		.waiter = waiter,
		.stack = rec->stack,
		.kind = rec->kind,
		.context = rec->context,
	};
}

/* A record that comes late may have been anywhere. */
static void timeline_disorder(struct timeline *t, struct ring *r,
			      const struct timeline_record *rec)
{
	*mem_add(t->loss, t->n_loss, t->cap_loss) = (struct timeline_loss){
		.from = rec->time,
		.to = r->last,
		.n = -1,
		.cpu = rec->cpu,
		.before = -1,
		.after = -1,
		.silent = true,
	};
	t->contradictions++;
}

/* Returns who is on a CPU, if the record does not say it and nothing was lost
 * since the one before; -1: unknown. */
static int32_t timeline_seated(const struct timeline *t, const struct ring *r,
			       const struct timeline_record *rec)
{
	bool lost = r && r->next_loss < r->n_loss &&
		    t->told[r->loss[r->next_loss]].from < rec->time;

	if (rec->current >= 0 || !r || lost || rec->time < r->last)
		return rec->current;
	return r->current;
}

void timeline_add(struct timeline *t, const struct timeline_record *told)
{
	struct ring *r = timeline_ring(t, told->cpu);
	struct timeline_record with = *told;
	const struct timeline_record *rec = &with;

	if (!is_time(rec->time)) {
		t->stray = true;
		return;
	}
	/* a dying thread has no tid any more */
	if (rec->kind == TIMELINE_LEAVE)
		with.current = timeline_seated(t, r, rec);
	if (rec->kind >= TIMELINE_WAKING)
		timeline_take_wake(t, rec, timeline_seated(t, r, rec));
	if (!r) {
		t->stray = true;
		return;
	}
	for (unsigned int i = 0; i < TIMELINE_TYPES; i++) {
		if ((rec->shows >> i & 1) && r->since_on[i] > rec->time)
			r->since_on[i] = rec->time;
		if (!(rec->ended >> i & 1) && r->until[i] < rec->time)
			r->until[i] = rec->time;
	}
	t->types |= rec->shows;
	if (rec->kind == TIMELINE_COME && rec->current < 0 &&
	    rec->time > t->undead)
		t->undead = rec->time;
	/* who is there next may be missing; or nobody says who is there */
	if (r->since_on[0] > rec->time ||
	    (rec->current < 0 && rec->kind != TIMELINE_COME))
		return;
	if (rec->time < r->last) {
		timeline_disorder(t, r, rec);
		return;
	}
	if (!r->began || r->changed) {
		r->began = true;
		timeline_pass_change(t, r, rec);
	} else {
		timeline_pass_losses(t, r, rec);
		timeline_check_seat(t, r, rec);
	}
	timeline_change_seat(t, r, rec);
	r->last = rec->time;
	t->first = rec->time < t->first ? rec->time : t->first;
	t->last = rec->time > t->last ? rec->time : t->last;
}

/* ---- the end: losses that no record tells, and lists by owner */

/* Notes since when types are on in the capture that ends, and until when: with
 * a type that is on at a CPU, it is on at those behind it. */
static void timeline_end_part(struct timeline *t, int64_t to)
{
	struct timeline_part *p = mem_add(t->part, t->n_part, t->cap_part);
	int64_t until[TIMELINE_TYPES];

	*p = (struct timeline_part){ .from = t->part_from };
	for (unsigned int i = 0; i < TIMELINE_TYPES; i++) {
		p->since_on[i] = until[i] = TIMELINE_START;
		p->until[i] = TIMELINE_END;
	}
	for (size_t k = 0; k < t->n_ring; k++) {
		struct ring *r = &t->ring[k];
		struct ring_part part = { .from = r->start,
					  .to = to == TIMELINE_END ? to
								   : r->last,
					  .last = r->last,
					  .cpu = (int32_t)k };

		for (unsigned int i = 0; i < TIMELINE_TYPES; i++) {
			part.since_on[i] = r->since_on[i];
			if (r->since_on[i] > p->since_on[i])
				p->since_on[i] = r->since_on[i];
			r->since_on[i] = TIMELINE_END;
			if (r->until[i] > until[i])
				until[i] = r->until[i];
			part.until[i] = until[i];
			if (until[i] < p->until[i])
				p->until[i] = until[i];
			r->until[i] = TIMELINE_START;
		}
		if (r->began && !r->changed)
			*mem_add(t->ring_part, t->n_ring_part,
				 t->cap_ring_part) = part;
	}
}

void timeline_change(struct timeline *t)
{
	if (t->first > t->last)
		return;
	timeline_end_part(t, t->last);
	t->part_from = t->last;
	for (size_t i = 0; i < t->n_ring; i++) {
		struct ring *r = &t->ring[i];

		timeline_end_stay(t, r, r->last, NULL);
		r->start = t->last;
		r->changed = true;
	}
}

static void timeline_lose_wakes(struct timeline *t, const struct ring_part *p)
{
	for (unsigned int i = 1; i < 3; i++) {
		unsigned int type = 1u << i;
		struct timeline_loss l = { .from = p->from,
					   .to = p->since_on[i] < p->to
							 ? p->since_on[i]
							 : p->to,
					   .n = -1,
					   .cpu = p->cpu,
					   .before = -1,
					   .after = -1,
					   .only_wakes = true };

		/* sched_wakeup is not needed where sched_waking is recorded */
		if (!(t->types & type) || (type != TIMELINE_HAS_WAKING &&
					   t->types & TIMELINE_HAS_WAKING))
			continue;
		if (p->since_on[i] > p->since_on[0])
			*mem_add(t->loss, t->n_loss, t->cap_loss) = l;
		l.from = p->until[i];
		l.to = p->to;
		if (p->since_on[i] < TIMELINE_END && p->until[i] < p->last)
			*mem_add(t->loss, t->n_loss, t->cap_loss) = l;
	}
}

static int timeline_compare_losses(const void *a, const void *b)
{
	const struct timeline_loss *x = a;
	const struct timeline_loss *y = b;

	return compare_numbers(x->from, y->from)
		       ?: compare_numbers(x->to, y->to)
		       ?: compare_numbers(x->cpu, y->cpu);
}

static int timeline_compare_times(const void *a, const void *b)
{
	const struct timeline_stay *x = a;
	const struct timeline_stay *y = b;

	return compare_numbers(x->from, y->from)
		       ?: compare_numbers(x->to, y->to);
}

/* Takes the times of doubt out of the stays, each of which may become several.
 */
static void timeline_cut_stays(struct timeline *t)
{
	const struct doubts *d = &t->doubts;
	struct timeline_stay *stay = t->stay;
	size_t n = t->n_stay;

	t->stay = NULL;
	t->n_stay = t->cap_stay = 0;
	for (size_t k = 0; k < n; k++) {
		struct timeline_stay s = stay[k];
		size_t first = search_where(d->n, i, d->at[i].to > s.from);
		size_t i = first;

		for (; i < d->n && d->at[i].from < s.to; i++) {
			struct timeline_stay head = s;

			head.to = d->at[i].from;
			head.exact_to = false;
			head.state = -1;
			head.event_low = head.event_high = 0;
			if (head.from < head.to)
				*mem_add(t->stay, t->n_stay, t->cap_stay) =
					head;
			s.from = d->at[i].to;
			s.exact_from = false;
		}
		if (i == first || s.from < s.to)
			*mem_add(t->stay, t->n_stay, t->cap_stay) = s;
	}
	free(stay);
	if (t->n_stay)
		qsort(t->stay, t->n_stay, sizeof(*t->stay),
		      timeline_compare_times);
}

/* Makes a loss of all CPUs of each time in which the recorder may have paused.
 */
static void timeline_end_doubts(struct timeline *t)
{
	if (!t->doubts.n || t->rules.pauses >= 0 || timeline_is_blind(t))
		return;
	doubts_merge(&t->doubts);
	for (size_t i = 0; i < t->doubts.n; i++)
		*mem_add(t->loss, t->n_loss, t->cap_loss) =
			(struct timeline_loss){ .from = t->doubts.at[i].from,
						.to = t->doubts.at[i].to,
						.n = -1,
						.cpu = -1,
						.before = -1,
						.after = -1,
						.silent = true };
	timeline_cut_stays(t);
}

static int64_t timeline_reach(struct timeline *t, size_t low, size_t high)
{
	size_t i = low + (high - low) / 2;
	int64_t left, right;

	if (low == high)
		return TIMELINE_START;
	left = timeline_reach(t, low, i);
	right = timeline_reach(t, i + 1, high);
	t->reach[i] = left > right ? left : right;
	if (t->loss[i].to > t->reach[i])
		t->reach[i] = t->loss[i].to;
	return t->reach[i];
}

static void timeline_end_losses(struct timeline *t)
{
	for (int32_t i = 0; i < t->rules.cpus && i < CPUS_MAX; i++)
		timeline_ring(t, i);
	timeline_end_part(t, TIMELINE_END);
	for (size_t i = 0; i < t->n_ring; i++) {
		struct ring *r = &t->ring[i];
		const struct timeline_loss tail = {
			.from = r->began ? r->last : TIMELINE_START,
			.to = TIMELINE_END,
			.n = -1,
		};

		timeline_break(t, r, tail, -1);
	}
	for (size_t i = 0; i < t->n_ring_part; i++)
		timeline_lose_wakes(t, &t->ring_part[i]);
	for (size_t i = 0; i < t->n_anywhere; i++) {
		struct timeline_loss l = t->told[t->anywhere[i]];

		l.before = l.after = l.cpu = -1;
		l.n = -1;
		*mem_add(t->loss, t->n_loss, t->cap_loss) = l;
	}
	if (!t->rules.cpus || t->stray ||
	    (t->rules.cpus > 0 && (size_t)t->rules.cpus < t->n_ring))
		*mem_add(t->loss, t->n_loss, t->cap_loss) =
			(struct timeline_loss){ .from = TIMELINE_START,
						.to = TIMELINE_END,
						.n = -1,
						.cpu = -1,
						.before = -1,
						.after = -1 };
	timeline_end_doubts(t);
	qsort(t->loss, t->n_loss, sizeof(*t->loss), timeline_compare_losses);
	t->reach = mem_new(t->n_loss + 1, sizeof(*t->reach));
	timeline_reach(t, 0, t->n_loss);
}

typedef uint32_t timeline_owner_fn(const struct timeline *t, size_t i);

static uint32_t timeline_stay_owner(const struct timeline *t, size_t i)
{
	return t->stay[i].thread;
}

static uint32_t timeline_seat_owner(const struct timeline *t, size_t i)
{
	return t->stay[i].cpu;
}

static uint32_t timeline_wake_owner(const struct timeline *t, size_t i)
{
	return t->wake[i].waiter;
}

/* Sorts n items by owner, those of each in the order in which they came. */
static struct lists timeline_make_lists(const struct timeline *t, size_t n,
					size_t owners, timeline_owner_fn *owner)
{
	struct lists l = {
		.id = mem_new(n + 1, sizeof(*l.id)),
		.first = mem_new(owners + 2, sizeof(*l.first)),
	};

	for (size_t i = 0; i < n; i++)
		if (owner(t, i) != TIMELINE_NONE)
			l.first[owner(t, i) + 2]++;
	for (size_t i = 2; i < owners + 2; i++)
		l.first[i] += l.first[i - 1];
	for (size_t i = 0; i < n; i++)
		if (owner(t, i) != TIMELINE_NONE)
			l.id[l.first[owner(t, i) + 1]++] = (uint32_t)i;
	return l;
}

static int timeline_compare_stays(const void *a, const void *b, void *arg)
{
	const struct timeline *t = arg;
	const struct timeline_stay *x = &t->stay[*(const uint32_t *)a];
	const struct timeline_stay *y = &t->stay[*(const uint32_t *)b];

	return compare_numbers(x->from, y->from)
		       ?: compare_numbers(x->to, y->to);
}

/* Nothing says which thread came back without a tid: each that left as if dead
 * before it may have. */
static void timeline_doubt_deaths(struct timeline *t)
{
	for (size_t i = 0; i < t->n_stay; i++)
		if (t->stay[i].to <= t->undead &&
		    task_state_ends(t->stay[i].state))
			t->stay[i].state = -1;
}

void timeline_seal(struct timeline *t)
{
	timeline_end_losses(t);
	timeline_doubt_deaths(t);
	t->stay = mem_fit(t->stay, &t->cap_stay, t->n_stay, sizeof(*t->stay));
	t->wake = mem_fit(t->wake, &t->cap_wake, t->n_wake, sizeof(*t->wake));
	t->stays = timeline_make_lists(t, t->n_stay, t->n, timeline_stay_owner);
	t->seats = timeline_make_lists(t, t->n_stay, t->n_ring,
				       timeline_seat_owner);
	t->wakes = timeline_make_lists(t, t->n_wake, t->n, timeline_wake_owner);
	/* a stay that a loss ends is added with the record behind the loss,
	 * when others of the thread may be there already */
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t *id = t->stays.id + t->stays.first[i];
		size_t n = t->stays.first[i + 1] - t->stays.first[i];
		size_t k = 1;

		while (k < n && t->stay[id[k - 1]].from <= t->stay[id[k]].from)
			k++;
		if (k < n)
			qsort_r(id, n, sizeof(*id), timeline_compare_stays, t);
	}
}

void timeline_settle(struct timeline *t, timeline_settle_fn *fn, void *arg)
{
	for (size_t i = 0; i < t->n_wake; i++)
		if (t->wake[i].context == CONTEXT_SOFTIRQ_UNKNOWN)
			t->wake[i].context = fn(arg, &t->wake[i]);
}

/* ---- questions */

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

const struct timeline_stay *timeline_stay(const struct timeline *t, uint32_t i)
{
	return &t->stay[i];
}

uint32_t timeline_stay_number(const struct timeline *t,
			      const struct timeline_stay *s)
{
	return (uint32_t)(s - t->stay);
}

uint32_t timeline_wake_number(const struct timeline *t,
			      const struct timeline_wake *w)
{
	return (uint32_t)(w - t->wake);
}

uint32_t timeline_loss_number(const struct timeline *t,
			      const struct timeline_loss *l)
{
	return (uint32_t)(l - t->loss);
}

size_t timeline_all_stays(const struct timeline *t)
{
	return t->n_stay;
}

size_t timeline_all_wakes(const struct timeline *t)
{
	return t->n_wake;
}

const uint32_t *timeline_wakes(const struct timeline *t, uint32_t thread,
			       size_t *n)
{
	return timeline_list(&t->wakes, thread, n);
}

const struct timeline_wake *timeline_wake(const struct timeline *t, uint32_t i)
{
	return &t->wake[i];
}

const struct timeline_wake *timeline_wake_of(const struct timeline *t,
					     int64_t event)
{
	size_t at = search_where(t->n_wake, i,
				 timeline_wake_event(&t->wake[i]) >= event);

	return at < t->n_wake && timeline_wake_event(&t->wake[at]) == event
		       ? &t->wake[at]
		       : NULL;
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

const struct timeline_stay *timeline_on(const struct timeline *t, int32_t cpu,
					int64_t time)
{
	size_t n;
	const uint32_t *id = timeline_seats(t, cpu, &n);
	size_t at = search_where(n, i, t->stay[id[i]].from > time);

	return at ? &t->stay[id[at - 1]] : NULL;
}
