/* gunzip.h - unpacks a gzip stream that comes in pieces, and proves its end.
 *
 * Call order: gunzip_new(), any number of gunzip_add(), gunzip_finish(),
 * gunzip_free(). */
#pragma once
#include <stddef.h>

#include "formats/pack.h"

struct gunzip;

/* put takes the plain bytes, in pieces of at most 64 KB. */
struct gunzip *gunzip_new(pack_fn *put, void *arg);
void gunzip_free(struct gunzip *g); /* NULL is fine */
/* Takes the next n packed bytes. Returns 0, or -1 and *err if they are damaged,
 * or put() failed. */
int gunzip_add(struct gunzip *g, const void *data, size_t n, struct err *err);
/* Returns 0 if the stream came to its end and its check sum is right, or -1 and
 * *err. */
int gunzip_finish(const struct gunzip *g, struct err *err);
