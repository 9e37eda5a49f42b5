/* turns.h - finds the next stream of a capture, or the next capture: a heap of
 * those that have an item, the earliest first. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct turn {
	uint64_t time; /* time of the stream's next item */
	uint32_t stream;
};

static inline bool turn_is_earlier(const struct turn *a, const struct turn *b)
{
	return a->time != b->time ? a->time < b->time : a->stream < b->stream;
}

/* Replaces turn i of a heap of n by `at`, and moves it down to its place. */
static inline void turns_put(struct turn *heap, size_t n, size_t i,
			     struct turn at)
{
	for (size_t c; (c = 2 * i + 1) < n; i = c) {
		c += c + 1 < n && turn_is_earlier(&heap[c + 1], &heap[c]);
		if (!turn_is_earlier(&heap[c], &at))
			break;
		heap[i] = heap[c];
	}
	heap[i] = at;
}
