/* cut.h - names cut to a width. */
#ifndef CLI_OUTPUT_CUT_H
#define CLI_OUTPUT_CUT_H
#include <stddef.h>

struct arena;

/* The least width to which a name or another text is cut. */
#define CUT_LEAST 12

struct cut_name {
	const char *full;
	const char *mark; /* put behind it, and never cut; NULL: none */
	const char *cut;  /* the result: safe text, without the mark */
	size_t at[2];	  /* for cut_names(): the cells from which it shows
			   * what tells it apart, ascending; 0: none */
};

/* Cuts the n names of a column of so many cells. A name that is wider has "..."
 * in its middle, so that both ends are visible; names that would be equal then
 * show what tells them apart as well, and are not cut if that is not enough.
 * The results are in memory of `text`. */
void cut_names(struct cut_name *name, size_t n, size_t cells,
	       struct arena *text);
#endif
