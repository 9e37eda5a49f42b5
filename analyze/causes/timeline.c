/* timeline.c - builds the timeline: which thread was on which CPU when, and
 * which woke which.
 *
 * Each record is checked against the previous one on its CPU, and ends or
 * begins a stay there. timeline_seal() then adds losses that no record reports,
 * and lists what each thread and CPU did. */
#include "analyze/causes/timeline.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/task_state.h"

#define TIMELINE_CPUS_MAX 65536 /* records of higher CPUs are ignored */

/* A thread whose tid changed: one that is not the first of its process and
 * calls exec goes on under the tid of the first, which has ended. */
struct rename_row {
	int64_t time;	  /* time at which the tid had changed */
	int32_t from, to; /* from -1: a thread of the process `to` */
};

/* A time in which the recorder may have paused. */
struct doubt {
	int64_t from, to;
	int64_t task; /* the doubt is dropped if this task is silent; -1: never
		       * dropped; -2 - CPU: the idle task of that CPU */
	size_t open;  /* index + 1 of another doubt of this CPU without an end;
		       * 0: none */
};

/* The ring of a CPU, up to the record that was added last. */
struct ring {
	int32_t current; /* tid; -1: unknown */
	int64_t since;	 /* start of the stay of `current` */
	/* time of the last record; once the capture ended, of the last record
	 * at which switches were still on */
	int64_t last;
	int64_t since_on[TIMELINE_TYPES]; /* start of recording, by bit of the
					   * type; TIMELINE_END: never */
	/* time of the last record at which each type was still on */
	int64_t until[TIMELINE_TYPES];
	int32_t coming;	 /* tid that is to come after the last one left; -1:
			  * unknown, or it has come */
	int32_t leaving; /* tid, if the last record is the switch away from it;
			  * else -1 */
	bool left;	 /* the last record is TIMELINE_LEAVE */
	bool exact;	 /* `since` is the time of a switch or an exec */
	bool exec;	 /* `since` is the time of an exec */
	bool seen;	 /* the CPU has a record or a loss */
	bool began;	 /* a record was added after switches were turned on */
	bool changed;	 /* no record was added since the capture changed */
	int64_t start;	 /* start of this capture here; TIMELINE_START in the
			  * first capture */
	size_t *loss;	 /* indexes of this CPU's losses in timeline.reported */
	size_t n_loss, cap_loss, next_loss;
	size_t spans; /* index + 1 in timeline.loss of the loss that may
		       * continue; 0: none */
	size_t spans_reported; /* index of that loss in timeline.reported */
	int64_t switched;      /* time of the last switch */
	size_t doubt; /* index + 1 in timeline.doubt of the last doubt without
		       * an end; 0: none */
	struct voice idle; /* of the CPU's idle task */
};

/* A ring in one of several captures: from when until when each type was on. */
struct ring_part {
	int64_t from, to;
	int64_t last; /* time of its last record */
	int64_t since_on[TIMELINE_TYPES], until[TIMELINE_TYPES];
	int32_t cpu;
};

/* The time of a capture: from when until when types were on at all CPUs. */
struct timeline_part {
	int64_t from;
	int64_t since_on[TIMELINE_TYPES], until[TIMELINE_TYPES];
};

#define TIME_MOST (INT64_MAX / 2) /* 146 years: differences fit in int64 */

/* Returns the ring of a CPU, and adds it if it is new; NULL: no valid CPU. */
static struct ring *timeline_ring(struct timeline *t, int32_t cpu)
{
	if (cpu < 0 || cpu >= TIMELINE_CPUS_MAX)
		return NULL;
	while (t->n_ring <= (size_t)cpu) {
		*mem_add(t->ring, t->n_ring, t->cap_ring) = (struct ring){
			.current = -1,
			.coming = -1,
			.leaving = -1,
			.last = TIMELINE_START,
			.switched = TIMELINE_START,
			.start = t->part_from,
			.since_on = { TIMELINE_END, TIMELINE_END, TIMELINE_END,
				      TIMELINE_END },
			.until = { TIMELINE_START, TIMELINE_START,
				   TIMELINE_START, TIMELINE_START },
		};
		for (size_t i = 0; i < t->n_each; i++) {
			struct timeline_loss l = t->each[i];

			l.cpu = (int32_t)t->n_ring - 1;
			timeline_lose(t, &l);
		}
	}
	return &t->ring[cpu];
}

/* Returns whether no CPU has the ring's number, or that CPU was off: as many
 * others have records as were on. */
static bool ring_is_absent(const struct timeline *t, const struct ring *r)
{
	return !r->seen && t->rules.cpus &&
	       (t->rules.cpus < 0 || t->n_seen >= (size_t)t->rules.cpus);
}

/* Returns the number of a thread, and adds it if it is new; TIMELINE_NONE for
 * the idle thread or an unknown tid. */
static uint32_t timeline_take_tid(struct timeline *t, int32_t tid)
{
	uint32_t id;

	if (tid <= 0)
		return TIMELINE_NONE;
	id = table_find_or_add(&t->index, hash_u64((uint64_t)(uint32_t)tid),
			       t->n_thread);
	if (id == t->n_thread)
		*mem_add(t->thread, t->n_thread, t->cap_thread) =
			(struct seen_thread){ .tid = tid };
	return id;
}

void timeline_mark_recorder(struct timeline *t, int32_t tid)
{
	uint32_t id = timeline_take_tid(t, tid);

	if (id != TIMELINE_NONE)
		t->thread[id].recorder = true;
}

/* Returns the voice of a task (tid 0: the ring's idle task); NULL: none. */
static struct voice *timeline_voice(struct timeline *t, struct ring *r,
				    int32_t tid)
{
	uint32_t id = timeline_take_tid(t, tid);

	return id != TIMELINE_NONE ? &t->thread[id].voice
	       : tid		   ? NULL
				   : &r->idle;
}

/* Adds a loss of unknown size and returns it, valid until the next one. */
static struct timeline_loss *timeline_add_loss(struct timeline *t, int64_t from,
					       int64_t to, int32_t cpu)
{
	struct timeline_loss *l = mem_add(t->loss, t->n_loss, t->cap_loss);

	*l = (struct timeline_loss){ .from = from,
				     .to = to,
				     .n = -1,
				     .cpu = cpu,
				     .before = -1,
				     .after = -1 };
	return l;
}

/* Notes for a silent loss that the recorder may have paused. */
static void timeline_doubt(struct timeline *t, const struct timeline_loss *l)
{
	if (l->silent)
		*mem_add(t->doubt, t->n_doubt, t->cap_doubt) =
			(struct doubt){ l->from, l->to, -1, 0 };
}

static bool is_time(int64_t time)
{
	return time >= -TIME_MOST && time <= TIME_MOST;
}

void timeline_lose_each(struct timeline *t, const struct timeline_loss *l)
{
	*mem_add(t->each, t->n_each, t->cap_each) = *l;
	for (size_t i = 0; i < t->n_ring; i++) {
		t->each[t->n_each - 1].cpu = (int32_t)i;
		timeline_lose(t, &t->each[t->n_each - 1]);
	}
}

void timeline_lose(struct timeline *t, const struct timeline_loss *l)
{
	struct ring *r = timeline_ring(t, l->cpu);
	size_t at = t->n_reported;
	struct timeline_loss *reported =
		mem_add(t->reported, t->n_reported, t->cap_reported);

	*reported = *l;
	if (!is_time(l->from))
		reported->from = TIMELINE_START;
	if (!is_time(l->to))
		reported->to = TIMELINE_END;
	reported->of_task = false;
	t->contradictions += l->silent;
	if (r) {
		t->n_seen += !r->seen;
		r->seen = true;
		*mem_add(r->loss, r->n_loss, r->cap_loss) = at;
		return;
	}
	timeline_doubt(t, reported);
	*mem_add(t->anywhere, t->n_anywhere, t->cap_anywhere) = at;
}

/* Notes the doubts of a ring's reported silent losses up to a time, which are
 * not between two of its records. */
static void timeline_skip_losses(struct timeline *t, struct ring *r,
				 int64_t until)
{
	while (r->next_loss < r->n_loss &&
	       t->reported[r->loss[r->next_loss]].to <= until)
		timeline_doubt(t, &t->reported[r->loss[r->next_loss++]]);
}

static void timeline_put_stay(struct timeline *t, const struct timeline_stay *s)
{
	packed_times_put(&t->stay, s->number,
			 &(struct packed_time){
				 .time = s->to,
				 .event = s->event,
				 .a = (uint64_t)s->to - (uint64_t)s->from,
				 .b = kinds_add(&t->stayed, &s->common) });
}

/* Ends the stay on a CPU, if any. out: the switch that ends it; NULL: none. */
static void timeline_end_stay(struct timeline *t, struct ring *r, int64_t to,
			      const struct timeline_record *out)
{
	uint32_t thread;

	if (r->current < 0)
		return;
	if (out && out->id > 0)
		t->event = out->id;
	thread = timeline_take_tid(t, r->current);
	if (thread != TIMELINE_NONE)
		t->thread[thread].gone = out && task_state_ends(out->state);
	timeline_put_stay(t, &(struct timeline_stay){
				     .from = r->since,
				     .to = to,
				     .event = t->event,
				     .by_event = out && out->id > 0,
				     .number = (uint32_t)t->stay.n,
				     .thread = thread,
				     .cpu = (uint16_t)(r - t->ring),
				     .state = out ? out->state : -1,
				     .stack = out ? out->stack : 0,
				     .exact_from = r->exact,
				     .exec = r->exec,
				     .exact_to = out != NULL,
			     });
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

/* Returns the tid that was on the CPU right before a record; -1: not known. */
static int32_t timeline_before(const struct timeline_record *rec)
{
	return rec->kind == TIMELINE_COME ? -1 : rec->current;
}

/* Ends the stay on a CPU at l->from; from l->to on, `after` is there. */
static void timeline_break_stay(struct timeline *t, struct ring *r,
				const struct timeline_loss *l, int32_t after)
{
	timeline_end_stay(t, r, l->from, NULL);
	timeline_begin_stay(r, after, l->to, false);
	r->left = false;
	r->coming = -1;
	r->leaving = -1;
}

/* Returns the task that is on a ring's CPU or comes there according to the last
 * record, if it may be silent; -1: none. Often no switch to such a task is
 * recorded, but an interrupt shows it: at the start of a capture, and after
 * another silent task. */
static int32_t timeline_mute(struct timeline *t, struct ring *r)
{
	int32_t tid = r->left ? r->coming : r->current;

	return tid >= 0 && !timeline_voice(t, r, tid)->heard ? tid : -1;
}

/* Adds a loss to the ring: the stay there ends at l.from; from l.to on, the
 * thread `after` is there (-1: unknown). */
static void timeline_break(struct timeline *t, struct ring *r,
			   struct timeline_loss l, int32_t after)
{
	int32_t mute = l.of_task ? timeline_mute(t, r) : -1;
	struct doubt doubt = { r->switched, TIMELINE_END, -1, r->doubt };

	l.before = mute < 0 ? r->current : mute;
	l.after = after;
	l.cpu = (int32_t)(r - t->ring);
	if (l.of_task) {
		l.from = r->left ? l.from : r->since;
		l.seen = r->last;
		timeline_voice(t, r, mute)->gaps++;
		doubt.task = mute ? mute : -2 - (int64_t)l.cpu;
	}
	if (l.silent &&
	    (!r->doubt || t->doubt[r->doubt - 1].task != doubt.task)) {
		*mem_add(t->doubt, t->n_doubt, t->cap_doubt) = doubt;
		r->doubt = t->n_doubt;
	}
	*mem_add(t->loss, t->n_loss, t->cap_loss) = l;
	timeline_break_stay(t, r, &l, after);
}

/* Applies the losses between the ring's last record and this one. A loss that
 * extends beyond them may be anywhere in its time: its number is unknown. */
static void timeline_pass_losses(struct timeline *t, struct ring *r,
				 const struct timeline_record *rec)
{
	struct timeline_loss sum = { 0 };
	size_t reported = 0;
	size_t n = 0;
	size_t silent = 0;
	size_t next = r->next_loss;

	while (r->next_loss < r->n_loss) {
		struct timeline_loss l = t->reported[r->loss[r->next_loss]];
		bool within = l.to <= rec->time;

		/* a silent task goes on after an interrupt */
		if (l.to > rec->time && (l.from >= rec->time ||
					 (l.silent && rec->interrupt &&
					  rec->current == timeline_mute(t, r))))
			break;
		if (l.from < r->last || !within) {
			l.n = -1;
			raise_to(l.from, r->last);
			l.to = within ? l.to : rec->time;
		}
		if (l.to >= l.from) {
			/* losses between the same two records add up */
			if (!n++) {
				sum = l;
			} else {
				lower_to(sum.from, l.from);
				raise_to(sum.to, l.to);
				sum.silent |= l.silent;
				if (l.n < 0 || sum.n < 0 ||
				    __builtin_add_overflow(sum.n, l.n, &sum.n))
					sum.n = -1;
			}
			reported = r->loss[r->next_loss];
			silent += l.silent;
			next = r->next_loss + 1;
		}
		if (!within)
			break;
		r->next_loss++;
	}
	if (!n)
		return;
	if (n == 1 && r->spans && r->spans_reported == reported &&
	    t->loss[r->spans - 1].to == sum.from) {
		int32_t after = timeline_before(rec);
		struct timeline_loss *whole = &t->loss[r->spans - 1];

		whole->to = sum.to;
		whole->after = after;
		whole->spans = true;
		t->contradictions += whole->of_task;
		whole->of_task = false;
		timeline_break_stay(t, r, &sum, after);
		return;
	}
	sum.of_task = silent == n && timeline_mute(t, r) >= 0;
	if (sum.of_task) {
		t->contradictions -= n;
		/* nothing is missing after the first record of another task */
		r->next_loss = next;
	}
	timeline_break(t, r, sum, timeline_before(rec));
	r->spans = n == 1 ? t->n_loss : 0;
	r->spans_reported = reported;
}

/* ---- threads whose tid changes */

void timeline_rename(struct timeline *t, int64_t time, int32_t from, int32_t to)
{
	if (from != to && to > 0)
		*mem_add(t->rename, t->n_rename, t->cap_rename) =
			(struct rename_row){ time, from, to };
}

COMPARE_BY(timeline_compare_renames, struct rename_row, to, from, time);

/* Returns the first change of these tids at or after a time; NULL: none. */
static const struct rename_row *
timeline_find_rename(struct timeline *t, int32_t from, int32_t to, int64_t time)
{
	const struct rename_row want = { time, from, to };
	size_t at;

	if (!t->renames_sorted)
		sort_items(t->rename, t->n_rename, timeline_compare_renames);
	t->renames_sorted = true;
	at = search_where(t->n_rename, i,
			  timeline_compare_renames(&t->rename[i], &want) >= 0);
	return at < t->n_rename && t->rename[at].from == from &&
			       t->rename[at].to == to
		       ? &t->rename[at]
		       : NULL;
}

/* Returns the latest time by which a thread had taken over the tid of the first
 * thread of its process, at or after a time; TIMELINE_END: it did not. */
static int64_t timeline_renamed(struct timeline *t, int32_t from, int32_t to,
				int64_t time)
{
	const struct rename_row *x;

	if (!t->n_rename || from <= 0 || to <= 0)
		return TIMELINE_END;
	x = timeline_find_rename(t, from, to, time);
	if (!x && t->process && t->process(t->process_arg, from) == to)
		x = timeline_find_rename(t, -1, to, time);
	return x ? x->time : TIMELINE_END;
}

/* Returns the ring of another CPU on which the thread is; NULL: none. */
static struct ring *timeline_other_seat(struct timeline *t,
					const struct ring *r, int32_t tid)
{
	for (size_t i = 0; i < t->n_ring; i++)
		if (&t->ring[i] != r && t->ring[i].current == tid)
			return &t->ring[i];
	return NULL;
}

/* Returns whether an exec explains that a record names another thread than the
 * one on the CPU: exec swaps the tids of its caller and of the first thread of
 * the process. The first thread has ended before, or is about to end, with the
 * other's tid in its last records. If so, begins the stay under the new tid. */
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
	if (!other && !t->thread[timeline_take_tid(t, rec->current)].gone)
		return false;
	if (other && other->last > rec->time)
		return false; /* records are not in time order */
	at = other && at < other->last ? other->last : at;
	lower_to(at, rec->time);
	if (other)
		timeline_end_stay(t, other, at, &gone);
	timeline_end_stay(t, r, at, other ? NULL : &gone);
	timeline_begin_stay(r, rec->current, at, true);
	r->exec = true;
	return true;
}

/* Returns whether a reported loss lies between a ring's last record and a
 * time. */
static bool timeline_is_lossy(const struct timeline *t, const struct ring *r,
			      int64_t time)
{
	return r->next_loss < r->n_loss &&
	       t->reported[r->loss[r->next_loss]].from < time;
}

/* Returns whether a record does not show who is on the CPU.
 *
 * The thread that leaves may write a record in the middle of a switch:
 * sched_switch and the record of the switch come before that thread's events
 * are taken off the CPU, and those may have timers to cancel (seen in Linux
 * 6.18: __schedule(), prepare_task_switch()). Nothing but such records can come
 * between the switch and the next thread's first one; interrupts are off there.
 *
 * Or the switch is recorded twice: in guests with Linux 6.18, perf 6.1 has all
 * records of some tasks twice. */
static bool timeline_is_shadowed(const struct timeline *t, const struct ring *r,
				 const struct timeline_record *rec)
{
	if (rec->current != r->leaving || timeline_is_lossy(t, r, rec->time))
		return false;
	if (rec->kind == TIMELINE_SWITCH)
		return rec->time == r->switched && rec->other == r->current;
	return rec->kind == TIMELINE_SEEN && rec->irqs_off && !rec->interrupt &&
	       rec->current != r->current;
}

/* Returns the tid on the CPU of a record: the record's own, or that of the
 * previous record if nothing was lost since; -1: unknown. */
static int32_t timeline_seated(const struct timeline *t, const struct ring *r,
			       const struct timeline_record *rec)
{
	if (rec->current >= 0 || !r || rec->time < r->last ||
	    timeline_is_lossy(t, r, rec->time))
		return rec->current;
	return r->current;
}

/* Most sched_wakeups come a few microseconds after the sched_waking of their
 * thread. Both are one packed item then: the time between them is in the bits
 * of `a` below the thread, the distance of their events in those of `b` below
 * the number of the pair. */
#define LATER_TIME 20
#define LATER_EVENT 8

/* What many such pairs share. */
union wake_pair {
	struct kind kind;
	struct {
		uint32_t woke[2]; /* numbers in timeline.woke; the second is
				   * TIMELINE_NONE for a single record */
		int32_t target[2];
	};
};

static union wake_pair wake_pair(const struct timeline *t,
				 const struct packed_time *x)
{
	return (union wake_pair){ kinds_get(&t->pairs, x->b >> LATER_EVENT) };
}

/* Stores a wake-up, new or changed, in its packed item. */
static void timeline_put_wake(struct timeline *t, const struct timeline_wake *w)
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

void timeline_add(struct timeline *t, const struct timeline_record *reported)
{
	struct ring *r = timeline_ring(t, reported->cpu);
	struct timeline_record with = *reported;
	const struct timeline_record *rec = &with;

	if (!is_time(rec->time)) {
		t->stray = true;
		return;
	}
	/* a dying thread has lost its tid */
	if (rec->kind == TIMELINE_LEAVE)
		with.current = timeline_seated(t, r, rec);
	if (rec->kind >= TIMELINE_WAKING) {
		int32_t waker = timeline_seated(t, r, rec);
		bool known = rec->cpu >= 0 && rec->cpu < TIMELINE_CPUS_MAX;
		uint32_t waiter = timeline_take_tid(t, rec->other);
		struct timeline_wake w = {
			.time = rec->time,
			.event = rec->id > 0 ? rec->id : 0,
			.cpu = known ? rec->cpu : -1,
			.target = rec->target,
			.waker = waker,
			.waiter = waiter,
			.stack = rec->stack,
			.kind = rec->kind,
			.context = rec->context,
		};

		if (waiter != TIMELINE_NONE) {
			/* the new wake-up may share an item with the
			 * thread's last one */
			uint32_t *waking = &t->thread[w.waiter].waking;
			uint32_t number = 2 * (uint32_t)t->wake.n;

			if (w.kind == TIMELINE_WAKEUP && *waking) {
				const struct packed_time x =
					packed_times_get(&t->wake, *waking / 2);

				if (x.event > 0 && w.event > x.event &&
				    w.event - x.event < 1 << LATER_EVENT &&
				    w.time >= x.time &&
				    w.time - x.time < 1 << LATER_TIME)
					number = *waking;
			}
			*waking = w.kind == TIMELINE_WAKING ? number + 1 : 0;
			w.number = number;
			timeline_put_wake(t, &w);
		}
	}
	if (!r) {
		t->stray = true;
		return;
	}
	t->n_seen += !r->seen;
	r->seen = true;
	if (rec->current >= 0 && !rec->interrupt)
		timeline_voice(t, r, rec->current)->heard = true;
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
	/* switches are not on yet, or the record does not name its thread */
	if (r->since_on[0] > rec->time ||
	    (rec->current < 0 && rec->kind != TIMELINE_COME))
		return;
	/* a late record may belong anywhere in this time */
	if (rec->time < r->last) {
		timeline_add_loss(t, rec->time, r->last, rec->cpu)->silent =
			true;
		t->contradictions++;
		return;
	}
	if (!r->began || r->changed) {
		/* what one capture reports of a CPU ends with its last record
		 * there; the next capture begins with its first */
		const struct timeline_loss l = { .from = r->last,
						 .to = rec->time,
						 .n = -1 };

		r->began = true;
		r->changed = false;
		timeline_break(t, r, l, timeline_before(rec));
		timeline_skip_losses(t, r, rec->time);
	} else {
		if (timeline_is_shadowed(t, r, rec))
			return;
		timeline_pass_losses(t, r, rec);
		/* Checks that the thread of a record is the one that the
		 * previous record left on the CPU, or that it comes after
		 * that thread left. If not, and no exec explains it, adds a
		 * silent loss. */
		struct timeline_loss l = { .from = r->last,
					   .to = rec->time,
					   .n = -1,
					   .silent = true };
		bool odd = r->current >= 0 && r->current != rec->current;

		/* the thread that was to come may have lost its tid since */
		if (rec->kind == TIMELINE_COME)
			odd = r->current >= 0 ||
			      (r->coming >= 0 && rec->current >= 0 &&
			       r->coming != rec->current);
		else if (r->left)
			odd = true;
		if (odd && !timeline_take_exec(t, r, rec)) {
			l.of_task = timeline_mute(t, r) >= 0;
			t->contradictions += !l.of_task;
			timeline_break(t, r, l, timeline_before(rec));
		}
		if (r->current < 0)
			timeline_begin_stay(r, timeline_before(rec), rec->time,
					    false);
	}
	/* Ends the stay of the thread that leaves, and begins that of the
	 * thread that comes. */
	bool leaves =
		rec->kind == TIMELINE_SWITCH || rec->kind == TIMELINE_LEAVE;

	r->left = rec->kind == TIMELINE_LEAVE;
	r->leaving = leaves ? rec->current : -1;
	r->coming = r->left ? rec->other : -1;
	if (leaves)
		timeline_end_stay(t, r, rec->time, rec);
	if (rec->kind == TIMELINE_SWITCH)
		timeline_begin_stay(r, rec->other, rec->time, true);
	if (rec->kind == TIMELINE_COME)
		timeline_begin_stay(r, rec->current, rec->time, true);
	if (leaves || rec->kind == TIMELINE_COME) {
		for (; r->doubt; r->doubt = t->doubt[r->doubt - 1].open)
			t->doubt[r->doubt - 1].to = rec->time;
		r->switched = rec->time;
	}
	r->last = rec->time;
	lower_to(t->first, rec->time);
	raise_to(t->last, rec->time);
}

/* Notes from when until when types were on in the capture that ends. to: its
 * last time; TIMELINE_END: no other capture follows. CPUs are turned off in
 * order: while a type is on at a CPU, it is on at all later ones. */
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

		if (ring_is_absent(t, r))
			continue;
		for (unsigned int i = 0; i < TIMELINE_TYPES; i++) {
			part.since_on[i] = r->since_on[i];
			raise_to(p->since_on[i], r->since_on[i]);
			r->since_on[i] = TIMELINE_END;
			raise_to(until[i], r->until[i]);
			part.until[i] = until[i];
			lower_to(p->until[i], until[i]);
			r->until[i] = TIMELINE_START;
		}
		if (r->began && !r->changed)
			*mem_add(t->ring_part, t->n_ring_part,
				 t->cap_ring_part) = part;
		if (r->began && !r->changed && until[0] < r->last)
			r->last = until[0];
	}
}

/* Cuts the stays of the ended capture where switches may be off. Call it after
 * timeline_end_part(), when these stays have ended. */
static void timeline_cut_tails(struct timeline *t)
{
	size_t n = t->part_stay;

	for (size_t i = t->part_stay; i < t->stay.n; i++) {
		struct timeline_stay s = timeline_stay(t, (uint32_t)i);
		int64_t last = t->ring[s.cpu].last;
		bool cut = s.to > last;

		/* the ring's last stay already ends at `last` */
		if (s.from > last || (s.from == last && s.to > last))
			continue;
		if (cut) {
			s.to = last;
			s.exact_to = false;
			s.state = -1;
			s.by_event = false;
		}
		s.number = (uint32_t)n++;
		if (cut || s.number != i)
			timeline_put_stay(t, &s);
	}
	packed_times_cut(&t->stay, n);
	t->part_stay = n;
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
	timeline_cut_tails(t);
}

/* Adds the times in which a ring's switches were on, but wake-ups were not. */
static void timeline_lose_wakes(struct timeline *t, const struct ring_part *p)
{
	for (unsigned int i = 1; i < 3; i++) {
		unsigned int type = 1u << i;
		int64_t on = p->since_on[i] < p->to ? p->since_on[i] : p->to;

		/* if sched_waking is recorded, sched_wakeup is not needed */
		if (!(t->types & type) || (type != TIMELINE_HAS_WAKING &&
					   t->types & TIMELINE_HAS_WAKING))
			continue;
		if (p->since_on[i] > p->since_on[0])
			timeline_add_loss(t, p->from, on, p->cpu)->only_wakes =
				true;
		if (p->since_on[i] < TIMELINE_END && p->until[i] < p->last)
			timeline_add_loss(t, p->until[i], p->to, p->cpu)
				->only_wakes = true;
	}
}

COMPARE_BY(timeline_compare_losses, struct timeline_loss, from, to, cpu);

/* This many switches to a task that no record knows make it silent: fewer may
 * be chance, of a thread that ran only that often. Once one task is silent,
 * others without records are silent after a single one. */
#define SILENT_GAPS 4

static bool voice_is_silent(const struct voice *v, uint32_t gaps)
{
	return v && !v->heard && v->gaps >= gaps;
}

/* Lists the silent tasks, and drops the doubts that they explain. A loss put
 * down to a task that proves not to be silent becomes a contradiction. */
static void timeline_end_silence(struct timeline *t)
{
	uint32_t most = 0;

	for (size_t i = 0; i < t->n_ring; i++)
		if (!t->ring[i].idle.heard)
			raise_to(most, t->ring[i].idle.gaps);
	for (size_t i = 0; i < t->n_thread; i++)
		if (!t->thread[i].voice.heard)
			raise_to(most, t->thread[i].voice.gaps);
	uint32_t gaps = most >= SILENT_GAPS ? 1 : SILENT_GAPS;
	size_t kept = 0;

	for (size_t i = 0; i < t->n_ring; i++)
		if (voice_is_silent(&t->ring[i].idle, gaps))
			*mem_add(t->silent, t->n_silent, t->cap_silent) =
				(struct timeline_silent){
					0, (int32_t)i, t->ring[i].idle.gaps
				};
	for (size_t i = 0; i < t->n_thread; i++)
		if (voice_is_silent(&t->thread[i].voice, gaps))
			*mem_add(t->silent, t->n_silent,
				 t->cap_silent) = (struct timeline_silent){
				t->thread[i].tid, -1, t->thread[i].voice.gaps
			};
	for (size_t i = 0; i < t->n_loss; i++) {
		struct timeline_loss *l = &t->loss[i];

		if (!l->of_task ||
		    voice_is_silent(
			    timeline_voice(t, &t->ring[l->cpu], l->before),
			    gaps))
			continue;
		l->of_task = false;
		t->contradictions++;
	}
	for (size_t i = 0; i < t->n_doubt; i++) {
		const struct doubt d = t->doubt[i];
		int64_t idle = -2 - d.task;
		struct voice *v =
			d.task == -1 ? NULL
			: d.task < 0
				? &t->ring[idle].idle
				: timeline_voice(t, t->ring, (int32_t)d.task);

		if (!voice_is_silent(v, gaps))
			t->doubt[kept++] = d;
	}
	t->n_doubt = kept;
}

COMPARE_BY(timeline_compare_doubts, struct doubt, from);

static int timeline_compare_stays(const void *a, const void *b, void *arg)
{
	const struct timeline *t = arg;
	const struct timeline_stay x = timeline_stay(t, *(const uint32_t *)a);
	const struct timeline_stay y = timeline_stay(t, *(const uint32_t *)b);

	return compare_numbers(x.from, y.from) ?: compare_numbers(x.to, y.to);
}

/* Sorts the stays of a thread by time: a stay that a loss ends is added with
 * the record after the loss, when later stays of the thread may have been added
 * already. */
static void timeline_order_stays(struct timeline *t, uint32_t *id, size_t n)
{
	int64_t from = TIMELINE_START;
	size_t k = 0;

	for (; k < n; k++) {
		const struct timeline_stay s = timeline_stay(t, id[k]);

		if (s.from < from)
			break;
		from = s.from;
	}
	if (k < n)
		sort_items_by(id, n, timeline_compare_stays, t);
}

/* Groups n items by owner, in the order in which they were added; stays by
 * time. */
static void timeline_make_lists(struct timeline *t, struct lists *l,
				const uint32_t *owner, size_t n, size_t owners)
{
	size_t *first = mem_new(owners + 2, sizeof(*first));
	uint32_t *id;

	for (size_t i = 0; i < n; i++)
		if (owner[i] != TIMELINE_NONE)
			first[owner[i] + 2]++;
	for (size_t i = 2; i < owners + 2; i++)
		first[i] += first[i - 1];
	id = mem_new(first[owners + 1], sizeof(*id));
	for (size_t i = 0; i < n; i++)
		if (owner[i] != TIMELINE_NONE)
			id[first[owner[i] + 1]++] = (uint32_t)i;
	for (size_t i = 0; l == &t->stays && i < owners; i++)
		timeline_order_stays(t, id + first[i], first[i + 1] - first[i]);
	for (size_t i = 0; i < first[owners]; i++)
		packed_times_put(&l->number, i,
				 &(struct packed_time){ .time = id[i] });
	packed_times_close(&l->number);
	l->first = first;
	free(id);
}

void timeline_seal(struct timeline *t)
{
	for (int32_t i = 0; i < t->rules.cpus && i < TIMELINE_CPUS_MAX; i++)
		timeline_ring(t, i);
	timeline_end_part(t, TIMELINE_END);
	for (size_t i = 0; i < t->n_ring; i++) {
		struct ring *r = &t->ring[i];
		const struct timeline_loss tail = {
			.from = r->began ? r->last : TIMELINE_START,
			.to = TIMELINE_END,
			.n = -1,
		};

		if (ring_is_absent(t, r))
			continue;
		if (!r->seen && t->bare < 0)
			t->bare = (int32_t)i;
		timeline_break(t, r, tail, -1);
		timeline_skip_losses(t, r, TIMELINE_END);
	}
	timeline_cut_tails(t);
	for (size_t i = 0; i < t->n_ring_part; i++)
		timeline_lose_wakes(t, &t->ring_part[i]);
	for (size_t i = 0; i < t->n_anywhere; i++) {
		struct timeline_loss l = t->reported[t->anywhere[i]];

		l.before = l.after = l.cpu = -1;
		l.n = -1;
		*mem_add(t->loss, t->n_loss, t->cap_loss) = l;
	}
	if (!t->rules.cpus || t->stray ||
	    (t->rules.cpus > 0 && (size_t)t->rules.cpus < t->n_seen))
		timeline_add_loss(t, TIMELINE_START, TIMELINE_END, -1);
	timeline_end_silence(t);
	/* Adds a loss of all CPUs for each time in which the recorder may have
	 * paused. */
	if (t->n_doubt && t->rules.pauses < 0 && !timeline_is_blind(t)) {
		/* Sorts the doubts and merges those that touch. */
		struct doubt *d = t->doubt;
		size_t n = 0;

		sort_items(d, t->n_doubt, timeline_compare_doubts);
		for (size_t i = 1; i < t->n_doubt; i++) {
			if (d[i].from > d[n].to)
				d[++n] = d[i];
			else if (d[i].to > d[n].to)
				d[n].to = d[i].to;
		}
		t->n_doubt = n + 1;
		for (size_t i = 0; i < t->n_doubt; i++)
			timeline_add_loss(t, t->doubt[i].from, t->doubt[i].to,
					  -1)
				->silent = true;
		/* Cuts doubts out of the stays; a stay may become several. */
		const struct doubt *doubt = t->doubt;
		struct timeline_stay *stay = NULL;
		size_t count = 0;
		size_t cap = 0;

		for (size_t k = 0; k < t->stay.n; k++) {
			struct timeline_stay s = timeline_stay(t, (uint32_t)k);
			size_t first = search_where(t->n_doubt, i,
						    doubt[i].to > s.from);
			size_t i = first;

			for (; i < t->n_doubt && doubt[i].from < s.to; i++) {
				struct timeline_stay head = s;

				head.to = doubt[i].from;
				head.exact_to = false;
				head.state = -1;
				/* smaller than the event of the last part,
				 * which has it */
				head.event -= head.by_event;
				head.by_event = false;
				if (head.from < head.to)
					*mem_add(stay, count, cap) = head;
				s.from = doubt[i].to;
				s.exact_from = false;
			}
			if (i == first || s.from < s.to)
				*mem_add(stay, count, cap) = s;
		}
		packed_times_release(&t->stay);
		for (size_t k = 0; k < count; k++) {
			stay[k].number = (uint32_t)k;
			timeline_put_stay(t, &stay[k]);
		}
		free(stay);
	}
	sort_items(t->loss, t->n_loss, timeline_compare_losses);
	loss_ends_init(&t->ends, t->n_loss);
	for (size_t i = 0; i < t->n_loss; i++)
		loss_ends_put(&t->ends, i, t->loss[i].to);
	loss_ends_seal(&t->ends);
	/* A thread that came back without a tid is unknown: it may be any that
	 * left as if dead before. */
	for (uint32_t i = 0; t->undead > TIMELINE_START && i < t->stay.n; i++) {
		struct timeline_stay s = timeline_stay(t, i);

		if (s.to > t->undead || !task_state_ends(s.state))
			continue;
		s.state = -1;
		timeline_put_stay(t, &s);
	}
	uint32_t *of = NULL;
	size_t cap = 0;

	mem_grow(of, cap, t->stay.n);
	for (uint32_t i = 0; i < t->stay.n; i++)
		of[i] = timeline_stay(t, i).thread;
	timeline_make_lists(t, &t->stays, of, t->stay.n, t->n_thread);
	for (uint32_t i = 0; i < t->stay.n; i++)
		of[i] = timeline_stay(t, i).cpu;
	timeline_make_lists(t, &t->seats, of, t->stay.n, t->n_ring);
	mem_grow(of, cap, 2 * t->wake.n);
	for (uint32_t i = 0; i < 2 * t->wake.n; i++)
		of[i] = timeline_wake(t, i).waiter;
	timeline_make_lists(t, &t->wakes, of, 2 * t->wake.n, t->n_thread);
	mem_grow(of, cap, t->n_loss);
	for (size_t i = 0; i < t->n_loss; i++)
		of[i] = (uint32_t)(t->loss[i].cpu + 1);
	timeline_make_lists(t, &t->losses, of, t->n_loss, t->n_ring + 1);
	free(of);
	loss_ends_init(&t->ends_on, t->n_loss);
	for (size_t i = 0; i < t->n_loss; i++)
		loss_ends_put(
			&t->ends_on, i,
			t->loss[packed_times_get(&t->losses.number, i).time]
				.to);
	loss_ends_seal(&t->ends_on);
}

void timeline_settle(struct timeline *t, timeline_settle_fn *fn, void *arg)
{
	for (uint32_t i = 0; i < 2 * t->wake.n; i++) {
		struct timeline_wake w = timeline_wake(t, i);

		if (w.waiter == TIMELINE_NONE ||
		    (w.context != CONTEXT_SOFTIRQ_UNKNOWN &&
		     w.context != CONTEXT_HARDIRQ &&
		     w.context != CONTEXT_SIGNAL))
			continue;
		w.context = fn(arg, &w);
		timeline_put_wake(t, &w);
	}
}

/* More silent losses than this make the timeline blind: absence proves nothing.
 * An unreported loss shows only if another thread is on the CPU after it, so
 * about as many more do not show. With 668 that did, 3 of 23 programs had false
 * proofs elsewhere. */
#define SILENT_MAX 100

struct timeline *timeline_new(const struct timeline_rules *r)
{
	struct timeline *t = mem_new(1, sizeof(*t));

	t->rules = *r;
	t->first = TIMELINE_END;
	t->last = TIMELINE_START;
	t->part_from = t->undead = TIMELINE_START;
	t->bare = -1;
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
	free_all(t->ring, t->reported, t->anywhere, t->each, t->loss);
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
	/* the second of a pair follows its first by a few events */
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

	/* losses are sorted by their start */
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

	/* losses of an unknown CPU come after those of this CPU */
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
