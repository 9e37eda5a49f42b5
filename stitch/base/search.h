/* search.h - binary search in anything that is sorted. */
#ifndef STITCH_BASE_SEARCH_H
#define STITCH_BASE_SEARCH_H
#include <stdbool.h>
#include <stddef.h>

/* Answers for item i of the sequence that arg knows. The answers must be
 * sorted: once true, true for every later item. */
typedef bool search_fn(const void *arg, size_t i);

/* Returns the index of the first of n items for which holds() is true, or n
 * if there is none. Calls holds() at most log2(n) + 1 times. Inline, so that
 * a constant callback costs no call. */
static inline size_t search_first(size_t n, search_fn *holds, const void *arg)
{
	size_t low = 0;
	size_t high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (holds(arg, middle))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
#endif
