/* windows.h - intervals of time in which records were dropped.
 *
 * Added in any order, asked at any time: the first question after additions
 * sorts and unites them, each further one costs a binary search. Memory has a
 * limit: when there are too many, neighbours become one with what is between
 * them, so a window may become too wide but never goes away. */
#ifndef STITCH_WINDOWS_H
#define STITCH_WINDOWS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct window {
	int64_t t0, t1; /* (t0, t1], ns */
};

/* Zero-initialised is empty and ready. */
struct windows {
	struct window *window;
	size_t n, cap;
	bool dirty; /* some were added since they were last united */
};

/* An empty interval (t0 >= t1) is left out. */
void windows_add(struct windows *ws, int64_t t0, int64_t t1);
/* Does any overlap (from, to)? */
bool windows_overlap(struct windows *ws, int64_t from, int64_t to);
void windows_release(struct windows *ws);
#endif
