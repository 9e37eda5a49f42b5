/* timeline_rings.c - the timeline takes records: each is checked against the
 * one before it on its CPU, and ends or begins a stay there. */
#include "analyze/causes/timeline_inner.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/task_state.h"

#define TIME_MOST (INT64_MAX / 2) /* 146 years: differences never overflow */

struct ring *timeline_ring(struct timeline *t, int32_t cpu)
{
	if (cpu < 0 || cpu >= TIMELINE_CPUS_MAX)
		return NULL;
	while (t->n_ring <= (size_t)cpu)
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
	return &t->ring[cpu];
}

/* Returns the number of a thread, which may be new; TIMELINE_NONE for the idle
 * thread and for none. */
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

struct voice *timeline_voice(struct timeline *t, struct ring *r, int32_t tid)
{
	uint32_t id = timeline_take_tid(t, tid);

	return id != TIMELINE_NONE ? &t->thread[id].voice
	       : tid		   ? NULL
				   : &r->idle;
}

struct timeline_loss *timeline_add_loss(struct timeline *t, int64_t from,
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

/* Notes that the recorder may have paused where a loss is silent. */
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
	told->of_task = false;
	t->contradictions += l->silent;
	if (r) {
		*mem_add(r->loss, r->n_loss, r->cap_loss) = at;
		return;
	}
	timeline_doubt(t, told);
	*mem_add(t->anywhere, t->n_anywhere, t->cap_anywhere) = at;
}

void timeline_skip_losses(struct timeline *t, struct ring *r, int64_t until)
{
	while (r->next_loss < r->n_loss &&
	       t->told[r->loss[r->next_loss]].to <= until)
		timeline_doubt(t, &t->told[r->loss[r->next_loss++]]);
}

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
				     .told = out && out->id > 0,
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
	r->leaving = -1;
}

/* Returns the task that is on the CPU of a ring as far as its last record
 * tells, or comes there, if it may be silent; -1: there is none. Often no
 * switch to it is recorded, and an interrupt shows it: at the start of a
 * capture, and after another silent task. */
static int32_t timeline_mute(struct timeline *t, struct ring *r)
{
	int32_t tid = r->left ? r->coming : r->current;

	return tid >= 0 && !timeline_voice(t, r, tid)->heard ? tid : -1;
}

void timeline_break(struct timeline *t, struct ring *r, struct timeline_loss l,
		    int32_t after)
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

/* Adds a loss that is between the same two records to *sum. */
static void timeline_add_up(struct timeline_loss *sum,
			    const struct timeline_loss *l, bool first)
{
	if (first) {
		*sum = *l;
		return;
	}
	lower_to(sum->from, l->from);
	raise_to(sum->to, l->to);
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
	struct timeline_loss sum = { 0 };
	size_t told = 0;
	size_t n = 0;
	size_t silent = 0;
	size_t next = r->next_loss;

	while (r->next_loss < r->n_loss) {
		struct timeline_loss l = t->told[r->loss[r->next_loss]];
		bool within = l.to <= rec->time;

		/* after an interrupt of a silent task, it goes on */
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
			timeline_add_up(&sum, &l, !n++);
			told = r->loss[r->next_loss];
			silent += l.silent;
			next = r->next_loss + 1;
		}
		if (!within)
			break;
		r->next_loss++;
	}
	if (!n)
		return;
	if (n == 1 && r->spans && r->spans_told == told &&
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
		/* no more is missing after the first record of another task */
		r->next_loss = next;
	}
	timeline_break(t, r, sum, timeline_before(rec));
	r->spans = n == 1 ? t->n_loss : 0;
	r->spans_told = told;
}

/* ---- threads whose tid changes */

void timeline_rename(struct timeline *t, int64_t time, int32_t from, int32_t to)
{
	if (from != to && to > 0)
		*mem_add(t->rename, t->n_rename, t->cap_rename) =
			(struct rename_row){ time, from, to };
}

COMPARE_BY(timeline_compare_renames, struct rename_row, to, from, time);

/* Returns the first change at or after a time; NULL: there is none. */
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

/* Returns when at the latest a thread had taken over the tid of the first of
 * its process, if it did at or after a time; TIMELINE_END: it did not. */
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
	if (!other && !t->thread[timeline_take_tid(t, rec->current)].gone)
		return false;
	if (other && other->last > rec->time)
		return false; /* not in the order of time */
	at = other && at < other->last ? other->last : at;
	lower_to(at, rec->time);
	if (other)
		timeline_end_stay(t, other, at, &gone);
	timeline_end_stay(t, r, at, other ? NULL : &gone);
	timeline_begin_stay(r, rec->current, at, true);
	r->exec = true;
	return true;
}

/* Returns whether records are known to be lost between the last one of a ring
 * and a time. */
static bool timeline_is_lossy(const struct timeline *t, const struct ring *r,
			      int64_t time)
{
	return r->next_loss < r->n_loss &&
	       t->told[r->loss[r->next_loss]].from < time;
}

/* Returns whether a record tells nothing of who is on the CPU.
 *
 * One may be written in the middle of a switch by who leaves: sched_switch and
 * the record of the switch come before that thread's events are taken off the
 * CPU, and those may have timers to cancel (seen in Linux 6.18: __schedule(),
 * prepare_task_switch()). What such a record hides is between the switch and
 * the next one. No interrupt comes there, as they are off.
 *
 * Or the switch is there twice: in guests with Linux 6.18, perf 6.1 has all
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

/* The thread of a record must be the one that the record before it left, or if
 * that thread has left, it comes. */
static void timeline_check_seat(struct timeline *t, struct ring *r,
				const struct timeline_record *rec)
{
	struct timeline_loss l = {
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
		l.of_task = timeline_mute(t, r) >= 0;
		t->contradictions += !l.of_task;
		timeline_break(t, r, l, timeline_before(rec));
	}
	if (r->current < 0)
		timeline_begin_stay(r, timeline_before(rec), rec->time, false);
}

/* Returns who is on a CPU, if the record does not say it and nothing was lost
 * since the one before; -1: unknown. */
static int32_t timeline_seated(const struct timeline *t, const struct ring *r,
			       const struct timeline_record *rec)
{
	if (rec->current >= 0 || !r || rec->time < r->last ||
	    timeline_is_lossy(t, r, rec->time))
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
			w.number = timeline_wake_number(t, &w);
			timeline_put_wake(t, &w);
		}
	}
	if (!r) {
		t->stray = true;
		return;
	}
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
	/* who is there next may be missing; or it is not said who is there */
	if (r->since_on[0] > rec->time ||
	    (rec->current < 0 && rec->kind != TIMELINE_COME))
		return;
	/* a record that comes late may have been anywhere */
	if (rec->time < r->last) {
		timeline_add_loss(t, rec->time, r->last, rec->cpu)->silent =
			true;
		t->contradictions++;
		return;
	}
	if (!r->began || r->changed) {
		/* what one capture reports of a CPU ends with its last record
		 * there, and what the next one tells begins with its first */
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
		timeline_check_seat(t, r, rec);
	}
	/* Ends the stay of who leaves by a record, and begins that of who
	 * comes. */
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

/* With a type that is on at a CPU, it is on at those after it. */
void timeline_end_part(struct timeline *t, int64_t to)
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

void timeline_cut_tails(struct timeline *t)
{
	size_t n = t->part_stay;

	for (size_t i = t->part_stay; i < t->stay.n; i++) {
		struct timeline_stay s = timeline_stay(t, (uint32_t)i);
		int64_t last = t->ring[s.cpu].last;
		bool cut = s.to > last;

		/* the last one ends at `last`, even if it began later */
		if (s.from > last || (s.from == last && s.to > last))
			continue;
		if (cut) {
			s.to = last;
			s.exact_to = false;
			s.state = -1;
			s.told = false;
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
