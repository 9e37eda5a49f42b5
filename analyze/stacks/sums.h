/* sums.h - the samples that view shows: their stacks, the rows of their
 * functions, and trees of calls that are made as users open them. All is
 * counted as by report -g. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/stacks/stack_names.h"
#include "analyze/stacks/trust.h"

struct calls;
struct label;
struct report_rows;

struct sums {
	uint64_t weight, samples;
	char trust[TRUST_SENTENCE]; /* the sentence about their stacks */
	const struct labels *labels;
	struct report_rows *rows; /* of functions */
	/* for sums.c only */
	struct stacks *stacks;
	int event;	  /* -1: all, added up */
	uint32_t all;	  /* label of roots */
	uint32_t *row_of; /* by label: the row for which it counts */
	struct sums_stack *stack;
	size_t n, cap;
	struct label_list label;
};

/* Adds more events to the samples that were loaded. Returns 0, or -1 and *err.
 */
typedef int sums_more_fn(struct store *db, const char *path,
			 const struct filter *filter, struct stacks *s,
			 struct err *err);
/* Loads the samples that the filter selects, of the event that report chooses.
 * path is for messages. Returns NULL and *err on failure, ERR_FORMAT if there
 * is no sample. */
struct sums *sums_load(struct store *db, const char *path,
		       const struct filter *filter, sums_more_fn *more,
		       struct err *err);
void sums_free(struct sums *s);

/* Returns the name of the event, borrowed. */
const char *sums_event(const struct sums *s);
/* Returns the word for its samples: "sample", or "call" of a tracer. */
const char *sums_word(const struct sums *s);
/* Returns how many other events have samples. */
size_t sums_other_events(const struct sums *s);

/* The next three functions return trees, which the caller frees before the
 * sums. This one has all stacks, from their outermost frames. */
struct calls *sums_tree(const struct sums *s);
/* The stacks with a function, by its row: the callers of its outermost frame,
 * nearest first, or the callees of its innermost one. */
struct calls *sums_callers(const struct sums *s, size_t row);
struct calls *sums_callees(const struct sums *s, size_t row);
/* Returns the weight of the stacks with a frame whose name has the text. */
uint64_t sums_find(const struct sums *s, const char *text);
/* Returns whether the name of a label has the text. */
bool sums_has(const struct label *l, const char *text);

/* A node stands for all stacks that begin alike. calls_split() makes the nodes
 * below it, which costs as much as it has stacks; nodes that are not opened
 * cost nothing. */

#define CALLS_NONE UINT32_MAX

struct calls_node {
	uint32_t label;		 /* as in label[]; the caller's for the root */
	uint32_t parent;	 /* CALLS_NONE: the root, node 0 */
	uint32_t depth;		 /* root: 0 */
	uint32_t child, n_child; /* nodes, heaviest first; once it is split */
	size_t first, n;	 /* its stacks */
	uint64_t weight, samples;
	uint64_t self; /* weight of the stacks that end here */
	bool goes_on;  /* some stacks do not end here */
	bool is_split;
};

/* A stack of n labels that begins at label[0], by step 1 or -1. */
struct calls_stack {
	const uint32_t *label; /* not looked at if n is 0 */
	size_t n;
	uint64_t weight, samples;
};

struct calls {
	struct calls_node *node; /* calls_split() moves them */
	size_t n_node;
	/* for sums.c only */
	size_t cap_node;
	int step;
	struct calls_stack *stack; /* those of a node lie side by side */
	size_t n, cap;
	struct calls_stack *spare; /* room to sort them */
	uint32_t *of; /* by label, while a node is split: its child + 1 */
};

/* Returns a tree, freed by calls_free(). root: label of the root; labels: how
 * many there are, for calls_add(); step: of all stacks. */
struct calls *calls_new(uint32_t root, uint32_t labels, int step);
void calls_free(struct calls *c);
/* Adds a stack, whose labels are borrowed. Call it before the first split. */
void calls_add(struct calls *c, const struct calls_stack *s);
/* Makes the nodes below a node, if there are none yet, and returns it. */
const struct calls_node *calls_split(struct calls *c, uint32_t id);
