/* fact_queue.c - a queue of facts from the modules of stitch/ to the caller. */
#include "stitch/fact_queue.h"

void fact_queue_push(struct fact_queue *q, const struct fact *f)
{
	*fact_queue_add(q) = *f;
}

void fact_queue_release(struct fact_queue *q)
{
	free(q->fact);
	arena_release(&q->lists);
	memset(q, 0, sizeof(*q));
}
