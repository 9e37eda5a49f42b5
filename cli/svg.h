/* svg.h - a flame tree as one interactive SVG file.
 *
 * The file needs nothing from outside, shows the whole picture without
 * scripts too, and has the same bytes for the same input and options. */
#ifndef CLI_SVG_H
#define CLI_SVG_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct err;
struct flame_tree;
struct label_facts;
struct palette;

#define SVG_NOTES 8

struct svg_opts {
	const char *title, *subtitle; /* subtitle NULL: none */
	const char *count_name;	      /* unit of the weights */
	const char *fonttype;
	const struct palette *colors;
	const struct label_facts *facts; /* NULL: none are said */
	unsigned int width, height;	 /* px: of the picture, of a frame */
	unsigned int fontsize;
	uint64_t minwidth; /* 1/1000 px, or with min_percent 1/1000 % */
	bool min_percent;
	bool inverted;	   /* icicle: the root on top */
	bool show_samples; /* the count of samples beside the weight */
	uint64_t total;	   /* what the width stands for; 0: the sum */
	const char *note[SVG_NOTES]; /* lines below the picture; NULL ends */
};

/* The result of drawing, for a word to the user. */
struct svg_stats {
	uint32_t drawn, narrow;
	uint64_t narrow_weight; /* each stack's at most once */
};

/* 0, or -1 when out cannot be written. The tree is finished. st may be NULL. */
int svg_write(FILE *out, const struct flame_tree *t, const struct svg_opts *o,
	      struct svg_stats *st, struct err *err);
#endif
