/* timeline_svg.h - a timeline drawn as SVG. */
#ifndef CLI_PICTURES_TIMELINE_SVG_H
#define CLI_PICTURES_TIMELINE_SVG_H
#include <stdio.h>

struct timeline;

/* The timeline is finished. Writing errors stay in out (ferror). */
void timeline_draw(FILE *out, const struct timeline *tl, const char *title);
#endif
