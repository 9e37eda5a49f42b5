/* svg.h - a flame tree as one interactive SVG file.
 *
 * The file needs nothing from outside, shows the whole picture without
 * scripts too, and has the same bytes for the same input and options. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct err;
struct flame_tree;
struct label_facts;
struct palette;

#define SVG_NOTES 10

/* Bytes of a frame's class name, with its 0. */
#define SVG_CLASS 12

/* A line of text behind a rectangle of the class's colour. */
struct svg_row {
	const char *css_class, *text;
};

/* Colours and texts of a picture whose colours do not show kinds of code. */
struct svg_style {
	const void *arg; /* passed to the functions */
	/* Stores the class of a node's frame, at most SVG_CLASS bytes with its
	 * 0. */
	void (*css_class)(const void *arg, uint32_t node, char *out);
	/* Writes more lines of the tooltip, each after a newline: text of
	 * XML. */
	void (*tell)(const void *arg, uint32_t node, FILE *out);
	void (*css)(FILE *out); /* writes the CSS rules of these classes */
	const char *lead;	/* above the frames until one is pointed at;
				 * NULL: nothing */
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

/* Writes a finished tree. Returns 0, or -1 and *err if out cannot be written.
 */
int svg_write(FILE *out, const struct flame_tree *t, const struct svg_opts *o,
	      struct err *err);
