/* losses.h - the intervals of time in which records were dropped.
 *
 * One list per source, sorted when it is first asked after a change. An
 * interval is (t0, t1] on a CPU, and has the number its row in the database
 * will have (struct ledger_entry.id). Questions cost O(log n). Neighbours are
 * made one when a capture made to hurt has too many of them. */
#ifndef STITCH_BASE_LOSSES_H
#define STITCH_BASE_LOSSES_H
#include <stdbool.h>
#include <stdint.h>

struct losses;

struct loss {
	uint32_t id; /* of the row in table loss; never 0 */
	int32_t cpu; /* whose ring; -1: not known, it may be any */
	int64_t t0;  /* INT64_MIN: from the start of the capture */
	int64_t t1;  /* INT64_MAX: to its end; TIME_NONE: at an unknown
		      * time, so it may be at any */
};

struct losses *losses_new(void);
void losses_free(struct losses *ls);
void losses_add(struct losses *ls, uint16_t source, const struct loss *l);
/* Were any records of the source dropped, whenever? The id of one, or 0. */
uint32_t losses_any(const struct losses *ls, uint16_t source);
/* The end of the newest that may be of that CPU; INT64_MIN: there is none. */
int64_t losses_newest(const struct losses *ls, uint16_t source, int32_t cpu);
/* An interval that overlaps (from, to) and may be of that CPU (-1: any): its
 * id, the first in time where that can be told cheaply; 0: none. Bounds are
 * exclusive: a loss that ends at from, or begins at to, is none. */
uint32_t losses_find(struct losses *ls, uint16_t source, int32_t cpu,
		     int64_t from, int64_t to);
#endif
