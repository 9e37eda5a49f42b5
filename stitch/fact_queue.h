/* fact_queue.h - a queue of facts from the modules of stitch/ to the caller. */
#pragma once

#include "stitch/base/mem.h"
#include "stitch/fact.h"

/* First in, first out. Strings in facts are borrowed from the module that
 * pushes them, until that is freed. */
struct fact_queue {
	struct fact *fact;
	size_t head, n, cap;
	struct arena lists; /* memory that facts of the array point to */
	/* For a caller that takes the whole array instead of single facts. */
	size_t due;    /* facts of records before the one that is being taken */
	uint64_t gone; /* facts that were taken */
};

/* Appends a fact, not zeroed, that the caller fills before its next call. */
static inline struct fact *fact_queue_add(struct fact_queue *q)
{
	if (q->head == q->n)
		q->head = q->n = 0;
	return mem_add(q->fact, q->n, q->cap);
}
/* Returns the number of facts in the queue. */
static inline size_t fact_queue_left(const struct fact_queue *q)
{
	return q->n - q->head;
}
/* Takes the oldest fact. Returns NULL if the queue is empty. Valid until a fact
 * is added. */
static inline const struct fact *fact_queue_next(struct fact_queue *q)
{
	return q->head == q->n ? NULL : &q->fact[q->head++];
}
/* Takes the oldest fact and copies it to *f. Returns 0 if the queue is
 * empty. */
static inline int fact_queue_take(struct fact_queue *q, struct fact *f)
{
	const struct fact *oldest = fact_queue_next(q);

	if (oldest)
		*f = *oldest;
	return oldest != NULL;
}
static inline void fact_queue_release(struct fact_queue *q)
{
	free(q->fact);
	arena_release(&q->lists);
	memset(q, 0, sizeof(*q));
}
