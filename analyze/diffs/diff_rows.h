/* diff_rows.h - the rows of two recordings, paired and judged: the engine that
 * the table, the flame graph and the page of a comparison share.
 *
 * Each side may have several runs. A row is a function, or what report --sort
 * selects; rows are one if all of their keys are equal. The labels of frames
 * come from a matching (matching.h), so that they are equal where the code is.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/diffs/diff_stats.h"
#include "analyze/stacks/report_rows.h"

/* How much the cost of a function varies from run to run, as a part of itself
 * (standard deviation): one run of each side cannot show it. Of 1,100 pairs of
 * recordings of one program on a busy machine (tests/live/pairs.py) 19 show a
 * change by shares with 3 or 5 %, and 11 with 10 %, which hides changes twice
 * as large: a recording that others disturbed differs by far more. */
#define DIFF_BETWEEN 0.03
/* The same for a program with more than DIFF_MADE of its samples in code that
 * was compiled at run time, anew in each run: functions of V8 vary by 0.09,
 * those of the JVM by 0.05 (32 runs of equal programs, tests/live/causes.py).
 * With 0.03, 22 of 240 such pairs show a change, with this 5, and the same of
 * 128 planted changes are named. */
#define DIFF_BETWEEN_MADE 0.06
#define DIFF_MADE 0.1

struct diff_rows_run {
	struct report_rows *rows;	/* borrowed */
	uint64_t lost;			/* lost records */
	bool lost_unknown;		/* and an unknown number more */
	const struct diff_times *times; /* of its samples, borrowed; NULL: not
					 * known */
};

/* The sums of one side. */
struct diff_side {
	size_t runs;
	uint64_t weight, samples, lost;
	uint64_t unjoined; /* samples without their user half */
	bool lost_unknown;
};

/* A row of all recordings, with the keys that one run has, and the sums of both
 * sides, which are 0 where no run has it. */
struct diff_row {
	const struct report_row *row;
	const struct report_rows *of;
	uint64_t weight[2][2]; /* of A and B: self, total */
	uint64_t hidden[2];    /* of A and B: how much the total may lack, see
				* diff_hidden_find() */
	/* why a change of it cannot be known; NULL: it is judged */
	const char *unknown;
	bool renamed; /* set by the caller: no change, but may have another name
		       * on the other side */
	double real;  /* private: how much of the change of its total is in
		       * functions that changed, 0 to 1; the rest only moved
		       * there */
	uint64_t n_interrupt[2]; /* private: samples of A and B with an
				  * interrupt in the stack */
};

/* The part of the cause's change that is one function's own. */
struct diff_part {
	uint32_t row;
	double excess; /* as diff_rows_excess() */
};

#define DIFF_PARTS 3

struct diff_cause {
	uint32_t row;  /* REPORT_NONE: none was found */
	int sign;      /* 1 more, -1 less */
	double excess; /* of its total, as diff_rows_excess() */
	double times; /* its total divided by that without a change; 0: A has no
		       * samples of it */
	/* the function that took over its work, or passed its own to it:
	 * inlined, or merged; REPORT_NONE: none */
	uint32_t instead;
	bool moved; /* it now calls what `instead` called: nothing takes longer
		     */
	/* the function that missing callers call more or less often;
	 * REPORT_NONE: there is none, or there is a cause */
	uint32_t blind;
	/* a function that changed, but has the same code; REPORT_NONE: likewise
	 */
	uint32_t same;
	struct diff_part part[DIFF_PARTS]; /* largest first; none: in itself */
	size_t n_part;
	size_t others; /* functions that changed elsewhere */
};

/* In diff_rows.build: of the image of a row, or of its own code, whatever its
 * image is; 0: not known. */
#define DIFF_SAME_BUILD 1
#define DIFF_OTHER_BUILD (-1)
#define DIFF_SAME_CODE 2
#define DIFF_OTHER_CODE (-2)
/* A runtime ran it in code of another of its compilers: the program may be the
 * same. */
#define DIFF_OTHER_TIER 3
/* Code of the runtime itself, such as an interpreter, which runs functions that
 * are not compiled yet. */
#define DIFF_INTERPRETED 4

struct diff_rows {
	unsigned int keys;
	bool absolute; /* weights are compared, not shares */
	bool ns;       /* weights are ns; set by compare_judge() */
	struct diff_rows_run *run;
	size_t n_run;
	struct diff_side side[2];
	struct diff_row *row;
	size_t n;
	struct diff_place *place[2]; /* of each row: self, total */
	struct diff_whole whole;
	double scale; /* weight in B per weight 1 in A of unchanged code */
	struct diff_cause cause; /* after diff_cause_judge() */
	/* part: the reference is not all rows; n_kept: how many did not change;
	 * kept_p: the p-value that these differ by chance only; kept: their own
	 * weight on each side */
	bool part;
	struct diff_run *left; /* the reference by run; NULL if whole.run is */
	size_t n_kept;
	double kept_p;
	uint64_t kept[2];
	uint32_t **of_row; /* by run and index of its rows: the row here */
	int8_t *build; /* by row: DIFF_SAME_BUILD and so on; NULL: not known */
	struct diff_tier *tier; /* of each row and run; NULL: not known */
	/* private: */
	struct diff_count *count[2]; /* of each row in each run */
	struct cause_stacks **known; /* of each row; NULL: not yet */
	double between;		     /* of struct diff_known */
	bool by_code; /* only rows whose code may differ are tried as the cause
		       */
};

/* A function's own samples in one run whose tier is known, and those in
 * optimized code; other: that part is not as in most runs. */
struct diff_tier {
	double samples, optimized;
	bool other;
};

/* What is known about the code of the first n labels, which all runs share; all
 * zeros is nothing. */
struct diff_known {
	const int8_t *only; /* as diff_place.only; others than 1 and -1 are 0 */
	const int8_t *build;	      /* as diff_rows.build */
	const struct diff_tier *tier; /* by label and run */
	uint32_t n;
	double between; /* diff_whole.between for one run a side; 0: that of
			 * samples */
};

/* Pairs the rows of n runs, of which the first runs_a are those of A, and
 * judges them. run: borrowed until diff_rows_free(). keys: those of the rows,
 * which must have been counted with KEY_HITS as well. */
struct diff_rows *diff_rows_new(struct diff_rows_run *run, size_t n,
				size_t runs_a, unsigned int keys, bool absolute,
				struct diff_known known);
void diff_rows_free(struct diff_rows *d);
/* Judges all rows again. under: by row and run, the own samples that are in
 * changed code, and that the reference leaves out; NULL: none. */
void diff_rows_judge(struct diff_rows *d, const struct diff_count *under);
/* Adds up diff_row.hidden of all rows, and drops the changes that it may
 * explain. O(frames of all stacks + leaves that lack callers * their callers
 * elsewhere). */
void diff_hidden_find(struct diff_rows *d);
/* Returns the row of a label of frames that all runs share; REPORT_NONE if
 * there is none. */
uint32_t diff_rows_of_label(const struct diff_rows *d, uint32_t label);
/* Returns the label of a row, borrowed. */
const struct label *diff_rows_label(const struct diff_rows *d, size_t row);
/* Returns a weight as the comparison shows it: percent of the side's, or the
 * mean of its runs if absolute. */
double diff_rows_size(const struct diff_rows *d, int side, double weight);
/* Returns by how much weight b in B exceeds the one that the unchanged rest
 * predicts from weight a in A, in the unit of diff_rows_size(); < 0: less, also
 * where more samples weigh less. */
double diff_rows_excess(const struct diff_rows *d, double a, double b);
/* Returns the same for the own, or the total, weight of a row. */
double diff_rows_excess_of(const struct diff_rows *d, size_t row, bool total);
/* Returns the same in percent of a side's weight, of A's if absolute. */
double diff_rows_growth(const struct diff_rows *d, size_t row, bool total);
/* Returns 1 or -1 for a row with more or less in B without proof, if by chance
 * at most one row in all would be so far from the other side: its p-value,
 * which is corrected for the number of tests, is below 1. Else 0. */
int diff_rows_doubtful(const struct diff_rows *d, size_t row, bool total);
/* Returns which weight of a row grew, 0 self, 1 total: by `total`, or as the
 * cause; -1: neither. */
int diff_rows_grew(const struct diff_rows *d, size_t row, bool total);
/* Returns the numbers of all rows, to be freed: changed ones first, of these
 * those with the largest change, then by name. also: the same rows, judged
 * otherwise, whose changed ones come first as well; NULL: none. */
uint32_t *diff_rows_order(const struct diff_rows *d, bool total,
			  const struct diff_rows *also);
struct diff_counts {
	size_t more, less;     /* in B, by a test */
	size_t appeared, gone; /* by the programs */
};

/* Counts the rows that changed. */
struct diff_counts diff_rows_changed(const struct diff_rows *d, bool total);
/* Returns whether the change of a program may be in a row: its code is known to
 * differ, or was made at run time, so that no file has it. */
bool diff_rows_may_differ(const struct diff_rows *d, size_t row);
/* Returns "same", "other" or "tier" for a row's code on both sides, or "". */
const char *diff_rows_code_word(const struct diff_rows *d, size_t row);
/* Returns "more", "less", "new", "gone", "unknown" or "". */
const char *diff_rows_word(const struct diff_place *p);
