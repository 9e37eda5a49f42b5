/* sums.h - the samples that view shows: their stacks, the rows of their
 * functions, and trees of them. All is as report -g counts it. */
#ifndef CLI_VIEW_SUMS_H
#define CLI_VIEW_SUMS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/model/trust.h"

struct err;
struct flame_tree;
struct label;
struct labels;
struct report_row;
struct store;
struct sums;

/* Loads the samples that the filters select, of the event that report chooses.
 * path is for messages. Returns NULL and *err on failure, ERR_FORMAT if there
 * is no sample. */
struct sums *sums_load(struct store *db, const char *path, struct err *err);
void sums_free(struct sums *s);

uint64_t sums_weight(const struct sums *s);
uint64_t sums_samples(const struct sums *s);
const char *sums_event(const struct sums *s);
const char *sums_unit(const struct sums *s);
/* Returns the sentence about the stacks of these samples. */
const char *sums_trust(const struct sums *s);
const struct labels *sums_labels(const struct sums *s);

size_t sums_rows(const struct sums *s);
const struct report_row *sums_row(const struct sums *s, size_t i);
const struct label *sums_row_label(const struct sums *s, size_t i);

/* These return a tree, finished, which the caller frees with flame_tree_free();
 * NULL and *err if the weights leave 64 bits.
 * All stacks, from their outermost frames. */
struct flame_tree *sums_tree(const struct sums *s, struct err *err);
/* Of the stacks with a function, by its row: what is above its outermost frame,
 * nearest first, or below its innermost one. */
struct flame_tree *sums_callers(struct sums *s, size_t row, struct err *err);
struct flame_tree *sums_callees(struct sums *s, size_t row, struct err *err);
#endif
