/* page_sides.h - the times of two recordings that a page of both draws one
 * above the other: where the time of the program went, as 'diff --wall' has it,
 * and how long pairs of events of each kind took.
 *
 * Call page_sides_new(), page_sides_add() for each run, page_sides_write(),
 * which writes a block "sides" of the page (see page_data.h) of JSON. says: the
 * first sentence of 'diff --wall', or null; then column, ns; took, ns of the
 * first run of each side; lanes and states, names; bars: [side, lane, state,
 * whether it is proved, column, thousandths of its time, ...]; kinds: [name,
 * side, side], each [how many, how many not proved, p50, p99, the longest, n,
 * how many took 2^(n / 8) ns and up to 2^((n + 1) / 8), ...]. */
#pragma once
#include <stdio.h>

#include "analyze/names/name_opts.h"

struct filter;
struct page_sides;
struct store;

/* Returns an object for page_sides_free(), which borrows the filter. */
struct page_sides *page_sides_new(const struct filter *filter,
				  struct name_opts names);
/* Reads a run; those of side 0 come first. arg is the object. The page leaves
 * out what a run has no data for. */
void page_sides_add(void *arg, int side, struct store *db, const char *path);
/* Writes the block. */
void page_sides_write(struct page_sides *p, FILE *out);
void page_sides_free(struct page_sides *p);
