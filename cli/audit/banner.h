/* banner.h - the verdict of check, its figures and its advice, for the top of
 * the HTML page. */
#pragma once
#include "cli/audit/check.h"

/* What check prints first; with filters, of what they leave. */
struct banner {
	const char *word;   /* "broken", "clean", "unproved", ... */
	char verdict[2048]; /* "broken: 382 requests without ..." */
	char trust[TRUST_SENTENCE];
	char *advice; /* sentences, each with a line break behind it */
	struct check_breaks breaks;
	int64_t findings; /* all, not only those that break the capture */
};

/* Fills *out, which is to be released, whether this succeeds or not. */
int banner_read(struct store *db, const char *path, const struct filter *filter,
		struct banner *out, struct err *err);
void banner_release(struct banner *b);
