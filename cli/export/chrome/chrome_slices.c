/* chrome_slices.c - slices of a Chrome trace: which thread ran on which CPU. */

#include "cli/export/chrome/chrome_slices.h"

#include <stdlib.h>

#include "cli/export/chrome/chrome_state.h"
#include "cli/export/chrome/chrome_tracks.h"
#include "cli/model/filter.h"
#include "cli/output/json.h"
#include "stitch/base/search.h"

/* A run; of each there is one, and two places in order[]. */
struct slice {
	int64_t from, to, came, left;
	uint32_t thread, cpu; /* of tracks */
	int32_t state;
	bool record;
};

struct slices {
	struct tracks *t;
	struct slice *slice;
	size_t n, cap;
	uint32_t *begin, *end; /* slice[] by their begins, and by their ends */
	size_t at_begin, at_end;
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
	const struct track k = {
		.pid = -1,
		.tid = r->tid,
		.from = INT64_MIN,
		.to = INT64_MAX,
		.kernel = kernel,
		.comm = r->comm,
		.wanted = !filter.pid && !filter.tid && !filter.comm &&
			  !filter.cgroup,
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
	uint32_t thread;

	if (r->from < from || r->to > to ||
	    (filter.cpu && !filter_takes_cpu(r->cpu)))
		return;
	thread = slices_thread(s->t, r, s->t->cpu[cpu].kernel);
	if (s->t->track[thread].wanted)
		*mem_add(s->slice, s->n, s->cap) = (struct slice){
			.from = r->from,
			.to = r->to,
			.came = r->came,
			.left = r->left ? r->left : INT64_MAX,
			.thread = thread,
			.cpu = cpu,
			.state = (int32_t)r->state,
			.record = r->record,
		};
}

static int slices_by_begin(const void *pa, const void *pb, void *arg)
{
	const struct slice *a = (struct slice *)arg + *(const uint32_t *)pa;
	const struct slice *b = (struct slice *)arg + *(const uint32_t *)pb;

	return compare_numbers(a->from, b->from)
		       ?: compare_numbers(a->came, b->came);
}

static int slices_by_end(const void *pa, const void *pb, void *arg)
{
	const struct slice *a = (struct slice *)arg + *(const uint32_t *)pa;
	const struct slice *b = (struct slice *)arg + *(const uint32_t *)pb;

	return compare_numbers(a->to, b->to)
		       ?: compare_numbers(a->left, b->left)
		       ?: compare_numbers(a->thread, b->thread);
}

static uint32_t *slices_order(const struct slices *s,
			      int (*compare)(const void *, const void *,
					     void *))
{
	uint32_t *order = mem_new(s->n + 1, sizeof(*order));

	for (size_t i = 0; i < s->n; i++)
		order[i] = (uint32_t)i;
	if (s->n)
		qsort_r(order, s->n, sizeof(*order), compare, s->slice);
	return order;
}

/* Filters remove tracks, not switches: they choose by the switch out. */
static int slices_read(struct slices *s, struct store *db, const char *path,
		       struct err *err)
{
	const struct waits_ask ask = { .runs = true, .any = true };
	const struct filter all = filter;
	struct waits_item item;
	struct waits *w;
	int64_t from;
	int64_t to;
	int rc;

	if (filter_window(db, &from, &to, err))
		return -1;
	filter = (struct filter){ 0 };
	w = waits_open(db, path, &ask, err);
	while ((rc = waits_next(w, &item, err)) > 0) {
		filter = all;
		if (item.kind == WAITS_RUN && item.run.tid)
			slices_take(s, &item.run, from, to);
		filter = (struct filter){ 0 };
	}
	waits_close(w, &s->sums);
	filter = all;
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
	s->begin = slices_order(s, slices_by_begin);
	s->end = slices_order(s, slices_by_end);
	return s;
}

void slices_free(struct slices *s)
{
	if (!s)
		return;
	free(s->slice);
	free(s->begin);
	free(s->end);
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

static void slices_begin(struct tracks *t, const struct slice *s)
{
	const struct track *k = &t->track[s->thread];
	int64_t number = t->cpu[s->cpu].cpu;
	struct json *j = t->j;

	tracks_thread(t, s->thread);
	slices_put_begin(j, "running", s->from);
	if (number >= 0) {
		json_object(j, "args");
		json_int(j, "cpu", number);
		json_end(j);
	}
	json_end(j);
	if (number < 0)
		return;
	tracks_cpu(t, s->cpu);
	slices_put_begin(j, tracks_name(t, k), s->from);
	json_object(j, "args");
	json_int(j, "pid", k->pid);
	json_int(j, "tid", k->tid);
	json_end(j);
	json_end(j);
}

/* Readers match the ends of slices to their starts by name. */
static void slices_put_end(struct json *j, const char *name,
			   const struct slice *s)
{
	bool at_end = s->left == INT64_MAX;

	json_text(j, "ph", "E");
	json_shown(j, "name", name);
	tracks_time(j, s->to);
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

static void slices_end(struct tracks *t, const struct slice *s)
{
	tracks_thread(t, s->thread);
	slices_put_end(t->j, "running", s);
	if (t->cpu[s->cpu].cpu < 0)
		return;
	tracks_cpu(t, s->cpu);
	slices_put_end(t->j, tracks_name(t, &t->track[s->thread]), s);
}

/* Returns whether something at a time, by an event, is not behind another. */
static bool slices_is_due(int64_t time, int64_t event, int64_t until,
			  int64_t by)
{
	return time < until || (time == until && event <= by);
}

void slices_put(struct slices *s, int64_t time, int64_t event)
{
	while (s->at_end < s->n) {
		const struct slice *e = &s->slice[s->end[s->at_end]];
		const struct slice *b =
			s->at_begin < s->n ? &s->slice[s->begin[s->at_begin]]
					   : NULL;
		/* a switch ends one slice and begins another */
		bool end =
			!b || slices_is_due(e->to, e->left, b->from, b->came);

		if (!(end ? slices_is_due(e->to, e->left, time, event)
			  : slices_is_due(b->from, b->came, time, event)))
			break;
		if (end) {
			slices_end(s->t, e);
			s->at_end++;
		} else {
			slices_begin(s->t, b);
			s->at_begin++;
		}
	}
}
