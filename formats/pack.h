/* pack.h - compresses bytes as a gzip stream.
 *
 * Call order: pack_new(), any number of pack_add(), pack_finish(), pack_free().
 * The same bytes give the same stream: it has no name and no time. */
#pragma once
#include <stddef.h>

struct err;
struct pack;

/* Takes the next n compressed bytes. Returns 0, or -1 and *err. */
typedef int pack_fn(void *arg, const void *data, size_t n, struct err *err);

struct pack *pack_new(pack_fn *put, void *arg);
/* The same in less time, for somewhat more bytes. */
struct pack *pack_new_fast(pack_fn *put, void *arg);
void pack_free(struct pack *p);
/* Returns 0, or -1 and *err. */
int pack_add(struct pack *p, const void *data, size_t n, struct err *err);
/* Writes what is still buffered, and the trailer. Returns 0, or -1 and *err. */
int pack_finish(struct pack *p, struct err *err);
