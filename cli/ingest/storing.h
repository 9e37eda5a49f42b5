/* storing.h - stores facts, in a thread of its own if records allow that.
 *
 * The thread takes facts in blocks through a bounded queue, in their order, so
 * the database is the same as without it. It is the only one that uses the
 * store until storing_wait() returns: whoever wants to use it calls that
 * first. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct err;
struct fact_queue;
struct ledger;
struct lock_names;
struct order;
struct storing;
struct maker;

/* Call it after order_use_thread(), without which there is no thread here
 * either. locks: takes those of the events; no_fields: no payload is decoded.
 * All are borrowed. The array of the queue becomes a block of the thread's: few
 * facts are copied. */
struct storing *storing_new(struct maker *mk, struct order *order,
			    struct fact_queue *queue, struct lock_names *locks,
			    bool no_fields);
/* Does not wait for the thread. Frees nothing else; NULL is fine. */
void storing_free(struct storing *s);
/* Returns how many facts the queue may have had before storing_put(), at most
 * `most`. */
uint64_t storing_until(const struct storing *s, uint64_t most);
/* Stores the facts that are due, now or later, and the fields of their
 * payloads. Returns 0, or -1 and *err: of these facts or those before. */
int storing_put(struct storing *s, struct err *err);
/* Returns when all facts that are due are stored: 0, or -1 and *err. */
int storing_wait(struct storing *s, struct err *err);
/* Puts payloads that could not be decoded since the last call into the ledger.
 * Call it after storing_wait(), at places that no thread decides on. */
void storing_tell(struct storing *s, struct ledger *lg);
