/* flame_draw.h - from samples, or folded text, to a tree that can be drawn.
 *
 * Call drawing_init(), then drawing_read() or flame_offcpu() once, or
 * drawing_add_run() or drawing_add_text() for each run and drawing_finish();
 * write the tree; drawing_release(). Notes are the lines below the picture, up
 * to SVG_NOTES - 1. Drawings that are compared share their labels. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/pictures/svg.h"
#include "analyze/diffs/compare.h"

struct flame_node;
struct flame_opts;
struct labels;
struct pick;
struct report_rows;
struct stacks;
struct trust;

#define DRAWING_NOTE_MAX 768
#define DRAWING_WORDS 16 /* more than there are verdicts */

struct drawing {
	/* what is to be drawn; borrowed */
	const struct flame_opts *opts;
	struct labels *labels;

	/* where stacks come from */
	struct stacks *stacks; /* NULL: folded text */
	int event;	       /* index in stacks; -1: all events */
	uint32_t group; /* index in stacks of the one that is added; for rows */

	/* where stacks go */
	struct pick *pick; /* leaves out some stacks */
	struct flame_tree *tree;
	struct flame_tree *also;  /* gets all stacks, without weight; borrowed,
				   * may be NULL */
	struct report_rows *rows; /* counts all stacks; borrowed; or NULL */
	struct trust *trust;	  /* counts samples; NULL: no note */

	/* weights of stacks that were added, for notes */
	struct drawing_missed {
		const char *word;
		uint64_t weight;
	} missing[DRAWING_WORDS]; /* missing user halves by verdict */
	size_t n_missing;
	struct drawing_name {
		uint64_t weight;
		bool idle;
	} * name; /* of threads: by label of the name */
	size_t n_name, cap_name;
	uint64_t bogus;	   /* of stacks with fabricated frames */
	uint64_t inferred; /* of stacks with an inferred caller */

	/* how the tree is drawn */
	struct label_facts *facts; /* NULL: not needed */
	struct svg_opts o;
	char title[240];
	char note[SVG_NOTES][DRAWING_NOTE_MAX];
	size_t n_note;
};

/* Makes an empty tree. Returns 0, or -1 and *err if --include or --exclude is
 * not valid. */
int drawing_init(struct drawing *d, const struct flame_opts *f,
		 struct labels *labels, struct err *err);
void drawing_release(struct drawing *d);
/* Reads a database, a capture or a folded text and finishes the tree. Returns
 * 0, or -1 and *err. */
int drawing_read(struct drawing *d, const char *path, int *status,
		 struct err *err);
/* Adds the samples of one event of stacks, which are borrowed: several runs are
 * drawn as one. Returns 0, or -1 and *err. */
int drawing_add_run(struct drawing *d, struct stacks *s, int event,
		    struct err *err);
/* Adds folded text; *status: STATUS_DAMAGED if lines were skipped. */
int drawing_add_text(struct drawing *d, const char *path, int *status,
		     struct err *err);
/* Finishes the tree. Returns 0, or -1 and *err, which names path, if the tree
 * has no weight. */
int drawing_finish(struct drawing *d, const char *path, struct err *err);

/* Adds a note, unless there are too many. */
void drawing_say(struct drawing *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Two recordings in one tree of frames, and what changed: call
 * diff_model_read(), then diff_model_release(). Each side may be several
 * recordings, which are runs of one program. Frames are the same if they are
 * the same code (matching.h) with the same callers. Changes are judged for
 * functions, as in 'diff', and a frame shows the change of its function. */

/* Side 0 is A, the first recording; side 1 is B. */
struct diff_model {
	struct compare c;
	struct flame_tree *all; /* the frames of both, without weights */
	struct drawing side[2]; /* with the samples of all runs */
	uint32_t *node[2];	/* by node of all: the node of the side's tree,
				 * or FLAME_NONE */
	uint32_t *row;		/* by node of all: the row of its function in
				 * c.d; REPORT_NONE: no code, as a thread */
};

/* Reads both sides, which are borrowed, as are the options; *m is all zeros.
 * Returns 0, or -1 and *err; call diff_model_release() in either case. */
int diff_model_read(struct diff_model *m, const struct sides *s,
		    const struct flame_opts *f, const struct svg_opts *o,
		    int *status, struct err *err);
void diff_model_release(struct diff_model *m);
/* Returns a node of one side, of zeros if the side does not have it. */
const struct flame_node *diff_model_node(const struct diff_model *m, int side,
					 uint32_t id);
