/* diff_limit.h - how much a comparison lets something grow. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <regex.h>

struct err;

/* All zeros: anything may grow. */
struct diff_limit {
	const char *above;    /* percents, as they were typed; NULL: any */
	const char *function; /* only those that it matches; NULL: all */
	/* of diff_limit_read() */
	double percent;
	regex_t functions;
	/* what grew by more */
	struct diff_grown *item;
	size_t n, cap;
	bool looked; /* at a function */
};

/* Reads what was typed. Returns 0, or -1 and *err. */
int diff_limit_read(struct diff_limit *l, struct err *err);
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
 * STATUS_LOSS then, else `status`. Frees what *l holds of it. */
int diff_limit_end(struct diff_limit *l, int status);
