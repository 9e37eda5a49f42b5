/* cut_state.h - the state of a stream that is cut, so that a piece can be read
 * separately: the records of mappings, threads and kernel objects that it
 * begins with, and the start values of its counters.
 *
 * Sets of mappings and of objects are in the order of arrival, because of
 * mappings that overlap the later one holds. Each set is bounded: its oldest
 * record is dropped and counted. All sets of a stream together are bounded too:
 * what has no room is dropped. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "stitch/base/table.h"
#include "formats/perf/perf.h"

struct record;

/* ---- reads records of a cut stream in the same way as its reader: the events,
 * which determine the layout of the others, times, and records of threads and
 * their code.
 *
 * What the reader calls damaged is damaged here too. Otherwise a piece would
 * begin with a record that is damage in another piece. */

/* The common values of a record. */
struct cut_stamp {
	uint64_t time; /* 0: unknown */
	/* Only of lost records: */
	int32_t cpu; /* -1: unknown */
	uint64_t id; /* 0: unknown */
};

/* A reader without a file: it is given one record after the other. */
struct cut_read {
	struct perf p;
	struct perf_file file; /* its `near` checks times */
	bool records;	       /* records of the kernel were read */
	bool counts;	       /* samples may have values of counters */
	bool late; /* an event, or the kind of machine, was read after them */
};

/* Returns a reader, for cut_read_free(). path is for messages; borrowed. */
struct cut_read *cut_read_new(const char *path, bool big_endian);
void cut_read_free(struct cut_read *c); /* NULL is allowed */
/* Takes a session record, without a payload. Returns 0, or -1 and *err if it is
 * damaged; what was read of it may still count. */
int cut_read_session(struct cut_read *c, const struct perf_rec *r,
		     struct err *err);
/* Sets *out from a record of the kernel; nothing is set for an unknown type.
 * Returns 0, or -1 and *err if its size or time is damaged. */
int cut_read_stamp(struct cut_read *c, const struct perf_rec *r,
		   struct cut_stamp *out, struct err *err);
/* Decodes a record of the kernel that is not a sample. *rec borrows its bytes.
 * Returns 0, or -1 and *err if it is damaged. */
int cut_read_decode(struct cut_read *c, const struct perf_rec *r,
		    struct record *rec, struct err *err);
/* Returns a copy of such an undamaged record, in the form that perf record
 * writes at its start: without time, and without CPU and event if those of the
 * first event have the same places. The caller frees it. */
unsigned char *cut_read_copy(struct cut_read *c, const struct perf_rec *r);
/* Writes a record that cut_read_decode() has decoded, unless an event or the
 * kind of machine that was read later makes it damaged: a piece begins with all
 * of these. */
void cut_read_write(struct cut_read *c, const void *record, size_t size,
		    FILE *out);

/* The kernel allows a process 65530 mappings (vm.max_map_count). */
#define CUT_STATE_MAX ((size_t)1 << 16)
/* The most bytes that are kept of a stream. Without this limit a FORK of 48
 * bytes would add copies of all mappings of its parent, each up to 64 KiB. */
#define CUT_KEPT_MAX ((size_t)256 << 20)

/* How much is kept of a stream: bytes, and how many records were dropped
 * because there were too many. All zeros at first. */
struct cut_kept {
	size_t bytes;
	uint64_t dropped;
};

/* A kernel object with two numbers as its key, and its record. */
struct cut_object {
	uint64_t a, b;
	unsigned char *record; /* NULL: the object was removed */
	size_t size;
};

/* Kernel objects of one kind. All zeros is an empty set. */
struct cut_objects {
	struct cut_object *item;
	size_t n, cap, gone;
	struct table by_key;
};

/* Replaces the record of the object by o->record, and takes ownership of
 * that. */
void cut_objects_put(struct cut_objects *s, const struct cut_object *o,
		     struct cut_kept *k);
/* The kinds, in the order in which they are at the start of a piece. */
enum cut_kernel {
	CUT_MAPS,
	CUT_KSYMBOLS,
	CUT_BPF,
	CUT_CGROUPS,
	CUT_KERNEL,
};

/* Takes an undamaged KSYMBOL, BPF_EVENT or CGROUP record into the set of its
 * kind. */
void cut_objects_take(struct cut_objects kernel[CUT_KERNEL], struct cut_kept *k,
		      const struct perf_rec *r);
void cut_objects_release(struct cut_objects *s, struct cut_kept *k);
void cut_objects_write(const struct cut_objects *s, struct cut_read *read,
		       FILE *out);

/* The threads, with their names and mappings. A process lives as long as one of
 * its threads. A new thread has the name of its creator, a new process the
 * mappings of its parent. These are records and not regions of stitch/tasks/: a
 * piece needs the bytes as they were written, of all processes at once and
 * without rows of a database. */
struct cut_tasks;

/* Borrows both arguments; what is kept is counted in `kept`. */
struct cut_tasks *cut_tasks_new(struct cut_read *read, struct cut_kept *kept);
void cut_tasks_free(struct cut_tasks *c); /* NULL is allowed */
/* Takes a COMM, an MMAP of a process, a FORK or an EXIT, decoded in *rec. time:
 * its own; 0: it has none. */
void cut_tasks_take(struct cut_tasks *c, const struct perf_rec *r,
		    const struct record *rec, uint64_t time);
/* Writes the names and mappings of all live threads. */
void cut_tasks_write(const struct cut_tasks *c, FILE *out);

/* Values of counters in samples, and the sums of LOST_SAMPLES, are since the
 * start of the recording. A reader uses the first of them as they are, so each
 * piece would count again what earlier pieces have. Therefore the records of a
 * piece are stored with values since its start. */
struct cut_counts;

/* Returns the counts, for cut_counts_free(). Borrows `read`. */
struct cut_counts *cut_counts_new(struct cut_read *read);
void cut_counts_free(struct cut_counts *c); /* NULL is allowed */
/* Takes a sample or lost records of that piece. Returns the bytes to store, of
 * the same size: the record, or a copy that is valid until the next call. */
const void *cut_counts_take(struct cut_counts *c, const struct perf_rec *r,
			    const struct cut_stamp *stamp, uint32_t piece);
