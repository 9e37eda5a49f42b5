/* diff_model.h - two recordings in one tree of frames, and what changed.
 *
 * diff_model_read(), diff_model_judge(), then read; diff_model_release().
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
struct svg_opts;

/* Side 0 is A, the first recording; side 1 is B. */
struct diff_model {
	struct labels *labels;
	struct flame_tree *all; /* the frames of both, without weights */
	struct drawing *side[2];
	const char *path[2];
	uint32_t *node[2];	  /* by node of all: that of the side's tree;
				   * FLAME_NONE: not there */
	struct diff_place *self;  /* by node of all: samples that end there */
	struct diff_place *total; /* and samples that pass */
	double scale; /* the weight in B for each 1 in A where nothing changed
		       */
	uint64_t unjoined[2]; /* samples whose user half is missing */
};

/* argv: the two inputs. -1 and *err. */
int diff_model_read(struct diff_model *m, int argc, char **argv,
		    const struct svg_opts *o, int *status, struct err *err);
void diff_model_release(struct diff_model *m);
/* Fills self and total. */
void diff_model_judge(struct diff_model *m);
/* How much of a side a node is, itself or with all above it: percent of the
 * side's weight, or its weight with --absolute. */
double diff_model_size(const struct diff_model *m, int side, uint32_t id,
		       bool total);
/* By how much B has more than is due by what did not change: percent of B's
 * weight, or weight with --absolute. */
double diff_model_excess(const struct diff_model *m, uint32_t id, bool total);
#endif
