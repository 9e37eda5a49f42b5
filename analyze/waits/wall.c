/* wall.c - adds waits and intervals to stacks as samples of an event. */
#include "analyze/waits/wall.h"

#include "analyze/samples/events.h"
#include "analyze/latency/intervals.h"
#include "analyze/stacks/stacks.h"
#include "analyze/waits/waits.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
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

	for (size_t i = 0; i < s->n_event; i++) {
		const struct stacks_event *e = &s->event[i];

		/* perf record --off-cpu has ns, too, but of waits */
		if (e->weight && !strcmp(e->unit, "ns") &&
		    strcmp(e->name, "offcpu-time") != 0 &&
		    (best < 0 || e->weight > s->event[(size_t)best].weight))
			best = (int)i;
	}
	return best;
}

/* Adds a time as a group; tick: as for wall_load_waits(). Returns the group. */
static uint32_t wall_add_instants(struct stacks *s, struct stacks_group *g,
				  int64_t from, int64_t to, int32_t cpu,
				  int64_t tick)
{
	if (tick)
		g->samples = (uint64_t)(to / tick) - (uint64_t)(from / tick);

	struct stacks_sample one = { .group = stacks_add(s, g),
				     .event = g->event,
				     .cpu = cpu,
				     .timed = true };

	for (uint64_t i = 1; tick && s->o.each && i <= g->samples; i++) {
		one.time = (from / tick + (int64_t)i) * tick;
		s->o.each(s->o.arg, &one);
	}
	return one.group;
}

/* Adds the waits to an event; tick: as for wall_load_waits(). */
static int wall_add(struct store *db, const char *path,
		    const struct filter *filter, struct stacks *s,
		    uint32_t event, int64_t tick, struct offcpu_sums *sums,
		    struct err *err)
{
	const struct waits_ask ask = { .filter = filter };
	struct waits *w = waits_open(db, path, &ask, err);
	struct waits_item item;
	int rc;

	while ((rc = waits_next(w, &item, err)) > 0) {
		const struct offcpu_wait *o = &item.wait;

		if (o->end != OFFCPU_BACK)
			continue;
		struct stacks_group g = wall_group(o, event);

		wall_add_instants(s, &g, o->from, o->to, o->cpu, tick);
	}
	waits_close(w, sums);
	return rc;
}

int wall_load_waits(struct store *db, const char *path,
		    const struct filter *filter, struct stacks *s, int64_t tick,
		    struct offcpu_sums *sums, struct err *err)
{
	uint32_t event = stacks_add_event(s, "off-CPU", "ns");

	return wall_add(db, path, filter, s, event, tick, sums, err)
		       ? -1
		       : (int)event;
}

int wall_load(struct store *db, const char *path, const struct filter *filter,
	      struct stacks *s, int64_t tick, struct offcpu_sums *sums,
	      struct err *err)
{
	int clock = wall_clock(s);
	uint32_t event;
	char name[128];

	if (clock < 0)
		return err_set(err, ERR_FORMAT,
			       "%s: no samples of a clock, whose weights are "
			       "times; record with -e cpu-clock next to the "
			       "switches",
			       path);
	snprintf(name, sizeof(name), "%.100s and waits",
		 s->event[(size_t)clock].name);
	event = stacks_add_event(s, name, "ns");
	if (wall_add(db, path, filter, s, event, tick, sums, err))
		return -1;
	stacks_give(s, (uint32_t)clock, event);
	return (int)event;
}

/* ---- intervals */

struct wall_begins {
	struct intervals *iv;
	struct wall_interval *at; /* ordered by event */
	size_t n, cap;
	struct stacks *stacks;
	struct wall_intervals *sums;
	wall_interval_fn *fn;
	void *arg;
};

/* Keeps an interval, or counts it as unknown. */
static void wall_take_interval(void *arg, const struct interval *i)
{
	struct wall_begins *b = arg;
	const struct intervals_sums sums = b->iv->sums;
	const struct interval_range r =
		interval_range(i, sums.first, sums.last);

	/* calls have events of their own: traced.h */
	if (i->verdict == INTERVAL_CANCELLED ||
	    (!b->iv->ask->kind &&
	     b->iv->pair[i->pair].kind->again == PAIR_NEST))
		return;
	if (i->verdict != INTERVAL_PROVED) {
		b->sums->unknown++;
		b->sums->loose = r.most == INT64_MAX
					 ? UINT64_MAX
					 : saturating_add(b->sums->loose,
							  (uint64_t)r.most);
	}
	if (i->verdict == INTERVAL_PROVED || b->fn)
		*mem_add(b->at, b->n, b->cap) = (struct wall_interval){
			i->begin_event ?: i->end_event,
			i->begin,
			r.most < INT64_MAX ? r.most : r.least,
			i->pair,
			i->name,
			i->verdict,
			i->reason,
		};
}

COMPARE_BY(wall_compare_begins, struct wall_interval, event);

/* Returns the event of a kind. all: there are events of samples, too. */
static uint32_t wall_interval_event(struct stacks *s, const char *kind,
				    bool all)
{
	char name[128];

	snprintf(name, sizeof(name), "%.100s%s", kind, all ? " latency" : "");
	return stacks_add_event(s, name, "ns");
}

int wall_load_intervals(struct store *db, const char *path,
			const struct filter *filter, const char *kind,
			struct stacks *s, struct wall_intervals *sums,
			wall_interval_fn *fn, void *arg, struct err *err)
{
	/* each own pair has a comma, which no kind has */
	bool own = kind && strchr(kind, ',');
	const struct intervals_ask ask = { .kind = own ? NULL : kind,
					   .pair = &kind,
					   .n_pair = own,
					   .any = !kind };
	struct wall_begins b = {
		.stacks = s, .sums = sums, .fn = fn, .arg = arg
	};
	struct events *ev = NULL;
	struct event_row e;
	int rc;

	b.iv = intervals_open(db, path, &ask, err);
	rc = b.iv ? intervals_each(b.iv, wall_take_interval, &b, err) : -1;
	if (!rc && b.iv->sums.premise)
		snprintf(sums->premise, sizeof(sums->premise), "%s",
			 b.iv->sums.premise);
	if (!rc && b.n) {
		sort_items(b.at, b.n, wall_compare_begins);
		ev = events_open(db, filter, EVENTS_FEW, err);
		rc = ev ? 0 : -1;
	}
	while (!rc && ev && (rc = events_next(ev, &e, err)) > 0) {
		/* the intervals that it begins or, without a begin, ends */
		size_t i = search_where(b.n, k, b.at[k].event >= e.id);
		struct stacks_group g;

		if (stacks_group_of(b.stacks, &e, &g)) {
			for (; i < b.n && b.at[i].event == e.id; i++) {
				const struct wall_interval *w = &b.at[i];
				uint32_t group;
				char name[400];

				g.event = wall_interval_event(
					b.stacks,
					b.iv->pair[w->pair].kind->word, b.fn);
				g.samples = w->verdict == INTERVAL_PROVED;
				g.weight = g.samples ? (uint64_t)w->ns : 0;
				b.sums->proved += g.samples;
				group = wall_add_instants(
					b.stacks, &g, w->begin,
					w->begin + w->ns, e.cpu,
					g.samples ? b.sums->tick : 0);
				if (!b.fn)
					continue;
				snprintf(name, sizeof(name), "%.300s%s%s%s%s",
					 intern_get(&b.iv->names, w->name),
					 g.samples ? "" : ", ",
					 g.samples ? ""
						   : interval_verdict_word(
							     w->verdict),
					 w->reason ? ": " : "",
					 interval_reason_word(w->reason));
				b.fn(b.arg, w, &e, group, name);
			}
		}
		rc = 0;
	}
	events_close(ev);
	intervals_close(b.iv);
	free(b.at);
	if (!rc && kind && !sums->proved)
		rc = err_set(err, ERR_FORMAT,
			     "%s: no proved interval that the options select",
			     path);
	return rc ? -1 : kind ? (int)wall_interval_event(s, kind, fn) : 0;
}
