/* joins.h - runs the join: over a capture as text, or by itself. */
#pragma once
#include "tests/unit/run.h"

#include "stitch/base/losses.h"
#include "stitch/fact_queue.h"
#include "stitch/join/join.h"
#include "tests/unit/facts.h"
#include "tests/unit/script.h"

/* All facts of the captures that script.h writes from records. If the first has
 * no_times, its records are in file order. */
static inline struct all_facts joins_run(const char *records)
{
	struct fake *f[SCRIPT_CAPTURES] = { NULL };
	size_t n = script_play(f, records);

	for (size_t i = 0; !f[0]->src.info.has_time && i < f[0]->n; i++) {
		f[0]->rec[i].ref.untimed = 1;
		f[0]->rec[i].rec.flags |= REC_F_UNTIMED;
		f[0]->rec[i].rec.time = 0;
	}
	return stitch_all(f, n);
}

/* A join without captures, whose losses and samples the test makes. */
struct join_rig {
	struct fact_queue q;
	struct losses *ls;
	struct join *jn;
	struct join_task task;
	uint32_t events, chains;
};

static inline void join_rig_init(struct join_rig *rg,
				 const struct source_info *info)
{
	memset(rg, 0, sizeof(*rg));
	rg->ls = losses_new();
	rg->jn = join_new(&rg->q, rg->ls, NULL);
	join_source(rg->jn, 0, info);
}

static inline void join_rig_release(struct join_rig *rg)
{
	join_free(rg->jn);
	losses_free(rg->ls);
	fact_queue_release(&rg->q);
}
