/* diff_limit.h - how much a comparison lets something grow: --fail-above. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "cli/args/command.h"

/* --fail-above --function */
extern const struct opt diff_limit_opts[];

/* Checks the option; diff: whether two recordings are compared. Returns 0, or
 * -1 and *err. */
int diff_limit_check(bool diff, struct err *err);

/* What grew by more; all zeros is empty. */
struct diff_limit {
	struct diff_grown *item;
	size_t n, cap;
	bool looked; /* at a function */
};

/* Returns whether only some functions are looked at. */
bool diff_limit_of_functions(void);
/* Returns whether a function, NULL if it is something else, is looked at.
 * Whoever compares asks it of each, so that diff_limit_end() can tell that none
 * is. */
bool diff_limit_looks(struct diff_limit *l, const char *function);
/* Notes one that has significantly more in B: by this many percent of the
 * whole, with this p-value; NaN: it is new. name, of all of the row, is copied.
 */
void diff_limit_add(struct diff_limit *l, const char *name, double percent,
		    double p);
/* Says on stderr what grew by more than is allowed, if anything did. Returns
 * STATUS_LOSS then, else `status`. Frees what *l holds. */
int diff_limit_end(struct diff_limit *l, int status);
