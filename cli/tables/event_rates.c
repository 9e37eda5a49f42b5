/* event_rates.c - how often each event of a trace came, and when. */
#include "cli/tables/event_rates.h"

#include "cli/samples/events.h"
#include "cli/samples/filter.h"
#include "cli/output/grid.h"
#include "cli/output/human.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

struct event_rate {
	int64_t type;
	uint64_t n;
	int64_t first, last; /* ns; first is INT64_MAX if none is timed */
};

COMPARE_LARGEST_BY(event_rates_compare, struct event_rate, n, type);

/* Adds a time since the first event; empty where it is not known. */
static void event_rates_time(struct grid *g, const struct event_rate *r,
			     int64_t time, int64_t first)
{
	char text[32] = "";

	if (r->first <= r->last)
		human_ns(text, sizeof(text),
			 (int64_t)((uint64_t)time - (uint64_t)first));
	grid_text(g, text);
}

static void event_rates_table(const struct events *ev, struct event_rate *r,
			      size_t n, size_t limit)
{
	static const struct grid_column col[] = {
		{ "Events", NULL }, { "Per second", NULL }, { "From", NULL },
		{ "To", NULL },	    { "Event", NULL },
	};
	struct grid *g = grid_new(col, ARRAY_SIZE(col));
	int64_t first = INT64_MAX; /* of all */
	int64_t last = INT64_MIN;
	uint64_t span;
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		lower_to(first, r[i].first);
		raise_to(last, r[i].last);
	}
	span = last > first ? (uint64_t)last - (uint64_t)first : 0;
	sort_items(r, n, event_rates_compare);
	while (used < n && r[used].n)
		used++;
	for (size_t i = 0; i < used && i < limit; i++) {
		char rate[32] = "";

		/* one event has no rate */
		if (span && r[i].n > 1)
			human_count(rate, sizeof(rate),
				    (uint64_t)((double)r[i].n * 1e9 /
					       (double)span));
		grid_number(g, r[i].n);
		grid_text(g, rate);
		event_rates_time(g, &r[i], r[i].first, first);
		event_rates_time(g, &r[i], r[i].last, first);
		grid_text(g, events_type(ev, r[i].type)->name);
	}
	grid_write(g, "table", stdout);
	if (used > limit)
		printf("and %zu more kind%s of events\n", used - limit,
		       used - limit == 1 ? "" : "s");
	grid_free(g);
}

int event_rates_print(struct store *db, size_t limit, struct err *err)
{
	struct events *ev = events_open_few(db, &filter_none, err);
	size_t n = ev ? events_types(ev) : 0;
	struct event_rate *r = mem_new(n + 1, sizeof(*r));
	struct event_row e;
	int rc = ev ? 1 : -1;

	for (size_t i = 0; i < n; i++)
		r[i] = (struct event_rate){ .type = (int64_t)i + 1,
					    .first = INT64_MAX,
					    .last = INT64_MIN };
	while (rc > 0 && (rc = events_next(ev, &e, err)) > 0) {
		if (e.type < 1 || (uint64_t)e.type > n)
			continue;
		struct event_rate *of = &r[e.type - 1];

		of->n++;
		if (!e.timed)
			continue;
		lower_to(of->first, e.time);
		raise_to(of->last, e.time);
	}
	if (!rc)
		event_rates_table(ev, r, n, limit);
	free(r);
	events_close(ev);
	return rc;
}
