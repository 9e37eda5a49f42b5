/* cut_state.h - what is known of a stream that is cut, so that a piece can be
 * read alone: the records of mappings, threads and kernel objects that it
 * begins with, and from where its counters count.
 *
 * Sets of mappings and of objects are in the order of arrival, because of
 * mappings that overlap the later one counts. Both are bounded: the oldest is
 * dropped and counted. All sets of a stream together are bounded too: what has
 * no room is dropped. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "stitch/base/table.h"
#include "formats/perf/perf.h"

struct record;

/* ---- reads records of a stream that is cut as its reader will: the
 * events, which say what is in the others, times, and records of threads and
 * their code.
 *
 * What the reader calls damaged is so here too. Otherwise a piece would begin
 * with a record that another one has as damage. */

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

/* The kernel allows a process 65530 mappings (vm.max_map_count). */
#define CUT_STATE_MAX ((size_t)1 << 16)
/* Bytes of all that is kept of a stream. Without this limit a FORK of 48 bytes
 * would add copies of all mappings of its parent, each up to 64 KiB. */
#define CUT_KEPT_MAX ((size_t)256 << 20)

/* What is kept of a stream: its bytes, and how many records were not kept, as
 * there were too many. All zeros at first. */
struct cut_kept {
	size_t bytes;
	uint64_t dropped;
};

/* What the kernel has under two numbers, and its record. */
struct cut_object {
	uint64_t a, b;
	unsigned char *record; /* NULL: it is gone */
	size_t size;
};

/* Kernel objects of one kind. All zeros is an empty set. */
struct cut_objects {
	struct cut_object *item;
	size_t n, cap, gone;
	struct table by_key;
};

/* Replaces the record of the object by o->record, of which it takes
 * ownership. */
void cut_objects_put(struct cut_objects *s, const struct cut_object *o,
		     struct cut_kept *k);
/* The kinds, in the order in which a piece begins with them. */
enum cut_kernel {
	CUT_MAPS,
	CUT_KSYMBOLS,
	CUT_BPF,
	CUT_CGROUPS,
	CUT_KERNEL,
};

/* Takes a KSYMBOL, BPF_EVENT or CGROUP record, which is not damaged, into the
 * set of its kind. */
void cut_objects_take(struct cut_objects kernel[CUT_KERNEL], struct cut_kept *k,
		      const struct perf_rec *r);
void cut_objects_release(struct cut_objects *s, struct cut_kept *k);
void cut_objects_write(const struct cut_objects *s, struct cut_read *read,
		       FILE *out);

/* The threads, with their names and mappings. A process lives as long as one of
 * its threads. A new thread has the name of the one that made it, a new process
 * the mappings of its parent. These are records and no regions of
 * stitch/tasks/: a piece needs the bytes as they were written, of all processes
 * at once and without rows of a database. */
struct cut_tasks;

/* Borrows both; what is kept counts in `kept`. */
struct cut_tasks *cut_tasks_new(struct cut_read *read, struct cut_kept *kept);
void cut_tasks_free(struct cut_tasks *c); /* NULL is fine */
/* Takes a COMM, an MMAP of a process, a FORK or an EXIT, and what is in it.
 * time: its own; 0: it has none. */
void cut_tasks_take(struct cut_tasks *c, const struct perf_rec *r,
		    const struct record *rec, uint64_t time);
/* Writes the names and mappings of all that live. */
void cut_tasks_write(const struct cut_tasks *c, FILE *out);

/* Values of counters in samples, and the sums of LOST_SAMPLES, are since the
 * recording began. A reader takes the first of them as they are, so that each
 * piece would count again what the pieces before it have. Therefore the records
 * of a piece are stored with values since the piece began. */
struct cut_counts;

/* Borrows what reads the records. */
struct cut_counts *cut_counts_new(struct cut_read *read);
void cut_counts_free(struct cut_counts *c); /* NULL is fine */
/* Takes a sample or lost records of that piece. Returns what is to be stored,
 * of the same size: the record, or a copy that is valid until the next call. */
const void *cut_counts_take(struct cut_counts *c, const struct perf_rec *r,
			    const struct cut_stamp *stamp, uint32_t piece);
