/* report.h - the tables of the command report. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/diffs/compare.h"
#include "analyze/names/name_opts.h"
#include "analyze/waits/traced.h"

struct diff_limit;
struct grid;
struct grid_column;
struct json;
struct offcpu_sums;
struct report_row;
struct report_rows;
struct sides;
struct trust;

struct report_opts {
	/* opens the recordings that are compared */
	compare_open_fn *open;
	const void *open_arg;
	const struct filter *filter; /* selects samples; borrowed */
	unsigned int keys;	     /* enum report_key */
	const char *format;	     /* "table" has text around it */
	size_t limit;		     /* rows; SIZE_MAX: all */
	bool off_cpu, wall;	     /* waits, or waits with samples */
	bool by_samples, by_total, self_only;
	bool by_wall;  /* weights are divided by how many threads ran */
	bool inlined;  /* show inlined functions, as rows with KEY_INLINED */
	bool graph;    /* also the call tree */
	bool inverted; /* from what was hit to its callers */
	size_t depth;  /* of the tree; 0: all */
	bool below;    /* only the tree, below a table of waits */
	struct json *json; /* with below: the tree's JSON; NULL: text */
	bool top;	   /* do not mention rows that are left out */
	const char *callers, *callees; /* a function; NULL: none */
	const char *weight, *field;    /* as in struct weight_by */
	struct name_opts names;
	const int64_t *wall_clock; /* of report_offcpu(): wall_clock_take() */
	/* of report_diff() */
	bool absolute;
	struct match_opts match;
	struct diff_limit *fail; /* limit of growth; borrowed */
};

/* Prints rows by self or total weight, or the callers or callees of one
 * function. Returns 0, or -1 and *err. */
int report_table(struct store *db, const char *path,
		 const struct report_opts *o, struct err *err);
/* Command diff: what changed between two recordings, or between the runs of
 * two. Returns an enum status, or -1 and *err. */
int report_diff(const struct sides *s, const struct report_opts *o,
		struct err *err);
/* report --off-cpu: the sums of each cause and place, or of each thread with
 * key comm alone, and the longest waits, `limit` of both; only the sums as CSV.
 * Returns 0, or -1 and *err. */
int report_offcpu(struct store *db, const char *path,
		  const struct report_opts *o, struct err *err);

/* Command sched: what each thread did, the longest times that it was ready,
 * and what it was blocked for. Returns 0, or -1 and *err. */
struct sched_opts {
	const struct filter *filter; /* selects samples; borrowed */
	const char *format;
	size_t limit;	   /* rows; SIZE_MAX: all */
	const char *order; /* "max", ...; NULL: "max" */
	struct name_opts names;
	const int64_t *wall; /* wall_clock_take() */
};
int report_sched(struct store *db, const char *path, const struct sched_opts *o,
		 struct err *err);

/* Command latency: how long pairs of events took. Returns an enum status, or -1
 * and *err. */
struct latency_opts {
	const struct filter *filter; /* selects intervals by their start;
				      * borrowed */
	const char *format;
	size_t limit;		 /* rows; SIZE_MAX: all */
	size_t each;		 /* rows of each kind in the table, those that
				  * may be idle last; 0: all rows, in one
				  * order */
	const char *kind;	 /* NULL: all that were recorded */
	const char *const *pair; /* as in intervals.h */
	size_t n_pair;
	const char *by;	      /* "name", "kind", "comm", "tid", "pid", "cpu",
			       * "behind", or: */
	const char *by_field; /* as in struct intervals_ask; or NULL */
	const char *name;     /* only intervals of this name; NULL: all */
	const char *order;    /* a column */
	size_t worst;	      /* how many of the longest; 0: none */
	bool histogram;
	int64_t fail;		/* ns that a row must not certainly exceed; -1:
				 * none */
	unsigned int per_mille; /* the percentile of the row for `fail` */
	const int64_t *wall;	/* wall_clock_take() */
};
int report_latency(struct store *db, const char *path,
		   const struct latency_opts *o, struct err *err);

/* Writes "capture: perf.data of host", without a line feed. */
void report_put_capture(FILE *out, const char *path, const char *host);
/* Writes "lost records: 12 and an unknown number more", and a line feed. */
void report_put_lost(FILE *out, uint64_t lost, bool unknown);

struct report {
	struct store *db;
	int served; /* it has the sums of a server; report_load_head() */
	struct stacks *stacks;
	/* by function and image, not sorted; NULL: the table has other keys */
	struct report_rows *rows;
	struct trust *trust; /* of the samples that are counted */
	const char *path;
	const struct report_opts *o;
	int event; /* -1: all, added up */
	uint64_t weight, samples;
	uint64_t lost;			 /* records, as check counts them */
	bool lost_unknown;		 /* and an unknown number more */
	const struct offcpu_sums *waits; /* of --wall; NULL: none */
	/* with by_wall: the part of the weight that is certain, and the part
	 * for which the number of threads that ran is a range */
	uint64_t least, ranged;
	struct traced traced;
	bool people; /* format is "table", with text around it */
};

/* Reads the facts of the lines above the table: trust and lost records. Returns
 * 0, or -1 and *err. */
int report_load_head(struct report *rp, struct err *err);
/* Prints the lines above the table. Returns 0, or -1 and *err. */
int report_print_head(const struct report *rp, struct err *err);
/* Writes these lines as JSON members. Returns 0, or -1 and *err. */
int report_head_json(const struct report *rp, struct json *j, struct err *err);
/* Returns the sums of the event, borrowed, if it is of one of ftrace's own
 * tracers; else NULL. */
const struct traced_sums *report_traced(const struct report *rp);
/* Returns whether no key tells threads of one name, CPUs or verdicts apart: for
 * stacks_opts.summed. */
bool report_summed(const struct report_opts *o);
/* The columns of the keys that are not code, and their cells in one row.
 * report_key_columns() returns how many there are. */
size_t report_key_columns(unsigned int keys, struct grid_column *col);
void report_key_cells(struct grid *g, unsigned int keys,
		      const struct report_rows *of,
		      const struct report_row *row);
