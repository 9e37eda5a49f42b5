/* decode_ahead.h - a thread that reads, orders and decodes records before they
 * are due.
 *
 * The thread alone calls next() and decode() of the sources. The caller gets
 * records in blocks through a bounded queue, and with them what the thread has
 * put into the ledger before each, and the events that a source has found: all
 * as if there were no thread. Memory does not depend on the capture's length,
 * nor on the size of its records. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decode_ahead;
struct err;
struct ledger;
struct record;
struct ref;
struct source;
struct arena;

/* Replaces all that the record points to by copies in the arena, except
 * payloads and stack dumps, which a source with ops->apart keeps. */
void keep_record(struct record *rec, struct arena *a);

/* What a decode_ahead_fn returns for a record that is damaged or of no
 * interest. */
#define DECODED_NOTHING 2
/* Returns 1 and *rec, 0 at the end, -1 and *err, or DECODED_NOTHING. *rec is
 * valid until the next call. */
typedef int decode_ahead_fn(void *arg, struct record *rec, struct err *err);

/* fn reads the next record of the n sources; the thread calls it, and starts
 * with the first decode_ahead_next(). What it puts into *queue, the ledger for
 * fn, goes to lg. Returns NULL if a source does not allow a thread (source.h,
 * apart). */
struct decode_ahead *decode_ahead_new(struct source *const *src, size_t n,
				      decode_ahead_fn *fn, void *arg,
				      struct ledger *lg, struct ledger **queue);
/* Called by fn: the source can release the ref when the caller is done with the
 * record. */
void decode_ahead_release(struct decode_ahead *da, const struct ref *ref);
/* Stops the thread; sources can be closed afterwards. NULL is fine. */
void decode_ahead_free(struct decode_ahead *da);
/* Returns 1, 0 or -1 like fn, but *rec is in a block: the caller may change it,
 * and it is valid until the next one is returned. */
int decode_ahead_next(struct decode_ahead *da, struct record **rec,
		      struct err *err);
/* From now on records stay valid longer, for a thread of the caller. passed()
 * is called when all records of a block were returned and one after them is
 * asked for: they stay valid until decode_ahead_give_back(), which is called
 * once for each block, by any thread. With `changes` it is called before events
 * of sources change: it returns when no other thread looks at these. */
typedef void decode_ahead_passed_fn(void *arg, bool changes);
void decode_ahead_keep(struct decode_ahead *da, decode_ahead_passed_fn *passed,
		       void *arg);
void decode_ahead_give_back(struct decode_ahead *da);
/* Returns a record that decode_ahead_next() will return later, each once and in
 * their order, and its number: that of the first record is 1. NULL: none is
 * decoded now. Valid until it was returned. */
const struct record *decode_ahead_peek(struct decode_ahead *da,
				       uint64_t *number);
/* Stands for source i: with the events of the records so far. Only info, events
 * and position of it can be used, fields() and print(). */
struct source *decode_ahead_source(const struct decode_ahead *da, size_t i);
