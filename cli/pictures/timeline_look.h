/* timeline_look.h - how the things in a timeline look, and what they are. */
#ifndef CLI_PICTURES_TIMELINE_LOOK_H
#define CLI_PICTURES_TIMELINE_LOOK_H
#include <stdio.h>

#include "cli/pictures/timeline_model.h"

/* Name, CSS class and style (of timeline.css; "" if none), and a one-line
 * explanation. */
struct timeline_look {
	const char *name, *css_class, *style, *says;
};

extern const struct timeline_look timeline_marks[MARK_KINDS];
extern const struct timeline_look timeline_bands[BAND_KINDS];

/* Returns the explanation of a kind of loss without a time, NULL if there is
 * none. */
const char *timeline_untimed_says(const char *what);
/* Writes the attribute d of a mark's path, `radius` px around (x, y). */
void timeline_shape(FILE *out, enum timeline_mark_kind kind, unsigned int x,
		    unsigned int y, unsigned int radius);
/* Writes the SVG patterns that the classes of bands refer to. */
void timeline_hatching(FILE *out);
#endif
