/* svg.h - a flame tree as one interactive SVG file.
 *
 * The file needs nothing from outside, shows the whole picture without
 * scripts too, and has the same bytes for the same input and options. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/stacks/label.h"

struct json;
struct err;
struct flame_tree;
struct label_facts;
struct palette;

/* The colour of a frame is that of its class, a name by kind and function; the
 * style sheet gives each class its colour, light and dark. Colours depend on
 * the name only, so equal functions look equal in every picture. What is
 * missing or guessed looks the same in every palette. */

extern const char
	*const palette_names[]; /* ends with NULL; the first is the default */
const struct palette *palette_find(const char *name);
/* Returns whether this kind has a pattern, in every palette, and no colour. */
bool palette_hatched(enum label_kind kind);
/* Stores the class of a frame: a letter for its kind and a digit for its shade,
 * which depends on the name. */
void palette_class(const struct label *l, char out[3]);
/* Writes the CSS rules of all classes, for light and for dark screens. */
void palette_css(const struct palette *p, FILE *out);
/* Writes colours, light and dark, as {"k0":["#ffc476","#84653d"], ...}. */
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

#define SVG_NOTES 20

/* Bytes of a frame's class name, with its 0. */
#define SVG_CLASS 12

/* A line of text after a rectangle of the class's colour. */
struct svg_row {
	const char *css_class, *text;
};

/* Colours and texts of a picture whose colours do not show kinds of code. */
struct svg_style {
	const void *arg; /* passed to the functions */
	/* Stores the class of a node's frame, up to SVG_CLASS bytes. */
	void (*css_class)(const void *arg, uint32_t node, char *out);
	/* Writes lines of the tooltip, each after a newline: XML text. */
	void (*tell)(const void *arg, uint32_t node, FILE *out);
	void (*css)(FILE *out); /* writes the CSS rules of these classes */
	const char *lead;	/* text above the frames until one is pointed
				 * at; NULL: nothing */
	const struct svg_row *legend; /* ends with class NULL */
	const struct svg_row *rows;   /* below the notes */
	size_t n_rows;
};

struct svg_opts {
	const char *title, *subtitle; /* subtitle NULL: none */
	const char *count_name;	      /* unit of the weights */
	const char *sample_name; /* name of what is counted; NULL: "sample" */
	const struct palette *colors;
	const struct label_facts *facts; /* NULL: not shown */
	unsigned int width;		 /* px */
	uint64_t minwidth; /* 1/1000 px, or with min_percent 1/1000 % */
	bool min_percent;
	bool fluid;	   /* in a browser as wide as its window */
	bool upward;	   /* the root below; else on top */
	bool show_samples; /* show the number of samples besides the weight */
	const struct svg_style
		*look; /* NULL: colours by kind of code, from the palette */
	const char
		*note[SVG_NOTES]; /* lines below the picture; ends with NULL */
};

/* Writes a finished tree. Returns 0, or -1 and *err if writing failed. */
int svg_write(FILE *out, const struct flame_tree *t, const struct svg_opts *o,
	      struct err *err);
