/* compare_code.h - functions whose code is the same on both sides, though the
 * builds of their images are not, or are not known.
 *
 * Code is the same if its instructions are, but for addresses: calls and jumps
 * out of the function, and what is relative to the instruction, as the rest of
 * a program moves these. */
#pragma once
#include <stdint.h>

struct compare;
struct diff_tier;

/* Sets build[] of each label whose code is in the files of both sides:
 * DIFF_SAME_CODE or DIFF_OTHER_CODE. What one side alone was seen to have, or
 * has several times, is left as it is. Returns the tiers of each label and run,
 * which the caller frees; NULL if no runtime tells any. */
struct diff_tier *compare_code(const struct compare *c, int8_t *build);
