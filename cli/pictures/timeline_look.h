/* timeline_look.h - how the things in a timeline look, and what they are. */
#ifndef CLI_PICTURES_TIMELINE_LOOK_H
#define CLI_PICTURES_TIMELINE_LOOK_H
#include <stdio.h>

#include "cli/pictures/timeline_model.h"

/* class, style: of timeline.css, "" none; says: one line for people. */
struct timeline_look {
	const char *name, *class, *style, *says;
};

extern const struct timeline_look timeline_marks[MARK_KINDS];
extern const struct timeline_look timeline_bands[BAND_KINDS];

/* What a kind of loss without a time is; NULL: it speaks for itself. */
const char *timeline_untimed_says(const char *what);
/* The path of a mark, `radius` px around (x, y): its attribute d. */
void timeline_shape(FILE *out, enum timeline_mark_kind kind, unsigned int x,
		    unsigned int y, unsigned int radius);
/* The hatchings that the classes of bands refer to. */
void timeline_hatching(FILE *out);
#endif
