/* export_chrome.c - Chrome's trace events as JSON, for ui.perfetto.dev,
 * chrome://tracing and speedscope: context switches and calls as slices,
 * samples as instants, losses as slices on the track of their CPU.
 *
 * Objects are in time order, except names ("M"), which precede their first use.
 * Perfetto shows only args, so stacks are there as text; "sf" is the same stack
 * for readers of stackFrames. Memory is bounded by the number of distinct
 * stacks, threads, losses and slices. */
#include <inttypes.h>
#include <stdbool.h>

#include "analyze/causes/wait_cause.h"
#include "analyze/latency/intervals.h"
#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/loss_marks.h"
#include "analyze/samples/payloads.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stacks.h"
#include "analyze/waits/waits.h"
#include "cli/export/export.h"
#include "cli/export/folded.h"
#include "cli/output/out.h"
#include "cli/output/say.h"
#include "schema/columns.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "stitch/verdict.h"

/* Threads and CPUs are the tracks of a Chrome trace. The track of a thread has
 * its pid and tid. CPUs are threads of a process whose pid is above the largest
 * one of Linux. Pids of another kernel (capture.together) are shifted further,
 * so that those of two machines do not collide. */

/* PID_MAX_LIMIT is 1 << 22 on every kernel. */
#define CPUS_PID ((1u << 22) + 1)
#define CPU_MAX (1 << 16)
/* Distance between the pids of two kernels. */
#define APART (1u << 23)
#define KERNELS_MAX 256

struct track {
	int64_t pid, tid, from,
		to; /* lifetime; INT64_MIN, INT64_MAX: not known */
	uint32_t process, kernel; /* kernel: index in tracks.kernel */
	uint32_t same;		  /* an older thread with this tid; 0: none */
	uint32_t comm;		  /* id of its last name; 0: none */
	bool named, wanted;
};

struct cpu {
	uint32_t kernel;
	int64_t cpu;
	bool named;
};

struct tracks {
	struct json *j;
	struct events *events;
	const struct filter *filter; /* which tracks to write */
	struct track *track; /* by thread.id; [0]: events without a thread */
	size_t n_track, cap_track;
	struct table by_tid;
	struct cpu *cpu;
	size_t n_cpu, cap_cpu;
	struct table by_cpu;
	uint32_t kernel[KERNELS_MAX]; /* the first capture of each */
	size_t n_kernel;
	uint32_t *of_capture; /* by capture.id: index in kernel[] */
	size_t n_capture, cap_capture;
	uint32_t *leader; /* by process.id: comm.id that names it */
	size_t n_leader, cap_leader;
	bool *named; /* by process: its name was written */
};

static uint32_t kernel_of(struct tracks *t, uint32_t capture)
{
	for (size_t i = 0; i < t->n_kernel; i++)
		if (t->kernel[i] == capture)
			return (uint32_t)i;
	if (t->n_kernel == KERNELS_MAX)
		return KERNELS_MAX - 1;
	t->kernel[t->n_kernel] = capture;
	return (uint32_t)t->n_kernel++;
}

/* Returns the newest thread with that tid, of any kernel; 0: none. */
static uint32_t tracks_find_tid(const struct tracks *t, int64_t tid)
{
	uint32_t id = table_find_hash(&t->by_tid, hash_u64((uint64_t)tid));

	return id == TABLE_NONE ? 0 : id;
}

/* Adds or replaces track[id], which becomes the newest of its tid. */
static void tracks_put(struct tracks *t, uint32_t id, const struct track *k)
{
	uint64_t hash = hash_u64((uint64_t)k->tid);

	*mem_at(t->track, t->n_track, t->cap_track, id) = *k;
	t->track[id].same = tracks_find_tid(t, k->tid);
	if (t->track[id].same)
		table_remove(&t->by_tid, hash, t->track[id].same);
	table_add(&t->by_tid, hash, id);
}

/* Adds a track for each thread of the database. Returns 0, or -1 and *err. */
static int tracks_read_threads(struct tracks *t, struct store *db,
			       struct err *err)
{
	struct rows *r = rows_dense(db, "track_threads", err);

	while (rows_step(r)) {
		uint32_t together =
			(uint32_t)rows_int(r, TRACK_THREADS_TOGETHER);
		const struct track k = {
			.pid = rows_int(r, TRACK_THREADS_PID),
			.tid = rows_int(r, TRACK_THREADS_TID),
			.process = (uint32_t)rows_int(r, TRACK_THREADS_PROCESS),
			.from = rows_int_or(r, TRACK_THREADS_START_NS,
					    INT64_MIN),
			.to = rows_int_or(r, TRACK_THREADS_END_NS, INT64_MAX),
			.kernel = kernel_of(t, together),
			.wanted = true,
		};

		tracks_put(t, (uint32_t)rows_int(r, TRACK_THREADS_ID), &k);
	}
	return rows_end(r, err);
}

/* Marks the threads that the filters select. Slices are made from all switches,
 * because the event of a switch belongs to the thread that leaves. */
static int load_wanted(struct tracks *t, struct store *db, struct err *err)
{
	const struct filter of_threads = { .pid = t->filter->pid,
					   .tid = t->filter->tid,
					   .comm = t->filter->comm,
					   .cgroup = t->filter->cgroup };
	struct rows *r;

	if (!filter_given(&of_threads))
		return 0;
	r = filter_rows(&of_threads, db, "track_wanted", NULL, 0, err);
	for (size_t i = 0; i < t->n_track; i++)
		t->track[i].wanted = false;
	while (rows_step(r)) {
		int64_t id = rows_int(r, TRACK_WANTED_ID);

		if (id > 0 && (uint64_t)id < t->n_track)
			t->track[id].wanted = true;
	}
	return rows_end(r, err);
}

static void tracks_free(struct tracks *t)
{
	if (!t)
		return;
	table_release(&t->by_tid);
	table_release(&t->by_cpu);
	free_all(t->track, t->cpu, t->of_capture, t->leader, t->named, t);
}

/* Returns the tracks of a database, which tracks_free() frees; NULL and *err on
 * failure. Borrows filter, events for names, and j, which is in the array
 * traceEvents whenever objects are written. */
static struct tracks *tracks_load(struct json *j, struct store *db,
				  const struct filter *filter,
				  struct events *events, struct err *err)
{
	struct tracks *t = mem_new(1, sizeof(*t));

	t->j = j;
	t->events = events;
	t->filter = filter;
	*mem_at(t->track, t->n_track, t->cap_track, 0) =
		(struct track){ .pid = -1, .tid = -1 };
	struct rows *r = rows_dense(db, "track_captures", err);

	while (rows_step(r)) {
		size_t id = (size_t)rows_int(r, TRACK_CAPTURES_ID);
		uint32_t at = kernel_of(
			t, (uint32_t)rows_int(r, TRACK_CAPTURES_TOGETHER));
		*mem_at(t->of_capture, t->n_capture, t->cap_capture, id) = at;
	}
	if (rows_end(r, err) || tracks_read_threads(t, db, err) ||
	    load_wanted(t, db, err)) {
		tracks_free(t);
		return NULL;
	}
	/* Name each process after its main thread, or else after any other. */
	for (size_t i = 1; i <= events_comms(t->events); i++) {
		const struct event_comm *c = events_comm(t->events, (int64_t)i);
		bool first = c->pid == c->tid;

		if (c->thread && c->thread < t->n_track)
			t->track[c->thread].comm = (uint32_t)i;
		/* each process has a name, so that a larger id is damage */
		if (!c->process || c->process > events_comms(t->events))
			continue;
		mem_reach(t->leader, t->n_leader, t->cap_leader,
			  (size_t)c->process + 1);
		if (first || !t->leader[c->process])
			t->leader[c->process] = (uint32_t)i;
	}
	t->named = mem_new(t->n_leader + 1, sizeof(*t->named));
	return t;
}

/* Writes "ts" in microseconds with three decimals. */
static void tracks_time(struct json *j, int64_t ns)
{
	uint64_t abs = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	char digits[32];

	snprintf(digits, sizeof(digits), "%s%" PRIu64 ".%03u",
		 ns < 0 ? "-" : "", abs / 1000, (unsigned int)(abs % 1000));
	json_number(j, "ts", digits);
}

/* Writes "pid" and "tid". An unknown tid becomes 0, an unknown pid the tid. */
static void tracks_put_ids(struct tracks *t, uint32_t kernel, int64_t pid,
			   int64_t tid)
{
	int64_t base = (int64_t)kernel * APART;

	json_int(t->j, "pid", base + (pid < 0 ? tid < 0 ? 0 : tid : pid));
	json_int(t->j, "tid", base + (tid < 0 ? 0 : tid));
}

static void tracks_put_name(struct tracks *t, const char *what, uint32_t kernel,
			    int64_t pid, int64_t tid, const char *name)
{
	json_object(t->j, NULL);
	json_text(t->j, "ph", "M");
	json_text(t->j, "name", what);
	tracks_put_ids(t, kernel, pid, tid);
	json_object(t->j, "args");
	json_shown(t->j, "name", name);
	json_end(t->j);
	json_end(t->j);
}

/* Begins an object with the "pid" and "tid" of a thread, whose names are
 * written before the first use. */
static void tracks_thread(struct tracks *t, uint32_t id)
{
	struct track *k = &t->track[id];
	uint32_t leader = k->process < t->n_leader ? t->leader[k->process] : 0;

	if (!k->named && leader && !t->named[k->process]) {
		tracks_put_name(t, "process_name", k->kernel, k->pid, k->tid,
				events_comm(t->events, leader)->name);
		t->named[k->process] = true;
	}
	if (!k->named)
		tracks_put_name(t, "thread_name", k->kernel, k->pid, k->tid,
				events_comm(t->events, k->comm)->name);
	k->named = true;
	json_object(t->j, NULL);
	tracks_put_ids(t, k->kernel, k->pid, k->tid);
}

/* Begins an object on the track of an event's thread: with its "pid" and "tid".
 * Names are written before their first use. */
static void tracks_begin_thread(struct tracks *t, const struct event_row *e)
{
	tracks_thread(t, e->thread < t->n_track ? e->thread : 0);
}

/* Returns the index in cpu[] of a CPU of a capture (-1: all CPUs), which is
 * added if it is new. */
static uint32_t tracks_find_cpu(struct tracks *t, uint32_t capture, int64_t cpu)
{
	uint32_t kernel = capture < t->n_capture ? t->of_capture[capture] : 0;

	if (cpu < 0 || cpu >= CPU_MAX)
		cpu = -1;
	uint32_t id = table_find_or_add(
		&t->by_cpu, hash_u32s(kernel, (uint32_t)cpu), t->n_cpu);

	if (id == t->n_cpu)
		*mem_add(t->cpu, t->n_cpu, t->cap_cpu) =
			(struct cpu){ .kernel = kernel, .cpu = cpu };
	return id;
}

/* Begins an object on the track of cpu[id]; names precede the first one. */
static void tracks_begin_on(struct tracks *t, uint32_t id)
{
	struct cpu *c = &t->cpu[id];
	int64_t tid = CPUS_PID + 1 + c->cpu;

	if (!c->named) {
		char name[32] = "all CPUs";

		if (c->cpu >= 0)
			snprintf(name, sizeof(name), "CPU %" PRId64, c->cpu);
		tracks_put_name(t, "process_name", c->kernel, CPUS_PID, tid,
				"CPUs");
		tracks_put_name(t, "thread_name", c->kernel, CPUS_PID, tid,
				name);
	}
	c->named = true;
	json_object(t->j, NULL);
	tracks_put_ids(t, c->kernel, CPUS_PID, tid);
}

#define SLICES_MAX 0x3fffffff

struct slice {
	uint32_t thread, cpu; /* indexes in track[] and cpu[] of tracks */
	/* state: at the switch out, -1: not known; record: PERF_RECORD_SWITCH
	 */
	int32_t state;
	bool record;
};

/* In the order of one switch: it ends a slice, then begins another, to which an
 * arrow leads. */
enum slice_edge_kind {
	SLICE_END,
	SLICE_BEGIN,
	ARROW_FROM,
	ARROW_TO,
};

/* The start or the end of a slice or an arrow. */
struct slice_edge {
	int64_t time, event; /* event: the switch; INT64_MAX: none */
	uint32_t item : 30;
	uint32_t kind : 2;
};

struct arrow {
	uint32_t from, to; /* indexes in track[] of tracks */
	bool proved;
	bool loose; /* one of its ends is not at a slice */
};

struct slices {
	struct tracks *t;
	struct slice *slice;
	size_t n, cap;
	struct arrow *arrow;
	size_t n_arrow, cap_arrow;
	uint32_t kernel; /* index of the one whose switches are read */
	struct slice_edge *edge;
	size_t n_edge, cap_edge, at;
	struct offcpu_sums sums; /* what was read, and what has no end */
};

/* Returns the kernel's thread that had the tid at that time, or else the newest
 * that ever had it; 0: none had. */
static uint32_t slices_thread_at(const struct tracks *t, int64_t tid,
				 uint32_t kernel, int64_t time)
{
	uint32_t best = 0;

	for (uint32_t i = tracks_find_tid(t, tid); i; i = t->track[i].same) {
		const struct track *k = &t->track[i];

		if (k->kernel != kernel)
			continue;
		if (time >= k->from && time <= k->to)
			return i;
		if (!best)
			best = i;
	}
	return best;
}

/* Returns the thread of a run, which is added if only switches name it. */
static uint32_t slices_thread(struct tracks *t, const struct offcpu_run *r,
			      uint32_t kernel)
{
	uint32_t id = slices_thread_at(t, r->tid, kernel, r->from);
	const struct filter *filter = t->filter;
	const struct track k = {
		.pid = -1,
		.tid = r->tid,
		.from = INT64_MIN,
		.to = INT64_MAX,
		.kernel = kernel,
		.comm = r->comm,
		.wanted = !filter->pid && !filter->tid && !filter->comm &&
			  !filter->cgroup,
	};

	if (id)
		return id;
	tracks_put(t, (uint32_t)t->n_track, &k);
	return (uint32_t)t->n_track - 1;
}

static void slices_add(struct slices *s, int64_t time, int64_t event,
		       size_t item, enum slice_edge_kind kind)
{
	*mem_add(s->edge, s->n_edge, s->cap_edge) =
		(struct slice_edge){ time, event, (uint32_t)item & SLICES_MAX,
				     kind };
}

/* Adds an arrow from a wake-up by a thread to the slice that it began, unless a
 * filter leaves it out. Its ends have no event id: they come after all events
 * of their time. */
static void slices_take_wake(struct slices *s, const struct offcpu_wait *w,
			     int64_t from, int64_t to)
{
	const struct waker *k = &w->waker;
	struct arrow a = { .proved = k->proof == PROOF_PROVED };

	if (w->end != OFFCPU_BACK || w->sum || !waker_is_known(k) ||
	    k->what != CHAIN_STATES || k->tid <= 0 || k->ready < from ||
	    w->to > to || s->t->filter->cpu || s->n_arrow > SLICES_MAX)
		return;
	a.from = slices_thread_at(s->t, k->tid, s->kernel, k->ready);
	a.to = slices_thread_at(s->t, w->tid, s->kernel, w->to);
	if (!a.from || !a.to || !s->t->track[a.from].wanted ||
	    !s->t->track[a.to].wanted)
		return;
	slices_add(s, k->ready, INT64_MAX, s->n_arrow, ARROW_FROM);
	slices_add(s, w->to, INT64_MAX, s->n_arrow, ARROW_TO);
	*mem_add(s->arrow, s->n_arrow, s->cap_arrow) = a;
}

/* Adds a slice for a run, unless a filter leaves it out. */
static void slices_take(struct slices *s, const struct offcpu_run *r,
			int64_t from, int64_t to)
{
	uint32_t cpu = tracks_find_cpu(s->t, (uint32_t)r->capture, r->cpu);
	const struct filter *filter = s->t->filter;

	if (r->from < from || r->to > to ||
	    (filter->cpu && !filter_takes_cpu(filter, r->cpu)))
		return;
	s->kernel = s->t->cpu[cpu].kernel;
	uint32_t thread = slices_thread(s->t, r, s->kernel);
	if (!s->t->track[thread].wanted || s->n > SLICES_MAX)
		return;
	slices_add(s, r->from, r->came, s->n, SLICE_BEGIN);
	slices_add(s, r->to, r->left ? r->left : INT64_MAX, s->n, SLICE_END);
	*mem_add(s->slice, s->n, s->cap) =
		(struct slice){ thread, cpu, (int32_t)r->state, r->record };
}

COMPARE_BY(slices_compare, struct slice_edge, time, event, kind, item);

/* Adds all slices and arrows. Filters select tracks, not switches, as they
 * would select these by the thread that leaves. Returns 0, or -1 and *err. */
static int slices_read(struct slices *s, struct store *db, const char *path,
		       struct stacks *stacks, struct wait_causes *words,
		       struct err *err)
{
	const struct waits_ask ask = { .filter = &filter_none,
				       .runs = true,
				       .any = true,
				       .stacks = stacks,
				       .causes = words };
	struct waits_item item;
	int64_t from;
	int64_t to;
	int rc;

	if (filter_window(s->t->filter, db, &from, &to, err))
		return -1;
	struct waits *w = waits_open(db, path, &ask, err);
	while ((rc = waits_next(w, &item, err)) > 0)
		if (item.kind == WAITS_RUN && item.run.tid)
			slices_take(s, &item.run, from, to);
		else if (item.kind == WAITS_WAIT)
			slices_take_wake(s, &item.wait, from, to);
	waits_close(w, &s->sums);
	return rc;
}

static void slices_free(struct slices *s)
{
	if (!s)
		return;
	free_all(s->slice, s->arrow, s->edge, s);
}

/* Returns slices, which are times in which a thread ran, from one switch to the
 * next, and arrows from a wake-up to the slice that it began, both by
 * analyze/waits/waits.h. Each takes about 64 bytes.
 *
 * Borrows t and stacks; slices_free() frees the result. Returns NULL and *err
 * on failure; there may be no slices. */
static struct slices *slices_load(struct tracks *t, struct store *db,
				  const char *path, struct stacks *stacks,
				  struct err *err)
{
	struct slices *s = mem_new(1, sizeof(*s));
	struct wait_causes *words = wait_causes_new(stacks);

	s->t = t;
	int rc = slices_read(s, db, path, stacks, words, err);
	wait_causes_free(words);
	if (rc) {
		slices_free(s);
		return NULL;
	}
	sort_items(s->edge, s->n_edge, slices_compare);
	/* Readers draw an arrow between two slices: mark those with a slice at
	 * only one end, because records were lost. */
	/* by track: since when it runs; INT64_MIN: it does not */
	int64_t *since OWNED = mem_new(s->t->n_track + 1, sizeof(*since));

	for (size_t i = 0; i <= s->t->n_track; i++)
		since[i] = INT64_MIN;
	for (size_t i = 0; i < s->n_edge; i++) {
		const struct slice_edge *e = &s->edge[i];

		if (e->kind == SLICE_BEGIN)
			since[s->slice[e->item].thread] = e->time;
		else if (e->kind == SLICE_END)
			since[s->slice[e->item].thread] = INT64_MIN;
		else if (e->kind == ARROW_FROM)
			s->arrow[e->item].loose =
				since[s->arrow[e->item].from] == INT64_MIN;
		else
			s->arrow[e->item].loose |=
				since[s->arrow[e->item].to] != e->time;
	}
	return s;
}

static void slices_put_begin(struct json *j, const char *name, int64_t time)
{
	json_text(j, "ph", "B");
	json_text(j, "cat", "sched");
	json_shown(j, "name", name);
	tracks_time(j, time);
}

/* Writes the start of a slice on the tracks of its thread and of its CPU. */
static void slices_begin(struct tracks *t, const struct slice *s, int64_t time)
{
	const struct track *k = &t->track[s->thread];
	int64_t number = t->cpu[s->cpu].cpu;
	struct json *j = t->j;

	tracks_thread(t, s->thread);
	slices_put_begin(j, "running", time);
	if (number >= 0) {
		json_object(j, "args");
		json_int(j, "cpu", number);
		json_end(j);
	}
	json_end(j);
	if (number < 0)
		return;
	tracks_begin_on(t, s->cpu);
	slices_put_begin(j, events_comm(t->events, k->comm)->name, time);
	json_object(j, "args");
	json_int(j, "pid", k->pid);
	json_int(j, "tid", k->tid);
	json_end(j);
	json_end(j);
}

/* Writes the end of a slice, which readers match to its start by name. */
static void slices_put_end(struct json *j, const char *name,
			   const struct slice *s, const struct slice_edge *e)
{
	bool at_end = e->event == INT64_MAX;

	json_text(j, "ph", "E");
	json_shown(j, "name", name);
	tracks_time(j, e->time);
	if (at_end || s->state >= 0) {
		json_object(j, "args");
		if (at_end)
			json_text(j, "end", "capture");
		else if (s->record)
			json_bool(j, "preempted", true);
		else
			json_int(j, "prev_state", s->state);
		json_end(j);
	}
	json_end(j);
}

static void slices_end(struct tracks *t, const struct slice *s,
		       const struct slice_edge *e)
{
	tracks_thread(t, s->thread);
	slices_put_end(t->j, "running", s, e);
	if (t->cpu[s->cpu].cpu < 0)
		return;
	tracks_begin_on(t, s->cpu);
	slices_put_end(t->j,
		       events_comm(t->events, t->track[s->thread].comm)->name,
		       s, e);
}

/* Writes slices and arrows up to an event, which has that time. */
static void slices_put(struct slices *s, int64_t time, int64_t event)
{
	for (; s->at < s->n_edge; s->at++) {
		const struct slice_edge *e = &s->edge[s->at];

		if (e->time > time || (e->time == time && e->event > event))
			break;
		if (e->kind >= ARROW_FROM) {
			const struct arrow *a = &s->arrow[e->item];
			bool from = e->kind == ARROW_FROM;
			struct json *j = s->t->j;

			if (!a->loose) {
				tracks_thread(s->t, from ? a->from : a->to);
				json_text(j, "ph", from ? "s" : "f");
				/* else it leads to the next slice's start */
				if (!from)
					json_text(j, "bp", "e");
				json_text(j, "cat", "wake");
				json_text(j, "name",
					  a->proved ? "wakes"
						    : "wakes, likely");
				json_uint(j, "id", e->item);
				tracks_time(j, e->time);
				json_end(j);
			}
		} else if (e->kind == SLICE_BEGIN)
			slices_begin(s->t, &s->slice[e->item], e->time);
		else
			slices_end(s->t, &s->slice[e->item], e);
	}
}

struct chrome_call {
	int64_t event;	   /* id; the call is written at this event */
	int64_t begin, ns; /* ns -1: not known */
	int64_t ret;
	uint32_t name, pair;
	uint8_t verdict;
	bool has_ret, ends; /* ends: event is its end */
};

struct chrome_calls {
	struct intervals *iv;
	struct intervals_ask ask;
	struct tracks *tracks;
	struct json *j;
	struct chrome_call *call;
	size_t n, cap, next;
	int64_t *end; /* ids of events that are ends of calls, sorted */
	size_t n_end, cap_end, next_end;
};

/* Adds an interval, unless it is a system call. */
static void chrome_calls_take(void *arg, const struct interval *i)
{
	struct chrome_calls *c = arg;

	if (c->iv->pair[i->pair].kind->calls)
		return;
	if (i->begin_event && i->end_event)
		*mem_add(c->end, c->n_end, c->cap_end) = i->end_event;
	*mem_add(c->call, c->n, c->cap) = (struct chrome_call){
		.event = i->begin_event ?: i->end_event,
		.begin = i->begin != INTERVAL_NEVER ? i->begin : i->end,
		.ns = i->end == INTERVAL_NEVER || i->begin == INTERVAL_NEVER
			      ? -1
			      : interval_span(i->begin, i->end),
		.ret = i->ret,
		.name = i->name,
		.pair = i->pair,
		.verdict = i->verdict,
		.has_ret = i->has_ret,
		.ends = !i->begin_event,
	};
}

COMPARE_BY(chrome_calls_compare, struct chrome_call, event);

static void chrome_calls_free(struct chrome_calls *c)
{
	if (!c)
		return;
	intervals_close(c->iv);
	free_all(c->call, c->end, c);
}

/* Reads the calls of a database, maybe none. Borrows path, t and j. Returns
 * what chrome_calls_free() frees; NULL and *err on failure. */
static struct chrome_calls *chrome_calls_load(struct store *db,
					      const char *path,
					      struct tracks *t, struct json *j,
					      struct err *err)
{
	struct chrome_calls *c = mem_new(1, sizeof(*c));

	c->tracks = t;
	c->j = j;
	c->ask.any = c->ask.nested = true;
	c->iv = intervals_open(db, path, &c->ask, err);
	if (!c->iv || intervals_each(c->iv, chrome_calls_take, c, err)) {
		chrome_calls_free(c);
		return NULL;
	}
	sort_items(c->call, c->n, chrome_calls_compare);
	sort_items(c->end, c->n_end, compare_i64);
	return c;
}

/* Writes the slices of calls that an event begins or, if their start is not
 * known, ends. Events come by increasing ids. Returns whether the event is a
 * record of a call, which its slice shows. */
static bool chrome_calls_put(struct chrome_calls *c, const struct event_row *e)
{
	bool any = false;
	struct json *j = c->j;

	while (c->next_end < c->n_end && c->end[c->next_end] < e->id)
		c->next_end++;
	any = c->next_end < c->n_end && c->end[c->next_end] == e->id;
	while (c->next < c->n && c->call[c->next].event < e->id)
		c->next++;
	for (; c->next < c->n && c->call[c->next].event == e->id; c->next++) {
		const struct chrome_call *call = &c->call[c->next];

		any = true;
		tracks_begin_thread(c->tracks, e);
		json_text(j, "ph", call->ns >= 0 ? "X" : "i");
		if (call->ns < 0)
			json_text(j, "s", "t");
		json_shown(j, "cat", c->iv->pair[call->pair].kind->word);
		tracks_time(j, call->begin);
		if (call->ns >= 0) {
			char digits[32];

			snprintf(digits, sizeof(digits), "%" PRId64 ".%03d",
				 call->ns / 1000, (int)(call->ns % 1000));
			json_number(j, "dur", digits);
		}
		json_shown(j, "name", intern_get(&c->iv->names, call->name));
		json_object(j, "args");
		json_int(j, call->ends ? "end_event_id" : "event_id", e->id);
		json_text(j, "verdict", interval_verdict_word(call->verdict));
		if (call->has_ret)
			json_int(j, "ret", call->ret);
		json_end(j);
		json_end(j);
	}
	return any;
}

/* A frame and its caller, in a tree with the stacks of both halves. */
struct node {
	uint32_t parent, label; /* parent: index + 1; 0: outermost */
};

/* What samples with the same stack share, from chrome_stack(): "name" and "sf",
 * a 0, members of args. len bytes, 0 without frames; a 0 follows. */
struct stack_text {
	char *text;
	size_t len;
};

/* The start or end of a loss. */
struct edge {
	int64_t time;
	uint32_t loss;
	bool end;
};

#define SAMPLED_SIZE 160

struct chrome {
	struct json j;
	const struct export_request *x;
	struct stacks *stacks;
	struct intern keys;	 /* of stacks */
	struct stack_text *kept; /* by key: the text, which is made once */
	size_t n_kept, cap_kept;
	struct label_list frames;  /* for chrome_stack() */
	struct events *events;	   /* events that the filters select */
	struct payloads *payloads; /* of events */
	struct tracks *tracks;
	struct slices *slices;
	struct chrome_calls *calls;
	struct loss_rows *losses;
	struct edge *edge;
	size_t n_edge, at_edge;
	struct node *node;
	size_t n_node, cap_node;
	struct table by_node;
	bool any; /* something is written */
	uint64_t no_time, lost_no_time, left_out;
};

static void chrome_put_half(struct json *j, const char *key,
			    const struct labels *labels, const uint32_t *label,
			    size_t n)
{
	char *text OWNED = NULL;
	FILE *folded;

	if (!n)
		return;
	folded = mem_stream(&text, NULL);
	folded_stack(folded, labels, label, n);
	mem_stream_end(folded);
	json_shown(j, key, text);
}

/* Returns the text of an event's stack, which lives as long as c. */
static struct stack_text chrome_stack(struct chrome *c,
				      const struct event_row *e)
{
	const struct stacks_group kernel = { .kraw = id_of_row(e->kraw) };
	struct stacks_group user = { .uraw = id_of_row(e->uraw) };
	struct stack_text t;

	/* if the user half is present, only VERDICT_EXEC affects the text */
	if (user.uraw)
		user.flags = (uint8_t)(e->flags & VERDICT_EXEC);
	else
		user.verdict = (uint8_t)e->verdict;

	const uint32_t word[] = { kernel.kraw, user.uraw,
				  (uint32_t)user.verdict << 8 | user.flags };
	uint32_t id = intern_add_bytes(&c->keys, word, sizeof(word));

	if (id < c->n_kept)
		return c->kept[id];
	c->frames.n = 0;
	stacks_get(c->stacks, &user, &c->frames);
	size_t n = c->frames.n;
	stacks_get(c->stacks, &kernel, &c->frames);

	FILE *out = mem_stream(&t.text, &t.len);

	/* Write the frames, those from n on as the kernel half: "name" and
	 * "sf", a 0, and members of args; nothing if there are none. */
	const struct labels *labels = c->stacks->labels;
	const struct label_list *frames = &c->frames;
	struct json j;
	uint32_t at = 0;

	if (frames->n) {
		for (size_t i = 0; i < frames->n; i++) {
			uint32_t number = table_find_or_add(
				&c->by_node, hash_u32s(at, frames->label[i]),
				c->n_node);

			if (number == c->n_node)
				*mem_add(c->node, c->n_node, c->cap_node) =
					(struct node){ at, frames->label[i] };
			at = number + 1;
		}
		json_open_members(&j, out, true);
		json_shown(
			&j, "name",
			labels_get(labels, frames->label[frames->n - 1])->name);
		json_uint(&j, "sf", at);
		putc('\0', out);
		json_open_members(&j, out, true);
		chrome_put_half(&j, "kernel", labels, frames->label + n,
				frames->n - n);
		chrome_put_half(&j, "user", labels, frames->label, n);
	}
	mem_stream_end(out);
	return *mem_add(c->kept, c->n_kept, c->cap_kept) = t;
}

COMPARE_BY(chrome_by_time, struct edge, time, end, loss);

/* Writes the starts and ends of losses up to that time; NULL: all others. */
static void put_edges(struct chrome *c, const int64_t *time)
{
	for (; c->at_edge < c->n_edge; c->at_edge++) {
		const struct edge *e = &c->edge[c->at_edge];
		const struct loss_row *l = &c->losses->row[e->loss];
		struct json *j = &c->j;
		char name[96];
		char id[24];

		if (time && e->time > *time)
			break;
		slices_put(c->slices, e->time, INT64_MIN);
		c->any = true;
		if (l->cpu < 0)
			snprintf(name, sizeof(name), "all CPUs: %.48s",
				 l->what);
		else
			snprintf(name, sizeof(name), "CPU %" PRId64 ": %.48s",
				 l->cpu, l->what);
		tracks_begin_on(c->tracks,
				tracks_find_cpu(c->tracks, l->capture, l->cpu));
		snprintf(id, sizeof(id), "%" PRId64, l->id);
		json_text(j, "ph", e->end ? "e" : "b");
		json_text(j, "cat", "loss");
		json_text(j, "id", id);
		json_shown(j, "name", name);
		tracks_time(j, e->time);
		if (!e->end) {
			json_object(j, "args");
			if (l->n >= 0)
				json_int(j, "records", l->n);
			else
				json_text(j, "records", "not known");
			json_bool(j, "counts", l->counts);
			json_end(j);
		}
		json_end(j);
	}
}

/* Writes the note on sampled switches. Returns whether they were sampled. */
static bool chrome_say_sampled(const struct chrome *c, char out[SAMPLED_SIZE])
{
	const struct offcpu_sums *s = &c->slices->sums;

	snprintf(out, SAMPLED_SIZE,
		 "context switches were sampled, %s of %s, so no slices; 'perf "
		 "record -c 1' records all",
		 HUMAN_GROUPED(s->recorded), HUMAN_GROUPED(s->happened));
	return offcpu_sampled(s);
}

/* Writes an event, and what comes before it. Returns 0, or -1 and *err. */
static int chrome_put_event(struct chrome *c, const struct event_row *e,
			    struct err *err)
{
	const struct event_type *type = events_type(c->events, e->type);

	if (!e->timed) {
		c->no_time += type->sample;
		return 0;
	}
	put_edges(c, &e->time);
	slices_put(c->slices, e->time, e->id);
	/* Without slices, the first thing on the tracks says why. */
	char text[SAMPLED_SIZE];
	struct json *j = &c->j;

	if (!c->any && chrome_say_sampled(c, text)) {
		tracks_begin_on(c->tracks,
				tracks_find_cpu(c->tracks, type->capture, -1));
		json_text(j, "ph", "i");
		json_text(j, "s", "g");
		json_text(j, "cat", "switches");
		tracks_time(j, e->time);
		json_text(j, "name", text);
		json_end(j);
	}
	c->any = true;
	if (chrome_calls_put(c->calls, e)) {
		c->left_out++;
		return 0;
	}
	if (!type->sample)
		return 0;
	struct stack_text t = chrome_stack(c, e);
	size_t common = strlen(t.text); /* the members before args */
	size_t len;

	/* Slices and arrows show what the scheduler and interrupts did, so
	 * their events are left out unless they have a stack or are asked for
	 * by name: of a trace.dat of 12 MB they made 814 MB. One frame is no
	 * stack: without a chain, perf records the tracepoint's address. */
	bool stack = t.len && memchr(t.text, ';', t.len);

	if (!stack && !c->x->filter->event && c->slices->sums.happened &&
	    (!strncmp(type->name, "sched:", 6) ||
	     !strncmp(type->name, "irq:", 4))) {
		c->left_out++;
		return 0;
	}
	const char *print = payloads_text(c->payloads, e, &len, err);
	if (!print)
		return -1;
	tracks_begin_thread(c->tracks, e);
	json_text(j, "ph", "i");
	json_text(j, "s", "t");
	json_shown(j, "cat", type->name);
	tracks_time(j, e->time);
	if (len && payloads_is_message(type->name))
		json_shown(j, "name", print);
	else if (t.len)
		json_members(j, t.text, common);
	else
		json_shown(j, "name", type->name);
	json_object(j, "args");
	if (len)
		json_shown(j, "text", print);
	if (t.len)
		json_members(j, t.text + common + 1, t.len - common - 1);
	json_int(j, "event_id", e->id);
	json_int(j, "weight", c->x->samples ? 1 : e->weight);
	if (e->on_cpu)
		json_int(j, "cpu", e->cpu);
	if (e->verdict)
		json_text(j, "verdict", stacks_verdict(e->verdict));
	json_end(j);
	json_end(j);
	return 0;
}

static int chrome_put_events(struct chrome *c, struct err *err)
{
	struct event_row e;
	int ret = 0;

	while (!out_failed() && (ret = events_next(c->events, &e, err)) > 0)
		if (chrome_put_event(c, &e, err))
			return -1;
	return out_failed() ? 0 : ret;
}

/* Loads all that is written. Returns 0, or -1 and *err; the caller frees c. */
static int chrome_load(struct chrome *c, struct err *err)
{
	const struct stacks_opts o = { .filter = c->x->filter,
				       .names = c->x->names,
				       .by_name = false,
				       .gaps = true,
				       .inlined = c->x->inlined,
				       .no_groups = true };

	c->stacks = stacks_load(c->x->db, &o, err);
	if (!c->stacks)
		return -1;
	c->events = events_open(c->x->db, c->x->filter, EVENTS_ALL, err);
	c->payloads = c->events ? payloads_open(c->x->db, err) : NULL;
	if (!c->payloads)
		return -1;
	c->tracks = tracks_load(&c->j, c->x->db, c->x->filter, c->events, err);
	if (!c->tracks)
		return -1;
	/* a loss with only one time becomes a slice of length 0 */
	c->losses = loss_rows_load(c->x->db, c->x->filter, err);
	if (!c->losses)
		return -1;
	size_t n = c->losses->n;

	c->edge = mem_new(2 * n + 1, sizeof(*c->edge));
	for (size_t i = 0; i < n; i++) {
		const struct loss_row *l = &c->losses->row[i];
		int64_t to = l->has_to ? l->to : l->from;
		int64_t from = l->has_from && l->from < to ? l->from : to;

		if (!l->has_from && !l->has_to) {
			c->lost_no_time++;
			continue;
		}
		c->edge[c->n_edge++] =
			(struct edge){ from, (uint32_t)i, false };
		c->edge[c->n_edge++] = (struct edge){ to, (uint32_t)i, true };
	}
	sort_items(c->edge, c->n_edge, chrome_by_time);
	c->slices =
		slices_load(c->tracks, c->x->db, c->x->path, c->stacks, err);
	if (c->slices)
		c->calls = chrome_calls_load(c->x->db, c->x->path, c->tracks,
					     &c->j, err);
	return c->calls ? 0 : -1;
}

static int write_chrome(FILE *out, const struct export_request *x,
			struct err *err)
{
	struct chrome c = { .x = x };

	json_open(&c.j, out, JSON_ROWS);
	int rc = chrome_load(&c, err);

	if (!rc) {
		const struct offcpu_sums *s = &c.slices->sums;
		char sampled[SAMPLED_SIZE];

		if (chrome_say_sampled(&c, sampled))
			say_note("%s\n", sampled);
		else if (s->bare)
			say_note(
				"%" PRIu64 " context switches without "
				"slices: their fields are not in the database; "
				"'backstitch ingest --fields all' stores them\n",
				s->bare);
		else if (!s->happened && !s->records && !c.calls->n)
			say_note("no context switches here, so no slices; "
				 "'perf record --switch-events' takes them\n");
		const struct labels *labels = c.stacks->labels;
		struct json *j = &c.j;

		json_object(j, NULL);
		json_text(j, "displayTimeUnit", "ns");
		json_array(j, "traceEvents");
		rc = chrome_put_events(&c, err);

		put_edges(&c, NULL);
		slices_put(c.slices, INT64_MAX, INT64_MAX);
		json_end(j);
		json_object(j, "stackFrames");
		for (size_t i = 0; i < c.n_node; i++) {
			const struct label *l =
				labels_get(labels, c.node[i].label);
			char key[24];

			snprintf(key, sizeof(key), "%zu", i + 1);
			json_object(j, key);
			json_shown(j, "name", l->name);
			json_shown(j, "category",
				   *l->image ? l->image
					     : label_kind_name(l->kind));
			if (c.node[i].parent)
				json_uint(j, "parent", c.node[i].parent);
			json_end(j);
		}
		json_end(j);
		json_object(j, "otherData");
		json_uint(j, "events_without_time", c.no_time);
		json_uint(j, "losses_without_time", c.lost_no_time);
		json_uint(j, "events_left_out", c.left_out);
		json_uint(j, "switches_without_fields", c.slices->sums.bare);
		json_uint(j, "slices_without_end",
			  offcpu_sampled(&c.slices->sums) ? 0
							  : c.slices->sums.cut);
		json_end(j);
		json_finish(j);
	}
	loss_rows_free(c.losses);
	slices_free(c.slices);
	chrome_calls_free(c.calls);
	tracks_free(c.tracks);
	events_close(c.events);
	payloads_close(c.payloads);
	stacks_free(c.stacks);
	table_release(&c.by_node);
	intern_release(&c.keys);
	for (size_t i = 0; i < c.n_kept; i++)
		free(c.kept[i].text);
	free_all(c.node, c.edge, c.kept, c.frames.label);
	return rc;
}

const struct exporter export_chrome = {
	.summary = "Chrome trace events, for ui.perfetto.dev: what ran where "
		   "by context switches, samples with stacks, losses",
	.write = write_chrome,
};
