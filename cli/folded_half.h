/* folded_half.h - the two halves of a sample's stack as text, for exports that
 * have one row for each sample.
 *
 * Each is made once and kept: memory is bounded by the number of distinct
 * stacks. */
#ifndef CLI_FOLDED_HALF_H
#define CLI_FOLDED_HALF_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct err;
struct event_row;
struct folded_half;
struct store;

/* Text as the export wants it; len bytes, no final 0. */
struct half {
	const char *text;
	size_t len;
};

/* Writes s, a folded stack ("main;read;vfs_read_[k]", "" when there is none),
 * as the export wants it. */
typedef void half_fn(FILE *out, const char *s);

/* NULL and *err. */
struct folded_half *folded_half_load(struct store *db, bool inlined,
				     half_fn *put, struct err *err);
void folded_half_free(struct folded_half *h);
/* With what stacks_get() says about missing frames: "[user: VERDICT]". */
struct half folded_half_user(struct folded_half *h, const struct event_row *e);
struct half folded_half_kernel(struct folded_half *h,
			       const struct event_row *e);
#endif
