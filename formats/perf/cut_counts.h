/* cut_counts.h - counters in a stream that is cut, so that a piece can be read
 * alone.
 *
 * Values of counters in samples, and the sums of LOST_SAMPLES, are since the
 * recording began. A reader takes the first of them as they are, so that each
 * piece would count again what the pieces before it have. Therefore the records
 * of a piece are stored with values since the piece began. */
#ifndef FORMATS_PERF_CUT_COUNTS_H
#define FORMATS_PERF_CUT_COUNTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes;
struct cut_counts;

/* What a record tells beside its contents. */
struct cut_stamp {
	uint64_t time; /* 0: unknown */
	int32_t cpu;   /* -1: unknown */
	uint64_t id;   /* 0: unknown; not of samples */
};

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

struct cut_counts *cut_counts_new(bool big_endian);
void cut_counts_free(struct cut_counts *c); /* NULL is fine */
/* Reads a record of the kernel, b is behind its header. Nothing is known of it
 * if the events of the stream have times, CPUs and ids at different places. */
void cut_counts_stamp(const struct cut_counts *c, uint32_t type,
		      const struct bytes *b, struct cut_stamp *out);
/* Returns the bytes of what ends each record but samples; 0: unknown. */
size_t cut_counts_trailer(const struct cut_counts *c);
/* Takes a record of an event, the ids, a sample or lost records. Returns what
 * is to be stored, of the same size: the record, or a copy that is valid until
 * the next call. */
const void *cut_counts_take(struct cut_counts *c, const struct cut_counted *r);
#endif
