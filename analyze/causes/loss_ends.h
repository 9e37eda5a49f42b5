/* loss_ends.h - when losses end that are in some order: one may last as long as
 * all others, so that their ends have no order of their own.
 *
 * Order of calls: loss_ends_init(), loss_ends_put() for each, in any order,
 * loss_ends_seal(); then questions, of O(log n). */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* latest[size + i] is the end of loss i, and latest[i] the later one of 2i and
 * 2i + 1; INT64_MIN: there is none. All zeros needs no release. */
struct loss_ends {
	size_t n, size;
	int64_t *latest;
};

void loss_ends_init(struct loss_ends *e, size_t n);
void loss_ends_release(struct loss_ends *e);
void loss_ends_put(struct loss_ends *e, size_t i, int64_t end);
void loss_ends_seal(struct loss_ends *e);
/* Returns the first loss from i on that ends at or after a time; n: none. */
size_t loss_ends_find(const struct loss_ends *e, size_t i, int64_t time);
/* Returns the latest end of losses i to j - 1. */
int64_t loss_ends_latest(const struct loss_ends *e, size_t i, size_t j);
