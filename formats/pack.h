/* pack.h - compresses bytes as a gzip stream, or blocks with zstd.
 *
 * Call order: pack_new(), any number of pack_add(), pack_finish(), pack_free().
 * The same bytes make the same stream: it has no name and no time. */
#pragma once
#include <stddef.h>

struct gunzip;
struct err;
struct pack;
struct pack_zstd;

/* Receives the next n bytes of output. Returns 0, or -1 and *err. */
typedef int pack_fn(void *arg, const void *data, size_t n, struct err *err);

struct pack *pack_new(pack_fn *put, void *arg);
/* Like pack_new(), but faster, with a somewhat larger result. */
struct pack *pack_new_fast(pack_fn *put, void *arg);
void pack_free(struct pack *p);
/* Compresses n bytes. Returns 0, or -1 and *err. */
int pack_add(struct pack *p, const void *data, size_t n, struct err *err);
/* Writes what is still buffered, and the trailer. Returns 0, or -1 and *err. */
int pack_finish(struct pack *p, struct err *err);

/* Compresses separate blocks with zstd. Returns NULL and *err if there is no
 * memory. */
struct pack_zstd *pack_zstd_new(struct err *err);
void pack_zstd_free(struct pack_zstd *p); /* NULL is allowed */
/* Returns the most bytes that n bytes are compressed to. */
size_t pack_zstd_room(size_t n);
/* Compresses n bytes to `to`, which has room for pack_zstd_room(n) bytes.
 * Returns 0 and *len, or -1 and *err. The same bytes make the same result. */
int pack_zstd_put(struct pack_zstd *p, const void *data, size_t n, void *to,
		  size_t *len, struct err *err);

/* ---- unpacks a gzip stream in pieces, and checks its end.
 *
 * Call order: gunzip_new(), any number of gunzip_add(), gunzip_finish(),
 * gunzip_free(). */

/* put receives the plain bytes, in pieces of at most 64 KB. */
struct gunzip *gunzip_new(pack_fn *put, void *arg);
void gunzip_free(struct gunzip *g); /* NULL is allowed */
/* Unpacks the next n bytes. Returns 0, or -1 and *err if they are damaged, or
 * put() failed. */
int gunzip_add(struct gunzip *g, const void *data, size_t n, struct err *err);
/* Returns 0 if the stream is complete and its checksum is right, or -1 and
 * *err. */
int gunzip_finish(const struct gunzip *g, struct err *err);
