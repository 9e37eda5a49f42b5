/* page.h - a database as one HTML page: a flame graph in which time, threads,
 * CPUs and verdicts can be chosen, a timeline of losses, and tables.
 *
 * The page needs nothing from outside and forbids its browser to fetch
 * anything; without scripts its tables are all there. It has the same bytes for
 * the same database and options, programs and source files. */
#pragma once
#include <stdio.h>

#include "cli/page/page_data.h"

struct html_page;

/* Reads all samples that pass the filter. db is borrowed for the page's life;
 * path is the name the user gave. Returns a page, which html_page_free() frees,
 * or NULL and *err. */
struct html_page *html_page_new(struct store *db, const char *path,
				const struct page_opts *o, struct err *err);
void html_page_free(struct html_page *p);
/* Writes the page; an out_write_fn. */
int html_page_write(FILE *out, void *page, struct err *err);
