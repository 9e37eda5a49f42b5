/* pairing.h - makes intervals of the records that begin and end them, with what
 * the records prove about each.
 *
 * Order of calls: pairing_new(), pairing_take() for each record in time order
 * (that of the ring within a CPU), pairing_end(). An interval is reported to a
 * function when it ends. Memory grows with the intervals that are open at one
 * time, and with the threads. No SQL and no names.
 *
 * Proved: begin and end are recorded, and so few records are missing between
 * them that no other begin or end of the same key can be among these. All of it
 * assumes, as analyze/causes/proof.h does, that a record of an event that was
 * on is in the capture or in a loss.
 *
 * If several of one key are open at a time (PAIR_SET), it is not known which
 * ends when. Once all have ended and nothing is missing, each of them is
 * ambiguous: it is reported from the n-th begin to the n-th end, so that number
 * and sum are right, the longest is at least the longest of these, and the
 * shortest at most the shortest; each has its bounds. An interval that seemed
 * to be the only open one is held back for a while, because a later end without
 * a begin shows that it was not. */
#pragma once
#include <stdint.h>

#include "analyze/latency/interval.h"

struct lost_times;
struct pairing;
struct pairing_record;

typedef void pairing_fn(void *arg, const struct interval *i);
/* Called with the number of a call, and that of the call around it. The
 * interval that is reported first has number 1. */
typedef void pairing_inside_fn(void *arg, uint64_t call, uint64_t of);

/* lost: sealed, and borrowed. inside: NULL if not needed. The caller frees the
 * result by pairing_free(). */
struct pairing *pairing_new(const struct lost_times *lost, pairing_fn *fn,
			    pairing_inside_fn *inside, void *arg);
/* NULL is fine. */
void pairing_free(struct pairing *p);
/* Takes the next record, and reports the intervals that it ends. */
void pairing_take(struct pairing *p, const struct pairing_record *r);
/* Reports all that is open or held back. */
void pairing_end(struct pairing *p);
/* Returns the premises of all proved intervals: enum interval_premise. */
unsigned int pairing_premise(const struct pairing *p);
/* Returns how many records were left out because they came a second time. */
uint64_t pairing_doubled(const struct pairing *p);
