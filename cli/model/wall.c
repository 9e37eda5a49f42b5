/* wall.c - waits beside samples: the time of threads on and off the CPU. */
#include "cli/model/wall.h"

#include <stdio.h>
#include <string.h>

#include "cli/model/offcpu.h"
#include "cli/model/stacks.h"
#include "stitch/base/err.h"

struct wall {
	struct stacks *stacks;
	uint32_t event;
};

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

static int wall_take_wait(void *arg, const struct offcpu_wait *w,
			  struct err *err)
{
	struct wall *wl = arg;
	const struct stacks_group g = wall_group(w, wl->event);

	(void)err;
	if (w->end == OFFCPU_BACK)
		stacks_add(wl->stacks, &g);
	return 0;
}

int wall_load_waits(struct store *db, const char *path, struct stacks *s,
		    struct offcpu_sums *sums, struct err *err)
{
	struct wall wl = { .stacks = s,
			   .event = stacks_add_event(s, "off-CPU", "ns") };

	const struct offcpu_ask ask = { .wait = wall_take_wait, .arg = &wl };

	return offcpu_read(db, path, &ask, sums, err) ? -1 : (int)wl.event;
}

int wall_load(struct store *db, const char *path, struct stacks *s,
	      struct offcpu_sums *sums, struct err *err)
{
	int clock = wall_clock(s);
	struct wall wl = { .stacks = s };
	const struct offcpu_ask ask = { .wait = wall_take_wait, .arg = &wl };
	char name[128];

	if (clock < 0)
		return err_set(err, ERR_FORMAT,
			       "%s: no samples of a clock, whose weights are "
			       "times; record with -e cpu-clock beside the "
			       "switches",
			       path);
	snprintf(name, sizeof(name), "%.100s and waits",
		 stacks_event(s, (size_t)clock)->name);
	wl.event = stacks_add_event(s, name, "ns");
	if (offcpu_read(db, path, &ask, sums, err))
		return -1;
	stacks_give(s, (uint32_t)clock, wl.event);
	return (int)wl.event;
}
