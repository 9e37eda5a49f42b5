/* cut.h - cuts a stream of perf record -o - into streams that can be read
 * alone.
 *
 * perf_cut_take() looks at one record after the other, which the caller stores
 * as they are. perf_cut_head() gives what a new piece begins with: the header,
 * the events, and the names and mappings of all threads that live, as perf
 * record writes them at its start. Memory grows with the threads that live and
 * their mappings, up to a limit (CUT_KEPT_MAX), beyond which they are dropped
 * and counted.
 *
 * Mapping records are never undone: of a process that maps other files all the
 * time, those that later mappings cover are left out. Of one process, and of
 * each kind of kernel object, the newest 65536 are kept. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/perf/cut_mark.h"

struct err;
struct perf_cut;

/* What is known of the stream, and of the record that was taken last. */
struct perf_cut_taken {
	bool begun;    /* the header of the stream was taken */
	bool rounds;   /* the stream has rounds */
	bool is_state; /* the record is about threads or their code */
	/* it is a compressed one, which is not stored: the records in it are
	 * taken one by one, before the next one of the stream */
	bool is_packed;
	/* What a piece has of the record: itself, or a copy of the same size
	 * with the counts of this piece alone; NULL: nothing, as it is a mark
	 * of another cut. Valid until the next call of perf_cut_take(). */
	const void *stored;
	/* Records that were taken for which a piece is made: all but those of
	 * the session, names, mappings and threads, with which the next piece
	 * begins anyway. */
	uint64_t events;
};

/* path is for messages; copied. */
struct perf_cut *perf_cut_new(const char *path);
void perf_cut_free(struct perf_cut *c); /* NULL is fine */
/* Looks at the record at the begin of len bytes, and at the samples right
 * after a sample, if nothing differs in what is done with them. Returns 1 and
 * the length in *used; 0 if it is not whole, and the bytes that are needed in
 * *used; -1 and *err if this is no such stream, or, when it has begun, if the
 * size of the record is damaged: nothing tells where the next one is. A record
 * that is damaged otherwise is stored as it is. */
int perf_cut_take(struct perf_cut *c, const void *data, size_t len,
		  uint64_t *used, struct err *err);
const struct perf_cut_taken *perf_cut_taken(const struct perf_cut *c);
/* Returns the offset in the stream after the record that was taken last; of
 * one that was compressed, that of the compressed record. */
uint64_t perf_cut_off(const struct perf_cut *c);
/* Of a compressed record: stores the next bytes of the records in it, and those
 * that were not used before. Returns 1, 0 if there are no more, -1 and *err if
 * the rest of it is damaged, as all that is compressed after it is then. What
 * is left belongs to the next compressed record. */
int perf_cut_unpack(struct perf_cut *c, const unsigned char **data, size_t *len,
		    struct err *err);
/* Says how many of these bytes were taken. */
void perf_cut_unpacked(struct perf_cut *c, size_t n);
/* Returns whether the stream cannot have ended here: it lacks part of a
 * compressed record or of what follows a record. */
bool perf_cut_is_open(const struct perf_cut *c);
/* Returns whether a piece may end after the record that was taken last: a
 * round has ended there, or the stream has none. */
bool perf_cut_may_end(const struct perf_cut *c);
/* Returns whether that record is not later than the newest one before the last
 * head, and the piece before that head has no end so far. The ring of one CPU
 * may be read a round later than that of another: in the round after its end,
 * a piece gets these records, so that nothing of its time is missing. The next
 * piece needs them only if they are about threads or code. Such a record
 * without a time is taken for old. */
bool perf_cut_is_old(const struct perf_cut *c);
/* Returns a number of the place after the record that was taken last: another
 * place of this stream or of another one has another number. */
uint64_t perf_cut_place(const struct perf_cut *c);
/* Writes what a piece begins with, at that place; 0: nothing is before it.
 * Errors are those of the stream. */
void perf_cut_head(struct perf_cut *c, uint64_t place, FILE *out);
/* Writes a mark, if the stream has begun. place: of where a piece begins or
 * ends. */
void perf_cut_mark(struct perf_cut *c, enum perf_cut_mark mark, uint64_t place,
		   FILE *out);
/* Returns the number of records that were not kept for later pieces, because
 * there were too many: mappings, threads and kernel objects. */
uint64_t perf_cut_dropped(const struct perf_cut *c);
/* Returns the number of records that were damaged, and stores what the first
 * one lacked, if there is one. */
uint64_t perf_cut_damaged(const struct perf_cut *c, struct err *first);
