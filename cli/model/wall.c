/* wall.c - waits beside samples: the time of threads on and off the CPU. */
#include "cli/model/wall.h"

#include <stdio.h>
#include <string.h>

#include "cli/model/stacks.h"
#include "cli/model/waits.h"
#include "stitch/base/err.h"

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
