/* cut.h - names cut to a width. */
#pragma once
#include <stddef.h>

struct arena;

/* The least width to which a name or another text is cut. */
#define CUT_LEAST 12

struct cut_name {
	const char *full;
	const char *mark; /* put after it, and never cut; NULL: none */
	const char *cut;  /* the result: safe text, without the mark */
	size_t at[2];	  /* for cut_names(): the cells from which it shows
			   * what tells it apart, ascending; 0: none */
};

/* Stores how many cells of a name that is wider than `cells`, 4 or more, are
 * visible in front of the gap and after it: both ends, or whole parts of a
 * name with "::" if the last ones take half of the room, since
 * std...::_Map<...>::_M_find tells more than std::__detai...>::_M_find. */
void cut_ends(const char *name, size_t cells, size_t *head, size_t *tail);

/* Cuts the n names of a column of `cells` cells as cut_ends() says, with "..."
 * for the gap. Names that would be equal then show what tells them apart as
 * well, and are not cut if that is not enough. The results are in memory of
 * `text`. */
void cut_names(struct cut_name *name, size_t n, size_t cells,
	       struct arena *text);
