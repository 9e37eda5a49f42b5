/* compared.h - the recordings of a comparison, and what is known of their code:
 * compare.h fills it in. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/diffs/diff_rows.h"
#include "analyze/stacks/stacks.h"
#include "analyze/stacks/trust.h"
#include "stitch/base/intern.h"

struct sides;
struct symbolizer;

struct compare_run {
	const char *path;
	struct stacks *stacks; /* NULL: of folded text */
	int event;	       /* index in stacks; -1: all events */
	struct diff_times times;
	struct symbolizer *files; /* finds its programs; NULL: not here */
	char trust[TRUST_SENTENCE];
	char capture[200]; /* capture and host; "" if not known */
	int64_t took; /* ns from the first record to the last; 0: not known, or
		       * there are several captures */
	char program[64]; /* with which it began; "": not known */
	double used[2];	  /* weight of its processes, and of all others but
			   * idle ones */
	double others;	  /* samples of these */
};

/* In compare.only: the programs of both sides have the function. */
#define IN_BOTH 2

/* An image of A that may be one of B; strings are of the matching. */
struct compare_rename {
	const char *from, *to;
	double agrees; /* how much of the weight of both, 0 to 1 */
	bool taken;    /* no other image may be either: they are matched */
};

struct compare {
	const struct sides *sides; /* borrowed */
	struct labels *labels;	   /* of all runs */
	struct matching *match;
	struct compare_run *run; /* those of A first */
	struct diff_rows_run *rows;
	size_t n, runs_a;
	struct intern held[2];	 /* see sides_hold() */
	struct diff_rows *d;	 /* after compare_judge() */
	struct diff_rows *by[2]; /* the same rows by shares and by weights, of
				  * which d is one */
	double between;		 /* of compare_opts; 0: of samples */
	const char *unit;	 /* of the weights: "ns"; the caller sets it */
	char *note; /* of stacks_choose() for the first run; NULL: none */
	struct compare_rename *renames;
	size_t n_renames, cap_renames;
	int8_t *only; /* of each label: 1 if files prove that only B has this
		       * function, -1: only A, IN_BOTH: both have it; 0:
		       * not known, or both were seen to have it */
	uint32_t n_only;
	uint32_t *renamed; /* of each row of d that one side has: the row of the
			    * other side that may be the same function;
			    * REPORT_NONE: none; NULL: not looked for */
};

/* Return 0 for a run of A, 1 for one of B. */
static inline int compare_side(const struct compare *c, size_t run)
{
	return run >= c->runs_a;
}

/* compare_images.c, which looks at programs and their functions: */
/* Matches images that have another name on the other side, as c->renames, by
 * the weights of their functions; before matching_add(). */
void compare_match_images(struct compare *c);
/* Returns DIFF_SAME_BUILD of each label whose image has it in all runs; the
 * caller frees it. */
int8_t *compare_builds(const struct compare *c);
/* Reads the symbols of programs for c->only, which compare_judge() wants. A
 * program that is not at hand, or has no symbols, proves nothing. */
void compare_prove_only(struct compare *c);
/* Stores the weight of user code of each side in functions that the other one
 * lacks, and of all of it. Returns whether it is most of it, of either: then
 * nothing can be said of it. */
bool compare_lacks(const struct compare *c, double alone[2], double all[2]);
