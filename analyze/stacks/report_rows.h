/* report_rows.h - the rows of report: the weight of each key by itself, and
 * together with its callees.
 *
 * A function is one of the compiled program, with what was inlined into it, as
 * perf report --no-inline counts; with KEY_INLINED inlined functions are
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
	KEY_GAPS = 1 << 11,	/* a row of callers that are missing */
	KEY_TRUST = 1 << 12,	/* needs the trust of report_rows_classed() */
	KEY_FIELD = 1 << 13,	/* needs stacks_opts.field */
	KEY_CGROUP = 1 << 14,	/* with KEY_FIELD: it is the cgroup */
	KEY_PARALLEL = 1 << 15, /* likewise: how many threads ran */
};

/* For stacks_opts.code. */
#define REPORT_LINE_PARTS (CODE_LINES | CODE_INLINED)

/* Fields of keys that were not asked for are 0. */
struct report_row {
	uint32_t comm;	/* for report_label() */
	uint32_t label; /* for report_label(); with KEY_LINE of frames without
			 * a line, where no other key is of code */
	uint32_t file;	/* for report_label(); the name is "": no line */
	uint32_t line;
	int64_t pid, tid;
	int32_t cpu;
	uint32_t verdict, trust;  /* for report_label() */
	uint32_t field;		  /* likewise */
	uint64_t self, total;	  /* weight */
	uint64_t least;		  /* of self: stacks_group.least */
	uint64_t n_self, n_total; /* samples */
	uint64_t n_interrupt;	  /* with KEY_HITS: of n_total, with an
				   * interrupt in the stack */
	uint64_t seen;		  /* the last group that was counted */
};

/* Counts the samples of an event, of all if it is -1. Borrows stacks until
 * report_rows_free(). */
struct report_rows *report_rows_new(struct stacks *s, int event,
				    unsigned int keys);
/* Likewise; borrows trust, of the same stacks, while it counts. */
struct report_rows *report_rows_classed(struct stacks *s, int event,
					unsigned int keys, struct trust *trust);
/* Makes rows of code, without a sample; labels are borrowed until
 * report_rows_free(), and keys has no key of threads. */
struct report_rows *report_rows_empty(const struct labels *labels,
				      unsigned int keys);
/* Counts samples of one stack, outermost frame first. Labels of threads are
 * not counted, nor inlined ones without KEY_INLINED. group: where they are
 * from, for report_rows.hit. */
void report_rows_add(struct report_rows *r, uint32_t group,
		     const struct label_list *l, uint64_t weight,
		     uint64_t samples);
void report_rows_free(struct report_rows *r);
/* Sorts by self or by total, largest first; equal rows by name. */
void report_rows_sort(struct report_rows *r, bool by_total);
const struct label *report_label(const struct report_rows *r, uint32_t i);
#define REPORT_NONE UINT32_MAX
/* Returns the row, of rows of code only, that the frames with a label count
 * for; REPORT_NONE if there is none. No report_rows_sort() before it. */
uint32_t report_rows_of_label(struct report_rows *r, uint32_t label);

/* The samples of a group that count for the self or the total of a row. */
struct report_hit {
	uint32_t group, row; /* row: an index */
	bool self;
};

/* A stack that was counted with KEY_HITS: its hits are those before `end`, from
 * the end of the stack before; outermost first, the last one is of self. */
struct report_stack {
	size_t end;
	uint64_t weight, samples;
	uint32_t leaf; /* row of the innermost user function; REPORT_NONE */
	bool lacks;    /* a caller is missing: it has a gap (see
			* stack_names_opts.gaps), a bogus frame, or one user
			* function only */
};

/* Samples of which a part of the stack is not known. */
struct report_missing {
	uint64_t half;	 /* nothing is known of the user half */
	uint64_t leaf;	 /* of these, how many were taken in user code */
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
	/* For report_rows.c. */
	struct stacks *stacks;	    /* NULL: of code only */
	const struct labels *names; /* of the frames */
	struct trust *trust;	    /* while samples are counted by class */
	unsigned int keys;
	struct labels *labels; /* names of rows */
	uint32_t *row_label; /* label of rows + 1 by label of stacks; 0: not yet
				known */
	size_t n_label, cap_label;
	/* With keys of code only: row + 1 by its label, 0: none. With others,
	 * index has the rows. Both until row[] is sorted. */
	uint32_t *row_of;
	size_t n_row_of, cap_row_of;
	uint32_t *row_of_frame; /* by frame of plain stacks: row + 1, 0: none */
	struct intern index;
	uint64_t stamp; /* of the last stack that was counted */
};

/* Returns the callers of `func` (of its outermost frame in each stack) or its
 * callees (of its innermost frame): rows with `total` only, whose sum is the
 * weight of `func`. Its own weight is the row "[self]"; where it has no caller,
 * the row is "[nobody]"; where the caller is missing, "[caller missing] < NAME"
 * with the next function that is known, for callees "[caller missing] > NAME".
 * keys: KEY_INLINED, or 0. */
struct report_rows *report_around_new(struct stacks *s, int event,
				      const char *func, bool callers,
				      unsigned int keys);
