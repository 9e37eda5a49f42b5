/* fact_queue.c - the queue of facts between the parts of stitch/ and its user.
 */
#include "stitch/fact_queue.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/base/mem.h"
#include "stitch/fact.h"

struct fact *facts_new(struct facts *q)
{
	if (q->head == q->n)
		q->head = q->n = 0;
	if (q->n == q->cap)
		q->fact =
			mem_grow(q->fact, &q->cap, q->n + 1, sizeof(*q->fact));
	return &q->fact[q->n++];
}

void facts_push(struct facts *q, const struct fact *f)
{
	*facts_new(q) = *f;
}

int facts_take(struct facts *q, struct fact *f)
{
	if (q->head == q->n)
		return 0;
	*f = q->fact[q->head++];
	return 1;
}

void facts_release(struct facts *q)
{
	free(q->fact);
	memset(q, 0, sizeof(*q));
}
