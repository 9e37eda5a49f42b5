/* chrome_slices.c - slices of a Chrome trace: which thread ran on which CPU. */

#include "cli/export/chrome/chrome_slices.h"

#include <stdlib.h>

#include "cli/export/chrome/chrome_state.h"
#include "cli/export/chrome/chrome_tracks.h"
#include "cli/samples/filter.h"
#include "cli/waits/wait_cause.h"
#include "cli/output/json.h"
#include "stitch/base/search.h"

#define SLICES_MAX 0x3fffffff

struct slice {
	uint32_t thread, cpu; /* of tracks */
	int32_t state;
	bool record;
};

/* A switch ends a slice before it begins another, to which an arrow leads. */
enum slice_edge_kind {
	SLICE_END,
	SLICE_BEGIN,
	ARROW_FROM,
	ARROW_TO,
};

/* The begin or the end of a slice, or of an arrow. */
struct slice_edge {
	int64_t time, event; /* INT64_MAX: the end of the capture */
	uint32_t item : 30;
	uint32_t kind : 2;
};

struct arrow {
	uint32_t from, to; /* of tracks */
	bool proved;
	bool loose; /* a slice at one of its ends is not written */
};

struct slices {
	struct tracks *t;
	struct slice *slice;
	size_t n, cap;
	struct arrow *arrow;
	size_t n_arrow, cap_arrow;
	uint32_t kernel; /* whose runs come */
	struct slice_edge *edge;
	size_t n_edge, cap_edge, at;
	struct offcpu_sums sums;
};

/* Returns the thread with that tid at that time; 0: none. */
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

/* Returns the thread of a run, which may be one that only switches name. */
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

/* Takes who woke a thread, from the wake-up to the slice that it began. Neither
 * end is known by its event: it comes behind all of its time. */
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

static void slices_take(struct slices *s, const struct offcpu_run *r,
			int64_t from, int64_t to)
{
	uint32_t cpu = tracks_find_cpu(s->t, (uint32_t)r->capture, r->cpu);
	const struct filter *filter = s->t->filter;
	uint32_t thread;

	if (r->from < from || r->to > to ||
	    (filter->cpu && !filter_takes_cpu(filter, r->cpu)))
		return;
	s->kernel = s->t->cpu[cpu].kernel;
	thread = slices_thread(s->t, r, s->kernel);
	if (!s->t->track[thread].wanted || s->n > SLICES_MAX)
		return;
	slices_add(s, r->from, r->came, s->n, SLICE_BEGIN);
	slices_add(s, r->to, r->left ? r->left : INT64_MAX, s->n, SLICE_END);
	*mem_add(s->slice, s->n, s->cap) =
		(struct slice){ thread, cpu, (int32_t)r->state, r->record };
}

COMPARE_BY(slices_compare, struct slice_edge, time, event, kind, item);

/* Filters remove tracks, not switches: they choose by the switch out. */
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
	struct waits *w;
	int64_t from;
	int64_t to;
	int rc;

	if (filter_window(s->t->filter, db, &from, &to, err))
		return -1;
	w = waits_open(db, path, &ask, err);
	while ((rc = waits_next(w, &item, err)) > 0)
		if (item.kind == WAITS_RUN && item.run.tid)
			slices_take(s, &item.run, from, to);
		else if (item.kind == WAITS_WAIT)
			slices_take_wake(s, &item.wait, from, to);
	waits_close(w, &s->sums);
	return rc;
}

/* Readers draw an arrow between two slices: finds those that have one only, as
 * records were lost beside it. */
static void slices_find_loose(struct slices *s)
{
	/* since when the thread of a track runs; INT64_MIN: it does not */
	int64_t *since = mem_new(s->t->n_track + 1, sizeof(*since));

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
	free(since);
}

struct slices *slices_load(struct tracks *t, struct store *db, const char *path,
			   struct stacks *stacks, struct err *err)
{
	struct slices *s = mem_new(1, sizeof(*s));
	struct wait_causes *words = wait_causes_new(stacks);
	int rc;

	s->t = t;
	rc = slices_read(s, db, path, stacks, words, err);
	wait_causes_free(words);
	if (rc) {
		slices_free(s);
		return NULL;
	}
	sort_items(s->edge, s->n_edge, slices_compare);
	slices_find_loose(s);
	return s;
}

void slices_free(struct slices *s)
{
	if (!s)
		return;
	free(s->slice);
	free(s->arrow);
	free(s->edge);
	free(s);
}

const struct offcpu_sums *slices_sums(const struct slices *s)
{
	return &s->sums;
}

/* ---- JSON */

static void slices_put_begin(struct json *j, const char *name, int64_t time)
{
	json_text(j, "ph", "B");
	json_text(j, "cat", "sched");
	json_shown(j, "name", name);
	tracks_time(j, time);
}

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
	tracks_cpu(t, s->cpu);
	slices_put_begin(j, tracks_name(t, k), time);
	json_object(j, "args");
	json_int(j, "pid", k->pid);
	json_int(j, "tid", k->tid);
	json_end(j);
	json_end(j);
}

/* Readers match the ends of slices to their starts by name. */
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
	tracks_cpu(t, s->cpu);
	slices_put_end(t->j, tracks_name(t, &t->track[s->thread]), s, e);
}

static void slices_put_arrow(struct slices *s, const struct slice_edge *e)
{
	const struct arrow *a = &s->arrow[e->item];
	bool from = e->kind == ARROW_FROM;
	struct json *j = s->t->j;

	if (a->loose)
		return;
	tracks_thread(s->t, from ? a->from : a->to);
	json_text(j, "ph", from ? "s" : "f");
	/* else it leads to the next slice that begins there */
	if (!from)
		json_text(j, "bp", "e");
	json_text(j, "cat", "wake");
	json_text(j, "name", a->proved ? "wakes" : "wakes, likely");
	json_uint(j, "id", e->item);
	tracks_time(j, e->time);
	json_end(j);
}

void slices_put(struct slices *s, int64_t time, int64_t event)
{
	for (; s->at < s->n_edge; s->at++) {
		const struct slice_edge *e = &s->edge[s->at];

		if (e->time > time || (e->time == time && e->event > event))
			break;
		if (e->kind >= ARROW_FROM)
			slices_put_arrow(s, e);
		else if (e->kind == SLICE_BEGIN)
			slices_begin(s->t, &s->slice[e->item], e->time);
		else
			slices_end(s->t, &s->slice[e->item], e);
	}
}
