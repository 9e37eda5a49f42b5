/* report_rows.h - the rows of report: the weight of each key by itself, and
 * together with its callees.
 *
 * A function is one of the compiled program, with the functions inlined into
 * it, as perf report --no-inline counts; with KEY_INLINED inlined functions are
 * functions as well.
 *
 * A key counts once per sample, however often it is in the stack. The sum of
 * `self` over all rows is the weight of all samples, exactly. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/intern.h"

struct label;
struct label_list;
struct labels;
struct report_rows;
struct stacks;
struct trust;

enum report_key {
	KEY_COMM = 1 << 0,
	KEY_PID = 1 << 1,
	KEY_TID = 1 << 2,
	KEY_CPU = 1 << 3,
	KEY_DSO = 1 << 4,
	KEY_SYM = 1 << 5,
	KEY_VERDICT = 1 << 6,
	KEY_NODIGIT = 1 << 7,	/* with KEY_COMM: "<N>" for each number */
	KEY_INLINED = 1 << 8,	/* rows of inlined functions */
	KEY_LINE = 1 << 9,	/* needs REPORT_LINE_PARTS of the code */
	KEY_HITS = 1 << 10,	/* for report_rows.hit */
	KEY_GAPS = 1 << 11,	/* a row for missing callers */
	KEY_TRUST = 1 << 12,	/* needs the trust of report_rows_classed() */
	KEY_FIELD = 1 << 13,	/* needs stacks_opts.field */
	KEY_CGROUP = 1 << 14,	/* with KEY_FIELD: it is the cgroup */
	KEY_PARALLEL = 1 << 15, /* with KEY_FIELD: how many threads ran */
};

/* For stacks_opts.code. */
#define REPORT_LINE_PARTS (CODE_LINES | CODE_INLINED)

/* Fields of keys that were not asked for are 0. */
struct report_row {
	uint32_t comm;	/* for report_label() */
	uint32_t label; /* for report_label(); if only KEY_LINE is of code:
			 * only of frames without a line */
	uint32_t file;	/* for report_label(); its name is "": no line */
	uint32_t line;
	int64_t pid, tid;
	int32_t cpu;
	uint32_t verdict, trust; /* for report_label() */
	uint32_t field;		 /* for report_label() */
	uint64_t self, total;	 /* weight */
	uint64_t least; /* the certain part of self: stacks_group.least */
	uint64_t n_self, n_total; /* samples */
	uint64_t n_interrupt;	  /* with KEY_HITS: part of n_total with an
				   * interrupt in the stack */
	uint64_t seen;		  /* stamp of the last stack that was counted */
};

/* Counts the samples of an event, or of all events if it is -1. stacks are
 * borrowed until report_rows_free() frees the result. */
struct report_rows *report_rows_new(struct stacks *s, int event,
				    unsigned int keys);
/* Does the same with KEY_TRUST; trust, of the same stacks, is borrowed for the
 * call. */
struct report_rows *report_rows_classed(struct stacks *s, int event,
					unsigned int keys, struct trust *trust);
/* Makes rows of code, without a sample. labels are borrowed until
 * report_rows_free(), and keys has no key of threads. */
struct report_rows *report_rows_empty(const struct labels *labels,
				      unsigned int keys);
/* Counts samples of one stack, outermost frame first. Labels of threads are not
 * counted, nor inlined ones without KEY_INLINED. group: goes to
 * report_rows.hit. */
void report_rows_add(struct report_rows *r, uint32_t group,
		     const struct label_list *l, uint64_t weight,
		     uint64_t samples);
void report_rows_free(struct report_rows *r);
/* Sorts by self or by total, largest first; equal rows by name. */
void report_rows_sort(struct report_rows *r, bool by_total);
/* Returns a label of the rows, borrowed. */
const struct label *report_label(const struct report_rows *r, uint32_t i);
#define REPORT_NONE UINT32_MAX
/* Returns the row for which frames with a label count, if all keys are of code;
 * REPORT_NONE if there is none. Call it before report_rows_sort(). */
uint32_t report_rows_of_label(struct report_rows *r, uint32_t label);

/* The samples of a group that count for the self or the total of a row. */
struct report_hit {
	uint32_t group, row; /* row: an index */
	bool self;
};

/* A stack that was counted with KEY_HITS: its hits end before `end`, and begin
 * where those of the stack before end; outermost first, the last one is of
 * self. */
struct report_stack {
	size_t end;
	uint64_t weight, samples;
	uint32_t leaf; /* row of the innermost user function; or REPORT_NONE */
	bool lacks;    /* a caller is missing: it has a gap (see
			* stack_names_opts.gaps), a bogus frame, or one user
			* function only */
};

/* Numbers of samples whose stack is not completely known. */
struct report_missing {
	uint64_t half;	 /* nothing of the user half is known */
	uint64_t leaf;	 /* of these, those taken in user code */
	uint64_t user;	 /* a part of the user half, or all of it, is missing */
	uint64_t kernel; /* a part of the kernel half is missing */
};

/* Read only. */
struct report_rows {
	struct report_row *row;
	size_t n, cap;
	uint64_t weight;
	struct report_missing missing;
	/* With KEY_HITS, until report_rows_sort(). */
	struct report_hit *hit;
	size_t n_hit, cap_hit;
	struct report_stack *stack;
	size_t n_stack, cap_stack;
	/* for report_rows.c only */
	struct stacks *stacks;	    /* NULL: made by report_rows_empty() */
	const struct labels *names; /* of the frames */
	struct trust *trust;	    /* set while samples are counted by class */
	unsigned int keys;
	struct labels *labels; /* names of rows */
	uint32_t *row_label; /* label of rows + 1 by label of stacks; 0: not yet
			      * known */
	size_t n_label, cap_label;
	/* If all keys are of code: row + 1 by label, 0: none. Otherwise index
	 * has the rows. Both until row[] is sorted. */
	uint32_t *row_of;
	size_t n_row_of, cap_row_of;
	uint32_t *row_of_frame; /* row + 1 by frame of plain stacks, 0: none */
	struct intern index;
	uint64_t stamp; /* of the last stack that was counted */
};

/* Returns the callers of `func` (of its outermost frame in each stack) or its
 * callees (of its innermost frame): rows with `total` only, whose sum is the
 * weight of `func`. The weight without callees is the row "[self]"; if func has
 * no caller, the row is "[nobody]"; if the caller is missing, "[caller missing]
 * < NAME" with the next function that is known, for callees "[caller missing] >
 * NAME". keys: KEY_INLINED, or 0. */
struct report_rows *report_around_new(struct stacks *s, int event,
				      const char *func, bool callers,
				      unsigned int keys);
