/* page_parts.h - parts that not every page has: what changed between two
 * recordings, and the code of the hot functions.
 *
 * Two blocks each, see page_data.h. Of a difference "diff" is JSON: event,
 * absolute, the sentences of 'diff', weights of both sides, their scale,
 * labels, functions with what is judged of them; "diff_nodes" are numbers for
 * each node of the tree of both recordings, parents before children: depth,
 * label, weight in A and in B, samples in A and in B, all with what is above.
 *
 * Of code "code" is JSON with files and functions, "spots" a number for each
 * group of samples: 1 + the instruction, counted over all functions, in which
 * its samples were taken; 0: in none that is in the page. So the page counts
 * instructions and lines within what is chosen. */
#pragma once
#include <stdio.h>

struct diff_model;
struct err;
struct page_opts;
struct page_source;
struct stacks;
struct store;
