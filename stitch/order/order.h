/* order.h - many sources in, one time-ordered stream out.
 *
 * The order is (key, class, source, seq): one total order
 * (backstitch-formats(5), "Order of events"). Refs wait in one sorted run; new
 * ones are sorted and merged in when the floor has moved, at least as many at a
 * time as are waiting, so the cost per record is constant. More than the memory
 * limit goes as sorted runs of refs to a temporary file and is merged from
 * there: nothing is given out early. */
#ifndef STITCH_ORDER_ORDER_H
#define STITCH_ORDER_ORDER_H
#include <stdint.h>

struct clock_map;
struct err;
struct ledger;
struct order;
struct record;
struct source;

/* limit: bytes of waiting refs in memory (0: 256 MiB); temp_dir NULL: /tmp. */
struct order *order_new(struct ledger *lg, uint64_t limit,
			const char *temp_dir);
/* Takes the source over: order_free() closes it. Scan it before. */
void order_add(struct order *ord, struct source *src);
/* How source i's times get onto the timeline; after all are added and scanned,
 * before the first order_next(). Keeps no cost where it is not called: then
 * all are there already. What has no time is given out where its own source
 * starts. The first and last time in the source's info are moved too. */
void order_align(struct order *ord, unsigned int i,
		 const struct clock_map *map);
/* A time of a source, on the timeline. */
uint64_t order_time(const struct order *ord, uint16_t source, uint64_t t);
/* 1 a record, 0 the end, -1 an error. *rec holds until the next call. A
 * record older than one already given is still given: REC_F_LATE, late_ns,
 * and an entry in the ledger. Duplicates carry REC_F_DUPLICATE. Records that
 * cannot be decoded are damage in the ledger and are left out. */
int order_next(struct order *ord, struct record *rec, struct err *err);
void order_pos(const struct order *ord, uint64_t *done, uint64_t *total);
/* Source i as added; NULL when there is none. */
struct source *order_source(const struct order *ord, unsigned int i);
void order_free(struct order *ord);
#endif
