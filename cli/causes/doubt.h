/* doubt.h - times in which a recorder may have paused, and what is left of
 * stays without them. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct doubt {
	int64_t from, to;
	int64_t task; /* none, if this task is silent; -1: it is one anyway */
	size_t open;  /* number of another one of this CPU that has no end yet,
		       * + 1 */
};

struct doubts {
	struct doubt *at; /* free() it */
	size_t n, cap;
};

/* Returns how many there are then. */
size_t doubts_add(struct doubts *d, const struct doubt *one);
/* Sorts them, and makes one of those that touch; there is one at least. */
void doubts_merge(struct doubts *d);
