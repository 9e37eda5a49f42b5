/* waits.c - iterates over the times that threads were off the CPU, and on it.
 *
 * All of it is made here, of the switches as causes.h tells them: a thread that
 * leaves a CPU begins a wait, and ends a run; where it comes, the other way
 * round. Where who woke is asked for, the waits of a capture are kept until all
 * its events are read, and then each thread's are proved. The stays of a
 * timeline are no basis for this: they are cut wherever records may be missing,
 * and all of a capture are in memory before the first one can be asked for. */
#include "analyze/waits/waits.h"

#include <inttypes.h>

#include "analyze/causes/causes.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/row_cursor.h"
#include "analyze/waits/waits_part.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/task_state.h"

#define CPUS_MAX 65536 /* further ones have no runs */

/* Who is on a CPU, since when, and by which event. */
struct waits_seat {
	bool taken;
	int64_t tid, from, came;
	const struct causes_capture *capture;
};

/* One thread of the capture that is being read. */
struct waits_thread {
	int64_t tid;
	bool away;
	bool seen;		 /* a switch named it: asked for with maybe */
	bool chosen;		 /* its wait is selected by the filters */
	int32_t cpu;		 /* to which it came last; 0: or to none */
	uint32_t comm;		 /* of its last event; 0: not known */
	struct waits_seat place; /* a CPU that is not known */
	uint32_t number;	 /* causes_switch.number of its wait */
	uint32_t kept; /* 1 + the last of its waits in kept[]; 0: none */
	struct offcpu_wait wait; /* its wait, if it is off the CPU */
};

/* A wait until who woke is known. */
struct waits_kept {
	int64_t event, from, to;
	struct woken woken;
	uint32_t number; /* causes_switch.number */
	uint32_t thread;
	uint32_t before; /* 1 + that of the same thread before it */
	int32_t state;
	int32_t cpu : 18;
	uint32_t end : 2; /* enum offcpu_end */
	uint32_t sampled : 1;
};

/* The part that is read. */
struct waits_now {
	struct waits_part *part;  /* NULL: none */
	struct causes *causes;	  /* NULL: measured waits */
	struct row_cursor chosen; /* what filters let through; else empty */
	struct waits_thread *thread;
	size_t n, cap;
	struct table index;	 /* tid to thread */
	struct waits_seat *seat; /* by CPU */
	size_t n_seat, cap_seat;
	bool whole, some; /* all CPUs were recorded, or only some tasks */
	bool torn;	  /* another thread left a CPU than the one that came */
	bool wakes;	  /* who woke is asked for */
	bool ended;	  /* all events are read */
	int64_t end;	  /* of the capture */
	struct wakers *wakers;
	struct waits_kept *kept;
	size_t n_kept, cap_kept, next; /* which is given next */
};

struct waits {
	struct store *db;
	const char *path;
	struct waits_ask ask;
	struct waits_parts parts;
	size_t at; /* in parts */
	struct offcpu_sums sums;
	bool overflow; /* of a sum of times */
	struct waits_now now;
	struct waits_item *out; /* of one step */
	size_t n_out, cap_out, at_out;
};

static struct waits_thread *waits_thread_of(struct waits *w, int64_t tid)
{
	uint32_t id = table_find_or_add(&w->now.index, hash_u64((uint64_t)tid),
					w->now.n);

	if (id == w->now.n)
		*mem_add(w->now.thread, w->now.n, w->now.cap) =
			(struct waits_thread){ .tid = tid };
	return &w->now.thread[id];
}

static void waits_give(struct waits *w, const struct waits_item *item)
{
	*mem_add(w->out, w->n_out, w->cap_out) = *item;
}

/* Where a thread was at the ends of a time. */
enum waits_ends {
	WAITS_OFF,   /* not on the CPU, at both */
	WAITS_GONE,  /* not at its begin; its end is not known */
	WAITS_LEFT,  /* on it at its end; its begin is not known */
	WAITS_CAME,  /* the other way round */
	WAITS_STAYS, /* likewise, and nothing but a loss could hide it leaving
		      */
	WAITS_ON,    /* on it at both */
};

/* Gives what is known of a thread in a time: that it ran for certain, or may
 * have, which is between the first and the last loss where there is one. */
static void waits_give_maybe(struct waits *w, int64_t tid, int32_t cpu,
			     int64_t from, int64_t to, enum waits_ends ends)
{
	struct waits_span in = { ends >= WAITS_STAYS ? to : from, to };
	struct waits_item item = { .run.tid = tid };

	if (!w->ask.maybe)
		return;
	if (waits_part_lost(w->now.part, cpu, from, to, &in)) {
		if (ends != WAITS_OFF && ends != WAITS_LEFT && ends != WAITS_ON)
			in.to = to;
		/* what was last recorded before it still saw the thread */
		in.from = ends == WAITS_LEFT ? from : in.from + 1;
	}
	const struct waits_span part[] = { { from, in.from },
					   in,
					   { in.to, to } };

	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		item.kind = i == 1 ? WAITS_MAYBE : WAITS_RUN;
		item.run.from = part[i].from;
		item.run.to = part[i].to;
		if (part[i].to > part[i].from && (i == 1 || ends >= WAITS_LEFT))
			waits_give(w, &item);
	}
}

/* ---- waits */

static void waits_count(struct waits *w, uint64_t *n, uint64_t *sum,
			uint64_t ns)
{
	*n += 1;
	w->overflow |= __builtin_add_overflow(*sum, ns, sum);
}

static void waits_end_wait(struct waits *w, struct waits_thread *th, int64_t to,
			   enum offcpu_end end)
{
	struct offcpu_wait *x = &th->wait;
	struct woken none = wakers_none();
	bool lost = waits_part_lost(w->now.part, -1, x->from, to, NULL);

	th->away = false;
	x->to = to;
	x->end = end;
	if (end == OFFCPU_BACK && lost)
		x->end = OFFCPU_UNCERTAIN;
	if (lost || end == OFFCPU_UNCERTAIN)
		waits_give_maybe(w, th->tid, -1, x->from, to,
				 end == OFFCPU_BACK ? WAITS_OFF : WAITS_GONE);
	if (!th->chosen || to < x->from)
		return;
	waits_count(w, &w->sums.waits[x->end], &w->sums.ns[x->end],
		    (uint64_t)to - (uint64_t)x->from);
	if (w->now.wakes) {
		*mem_add(w->now.kept, w->now.n_kept, w->now.cap_kept) =
			(struct waits_kept){
				.event = x->event,
				.from = x->from,
				.to = to,
				.woken = none,
				.number = th->number,
				.thread = (uint32_t)(th - w->now.thread),
				.before = th->kept,
				.state = (int32_t)x->state,
				.cpu = x->cpu < CPUS_MAX ? x->cpu : -1,
				.end = (unsigned int)x->end & 3,
				.sampled = x->sampled,
			};
		th->kept = (uint32_t)w->now.n_kept;
		return;
	}
	x->waker = wakers_tell(NULL, &none);
	waits_give(w, &(struct waits_item){ .kind = WAITS_WAIT, .wait = *x });
}

/* Ends a wait of which no return is recorded. To exit, a thread must have come
 * back. Behind its EXIT record it may still leave and come back, until it
 * leaves for good, which is no wait. */
static void waits_end_unseen(struct waits *w, struct waits_thread *th,
			     int64_t to, enum offcpu_end end)
{
	int64_t from = th->wait.from;
	int64_t exit = waits_part_exit(w->now.part, th->tid, from);

	if (exit <= from &&
	    (end == OFFCPU_OPEN ||
	     waits_part_exit(w->now.part, th->tid, to) != exit)) {
		th->away = false;
		return;
	}
	if (exit > from && exit <= to)
		waits_end_wait(w, th, exit, OFFCPU_UNCERTAIN);
	else
		waits_end_wait(w, th, to, end);
}

/* If the thread leaves twice, its return in between was lost. */
static void waits_leave(struct waits *w, const struct causes_switch *e,
			bool chosen)
{
	struct waits_thread *th;
	bool wanted =
		chosen && offcpu_takes_state(w->ask.filter->state, e->state);

	if (e->out <= 0)
		return; /* the idle task, or not known */
	th = waits_thread_of(w, e->out);
	th->comm = e->stack.comm;
	if (th->away)
		waits_end_unseen(w, th, e->time, OFFCPU_UNCERTAIN);
	if (task_state_ends(e->state))
		return;
	th->away = true;
	th->chosen = wanted;
	th->number = e->number;
	th->wait = (struct offcpu_wait){
		.event = e->event,
		.from = e->time,
		.sampled = causes_capture_sampled(e->capture),
		.tid = e->out,
		.state = e->state,
		.cpu = e->cpu,
		.at = e->stack,
	};
}

/* ---- what runs on the CPUs */

/* e: the switch out; NULL: the capture ended. */
static void waits_give_run(struct waits *w, const struct waits_thread *th,
			   int32_t cpu, const struct waits_seat *s,
			   const struct causes_switch *e)
{
	const struct waits_item run = {
		.kind = WAITS_RUN,
		.run = { .tid = th->tid,
			 .comm = th->comm,
			 .cpu = cpu,
			 .from = s->from,
			 .to = e ? e->time : w->now.end,
			 .came = s->came,
			 .left = e ? e->event : 0,
			 .state = e ? e->state : -1,
			 .capture = s->capture->id,
			 .record = s->capture->records },
	};

	if (run.run.to >= s->from &&
	    !waits_part_lost(w->now.part, cpu, s->from, run.run.to, NULL)) {
		waits_give(w, &run);
	} else {
		w->sums.cut++;
		waits_give_maybe(w, th->tid, cpu, s->from, run.run.to,
				 WAITS_ON);
	}
}

/* The thread on a seat is there no more, though no switch tells that it left:
 * it exited, which is its end in captures of single threads, or the switch is
 * lost. */
static void waits_leave_unseen(struct waits *w, const struct waits_seat *s,
			       int32_t cpu, int64_t to)
{
	int64_t exit = waits_part_exit(w->now.part, s->tid, s->from);

	w->sums.cut++;
	waits_give_maybe(w, s->tid, cpu, s->from, exit < to ? exit : to,
			 exit <= to ? WAITS_ON : WAITS_CAME);
}

/* Of the thread of a switch, what its seat does not tell: it is still on the
 * seat of another CPU, as the switch out there is lost; or it leaves and no
 * switch in was recorded, as it ran when the capture began, or is lost. */
static void waits_begin_unseen(struct waits *w, const struct causes_switch *e,
			       const struct waits_seat *at)
{
	int64_t tid = e->has_out ? e->out : e->in;
	struct waits_thread *th = tid > 0 ? waits_thread_of(w, tid) : NULL;
	int64_t start = w->now.part->start;
	int64_t born;

	if (!th)
		return;
	struct waits_seat *other =
		(size_t)th->cpu < w->now.n_seat ? &w->now.seat[th->cpu] : NULL;

	if (other && other != at && other->taken && other->tid == tid) {
		waits_leave_unseen(w, other, th->cpu, e->time);
		other->taken = false;
	}
	if (e->has_out && !th->seen && !(at->taken && at->tid == tid)) {
		born = waits_part_born(w->now.part, tid, e->time);
		waits_give_maybe(w, tid, e->cpu, born > start ? born : start,
				 e->time, born > start ? WAITS_LEFT : WAITS_ON);
	}
	th->seen = true;
	if (e->has_in && e->in > 0)
		waits_thread_of(w, e->in)->seen = true;
}

/* Notes who leaves and who comes. If another thread was thought to be there,
 * its end was lost. Records of one task need not say their CPU; then a thread
 * is where it came to until it leaves. */
static void waits_change_seat(struct waits *w, const struct causes_switch *e,
			      bool chosen)
{
	bool placed = e->cpu >= 0 && e->cpu < CPUS_MAX;
	struct waits_thread *th;
	struct waits_seat *s;
	bool left;

	if (!w->ask.runs || (!e->has_out && !e->has_in) ||
	    (!placed && !e->capture->records))
		return;
	if (placed) {
		s = mem_at(w->now.seat, w->now.n_seat, w->now.cap_seat, e->cpu);
	} else {
		s = &waits_thread_of(w, e->has_out ? e->out : e->in)->place;
	}
	if (w->ask.maybe)
		waits_begin_unseen(w, e, s);
	th = s->taken ? waits_thread_of(w, s->tid) : NULL;
	left = e->has_out && (s->tid == e->out || e->out < 0);
	if (th && left && chosen)
		waits_give_run(w, th, placed ? e->cpu : -1, s, e);
	else if (th)
		waits_leave_unseen(w, s, placed ? e->cpu : -1, e->time);
	w->now.torn |= th && placed && !left;
	s->taken = e->has_in && e->in;
	if (s->taken && placed)
		waits_thread_of(w, e->in)->cpu = e->cpu;
	s->tid = e->in;
	s->from = e->time;
	s->came = e->event;
	s->capture = e->capture;
}

static int waits_take_event(struct waits *w, const struct causes_switch *e,
			    struct err *err)
{
	int chosen = 1;

	raise_to(w->now.end, e->time);
	if (w->now.chosen.rows)
		chosen = row_cursor_seek(&w->now.chosen, e->event, err);
	if (chosen < 0)
		return -1;
	if (e->has_out)
		waits_leave(w, e, chosen > 0);
	waits_change_seat(w, e, chosen > 0);
	if (!e->has_in || !e->in)
		return 0;
	struct waits_thread *came = waits_thread_of(w, e->in);

	if (e->capture->records)
		came->comm = e->stack.comm;
	if (came->away)
		waits_end_wait(w, came, e->time, OFFCPU_BACK);
	return 0;
}

/* ---- the end of a capture */

/* A thread that came and of which nothing else is recorded ran until it exited
 * or, as all records of it are there, until the capture ended. */
static void waits_end_place(struct waits *w, const struct waits_seat *s,
			    int32_t cpu)
{
	int64_t exit = waits_part_exit(w->now.part, s->tid, s->from);
	bool exited = exit <= w->now.end;

	w->sums.cut++;
	waits_give_maybe(w, s->tid, cpu, s->from, exited ? exit : w->now.end,
			 exited ? WAITS_ON : WAITS_STAYS);
}

/* perf disables CPU after CPU: a thread goes from those that are, unseen. */
static void waits_end_seat(struct waits *w, size_t cpu)
{
	const struct waits_seat *s = &w->now.seat[cpu];
	const struct waits_thread *th =
		s->taken ? waits_thread_of(w, s->tid) : NULL;

	/* It was there until the capture ended, if nothing says that it left.
	 * Where only some tasks are recorded, or may be, as a switch that does
	 * not fit shows, it may have left unseen. Filters choose by the switch
	 * out, which those who stay do not have. */
	if (th && th->cpu == (int32_t)cpu && !filter_given(w->ask.filter) &&
	    (w->now.whole || (!w->now.some && !w->now.torn)))
		waits_give_run(w, th, (int32_t)cpu, s, NULL);
	else if (th)
		waits_end_place(w, s, (int32_t)cpu);
}

/* ---- parts */

/* Opens what the filters let through of the events that report a part. */
static int waits_open_chosen(struct waits *w, const struct waits_part *p,
			     struct err *err)
{
	char *types;
	FILE *f = mem_stream(&types, NULL);
	struct sql_gap gap = { "types", NULL };

	if (p->measured)
		fprintf(f, "%" PRId64, p->measured->type);
	for (size_t i = 0; p->kernel && i < p->kernel->n; i++)
		fprintf(f, "%s%" PRId64, i ? ", " : "",
			p->kernel->span[i].capture->type);
	mem_stream_end(f);
	gap.text = types;
	w->now.chosen.rows = filter_rows(w->ask.filter, w->db, "offcpu_chosen",
					 &gap, 1, err);
	free(types);
	return w->now.chosen.rows ? row_cursor_step(&w->now.chosen, err) : -1;
}

static int waits_open_part(struct waits *w, struct err *err)
{
	struct waits_part *p = &w->parts.part[w->at];
	struct waits_now *n = &w->now;

	n->part = p;
	n->end = p->end;
	if (waits_part_load(&w->parts, w->at, w->db, err))
		return -1;
	const struct causes_kernel *k = p->kernel;

	for (size_t i = 0; k && i < k->n; i++) {
		const struct causes_capture *c = k->span[i].capture;
		size_t before = 0;

		while (k->span[before].capture != c)
			before++;
		if (before < i)
			continue;
		w->sums.records |= c->records;
		raise_to(w->sums.cpus, c->rules.cpus);
		if (c->records)
			continue;
		w->sums.partial |= c->some;
		w->sums.recorded += (uint64_t)c->switches;
		w->sums.happened +=
			(uint64_t)(causes_capture_sampled(c) ? c->happened
							     : c->switches);
	}
	w->sums.whole |= p->measured != NULL;
	w->sums.lost += p->records;
	w->sums.lost_unknown |= p->some_unknown;
	if (filter_given(w->ask.filter) && waits_open_chosen(w, p, err))
		return -1;
	if (p->measured)
		return 0;
	n->whole = true;
	for (size_t i = 0; i < p->kernel->n; i++) {
		n->whole &= p->kernel->span[i].capture->whole;
		n->some |= p->kernel->span[i].capture->some;
	}
	/* of single threads there is no timeline */
	n->wakes = w->ask.causes && !p->kernel->capture->threads;
	n->causes = causes_open(w->db, p->kernel,
				n->wakes ? w->ask.causes : NULL, err);
	return n->causes ? 0 : -1;
}

static void waits_close_part(struct waits *w)
{
	struct waits_now *n = &w->now;

	wakers_free(n->wakers);
	causes_free(n->causes);
	row_cursor_close(&n->chosen);
	if (n->part)
		waits_part_release(n->part);
	table_release(&n->index);
	free_all(n->thread, n->seat, n->kept);
	*n = (struct waits_now){ 0 };
}

/* A wait that the kernel has measured. One that a capture of switches reports
 * too counts there. */
static int waits_take_measured(struct waits *w, const struct waits_measured *m,
			       struct err *err)
{
	struct offcpu_sums *s = &w->sums;
	const struct woken none = wakers_none();
	const struct waits_item item = {
		.kind = WAITS_WAIT,
		.wait = { .event = m->event,
			  .from = m->from,
			  .to = m->to,
			  .sum = m->sum,
			  .tid = m->tid,
			  .state = -1,
			  .cpu = -1,
			  .at = m->stack,
			  .waker = wakers_tell(NULL, &none) },
	};
	int chosen = 1;

	if (w->now.chosen.rows)
		chosen = row_cursor_seek(&w->now.chosen, m->event, err);
	if (chosen <= 0 || !offcpu_takes_state(w->ask.filter->state, -1) ||
	    m->ns < 0 || (m->told && !m->sum))
		return chosen < 0 ? -1 : 0;
	if (m->told) {
		waits_count(w, &s->mixed, &s->mixed_ns, (uint64_t)m->ns);
		return 0;
	}
	waits_give(w, &item);
	waits_count(w, &s->waits[OFFCPU_BACK], &s->ns[OFFCPU_BACK],
		    (uint64_t)m->ns);
	return 0;
}

/* All events of the part are read: gives what they have left open. */
static void waits_end_part(struct waits *w)
{
	struct waits_now *n = &w->now;

	n->ended = true;
	for (size_t i = 0; i < n->n; i++) {
		if (n->thread[i].place.taken)
			waits_end_place(w, &n->thread[i].place, -1);
		if (n->thread[i].away)
			waits_end_unseen(w, &n->thread[i], n->end, OFFCPU_OPEN);
	}
	for (size_t i = 0; i < n->n_seat; i++)
		waits_end_seat(w, i);
	if (!n->wakes)
		return;
	/* Finds who ended the waits that are kept, thread by thread, so that
	 * few pieces are. */
	const struct timeline *t = w->now.causes->t;
	struct proofs *p = proofs_new(t);

	w->now.wakers = wakers_new(w->now.causes, w->ask.stacks);
	for (size_t i = 0; i < w->now.n; i++) {
		int64_t tid = w->now.thread[i].tid;
		uint32_t thread = tid > 0 && tid < INT32_MAX
					  ? timeline_thread(t, (int32_t)tid)
					  : TIMELINE_NONE;
		uint32_t k =
			thread == TIMELINE_NONE ? 0 : w->now.thread[i].kept;

		for (; k; k = w->now.kept[k - 1].before) {
			struct waits_kept *x = &w->now.kept[k - 1];

			x->woken = wakers_find(w->now.wakers, p, thread,
					       x->from, x->to);
		}
		proofs_forget(p);
	}
	proofs_free(p);
	w->sums.wakes |= n->causes->t->types &
			 (TIMELINE_HAS_WAKING | TIMELINE_HAS_WAKEUP);
}

/* Does the next step, which may give items. */
static int waits_step(struct waits *w, struct err *err)
{
	struct waits_now *n = &w->now;
	int rc;

	if (!n->part)
		return waits_open_part(w, err);
	if (!n->ended) {
		struct waits_measured m;
		struct causes_switch e;

		rc = n->causes ? causes_next(n->causes, &e, err)
			       : waits_part_next(n->part, &m, err);
		if (!rc)
			waits_end_part(w);
		if (rc <= 0)
			return rc;
		return n->causes ? waits_take_event(w, &e, err)
				 : waits_take_measured(w, &m, err);
	}
	if (n->next < n->n_kept) {
		const struct waits_kept *k = &n->kept[n->next++];
		struct waits_item item = { .kind = WAITS_WAIT };

		item.wait = (struct offcpu_wait){
			.event = k->event,
			.from = k->from,
			.to = k->to,
			.sampled = k->sampled,
			.end = (enum offcpu_end)k->end,
			.tid = w->now.thread[k->thread].tid,
			.state = k->state,
			.cpu = k->cpu,
			.waker = wakers_tell(w->now.wakers, &k->woken),
			.at = w->now.causes->stack[k->number],
		};
		waits_give(w, &item);
	} else if (n->wakes && n->next++ == n->n_kept) {
		waits_give(w, &(struct waits_item){ .kind = WAITS_TOLD });
	} else {
		waits_close_part(w);
		w->at++;
	}
	return 0;
}

/* ---- all of them */

struct waits *waits_open(struct store *db, const char *path,
			 const struct waits_ask *a, struct err *err)
{
	struct waits *w = mem_new(1, sizeof(*w));

	w->db = db;
	w->path = path;
	w->ask = *a;
	if (waits_parts_load(&w->parts, db, err)) {
		waits_close(w, NULL);
		return NULL;
	}
	w->sums.bare = w->parts.spans->bare;
	return w;
}

void waits_close(struct waits *w, struct offcpu_sums *sums)
{
	if (sums)
		*sums = w ? w->sums : (struct offcpu_sums){ 0 };
	if (!w)
		return;
	waits_close_part(w);
	waits_parts_release(&w->parts);
	free_all(w->out, w);
}

static int waits_end(const struct waits *w, struct err *err)
{
	const struct offcpu_sums *s = &w->sums;

	if (w->overflow)
		return err_set(err, ERR_LIMIT,
			       "the times sum up to more than 64 bits");
	if (s->waits[OFFCPU_BACK])
		return 0;
	if (!w->parts.n)
		return causes_missing(w->parts.spans, w->db, w->path,
				      LACKS_SWITCHES, err);
	if (!s->waits[OFFCPU_UNCERTAIN] && !s->waits[OFFCPU_OPEN])
		return err_set(
			err, ERR_FORMAT, "%s: no thread left a CPU%s", w->path,
			filter_given(w->ask.filter) || w->ask.filter->state
				? " that the filters let through"
				: "");
	if (offcpu_sampled(s))
		return err_set(err, ERR_FORMAT,
			       "%s: switches were sampled, %llu of %llu, so "
			       "that no wait is certain; 'perf record -c 1' "
			       "records all",
			       w->path, (unsigned long long)s->recorded,
			       (unsigned long long)s->happened);
	return err_set(err, ERR_FORMAT,
		       "%s: threads left their CPU %llu times, but no return "
		       "is certain; record all CPUs (perf record -a), or with "
		       "--switch-events, and without loss",
		       w->path,
		       (unsigned long long)(s->waits[OFFCPU_UNCERTAIN] +
					    s->waits[OFFCPU_OPEN]));
}

int waits_next(struct waits *w, struct waits_item *out, struct err *err)
{
	if (!w)
		return -1;
	while (w->at_out == w->n_out) {
		w->at_out = w->n_out = 0;
		if (w->at == w->parts.n)
			return w->ask.any ? 0 : waits_end(w, err);
		if (waits_step(w, err))
			return -1;
	}
	*out = w->out[w->at_out++];
	return 1;
}

const struct causes *waits_causes(const struct waits *w)
{
	return w->now.wakes ? w->now.causes : NULL;
}

bool offcpu_sampled(const struct offcpu_sums *s)
{
	return s->recorded < s->happened;
}

enum wait_cause offcpu_cause(struct wait_causes *c, const struct offcpu_wait *w)
{
	enum wait_cause cause = wait_causes_get(c, w->state, &w->at);

	return cause == WAIT_READY && w->waker.runnable ? w->waker.runnable
							: cause;
}

const char *offcpu_reason(const struct offcpu_sums *s)
{
	if (offcpu_sampled(s))
		return "switches were sampled, and the thread may have been "
		       "back in between ('perf record -c 1' records all)";
	if (s->partial)
		return "not all CPUs were recorded (perf record -a), and the "
		       "thread may have been back in between";
	if (s->lost || s->lost_unknown)
		return "switches may be lost, and the thread may have been "
		       "back in between";
	return "the thread was back in between, unseen";
}
