/* pairing.h - makes intervals of the records that begin and end them, with
 * what the records prove of each.
 *
 * Order of calls: pairing_new(), pairing_take() for each record in time order
 * (that of the ring within a CPU), pairing_end(). An interval is given to a
 * function when it ends. Memory grows with the intervals that are open at one
 * time, and with the threads. No SQL and no names.
 *
 * Proved: begin and end are recorded, and so few records are missing between
 * them that no other begin or end of the same key can be among these. All of it
 * assumes, as analyze/causes/proof.h does, that a record of an event that was
 * on is in the capture or in a loss.
 *
 * Where several of one key are open at a time (PAIR_SET), it is not known which
 * ends when. Once all have ended and nothing is missing, each of them is
 * ambiguous: it is given from the n-th begin to the n-th end, so that number
 * and sum are right, the longest is at least the longest of these, and the
 * shortest at most the shortest; each has its bounds. What was alone is held
 * back for a while, as an end that follows without a begin tells that it was
 * not. */
#pragma once
#include <stdint.h>

#include "analyze/latency/interval.h"

struct lost_times;
struct pairing;
struct pairing_record;

typedef void pairing_fn(void *arg, const struct interval *i);
/* A call is inside of another one, by their numbers: that of the interval which
 * is given first is 1. */
typedef void pairing_inside_fn(void *arg, uint64_t call, uint64_t of);

/* lost: sealed, and borrowed. inside: NULL if not asked for. */
struct pairing *pairing_new(const struct lost_times *lost, pairing_fn *fn,
			    pairing_inside_fn *inside, void *arg);
void pairing_free(struct pairing *p);
void pairing_take(struct pairing *p, const struct pairing_record *r);
/* Tells of all that is open. */
void pairing_end(struct pairing *p);
/* Returns what the proofs rest on that were given: enum interval_premise. */
unsigned int pairing_premise(const struct pairing *p);
/* Returns how many records came a second time, and were left out. */
uint64_t pairing_doubled(const struct pairing *p);
