/* chrome_slices.c - slices of a Chrome trace: which thread ran on which CPU. */

#include "cli/export/chrome/chrome_slices.h"

#include <stdlib.h>

#include "cli/export/chrome/chrome_state.h"
#include "cli/export/chrome/chrome_tracks.h"
#include "cli/model/filter.h"
#include "cli/output/json.h"
#include "stitch/base/search.h"

struct slice {
	uint32_t thread, cpu; /* of tracks */
	int32_t state;
	bool record;
};

/* The begin or the end of one. */
struct slice_edge {
	int64_t time, event; /* INT64_MAX: the end of the capture */
	uint32_t slice : 31;
	uint32_t begin : 1; /* a switch ends one before it begins another */
};

struct slices {
	struct tracks *t;
	struct slice *slice;
	size_t n, cap;
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

static void slices_take(struct slices *s, const struct offcpu_run *r,
			int64_t from, int64_t to)
{
	uint32_t cpu = tracks_find_cpu(s->t, (uint32_t)r->capture, r->cpu);
	const struct filter *filter = s->t->filter;
	uint32_t thread;

	if (r->from < from || r->to > to ||
	    (filter->cpu && !filter_takes_cpu(filter, r->cpu)))
		return;
	thread = slices_thread(s->t, r, s->t->cpu[cpu].kernel);
	if (!s->t->track[thread].wanted || s->n > INT32_MAX)
		return;
	*mem_add(s->edge, s->n_edge, s->cap_edge) =
		(struct slice_edge){ r->from, r->came,
				     (uint32_t)s->n & INT32_MAX, true };
	*mem_add(s->edge, s->n_edge, s->cap_edge) =
		(struct slice_edge){ r->to, r->left ? r->left : INT64_MAX,
				     (uint32_t)s->n & INT32_MAX, false };
	*mem_add(s->slice, s->n, s->cap) =
		(struct slice){ thread, cpu, (int32_t)r->state, r->record };
}

static int slices_compare(const void *pa, const void *pb)
{
	const struct slice_edge *a = pa;
	const struct slice_edge *b = pb;

	return compare_numbers(a->time, b->time)
		       ?: compare_numbers(a->event, b->event)
		       ?: compare_numbers(a->begin, b->begin)
		       ?: compare_numbers(a->slice, b->slice);
}

/* Filters remove tracks, not switches: they choose by the switch out. */
static int slices_read(struct slices *s, struct store *db, const char *path,
		       struct err *err)
{
	const struct waits_ask ask = { .filter = &filter_none,
				       .runs = true,
				       .any = true };
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
	waits_close(w, &s->sums);
	return rc;
}

struct slices *slices_load(struct tracks *t, struct store *db, const char *path,
			   struct err *err)
{
	struct slices *s = mem_new(1, sizeof(*s));

	s->t = t;
	if (slices_read(s, db, path, err)) {
		slices_free(s);
		return NULL;
	}
	if (s->n_edge)
		qsort(s->edge, s->n_edge, sizeof(*s->edge), slices_compare);
	return s;
}

void slices_free(struct slices *s)
{
	if (!s)
		return;
	free(s->slice);
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

void slices_put(struct slices *s, int64_t time, int64_t event)
{
	for (; s->at < s->n_edge; s->at++) {
		const struct slice_edge *e = &s->edge[s->at];

		if (e->time > time || (e->time == time && e->event > event))
			break;
		if (e->begin)
			slices_begin(s->t, &s->slice[e->slice], e->time);
		else
			slices_end(s->t, &s->slice[e->slice], e);
	}
}
