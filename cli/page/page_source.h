/* page_source.h - the hot functions of an HTML page, as instructions and source
 * lines.
 *
 * Two blocks of the page, see page_data.h: "code" is JSON with files and
 * functions, "spots" a number for each group of samples: 1 + the instruction,
 * counted over all functions, in which its samples were taken; 0: in none that
 * is in the page. So the page counts instructions and lines within what is
 * chosen. */
#pragma once
#include <stdio.h>

struct err;
struct page_source;
struct stacks;
struct store;

/* Loads the functions with most samples of their own. A function whose code is
 * not found has none in the page, which says why. Returns NULL and *err if the
 * database is damaged, or an option names a file that cannot be read. */
struct page_source *page_source_new(struct store *db, struct stacks *s,
				    struct err *err);
void page_source_free(struct page_source *p);
/* Says on the page which files it has lines of. */
void page_source_tell(const struct page_source *p, FILE *out);
void page_source_write(const struct page_source *p, FILE *out);
