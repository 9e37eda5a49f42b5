/* cut_counts.h - counters in a stream that is cut, so that a piece can be read
 * alone.
 *
 * Values of counters in samples, and the sums of LOST_SAMPLES, are since the
 * recording began. A reader takes the first of them as they are, so that each
 * piece would count again what the pieces before it have. Therefore the records
 * of a piece are stored with values since the piece began. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/perf/cut_read.h"

struct cut_counts;

/* A record of the stream, with its header, and the number of the piece that it
 * belongs to. */
struct cut_counted {
	uint32_t type;
	uint16_t misc;
	const void *data;
	size_t size;
	uint32_t piece;
	struct cut_stamp stamp;
};

/* Borrows what reads the records. */
struct cut_counts *cut_counts_new(struct cut_read *read);
void cut_counts_free(struct cut_counts *c); /* NULL is fine */
/* Takes a sample or lost records; a: the event of a sample, NULL if it is
 * unknown or has no counters. Returns what is to be stored, of the same size:
 * the record, or a copy that is valid until the next call. */
const void *cut_counts_take(struct cut_counts *c, const struct cut_counted *r,
			    const struct perf_attr *a);
