/* cut_read.h - reads records of a stream that is cut as its reader will: the
 * events, which say what is in the others, times, and records of threads and
 * their code.
 *
 * What the reader calls damaged is so here too. Otherwise a piece would begin
 * with a record that another one has as damage. */
#pragma once
#include <stdio.h>

#include "formats/perf/perf.h"

/* What a record tells besides its contents. */
struct cut_stamp {
	uint64_t time; /* 0: unknown */
	/* of lost records alone */
	int32_t cpu; /* -1: unknown */
	uint64_t id; /* 0: unknown */
};

/* A reader that has no file: it is given one record after the other. */
struct cut_read {
	struct perf p;
	struct perf_file file; /* for the times before that of a record */
	bool records;	       /* there were some of the kernel */
	bool counts;	       /* samples may have values of counters */
	bool late; /* an event, or the kind of machine, came after them */
};

/* path is for messages; borrowed. */
struct cut_read *cut_read_new(const char *path, bool big_endian);
void cut_read_free(struct cut_read *c); /* NULL is fine */
/* Takes a record of the session, without a payload. Returns 0, or -1 and *err:
 * it is damaged, though what was read of it may count. */
int cut_read_session(struct cut_read *c, const struct perf_rec *r,
		     struct err *err);
/* Returns the CPU of an id; -1: unknown, or any. */
int32_t cut_read_cpu(struct cut_read *c, uint64_t id);
/* Reads what a record of the kernel tells besides its contents; nothing of a
 * type that is unknown. Returns 0, or -1 and *err: its size or time is
 * damaged. */
int cut_read_stamp(struct cut_read *c, const struct perf_rec *r,
		   struct cut_stamp *out, struct err *err);
/* Decodes a record of the kernel that is no sample. *rec borrows its bytes.
 * Returns 0, or -1 and *err: it is damaged. */
int cut_read_decode(struct cut_read *c, const struct perf_rec *r,
		    struct record *rec, struct err *err);
/* Returns a copy of such a record, which is not damaged, as perf record writes
 * it for what was there before it began: without time, and without CPU and
 * event if those of the first event have the same places. The caller frees it.
 */
unsigned char *cut_read_copy(struct cut_read *c, const struct perf_rec *r);
/* Writes a record that cut_read_decode() has decoded, unless an event or the
 * kind of machine came after it by which it is damaged: a piece begins with
 * all of these. */
void cut_read_write(struct cut_read *c, const void *record, size_t size,
		    FILE *out);
