/* storing.h - stores facts, in a thread of its own if records allow that.
 *
 * The thread takes facts in blocks through a bounded queue, in their order, so
 * the database is the same as without it. It is the only one that uses the
 * store until storing_wait() returns: whoever wants to use it calls that
 * first. */
#ifndef CLI_INGEST_STORING_H
#define CLI_INGEST_STORING_H
#include <stdbool.h>

struct err;
struct fact;
struct ledger;
struct order;
struct storing;
struct store;

/* Call it after order_use_thread(), without which there is no thread here
 * either. no_fields: no payload is decoded. Both are borrowed. */
struct storing *storing_new(struct store *db, struct order *order,
			    bool no_fields);
/* Does not wait for the thread. Frees nothing else; NULL is fine. */
void storing_free(struct storing *s);
/* Stores a fact, now or later, and the fields of its payload. Returns 0, or -1
 * and *err: of this fact or one before. */
int storing_put(struct storing *s, const struct fact *f, struct err *err);
/* Returns when all facts are stored: 0, or -1 and *err. */
int storing_wait(struct storing *s, struct err *err);
/* Puts payloads that could not be decoded since the last call into the ledger.
 * Call it after storing_wait(), at places that no thread decides on. */
void storing_tell(struct storing *s, struct ledger *lg);
#endif
