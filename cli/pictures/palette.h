/* palette.h - which colour a frame has: a class name by kind and name, and
 * the style sheet that gives each class its colour, light and dark.
 *
 * Colours depend on the name only, so equal functions look equal in every
 * picture. What is missing or guessed looks the same in every palette. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/stacks/label.h"

struct json;
struct palette;

extern const char
	*const palette_names[]; /* ends with NULL; the first is the default */
const struct palette *palette_find(const char *name);
/* Returns whether colours tell kinds of frames, so that a legend makes
 * sense. */
bool palette_by_kind(const struct palette *p);
/* Returns whether this kind has a pattern instead of a colour, in every
 * palette. */
bool palette_hatched(enum label_kind kind);
/* Stores the class of a frame: a letter for its kind and a digit for its shade,
 * which depends on the name. */
void palette_class(const struct label *l, char out[3]);
/* Writes the CSS rules of all classes, for light and for dark screens. */
void palette_css(const struct palette *p, FILE *out);
/* Writes the colours for scripts: {"k0":["#ffc476","#84653d"], ...}, light and
 * dark. */
void palette_json(const struct palette *p, struct json *j, const char *key);

/* Two colours, 0xRRGGBB, and the shades between them. */
struct ramp {
	uint32_t a, b;
};
#define RAMP_SHADE 8 /* bytes of "#rrggbb" */

/* Stores shade i of n in equal steps from a to b, with `light` percent of its
 * brightness. */
void ramp_shade(const struct ramp *r, int i, int n, int light,
		char out[RAMP_SHADE]);
