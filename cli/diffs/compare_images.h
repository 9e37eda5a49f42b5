/* compare_images.h - programs that have another file name on the other side of
 * a comparison, told by their functions. */
#pragma once
#include <stdint.h>
#include <stdio.h>

struct compare;

/* Matches images that have another name on the other side, as c->renames, by
 * the weights of their functions; before matching_add(). */
void compare_match_images(struct compare *c);
/* Returns DIFF_SAME_BUILD of each label whose image has it in all runs; the
 * caller frees it. */
int8_t *compare_builds(const struct compare *c);
/* Reads the symbols of programs for c->only, which compare_judge() wants. A
 * program that is not at hand, or has no symbols, proves nothing. */
void compare_prove_only(struct compare *c);
/* Writes which images were matched by their functions, or cannot be. */
void compare_tell_images(const struct compare *c, int none, FILE *out);
/* Writes that most user code of a side is in functions that the other one
 * lacks, so that nothing can be said of it; or nothing. */
void compare_tell_alone(const struct compare *c, int none, FILE *out);
