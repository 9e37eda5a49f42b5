/* pack_zstd.h - compresses blocks of bytes, each by itself, with zstd. */
#pragma once
#include <stddef.h>

struct err;
struct pack_zstd;

/* Returns NULL and *err if there is no memory. */
struct pack_zstd *pack_zstd_new(struct err *err);
void pack_zstd_free(struct pack_zstd *p); /* NULL is fine */
/* Returns the room that n bytes need at most. */
size_t pack_zstd_room(size_t n);
/* Compresses n bytes to `to`, which has pack_zstd_room(n) bytes. Returns 0 and
 * *len, or -1 and *err. The same bytes give the same result. */
int pack_zstd_put(struct pack_zstd *p, const void *data, size_t n, void *to,
		  size_t *len, struct err *err);
