/* page_diff.h - what changed between two recordings, in the HTML page of the
 * second.
 *
 * Two blocks of the page, see page_data.h: "diff" is JSON: event, absolute, the
 * sentences of report --diff, weights of both sides, their scale, labels,
 * functions with what is judged of them; "diff_nodes" are numbers for each node
 * of the tree of both recordings, parents before children: depth, label, weight
 * in A and in B, samples in A and in B, all with what is above. */
#pragma once
#include <stdio.h>

struct diff_model;

void page_diff_write(const struct diff_model *m, FILE *out);
