/* diff_text.h - a comparison as sentences: for the table, the flame graph and
 * the page.
 *
 * The sentences are safe on a terminal and have no line break. compare_judge()
 * is called before them. The argument `none` is not used. */
#pragma once
#include <stdint.h>
#include <stdio.h>

#include "analyze/diffs/compare.h"

struct json;

/* Writes "A: before.db, cpu-clock, 378 samples, 3 records lost". */
void diff_tell_side(const struct compare *c, int side, FILE *out);
/* Writes "A: user stacks: 97 % whole, ..."; nothing for folded text. */
void diff_tell_trust(const struct compare *c, int side, FILE *out);
/* Writes which images were matched by their functions, or cannot be. */
void diff_tell_images(const struct compare *c, int none, FILE *out);
/* Writes that most user code of a side is in functions that the other side
 * lacks, so that it is not judged; nothing if that is not so. */
void diff_tell_alone(const struct compare *c, int none, FILE *out);
/* Writes "a run of B uses 13.75 % more processor time than one of A (+47.0 ms
 * of cpu-clock; 95 %: +9.30 to +18.38 %), in 2.00 s each; index_words takes
 * 78.00 % more (95 %: +60.00 to +98.02 %), in hash +4.10, malloc +1.80 points,
 * and explains all of it; nothing else is proved to have changed"; with one run
 * a side "the run of B used", with other times "took 13.75 % longer than that
 * of A". */
void diff_tell_moved(const struct compare *c, int none, FILE *out);
/* Writes only the part of that about the cause; nothing if there is none. */
void diff_tell_cause(const struct compare *c, int none, FILE *out);
/* Writes "renamed? f (17.82 % of A) -> g (17.10 % of B): ...", for a row of A
 * that has c->renamed. */
void diff_tell_renamed(const struct compare *c, uint32_t row, FILE *out);
/* Writes "significant: 1 more in B, 0 less, by shares of self; ..." */
void diff_tell_result(const struct compare *c, int total, FILE *out);
/* Returns what one of these writes, to be freed; which: the side, or total. */
typedef void diff_tell_fn(const struct compare *c, int which, FILE *out);
char *diff_sentence(const struct compare *c, diff_tell_fn *tell, int which);
/* Writes the sums and the sentence of both sides as members a and b. */
void diff_put_sides(const struct compare *c, struct json *j);
