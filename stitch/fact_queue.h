/* fact_queue.h - the queue of facts between the parts of stitch/ and its user.
 */
#ifndef STITCH_FACT_QUEUE_H
#define STITCH_FACT_QUEUE_H
#include <stddef.h>

struct fact;

/* First in, first out. Strings in facts are borrowed: who pushes keeps them
 * until the fact was taken and the next record is asked for. */
struct facts {
	struct fact *fact;
	size_t head, n, cap;
};

void facts_push(struct facts *q, const struct fact *f);
/* The same, for the caller to fill before the next call; not zeroed. */
struct fact *facts_new(struct facts *q);
/* 1 and *f, or 0 when empty. */
int facts_take(struct facts *q, struct fact *f);
void facts_release(struct facts *q);
#endif
