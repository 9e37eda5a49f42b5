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
	const char *above;    /* percents, as they were typed; NULL: any */
	const char *function; /* only those that it matches; NULL: all */
	/* of diff_limit_read() */
	double percent;
	regex_t functions;
	/* what grew by more */
	struct diff_grown *item;
	size_t n, cap;
};

/* Reads what was typed. Returns 0, or -1 and *err. */
int diff_limit_read(struct diff_limit *l, struct err *err);
/* Why one run of a side leaves a growth open. */
#define DIFF_LIMIT_FEW                                                         \
	"one run of a side does not tell what runs differ by; give "           \
	"several of each, 'A... -- B...'"

/* Returns the name of a row, to be freed. */
typedef char *diff_limit_name_fn(const void *arg, uint32_t row);

/* Looks at all rows of a comparison, by their total if `total`, and says on
 * stderr which grew by more than is allowed. Where none did, but one has more
 * than that without proof, as one run of a side cannot give it or stacks are
 * missing, it says that this cannot be judged. Returns STATUS_LOSS,
 * STATUS_UNJUDGED, or else `status`. */
int diff_limit_rows(struct diff_limit *l, const struct compare *c, bool total,
		    diff_limit_name_fn *name, const void *arg, int status);
/* Notes one that has significantly more in B: by this many percent of the
 * whole, with this p-value; NaN: it is new. name, of all of the row, is copied.
 */
void diff_limit_add(struct diff_limit *l, const char *name, double percent,
		    double p);
/* Says on stderr what grew by more than is allowed, if anything did. Returns
 * STATUS_LOSS then, else `status`. Frees what *l holds of it. */
int diff_limit_end(struct diff_limit *l, int status);
