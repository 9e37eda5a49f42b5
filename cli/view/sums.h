/* sums.h - the samples that view shows: their stacks, the rows of their
 * functions, and trees of them. All is as report -g counts it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/stacks/trust.h"

struct calls;
struct label;
struct labels;
struct report_row;
struct sums;

/* Loads the samples that the filter selects, of the event that report chooses.
 * path is for messages. Returns NULL and *err on failure, ERR_FORMAT if there
 * is no sample. */
struct sums *sums_load(struct store *db, const char *path,
		       const struct filter *filter, struct err *err);
void sums_free(struct sums *s);

uint64_t sums_weight(const struct sums *s);
uint64_t sums_samples(const struct sums *s);
const char *sums_event(const struct sums *s);
/* Returns how many other events have samples. */
size_t sums_other_events(const struct sums *s);
/* Returns the sentence about the stacks of these samples. */
const char *sums_trust(const struct sums *s);
const struct labels *sums_labels(const struct sums *s);

size_t sums_rows(const struct sums *s);
const struct report_row *sums_row(const struct sums *s, size_t i);
const struct label *sums_row_label(const struct sums *s, size_t i);

/* The next functions return trees, which the caller frees before the sums. This
 * one: of all stacks, from their outermost frames. */
struct calls *sums_tree(const struct sums *s);
/* Of the stacks with a function, by its row: what is above its outermost frame,
 * nearest first, or below its innermost one. */
struct calls *sums_callers(const struct sums *s, size_t row);
struct calls *sums_callees(const struct sums *s, size_t row);
/* Returns the weight of the stacks with a frame whose name has the text. */
uint64_t sums_find(const struct sums *s, const char *text);
/* Returns whether the name of a label has the text. */
bool sums_has(const struct label *l, const char *text);
