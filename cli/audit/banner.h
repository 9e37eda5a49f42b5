/* banner.h - the verdict of check, its figures and its advice, for the top of
 * the HTML page. */
#pragma once
#include <stdint.h>

#include "cli/stacks/trust.h"

/* What check prints first; with filters, of what they leave. */
struct banner {
	const char *word;   /* "broken", "clean", "unproved", ... */
	char verdict[2048]; /* "broken: 382 requests without ..." */
	char trust[TRUST_SENTENCE];
	char *advice; /* sentences, each with a line break behind it */
	int64_t asked, joined, refused; /* requests for user stacks */
	int64_t missing;		/* without a harmless reason */
	int64_t lost;
	int64_t lost_unknown; /* losses of which nobody knows how many */
	int64_t findings;     /* all */
	int64_t unexplained;  /* those of them that break the capture */
	int64_t open;	      /* those that the capture cannot prove */
};

/* Fills *out, which is to be released, whether this succeeds or not. */
int banner_read(struct store *db, const char *path, const struct filter *filter,
		struct banner *out, struct err *err);
void banner_release(struct banner *b);
