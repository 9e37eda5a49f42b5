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

/* Fills *tl, which is zeroed, and finishes it; *timed: the database has times,
 * otherwise there are only captures in it. Release it in any case. */
int timeline_load(struct timeline *tl, bool *timed, struct store *db,
		  struct err *err);

/* title NULL: made from the name of the capture. 0, or -1: the database
 * cannot be read, has no times, or out cannot be written. */
int timeline_write(FILE *out, struct store *db, const char *title,
		   struct err *err);
#endif
