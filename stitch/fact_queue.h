/* fact_queue.h - the queue of facts between the parts of stitch/ and its user.
 */
#ifndef STITCH_FACT_QUEUE_H
#define STITCH_FACT_QUEUE_H
#include <stddef.h>

struct fact;

/* First in, first out. Strings in facts are borrowed: who pushes keeps them
 * until the fact was taken and the next record is asked for. */
struct fact_queue {
	struct fact *fact;
	size_t head, n, cap;
};

void fact_queue_push(struct fact_queue *q, const struct fact *f);
/* The same, for the caller to fill before the next call; not zeroed. */
struct fact *fact_queue_add(struct fact_queue *q);
/* 1 and *f, or 0 when empty. */
int fact_queue_take(struct fact_queue *q, struct fact *f);
void fact_queue_release(struct fact_queue *q);
#endif
