/* timeline.h - what was lost, when and on which CPU, as one SVG file.
 *
 * The file needs nothing from outside and has the same bytes for the same
 * database; its size and the work depend on the picture, apart from one pass
 * over the events. */
#ifndef CLI_PICTURES_TIMELINE_H
#define CLI_PICTURES_TIMELINE_H
#include <stdbool.h>
#include <stdio.h>

struct err;
struct store;
struct timeline;

/* Fills and finishes *tl, which the caller has zeroed. Stores in *timed whether
 * the database has times; if not, tl has only captures. Returns 0, or -1 and
 * *err. The caller releases tl in both cases. */
int timeline_load(struct timeline *tl, bool *timed, struct store *db,
		  struct err *err);

/* Writes the picture; a NULL title is made from the capture's name. Returns 0,
 * or -1 and *err if the database cannot be read or has no times, or out cannot
 * be written. */
int timeline_write(FILE *out, struct store *db, const char *title,
		   struct err *err);
#endif
