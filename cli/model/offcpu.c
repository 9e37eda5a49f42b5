/* offcpu.c - how long threads were off the CPU, where, and who woke them. */
#include "cli/model/offcpu.h"

#include <stdlib.h>
#include <string.h>

#include "cli/model/filter.h"
#include "cli/model/offcpu_source.h"
#include "cli/model/stacks.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"

#define CPUS_MAX 65536 /* further ones have no runs */

struct offcpu_opts offcpu_opts;

const struct opt offcpu_opt_table[] = {
	OPT_HEADING("What to count"),
	OPT_FLAG(0, "off-cpu", &offcpu_opts.on,
		 "the time that threads were off the CPU, by switches"),
	OPT_FLAG(0, "wall", &offcpu_opts.wall,
		 "time on and off the CPU in one: samples of a clock, and the "
		 "waits"),
	OPT_STRING(0, "state", "LIST", &offcpu_opts.state,
		   "with --off-cpu, --wall: only waits that began in these "
		   "states: S, D, R "
		   "(ready), R+ (preempted), ..."),
	{ .kind = OPT_END }
};

int offcpu_check(struct err *err)
{
	if (offcpu_opts.on && offcpu_opts.wall)
		return err_set(err, ERR_USAGE,
			       "--wall has the waits of --off-cpu and the "
			       "samples; choose one");
	if (offcpu_opts.state && !offcpu_opts.on && !offcpu_opts.wall)
		return err_set(err, ERR_USAGE,
			       "--state needs --off-cpu or --wall");
	if ((offcpu_opts.on || offcpu_opts.wall) && filter.event)
		return err_set(err, ERR_USAGE,
			       "--%s reads the events of the scheduler; "
			       "leave out --event",
			       offcpu_opts.on ? "off-cpu" : "wall");
	for (const char *p = offcpu_opts.state; p && *p;) {
		size_t n = strcspn(p, ",");
		bool known = n == 1 && *p == '?';

		for (int64_t bit = 0; bit <= 0x100; bit = bit ? bit * 2 : 1)
			known |= n == strlen(offcpu_state(bit)) &&
				 !strncmp(p, offcpu_state(bit), n);
		if (!known)
			return err_set(err, ERR_USAGE,
				       "--state knows S, D, R, R+, T, t, X, Z, "
				       "P, I and ?, not '%.*s'",
				       (int)n, p);
		p += n + (p[n] == ',');
	}
	return 0;
}

bool offcpu_sampled(const struct offcpu_sums *s)
{
	return s->recorded < s->happened;
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

/* One thread of the capture that is being read. */
struct thread {
	int64_t tid;
	bool away;
	bool chosen;	/* its wait is selected by the filters */
	bool has_stack; /* a sample for the next switch record */
	bool here;	/* came to a CPU that is not known, at `since` */
	int64_t since;
	int32_t cpu; /* to which it came last; 0: or to none */
	struct offcpu_stack stack;
	int64_t stack_state;
	uint32_t comm;		 /* of its last event; 0: not known */
	struct offcpu_wait wait; /* its wait, if it is off the CPU */
};

/* Who is on a CPU, and since when. */
struct seat {
	bool taken;
	int64_t tid, from;
};

struct pass {
	struct offcpu_source *source;
	const struct offcpu_ask *ask;
	struct wakers *wakers; /* NULL: not asked for, or not known */
	struct seat *seat;     /* by CPU */
	size_t n_seat, cap_seat;
	bool torn; /* another thread left a CPU than the one that had come */
	struct offcpu_sums *sums;
	struct thread *thread;
	size_t n, cap;
	struct table index; /* tid to thread */
};

static struct thread *offcpu_thread_of(struct pass *p, int64_t tid)
{
	uint64_t hash = hash_u64((uint64_t)tid);
	uint32_t id = table_find_hash(&p->index, hash);

	if (id == TABLE_NONE) {
		id = (uint32_t)p->n;
		*mem_add(p->thread, p->n, p->cap) =
			(struct thread){ .tid = tid };
		table_add(&p->index, hash, id);
	}
	return &p->thread[id];
}

static int end_wait(struct pass *p, struct thread *th, int64_t to,
		    enum offcpu_end end, struct err *err)
{
	struct offcpu_wait *w = &th->wait;
	uint64_t ns;

	th->away = false;
	th->has_stack = false;
	w->to = to;
	w->end = end;
	if (end == OFFCPU_BACK && offcpu_source_lost(p->source, w->from, to))
		w->end = OFFCPU_UNCERTAIN;
	w->waker = wakers_find(p->wakers, th->tid, w->from, to);
	if (!th->chosen || to < w->from)
		return 0;
	ns = (uint64_t)to - (uint64_t)w->from;
	p->sums->waits[w->end]++;
	if (__builtin_add_overflow(p->sums->ns[w->end], ns,
				   &p->sums->ns[w->end]))
		return err_set(err, ERR_LIMIT,
			       "the times sum up to more than 64 bits");
	return p->ask->wait(p->ask->arg, w, err);
}

/* Ends a wait of which no return is recorded. To exit, a thread must have come
 * back. Behind its EXIT record it may still leave and come back, until it
 * leaves for good, which is no wait. */
static int offcpu_end_unseen(struct pass *p, struct thread *th, int64_t to,
			     enum offcpu_end end, struct err *err)
{
	int64_t from = th->wait.from;
	int64_t exit = offcpu_source_exit(p->source, th->tid, from);

	if (exit <= from &&
	    (end == OFFCPU_OPEN ||
	     offcpu_source_exit(p->source, th->tid, to) != exit)) {
		th->away = false;
		p->sums->exits += th->chosen;
		return 0;
	}
	return exit > from && exit <= to
		       ? end_wait(p, th, exit, OFFCPU_UNCERTAIN, err)
		       : end_wait(p, th, to, end, err);
}

/* Returns whether the filters select the event, and --state the state; "R" in
 * its list means "R" and "R+". */
static bool offcpu_is_wanted(const struct offcpu_event *e, int64_t state)
{
	const char *name = offcpu_state(state);

	if (!e->chosen || !offcpu_opts.state)
		return e->chosen;
	for (const char *p = offcpu_opts.state; *p;) {
		size_t n = strcspn(p, ",");

		if ((n == strlen(name) && !strncmp(p, name, n)) ||
		    (n == 1 && *p == 'R' && name[0] == 'R'))
			return true;
		p += n + (p[n] == ',');
	}
	return false;
}

/* ---- what runs on the CPUs */

static void offcpu_end_run(struct pass *p, int32_t cpu, int64_t to)
{
	struct seat *s = &p->seat[cpu];
	const struct offcpu_run r = {
		.tid = s->tid,
		.comm = offcpu_thread_of(p, s->tid)->comm,
		.cpu = cpu,
		.from = s->from,
		.to = to,
	};

	s->taken = false;
	if (to >= s->from && !offcpu_source_lost(p->source, s->from, to))
		p->ask->run(p->ask->arg, &r);
}

/* Records of one task need not say their CPU; then a thread is where it came to
 * until it leaves. */
static void offcpu_change_place(struct pass *p, const struct offcpu_event *e)
{
	struct thread *th = offcpu_thread_of(p, e->has_out ? e->out : e->in);
	const struct offcpu_run r = {
		.tid = th->tid,
		.comm = th->comm,
		.cpu = -1,
		.from = th->since,
		.to = e->time,
	};

	if (e->has_out && th->here && e->chosen && r.to >= r.from &&
	    !offcpu_source_lost(p->source, r.from, r.to))
		p->ask->run(p->ask->arg, &r);
	th->here = !e->has_out;
	th->since = e->time;
}

/* Notes who leaves and who comes. If another thread was thought to be there,
 * its end was lost. */
static void offcpu_change_seat(struct pass *p, const struct offcpu_event *e)
{
	struct seat *s;

	if (p->ask->run && e->cpu < 0 && e->role == OFFCPU_RECORD)
		offcpu_change_place(p, e);
	if (!p->ask->run || e->cpu < 0 || e->cpu >= CPUS_MAX)
		return;
	p->seat = mem_reach(p->seat, &p->n_seat, &p->cap_seat,
			    (size_t)e->cpu + 1, sizeof(*p->seat));
	s = &p->seat[e->cpu];
	if (e->has_out && s->taken && s->tid == e->out && e->chosen)
		offcpu_end_run(p, e->cpu, e->time);
	p->torn |= s->taken && (!e->has_out || s->tid != e->out);
	s->taken = e->has_in && e->in;
	if (s->taken)
		offcpu_thread_of(p, e->in)->cpu = e->cpu;
	s->tid = e->in;
	s->from = e->time;
}

/* If the thread leaves twice, its return in between was lost. */
static int offcpu_leave_cpu(struct pass *p, const struct offcpu_event *e,
			    struct err *err)
{
	struct thread *th;
	int64_t state = e->state;

	if (!e->out)
		return 0; /* the idle task */
	th = offcpu_thread_of(p, e->out);
	th->comm = e->stack.comm;
	if (th->away &&
	    offcpu_end_unseen(p, th, e->time, OFFCPU_UNCERTAIN, err))
		return -1;
	if (e->role == OFFCPU_RECORD && th->has_stack)
		state = state < 0 ? th->stack_state : state;
	if (state == 0x10 || state == 0x20) {
		p->sums->exits += offcpu_is_wanted(e, state);
		return 0;
	}
	th->away = true;
	th->chosen = offcpu_is_wanted(e, state);
	th->wait = (struct offcpu_wait){
		.event = e->id,
		.from = e->time,
		.tid = e->out,
		.state = state,
		.at = e->stack,
	};
	if (e->role == OFFCPU_RECORD && th->has_stack)
		th->wait.at = th->stack;
	return 0;
}

static int come_back(struct pass *p, const struct offcpu_event *e,
		     struct err *err)
{
	struct thread *th;

	if (!e->in)
		return 0;
	th = offcpu_thread_of(p, e->in);
	if (e->role == OFFCPU_RECORD)
		th->comm = e->stack.comm;
	th->has_stack = false;
	return th->away ? end_wait(p, th, e->time, OFFCPU_BACK, err) : 0;
}

/* A wait that the kernel has measured. */
static int offcpu_take_wait(struct pass *p, const struct offcpu_event *e,
			    struct err *err)
{
	const struct offcpu_wait w = {
		.event = e->id,
		.from = e->from,
		.to = e->time ? e->time : e->ns,
		.sum = !e->time,
		.tid = e->out,
		.state = -1,
		.at = e->stack,
		.waker = wakers_find(NULL, e->out, 0, 0),
	};
	uint64_t *sum;

	if (!offcpu_is_wanted(e, w.state) || e->ns < 0)
		return 0;
	if (e->told && !w.sum)
		return 0;
	sum = e->told ? &p->sums->mixed_ns : &p->sums->ns[OFFCPU_BACK];
	*(e->told ? &p->sums->mixed : &p->sums->waits[OFFCPU_BACK]) += 1;
	if (__builtin_add_overflow(*sum, (uint64_t)e->ns, sum))
		return err_set(err, ERR_LIMIT,
			       "the times sum up to more than 64 bits");
	return e->told ? 0 : p->ask->wait(p->ask->arg, &w, err);
}

static int offcpu_take_event(struct pass *p, const struct offcpu_event *e,
			     struct err *err)
{
	struct thread *th;

	switch (e->role) {
	case OFFCPU_SWITCH:
	case OFFCPU_RECORD:
		if (e->has_out && offcpu_leave_cpu(p, e, err))
			return -1;
		offcpu_change_seat(p, e);
		return e->has_in ? come_back(p, e, err) : 0;
	case OFFCPU_STACK:
		if (!e->has_out)
			return 0;
		th = offcpu_thread_of(p, e->out);
		th->has_stack = true;
		th->stack = e->stack;
		th->stack_state = e->state;
		return 0;
	case OFFCPU_WAIT:
		return offcpu_take_wait(p, e, err);
	default:
		return 0;
	}
}

static int read_capture(struct pass *p, struct err *err)
{
	struct offcpu_event e;
	int rc;

	while ((rc = offcpu_source_next(p->source, &e, err)) > 0) {
		if (offcpu_take_event(p, &e, err))
			return -1;
	}
	for (size_t i = 0; !rc && i < p->n; i++) {
		struct thread *th = &p->thread[i];

		if (th->away)
			rc = offcpu_end_unseen(p, th,
					       offcpu_source_end(p->source),
					       OFFCPU_OPEN, err);
	}
	/* filters choose by the switch out, which those who stay do not have */
	bool stays = offcpu_source_stays(p->source, p->torn) && !filter_given();

	/* perf disables CPU after CPU: it goes from those that are, unseen */
	for (size_t i = 0; !rc && stays && i < p->n_seat; i++) {
		const struct seat *s = &p->seat[i];

		if (s->taken && offcpu_thread_of(p, s->tid)->cpu == (int32_t)i)
			offcpu_end_run(p, (int32_t)i,
				       offcpu_source_end(p->source));
	}
	return rc;
}

static int no_returns(const struct offcpu_sums *sums, const char *path,
		      struct err *err)
{
	if (!sums->waits[OFFCPU_UNCERTAIN] && !sums->waits[OFFCPU_OPEN])
		return err_set(err, ERR_FORMAT, "%s: no thread left a CPU%s",
			       path,
			       filter_given() || offcpu_opts.state
				       ? " that the filters let through"
				       : "");
	if (offcpu_sampled(sums))
		return err_set(err, ERR_FORMAT,
			       "%s: switches were sampled, %llu of %llu, so "
			       "that no wait is certain; 'perf record -c 1' "
			       "records all",
			       path, (unsigned long long)sums->recorded,
			       (unsigned long long)sums->happened);
	return err_set(err, ERR_FORMAT,
		       "%s: threads left their CPU %llu times, but no return "
		       "is certain; record all CPUs (perf record -a), or with "
		       "--switch-events, and without loss",
		       path,
		       (unsigned long long)(sums->waits[OFFCPU_UNCERTAIN] +
					    sums->waits[OFFCPU_OPEN]));
}

/* Who woke is known where sched_switch was recorded. */
static int offcpu_load_wakers(struct pass *p, struct store *db,
			      const char *path, struct err *err)
{
	const struct capture_events *of = offcpu_source_switches(p->source);

	if (!of || !p->ask->causes)
		return 0;
	p->wakers =
		wakers_load(db, path, of, p->ask->stacks, p->ask->causes, err);
	if (!p->wakers)
		return -1;
	p->sums->wakes |= wakers_recorded(p->wakers);
	return 0;
}

int offcpu_read(struct store *db, const char *path, const struct offcpu_ask *a,
		struct offcpu_sums *sums, struct err *err)
{
	struct offcpu_sources *all = offcpu_sources_load(db, path, err);
	int rc = all ? 0 : -1;

	*sums = (struct offcpu_sums){ 0 };
	for (size_t i = 0; !rc && i < offcpu_sources_count(all); i++) {
		struct pass p = { .ask = a, .sums = sums };

		p.source = offcpu_source_open(all, i, sums, err);
		rc = p.source && !offcpu_load_wakers(&p, db, path, err)
			     ? read_capture(&p, err)
			     : -1;
		if (!rc && p.wakers && a->told)
			a->told(a->arg, wakers_causes(p.wakers));
		offcpu_source_close(p.source);
		wakers_free(p.wakers);
		table_release(&p.index);
		free(p.thread);
		free(p.seat);
	}
	offcpu_sources_free(all);
	if (!rc && !sums->waits[OFFCPU_BACK])
		rc = no_returns(sums, path, err);
	return rc;
}
