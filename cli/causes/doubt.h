/* doubt.h - times in which a recorder may have paused, and what is left of
 * stays without them. */
#ifndef CLI_CAUSES_DOUBT_H
#define CLI_CAUSES_DOUBT_H
#include <stddef.h>
#include <stdint.h>

struct doubt {
	int64_t from, to;
};

struct doubts {
	struct doubt *at; /* free() it */
	size_t n, cap;
};

/* Returns how many there are then. */
size_t doubts_add(struct doubts *d, int64_t from, int64_t to);
/* Sorts them, and makes one of those that touch. */
void doubts_merge(struct doubts *d);
#endif
