/* losses.h - the time intervals in which records were dropped.
 *
 * There is one list for each source. An interval is (t0, t1] on a CPU and has
 * the number of its row in table loss (struct ledger_entry.id). A question and
 * an interval cost O(log n) each if the intervals come in order, O(log^2 n) in
 * any other order. Neighbours are merged if a capture has too many intervals.
 */
#pragma once
#include <stdint.h>

struct losses;

struct loss {
	uint32_t id; /* number of the row in table loss; never 0 */
	int32_t cpu; /* the CPU that lost records; -1: unknown, may be any */
	int64_t t0;  /* INT64_MIN: from the start of the capture */
	int64_t t1;  /* INT64_MAX: to the end of the capture; TIME_NONE: at an
		      * unknown time */
};

struct losses *losses_new(void);
void losses_free(struct losses *ls);
void losses_add(struct losses *ls, uint16_t source, const struct loss *l);
/* Returns the number of any loss of the source, or 0 if it has none. */
uint32_t losses_any(const struct losses *ls, uint16_t source);
/* Returns the latest end of a loss that may be on that CPU, or INT64_MIN. */
int64_t losses_newest(const struct losses *ls, uint16_t source, int32_t cpu);
/* Returns the number of a loss that overlaps (from, to) and may be on that CPU
 * (-1: any CPU), or 0. Returns the first in time if it can be found cheaply.
 * Both bounds are exclusive: a loss that ends at from or starts at to does not
 * count. */
uint32_t losses_find(struct losses *ls, uint16_t source, int32_t cpu,
		     int64_t from, int64_t to);
