/* cut.h - cuts a stream of perf record -o - into streams that can be read
 * separately.
 *
 * perf_cut_take() looks at one record after the other, which the caller stores
 * as they are. perf_cut_head() writes the start of a new piece: the header, the
 * events, and the names and mappings of all live threads, as perf record writes
 * them at its start. Memory grows with the live threads and their mappings, up
 * to a limit (CUT_KEPT_MAX), beyond which they are dropped and counted.
 *
 * No record undoes a mapping: if a process maps other files all the time, the
 * mappings that later ones cover are left out. For each process, and for each
 * kind of kernel object, the newest 65536 are kept. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/perf/cut_mark.h"

struct err;
struct perf_cut;

/* The state of the stream, and the record that was taken last. */
struct perf_cut_taken {
	bool begun;    /* the header of the stream was taken */
	bool rounds;   /* the stream has FINISHED_ROUND records */
	bool is_state; /* the record is about threads or their code */
	/* The record is a compressed one, which is not stored: the records in
	 * it must be taken one by one, before the next one of the stream. */
	bool is_packed;
	/* What a piece stores for the record: the record itself, or a copy of
	 * the same size with the counts of this piece only. NULL: nothing, as
	 * the record is a mark of another cut. Valid until the next call of
	 * perf_cut_take(). */
	const void *stored;
	/* How many records were taken that need a piece: all but those of the
	 * session, names, mappings and threads, with which the next piece
	 * begins anyway. */
	uint64_t events;
};

/* Returns a cutter, for perf_cut_free(). path is for messages; it is copied. */
struct perf_cut *perf_cut_new(const char *path);
void perf_cut_free(struct perf_cut *c); /* NULL is allowed */
/* Takes the record at the start of len bytes and, after a sample, the samples
 * that directly follow and are handled the same. Returns 1 and sets *used to
 * the length; 0 if the record is incomplete, with *used the bytes that are
 * needed; -1 and *err if this is no such stream, or if the size of a later
 * record is damaged, so that the next record cannot be found. A record that is
 * damaged otherwise is stored as it is. */
int perf_cut_take(struct perf_cut *c, const void *data, size_t len,
		  uint64_t *used, struct err *err);
const struct perf_cut_taken *perf_cut_taken(const struct perf_cut *c);
/* Returns the offset in the stream after the record that was taken last; for
 * one inside a compressed record, the offset of the compressed record. */
uint64_t perf_cut_off(const struct perf_cut *c);
/* Of a compressed record: sets *data and *len to the next unpacked bytes, with
 * those before that were not used. Returns 1; 0 if there are no more; -1 and
 * *err if the rest of it is damaged, and with it all later compressed data.
 * Bytes that are left belong to the next compressed record. */
int perf_cut_unpack(struct perf_cut *c, const unsigned char **data, size_t *len,
		    struct err *err);
/* Marks n of these bytes as taken. */
void perf_cut_unpacked(struct perf_cut *c, size_t n);
/* Returns whether the stream is incomplete if it ends here: part of a
 * compressed record or of a payload is missing. */
bool perf_cut_is_open(const struct perf_cut *c);
/* Returns whether a piece may end after the record that was taken last: a round
 * has ended there, or the stream has no rounds. */
bool perf_cut_may_end(const struct perf_cut *c);
/* Returns whether that record is not later than the newest one before the last
 * head, and the piece before that head has no end so far. The ring of one CPU
 * may be read a round later than that of another: in the round after its end, a
 * piece gets these records, so that nothing of its time is missing. The next
 * piece needs them only if they are about threads or code. A record without a
 * time counts as old. */
bool perf_cut_is_old(const struct perf_cut *c);
/* Returns a number for the place after the record that was taken last. Every
 * other place, in this or another stream, has another number. */
uint64_t perf_cut_place(const struct perf_cut *c);
/* Writes the start of a piece, at that place; 0: nothing precedes it. Errors
 * are those of `out`. */
void perf_cut_head(struct perf_cut *c, uint64_t place, FILE *out);
/* Writes a mark, if the stream has begun. place: where a piece begins or
 * ends. */
void perf_cut_mark(struct perf_cut *c, enum perf_cut_mark mark, uint64_t place,
		   FILE *out);
/* Returns how many records were not kept for later pieces, because there were
 * too many: mappings, threads and kernel objects. */
uint64_t perf_cut_dropped(const struct perf_cut *c);
/* Returns how many records were damaged, and sets *first to the error of the
 * first one if there is any. */
uint64_t perf_cut_damaged(const struct perf_cut *c, struct err *first);
