/* timeline_svg.h - a timeline drawn as SVG. */
#ifndef CLI_PICTURES_TIMELINE_SVG_H
#define CLI_PICTURES_TIMELINE_SVG_H
#include <stdio.h>

struct timeline;

/* Draws a finished timeline. The caller checks out for write errors. */
void timeline_draw(FILE *out, const struct timeline *tl, const char *title);
#endif
