/* diff_model.h - two recordings in one tree of frames, and what changed.
 *
 * diff_model_read(), then read; diff_model_release(). Each side may be several
 * recordings, which are runs of the same. Frames are the same when they are the
 * same code (matching.h) with the same callers. What changed is judged of
 * functions, as in 'diff', and not of frames: a frame shows the change
 * of its function. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "cli/pictures/flame_draw.h"
#include "analyze/diffs/compare.h"

struct flame_node;

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
 * Returns 0, or -1 and *err; to be released in either case. */
int diff_model_read(struct diff_model *m, const struct sides *s,
		    const struct flame_opts *f, const struct svg_opts *o,
		    int *status, struct err *err);
void diff_model_release(struct diff_model *m);
/* Returns how the function of a node changed; NULL if it is no code. */
const struct diff_place *diff_model_place(const struct diff_model *m,
					  uint32_t id, bool total);
/* Returns a node of one side, of zeros if the side does not have it. */
const struct flame_node *diff_model_node(const struct diff_model *m, int side,
					 uint32_t id);
/* Returns how many samples ended at a node, or passed it. */
uint64_t diff_model_samples(const struct diff_model *m, int side, uint32_t id,
			    bool total);
/* Returns the size of a node on one side, as diff_rows_size() does. */
double diff_model_size(const struct diff_model *m, int side, uint32_t id,
		       bool total);
/* Returns how much larger a node is in B than the unchanged rest predicts, as
 * diff_rows_excess() does. */
double diff_model_excess(const struct diff_model *m, uint32_t id, bool total);
