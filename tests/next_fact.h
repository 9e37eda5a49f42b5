/* next_fact.h - the facts of a stitch, one by one. */
#pragma once
#include "stitch/fact_queue.h"
#include "stitch/stitch.h"

/* Returns 1 and *out, valid until the next call; 0 behind the last; or -1 and
 * *err. */
static inline int next_fact(struct stitch *st, const struct fact **out,
			    struct err *err)
{
	struct fact_queue *q = stitch_facts(st);

	while (!(*out = fact_queue_next(q))) {
		arena_clear(&q->lists);
		int got = stitch_run(st, q->gone + 1, err);

		if (got <= 0)
			return got;
	}
	return 1;
}
