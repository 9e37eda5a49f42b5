/* tasks.h - for tests of tasks: the rows that they give out. */
#ifndef TESTS_UNIT_TASKS_H
#define TESTS_UNIT_TASKS_H
#include <string.h>

#include "stitch/fact_queue.h"
#include "stitch/fact.h"
#include "stitch/tasks/tasks.h"

struct world {
	struct fact_queue q;
	struct tasks *ts;
	size_t threads, processes, mappings, comms;
	struct fact_thread thread[64];
	struct fact_process process[64];
};

static inline void world_start(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->ts = tasks_new(&w->q);
}

static inline void world_take(struct world *w)
{
	struct fact f;

	while (fact_queue_take(&w->q, &f)) {
		if (f.kind == FACT_THREAD)
			w->thread[w->threads++ % 64] = f.thread;
		else if (f.kind == FACT_PROCESS)
			w->process[w->processes++ % 64] = f.process;
		else if (f.kind == FACT_MAPPING)
			w->mappings++;
		else
			w->comms++;
	}
}

static inline void world_retire(struct world *w, int64_t t)
{
	uint32_t slot;

	while (tasks_retire(w->ts, t, &slot))
		tasks_drop(w->ts, slot);
	world_take(w);
}

static inline void world_finish(struct world *w)
{
	world_retire(w, TIME_NONE);
	tasks_drop_rest(w->ts);
	world_take(w);
	tasks_free(w->ts);
	fact_queue_release(&w->q);
}
#endif
