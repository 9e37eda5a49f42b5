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

struct err;
struct flame_opts;
struct page_diff;
struct sides;

/* Reads and judges both sides, which are borrowed, as are the options: inlined,
 * inlined_rows and absolute. Returns an object to be freed, or NULL and *err;
 * *status as for database_open(). */
struct page_diff *page_diff_new(const struct sides *s,
				const struct flame_opts *f, int *status,
				struct err *err);
void page_diff_free(struct page_diff *p);
void page_diff_write(const struct page_diff *p, FILE *out);
