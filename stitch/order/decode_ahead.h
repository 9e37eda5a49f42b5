/* decode_ahead.h - has a thread read, order and decode records before they are
 * due.
 *
 * The thread alone calls next() and decode() of the sources. The caller gets
 * records in blocks through a bounded queue. Ledger entries that the thread
 * made before a record, and new events of a source, appear with it, as if there
 * were no thread. Memory does not depend on the capture's length, nor on the
 * size of its records. */
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

/* Returns a new object, to be freed by decode_ahead_free(), or NULL if a source
 * does not allow a thread (source.h, apart). The thread, which starts with the
 * first decode_ahead_next(), calls fn for the next record of the n sources. fn
 * must use *queue as ledger, whose entries go to lg. */
struct decode_ahead *decode_ahead_new(struct source *const *src, size_t n,
				      decode_ahead_fn *fn, void *arg,
				      struct ledger *lg, struct ledger **queue);
/* To be called by fn: releases the ref when the caller is done with the
 * record. */
void decode_ahead_release(struct decode_ahead *da, const struct ref *ref);
/* Stops the thread; sources can be closed afterwards. NULL is fine. */
void decode_ahead_free(struct decode_ahead *da);
/* Returns 1, 0 or -1 like fn, but *rec is in a block: the caller may change it,
 * and it is valid until the next one is returned. */
int decode_ahead_next(struct decode_ahead *da, struct record **rec,
		      struct err *err);
/* From now on records stay valid longer, for a thread of the caller. passed()
 * is called at the request for the first record after a block: the block's
 * records stay valid until decode_ahead_give_back(), which any thread must call
 * once for each block. With `changes`, passed() is called before events of
 * sources change: it must return when no other thread reads them. */
typedef void decode_ahead_passed_fn(void *arg, bool changes);
void decode_ahead_keep(struct decode_ahead *da, decode_ahead_passed_fn *passed,
		       void *arg);
void decode_ahead_give_back(struct decode_ahead *da);
/* Returns the record that comes n >= 1 records after the last one returned, or
 * NULL if it is in another block: for prefetching. */
const struct record *decode_ahead_soon(const struct decode_ahead *da, size_t n);
/* Returns a record that decode_ahead_next() will return later, each once and in
 * their order, and its number: that of the first record is 1. NULL: none is
 * decoded now. Valid until it was returned. */
const struct record *decode_ahead_peek(struct decode_ahead *da,
				       uint64_t *number);
/* Returns a stand-in for source i, with the events of the records so far. Only
 * its info, events, position, fields() and print() may be used. */
struct source *decode_ahead_source(const struct decode_ahead *da, size_t i);
