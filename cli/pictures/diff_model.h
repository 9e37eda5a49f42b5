/* diff_model.h - two recordings in one tree of frames, and what changed.
 *
 * diff_model_read(), diff_model_judge(), then read; diff_model_release(). Each
 * side may be several recordings, which are runs of the same.
 * Frames are the same when they have the same name, kind and callers: offsets
 * and paths differ from one build to the next. */
#ifndef CLI_PICTURES_DIFF_MODEL_H
#define CLI_PICTURES_DIFF_MODEL_H
#include <stdbool.h>
#include <stdint.h>

#include "cli/model/diff_stats.h"

struct drawing;
struct err;
struct flame_tree;
struct labels;
struct sides;
struct svg_opts;

struct diff_model_run {
	struct flame_tree *tree; /* of a side with one run: that of the side */
	uint64_t lost;
};

/* Side 0 is A, the first recording; side 1 is B. */
struct diff_model {
	struct labels *labels;
	struct flame_tree *all;	 /* the frames of both, without weights */
	struct drawing *side[2]; /* the first run, with the samples of all */
	const char *path[2];
	struct diff_model_run *run; /* those of A first */
	size_t n_run, runs[2];
	uint32_t *node[2]; /* by node of all: the node of the side's tree, or
			    * FLAME_NONE */
	struct diff_place *self;  /* by node of all: samples that end there */
	struct diff_place *total; /* and samples that pass */
	struct diff_count *count[2]; /* what those have of each run */
	struct diff_whole whole;
	double scale; /* weight in B per weight 1 in A of unchanged code */
	uint64_t unjoined[2]; /* samples without their user half */
};

/* Reads both sides, which are borrowed. Returns 0, or -1 and *err. */
int diff_model_read(struct diff_model *m, const struct sides *s,
		    const struct svg_opts *o, int *status, struct err *err);
void diff_model_release(struct diff_model *m);
/* Fills self and total: decides which changes are significant. */
void diff_model_judge(struct diff_model *m);
/* Returns the size of a node on one side, self or total: percent of the side's
 * weight, or with --absolute its weight in a run. */
double diff_model_size(const struct diff_model *m, int side, uint32_t id,
		       bool total);
/* Returns how much larger a node is in B than the unchanged rest predicts:
 * percent of B's weight, or with --absolute a weight in a run. */
double diff_model_excess(const struct diff_model *m, uint32_t id, bool total);
/* Returns the same as percent of a side's weight: of that of A with
 * --absolute. */
double diff_model_growth(const struct diff_model *m, uint32_t id, bool total);
#endif
