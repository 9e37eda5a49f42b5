/* compare.h - the recordings that a comparison is of, read and matched: for the
 * table, the flame graph and the page.
 *
 * compare_load(); the caller counts each run in rows[], by report_rows_new() or
 * report_rows_add(); compare_judge(); then d is there. compare_release(). */
#ifndef CLI_TABLES_COMPARE_H
#define CLI_TABLES_COMPARE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/model/diff_rows.h"
#include "cli/model/stacks.h"
#include "cli/model/trust.h"

struct err;
struct json;
struct labels;
struct matching;
struct sides;

struct compare_run {
	const char *path;
	struct stacks *stacks; /* NULL: of folded text */
	int event;	       /* index in stacks; -1: all events */
	struct diff_times times;
	char trust[TRUST_SENTENCE];
	char capture[200]; /* capture and host; "" if not known */
};

struct compare {
	const struct sides *sides; /* borrowed */
	struct labels *labels;	   /* of all runs */
	struct matching *match;
	struct compare_run *run; /* those of A first */
	struct diff_rows_run *rows;
	size_t n, runs_a;
	struct diff_rows *d; /* after compare_judge() */
};

struct compare_opts {
	/* weight, samples, inlined, by_name, by_cpu, summed are for the caller
	 * to say */
	struct stacks_opts stacks;
	bool folded; /* the inputs are folded stacks, which the caller reads */
};

/* Reads both sides, which are borrowed; *c is all zeros. Returns 0, or -1 and
 * *err; to be released in either case. */
int compare_load(struct compare *c, const struct sides *s,
		 const struct compare_opts *o, int *status, struct err *err);
void compare_release(struct compare *c);
/* Pairs and judges the rows of all runs, whose keys are `keys`. */
void compare_judge(struct compare *c, unsigned int keys, bool absolute);
/* Returns the name of the event; NULL if there is none, or several. */
const char *compare_event(const struct compare *c);
/* Return 0 for a run of A, 1 for one of B. */
int compare_side(const struct compare *c, size_t run);

/* These write sentences of bytes that are safe on a terminal, without a line
 * break; after compare_judge().
 * "A: before.db, cpu-clock, 378 samples, 3 records lost". */
void compare_tell_side(const struct compare *c, int side, FILE *out);
/* "A: user stacks: 97 % whole, ..."; nothing for folded text. */
void compare_tell_trust(const struct compare *c, int side, FILE *out);
/* The same sums and sentence of both sides, as members a and b. */
void compare_put_json(const struct compare *c, struct json *j);
/* "significant: 1 more in B, 0 less, by shares of self; ..." */
void compare_tell_result(const struct compare *c, bool total, FILE *out);
#endif
