/* waits_part.h - what may be missing in the events that report the waits of a
 * kernel, and the waits that kernels measured. For waits.c only. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/causes/causes.h"

struct waits_reported;

/* Times in which records may be missing: disjoint, ordered. */
struct waits_lost {
	struct waits_span {
		int64_t from, to;
	} * span;
	size_t n, cap;
};

/* A thread; one of its id begins where another one has ended. */
struct waits_life {
	int64_t tid, from, to;
};

/* The waits of a kernel as its switches tell them, or of one capture as the
 * kernel measured them (perf record --off-cpu): a wait, or a sum of them. */
struct waits_part {
	const struct causes_kernel *kernel;    /* NULL: measured, */
	const struct causes_capture *measured; /* by this one */
	int64_t start, end;
	/* when it is loaded: */
	struct waits_lost lost; /* on any CPU */
	struct waits_lost *of; /* on CPU i - 1; [0]: on one that is not known */
	size_t n_of, cap_of;
	uint64_t records;	 /* that were lost, */
	bool some_unknown;	 /* next to losses without a number */
	struct waits_life *life; /* by id, then by time */
	size_t n_life, cap_life;
	struct rows *rows;	     /* of measured waits */
	struct waits_reported *told; /* by those in front of this one */
	size_t n_told, cap_told;
};

/* A wait that the kernel measured, or a sum of several. */
struct waits_measured {
	int64_t event, tid;
	int64_t from, to; /* of a sum 0, and how long */
	int64_t ns;
	bool sum;
	struct offcpu_stack stack;
	/* Another capture of the same kernel reports it too, or of a part of
	 * the sum. A capture reports a wait if it was recording when the wait
	 * began: of its end it then tells too, or says that it is open or
	 * uncertain. Of a wait that was under way when recording began it has
	 * no more than the return, which is not counted. */
	bool told;
};

struct waits_parts {
	struct causes_spans *spans;
	struct waits_part *part;
	size_t n, cap;
};

/* Finds the kernels with context switches, and after all of these the captures
 * with measured waits. Returns 0, or -1 and *err. */
int waits_parts_load(struct waits_parts *p, struct store *db, struct err *err);
void waits_parts_release(struct waits_parts *p);
/* Loads what a part lost, and which threads exited, and opens measured waits.
 */
int waits_part_load(struct waits_parts *all, size_t i, struct store *db,
		    struct err *err);
/* Returns 1 and the next measured wait, 0 at the end, or -1 and *err. */
int waits_part_next(struct waits_part *p, struct waits_measured *out,
		    struct err *err);
void waits_part_release(struct waits_part *p);
/* Returns whether a switch between from and to may have been lost: on this CPU,
 * or on any (-1); and then in which part of that
 * time at most, unless `in` is NULL. */
bool waits_part_lost(const struct waits_part *p, int32_t cpu, int64_t from,
		     int64_t to, struct waits_span *in);
/* Returns when the thread that had this id at a time exited; INT64_MAX: no
 * record says that it did. */
int64_t waits_part_exit(const struct waits_part *p, int64_t tid, int64_t time);
/* Returns when it was born; INT64_MIN: no record says that it was. */
int64_t waits_part_born(const struct waits_part *p, int64_t tid, int64_t time);
