/* lives.h - finds which threads in the pieces of a stream are the same: each
 * piece has a separate row for a live thread. 'merge' uses it for requests and
 * chains that wait for their other half, 'latency' for pairs of events. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct err;
struct store;

/* Returns an array of n items, by thread.id: the row of the thread in the first
 * piece, 0 if it is not in several. The caller frees it. Returns NULL and *err
 * on failure. */
uint32_t *lives_load(struct store *db, size_t n, struct err *err);
