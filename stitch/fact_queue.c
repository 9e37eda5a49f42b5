/* fact_queue.c - a queue of facts from the modules of stitch/ to the caller. */
#include "stitch/fact_queue.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/base/mem.h"
#include "stitch/fact.h"

struct fact *fact_queue_add(struct fact_queue *q)
{
	if (q->head == q->n)
		q->head = q->n = 0;
	return mem_add(q->fact, q->n, q->cap);
}

void fact_queue_push(struct fact_queue *q, const struct fact *f)
{
	*fact_queue_add(q) = *f;
}

int fact_queue_take(struct fact_queue *q, struct fact *f)
{
	if (q->head == q->n)
		return 0;
	*f = q->fact[q->head++];
	return 1;
}

void fact_queue_release(struct fact_queue *q)
{
	free(q->fact);
	memset(q, 0, sizeof(*q));
}
