/* diff_limit.h - how much a comparison lets something grow. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <regex.h>

struct compare;
struct err;

/* All zeros: anything may grow. */
struct diff_limit {
	const char *above;    /* percent as typed; NULL: no limit */
	const char *function; /* regex of functions; NULL: all */
	/* above and function, set by diff_limit_read() */
	double percent;
	regex_t functions;
	/* rows that grew by more than percent */
	struct diff_grown *item;
	size_t n, cap;
};

/* Parses above and function. Returns 0, or -1 and *err. */
int diff_limit_read(struct diff_limit *l, struct err *err);
/* Why a growth is not judged if a side has one run only. */
#define DIFF_LIMIT_FEW                                                         \
	"one run of a side does not tell what runs differ by; give "           \
	"several of each, 'A... -- B...'"

/* Returns the name of a row, which the caller frees. */
typedef char *diff_limit_name_fn(const void *arg, uint32_t row);

/* Prints on stderr which rows of a comparison, by total if `total` is set, grew
 * by more than is allowed, and returns STATUS_LOSS. If a row grew by more, but
 * a single run or missing stacks leave it unproved, prints that and returns
 * STATUS_UNJUDGED. Otherwise it returns `status`. */
int diff_limit_rows(struct diff_limit *l, const struct compare *c, bool total,
		    diff_limit_name_fn *name, const void *arg, int status);
/* Adds a row that is significantly larger in B, by `percent` of the whole, if
 * that is above the limit. p is its p-value, NaN if the row is new. name is
 * copied. */
void diff_limit_add(struct diff_limit *l, const char *name, double percent,
		    double p);
/* Prints on stderr what grew by more than is allowed and returns STATUS_LOSS,
 * or `status` if nothing did. Frees the rows in *l. */
int diff_limit_end(struct diff_limit *l, int status);
