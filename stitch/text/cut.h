/* cut.h - cuts names to a width. */
#pragma once
#include <stddef.h>

struct arena;

/* The least width to which a name or another text is cut. */
#define CUT_LEAST 12

struct cut_name {
	const char *full;
	const char *mark; /* text after the name, never cut; NULL: none */
	const char *cut;  /* the result: safe text, without the mark */
	size_t at[2]; /* for cut_names(): cells of further parts to show, which
		       * distinguish the name, ascending; 0: none */
};

/* Stores how many cells of a name that is wider than `cells` (4 or more) are
 * visible before and after the gap: both ends, or whole parts of a name with
 * "::" if the last ones take half of the room, since std...::_Map<...>::_M_find
 * says more than std::__detai...>::_M_find. */
void cut_ends(const char *name, size_t cells, size_t *head, size_t *tail);

/* Cuts the n names of a column of `cells` cells like cut_ends(), with "..." for
 * the gap. Names that would look equal also show where they differ, and are not
 * cut if that is not enough. The results are in the arena `text`. */
void cut_names(struct cut_name *name, size_t n, size_t cells,
	       struct arena *text);
