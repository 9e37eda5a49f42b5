/* diff_hidden.h - functions that may be where a stack lacks its callers.
 *
 * A leaf that a compiler gives no frame in one build only makes its caller
 * vanish from a chain along frame pointers: that has not less for it. So a
 * sample whose innermost function lacks its callers may be of all functions
 * that another stack has in front of that function. */
#pragma once
struct diff_rows;

/* Adds up diff_row.hidden of all rows, and takes it into account. O(frames of
 * all stacks + leaves that lack callers * the functions in front of them). */
void diff_hidden_find(struct diff_rows *d);
