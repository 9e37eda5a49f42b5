/* drawing.h - a flame graph that is being made: flame_draw.h fills it, and
 * flame_notes.h says what it shows. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/pictures/svg.h"

struct flame_opts;
struct labels;
struct pick;
struct report_rows;
struct stacks;
struct trust;

#define DRAWING_NOTE_MAX 768
#define DRAWING_WORDS 16 /* more than there are verdicts */

struct drawing {
	/* what is asked for, borrowed */
	const struct flame_opts *opts;
	struct labels *labels;

	/* where stacks come from */
	struct stacks *stacks; /* NULL: folded text */
	int event;	       /* index in stacks; -1: all events */
	uint32_t group; /* in stacks, of the one that is added; for rows */

	/* where they go */
	struct pick *pick; /* leaves some out */
	struct flame_tree *tree;
	struct flame_tree *also;  /* gets all, without weight; borrowed, may be
				   * NULL */
	struct report_rows *rows; /* counts all; borrowed, may be NULL */
	struct trust *trust;	  /* counts their samples; NULL: not said */

	/* what notes say about those that were added: weights */
	struct drawing_missed {
		const char *word;
		uint64_t weight;
	} missing[DRAWING_WORDS]; /* missing user halves by verdict */
	size_t n_missing;
	struct drawing_name {
		uint64_t weight;
		bool idle;
	} * name; /* of threads, by label */
	size_t n_name, cap_name;
	uint64_t bogus;	   /* of stacks with fabricated frames */
	uint64_t inferred; /* of those with an inferred caller */

	/* how it is drawn */
	struct label_facts *facts; /* NULL: not needed */
	struct svg_opts o;
	char title[240];
	char note[SVG_NOTES][DRAWING_NOTE_MAX];
	size_t n_note;
};
