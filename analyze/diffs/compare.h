/* compare.h - the recordings that a comparison is of, read and matched: for the
 * table, the flame graph and the page.
 *
 * compare_load(); the caller counts each run in rows[], by report_rows_new() or
 * report_rows_add(); compare_judge(); then d is there. compare_release(). */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/names/matching.h"
#include "analyze/stacks/stacks.h"
#include "analyze/diffs/compared.h"

struct compare_opts {
	/* filter, weight, samples, inlined, by_name, by_cpu, summed are for the
	 * caller to say */
	struct stacks_opts stacks;
	struct match_opts match;
	bool folded; /* the inputs are folded stacks, which the caller reads */
};

/* Reads both sides, which are borrowed; *c is all zeros. Returns 0, or -1 and
 * *err; to be released in either case. */
int compare_load(struct compare *c, const struct sides *s,
		 const struct compare_opts *o, int *status, struct err *err);
void compare_release(struct compare *c);
/* Pairs and judges the rows of all runs, whose keys are `keys`, by shares and
 * by weights: d by weights if absolute. */
void compare_judge(struct compare *c, unsigned int keys, bool absolute);
/* Pairs functions that one side only has, as c->renamed; after compare_judge(),
 * of rows of functions. */
void compare_find_renamed(struct compare *c);
/* Returns the name of the event; NULL if there is none, or several. */
const char *compare_event(const struct compare *c);

/* These write sentences of bytes that are safe on a terminal, without a line
 * break; after compare_judge().
 * "A: before.db, cpu-clock, 378 samples, 3 records lost". */
void compare_tell_side(const struct compare *c, int side, FILE *out);
/* "A: user stacks: 97 % whole, ..."; nothing for folded text. */
void compare_tell_trust(const struct compare *c, int side, FILE *out);
/* "a run of B uses 13.75 % more processor time than one of A (+47.0 ms of
 * cpu-clock; 95 %: +9.30 to +18.38 %), in 2.00 s each; index_words takes 78.00
 * % more (95 %: +60.00 to +98.02 %), in hash +4.10, malloc +1.80 points, and
 * explains all of it; nothing else is proved to have changed"; of one run a
 * side "the run of B used", of other times "took 13.75 % longer than that of
 * A". */
void compare_tell_moved(const struct compare *c, int none, FILE *out);
/* The second part of it; nothing if nothing changed. */
void compare_tell_cause(const struct compare *c, int none, FILE *out);
/* Returns the judgement that has the cause: c->d, if it has one, else the
 * other; NULL: none has. */
const struct diff_rows *compare_cause(const struct compare *c);
/* "renamed? f (17.82 % of A) -> g (17.10 % of B): ...", of a row of A that has
 * c->renamed. */
void compare_tell_renamed(const struct compare *c, uint32_t row, FILE *out);
/* The same sums and sentence of both sides, as members a and b. */
void compare_put_json(const struct compare *c, struct json *j);
/* "significant: 1 more in B, 0 less, by shares of self; ..." */
void compare_tell_result(const struct compare *c, int total, FILE *out);
/* Returns what one of these writes, to be freed; which: the side, or total. */
typedef void compare_tell_fn(const struct compare *c, int which, FILE *out);
char *compare_said(const struct compare *c, compare_tell_fn *tell, int which);
