/* wall.c - times as events of stacks. */
#include "cli/model/wall.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/events.h"
#include "cli/model/intervals.h"
#include "cli/model/stacks.h"
#include "cli/model/waits.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

struct stacks_group wall_group(const struct offcpu_wait *w, uint32_t event)
{
	struct stacks_group g = offcpu_group(&w->at);

	g.event = event;
	g.wait = offcpu_state(w->state);
	g.weight = (uint64_t)w->to - (uint64_t)w->from;
	g.samples = 1;
	return g;
}

int wall_clock(const struct stacks *s)
{
	int best = -1;

	for (size_t i = 0; i < stacks_events(s); i++) {
		const struct stacks_event *e = stacks_event(s, i);

		/* perf record --off-cpu counts ns, too: they are waits */
		if (e->weight && !strcmp(e->unit, "ns") &&
		    strcmp(e->name, "offcpu-time") != 0 &&
		    (best < 0 ||
		     e->weight > stacks_event(s, (size_t)best)->weight))
			best = (int)i;
	}
	return best;
}

/* Adds the waits to an event. */
static int wall_add(struct store *db, const char *path,
		    const struct filter *filter, struct stacks *s,
		    uint32_t event, struct offcpu_sums *sums, struct err *err)
{
	const struct waits_ask ask = { .filter = filter };
	struct waits *w = waits_open(db, path, &ask, err);
	struct waits_item item;
	int rc;

	while ((rc = waits_next(w, &item, err)) > 0) {
		const struct stacks_group g = wall_group(&item.wait, event);

		if (item.wait.end == OFFCPU_BACK)
			stacks_add(s, &g);
	}
	waits_close(w, sums);
	return rc;
}

int wall_load_waits(struct store *db, const char *path,
		    const struct filter *filter, struct stacks *s,
		    struct offcpu_sums *sums, struct err *err)
{
	uint32_t event = stacks_add_event(s, "off-CPU", "ns");

	return wall_add(db, path, filter, s, event, sums, err) ? -1
							       : (int)event;
}

int wall_load(struct store *db, const char *path, const struct filter *filter,
	      struct stacks *s, struct offcpu_sums *sums, struct err *err)
{
	int clock = wall_clock(s);
	uint32_t event;
	char name[128];

	if (clock < 0)
		return err_set(err, ERR_FORMAT,
			       "%s: no samples of a clock, whose weights are "
			       "times; record with -e cpu-clock beside the "
			       "switches",
			       path);
	snprintf(name, sizeof(name), "%.100s and waits",
		 stacks_event(s, (size_t)clock)->name);
	event = stacks_add_event(s, name, "ns");
	if (wall_add(db, path, filter, s, event, sums, err))
		return -1;
	stacks_give(s, (uint32_t)clock, event);
	return (int)event;
}

/* ---- intervals */

struct wall_interval {
	int64_t event; /* its begin */
	uint64_t ns;
};

struct wall_begins {
	struct wall_interval *at; /* the proved ones */
	size_t n, cap;
	struct wall_intervals *sums;
};

static void wall_take_interval(void *arg, const struct interval *i)
{
	struct wall_begins *b = arg;

	if (i->verdict == INTERVAL_PROVED)
		*mem_add(b->at, b->n, b->cap) = (struct wall_interval){
			i->begin_event,
			(uint64_t)interval_span(i->begin, i->end),
		};
	else if (i->verdict != INTERVAL_CANCELLED)
		b->sums->unknown++;
}

static int wall_compare_begins(const void *pa, const void *pb)
{
	const struct wall_interval *a = pa;
	const struct wall_interval *b = pb;

	return compare_numbers(a->event, b->event);
}

/* Adds those that an event begins. */
static void wall_add_interval(const struct wall_begins *b,
			      const struct event_row *e, struct stacks *s,
			      uint32_t event)
{
	size_t i = search_where(b->n, k, b->at[k].event >= e->id);
	struct stacks_group g;

	if (!stacks_group_of(s, e, &g))
		return;
	g.event = event;
	for (; i < b->n && b->at[i].event == e->id; i++) {
		g.weight = b->at[i].ns;
		stacks_add(s, &g);
		b->sums->proved++;
	}
}

static int wall_read_begins(struct wall_begins *b, struct store *db,
			    const char *path, const char *kind, struct err *err)
{
	const struct intervals_ask ask = { .kind = kind };
	struct intervals *iv = intervals_open(db, path, &ask, err);
	int rc = iv ? intervals_each(iv, wall_take_interval, b, err) : -1;

	if (!rc && intervals_sums(iv).premise)
		snprintf(b->sums->premise, sizeof(b->sums->premise), "%s",
			 intervals_sums(iv).premise);
	intervals_close(iv);
	if (!rc && b->n)
		qsort(b->at, b->n, sizeof(*b->at), wall_compare_begins);
	return rc;
}

int wall_load_intervals(struct store *db, const char *path,
			const struct filter *filter, const char *kind,
			struct stacks *s, struct wall_intervals *sums,
			struct err *err)
{
	struct wall_begins b = { .sums = sums };
	struct events *ev = NULL;
	struct event_row e;
	uint32_t event;
	int rc = wall_read_begins(&b, db, path, kind, err);

	event = stacks_add_event(s, kind, "ns");
	if (!rc) {
		ev = events_open_few(db, filter, err);
		rc = ev ? 0 : -1;
	}
	while (!rc && (rc = events_next(ev, &e, err)) > 0) {
		wall_add_interval(&b, &e, s, event);
		rc = 0;
	}
	events_close(ev);
	free(b.at);
	if (!rc && !sums->proved)
		rc = err_set(err, ERR_FORMAT,
			     "%s: no proved interval that the options select",
			     path);
	return rc ? -1 : (int)event;
}
