/* lives.h - which threads of the pieces of a stream are one: each piece has a
 * row of its own for a thread that lives. 'merge' asks for requests and chains
 * that wait for their other half, 'latency' for pairs of events. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct err;
struct store;

/* Returns an array of n items, by thread.id: the row that the thread has in the
 * first piece, 0: it is not in several. The caller frees it. Returns NULL and
 * *err on failure. */
uint32_t *lives_load(struct store *db, size_t n, struct err *err);
