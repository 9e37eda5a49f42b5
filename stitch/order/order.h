/* order.h - merges the records of many sources into one time-ordered stream.
 *
 * Records are ordered by (key, class, source, seq), which is a total order
 * (backstitch-formats(5), "Order of events"). Refs wait in one sorted run. New
 * refs are sorted and merged when the floor has moved, at least as many at a
 * time as already wait, so the cost of a record is constant. Refs beyond the
 * memory limit are written as sorted runs to a temporary file and merged from
 * there; no record is output early. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clock_map;
struct err;
struct ledger;
struct order;
struct record;
struct source;

/* limit: bytes of memory for waiting refs (0: 256 MiB). temp_dir NULL: /tmp. */
struct order *order_new(struct ledger *lg, uint64_t limit,
			const char *temp_dir);
/* Adds a source that was scanned. order_free() closes it. */
void order_add(struct order *ord, struct source *src);
/* Sets the map from source i's clock to the timeline, after all sources were
 * added and before the first order_next(). Sources without a map are on the
 * timeline. Records without a time are output where their source starts. Also
 * converts first_ns and last_ns in the source's info. */
void order_align(struct order *ord, unsigned int i,
		 const struct clock_map *map);
/* Converts a time of a source to the timeline. */
uint64_t order_time(const struct order *ord, uint16_t source, uint64_t t);
/* Has a thread read and decode the records before they are due, if all sources
 * allow it. Call it once, after all calls above; afterwards order_source()
 * returns stand-ins for the sources. */
void order_use_thread(struct order *ord);
/* Returns whether order_peek() may return samples with stack dumps. */
bool order_has_dumps(const struct order *ord);
/* Returns 1 and *rec, 0 at the end, or -1 on error. The order owns the record,
 * which the caller may change; it is valid until the next one is returned, what
 * it points to until the next call. A record that precedes one already output
 * has REC_F_LATE and an entry in the ledger. Duplicates have REC_F_DUPLICATE.
 * Records that cannot be decoded are skipped and noted as damage in the ledger.
 */
int order_next(struct order *ord, struct record **rec, struct err *err);
/* Keeps the thread's records valid until order_give_back(): see
 * decode_ahead_keep(). Returns false without a thread. */
bool order_keep(struct order *ord, void (*passed)(void *arg, bool changes),
		void *arg);
void order_give_back(struct order *ord);
/* Returns the next record that order_next() will return later, each one once,
 * and its number (the first record has 1). NULL: none is decoded yet, or there
 * is no thread. Valid until order_next() has returned it. */
const struct record *order_peek(struct order *ord, uint64_t *number);
/* Returns the record that comes n >= 1 records after the last one returned, if
 * it is decoded and at hand: for prefetching what it will need. */
const struct record *order_soon(const struct order *ord, size_t n);
void order_pos(const struct order *ord, uint64_t *done, uint64_t *total);
/* Returns source i in the order of order_add(), or NULL. */
struct source *order_source(const struct order *ord, unsigned int i);
void order_free(struct order *ord);
