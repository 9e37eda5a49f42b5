/* cut.h - names cut to a width. */
#ifndef CLI_OUTPUT_CUT_H
#define CLI_OUTPUT_CUT_H
#include <stddef.h>

struct arena;

/* The least width to which a name or another text is cut. */
#define CUT_LEAST 12

/* Stores in cut[] the n names of a column of so many cells. A name that is
 * wider has "..." in its middle, so that both ends are visible; names that
 * would be equal then show what tells them apart as well, and are not cut if
 * that is not enough. cut[] is safe text, in memory of `text`. */
void cut_names(const char *const *name, size_t n, size_t cells,
	       const char **cut, struct arena *text);
#endif
