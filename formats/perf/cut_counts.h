/* cut_counts.h - counters in a stream that is cut, so that a piece can be read
 * alone.
 *
 * Values of counters in samples, and the sums of LOST_SAMPLES, are since the
 * recording began. A reader takes the first of them as they are, so that each
 * piece would count again what the pieces before it have. Therefore the records
 * of a piece are stored with values since the piece began. */
#pragma once
#include "formats/perf/cut_read.h"

struct cut_counts;

/* Borrows what reads the records. */
struct cut_counts *cut_counts_new(struct cut_read *read);
void cut_counts_free(struct cut_counts *c); /* NULL is fine */
/* Takes a sample or lost records of that piece. Returns what is to be stored,
 * of the same size: the record, or a copy that is valid until the next call. */
const void *cut_counts_take(struct cut_counts *c, const struct perf_rec *r,
			    const struct cut_stamp *stamp, uint32_t piece);
