/* cut_unpack.h - the records in the compressed records of a stream that is cut.
 *
 * cut_unpack_feed() borrows the data of a compressed record until
 * cut_unpack_next() has returned 0. A record may be split between two of
 * them: what was not used stays for the next one. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cut_unpack;
struct err;

struct cut_unpack *cut_unpack_new(void);
void cut_unpack_free(struct cut_unpack *u); /* NULL is fine */
void cut_unpack_feed(struct cut_unpack *u, const void *data, size_t n);
/* Stores the next bytes, borrowed. Returns 1, 0 at the end, -1 and *err, which
 * names path and off: the rest of what was fed is damaged, as all is that comes
 * later, of which each is told once. */
int cut_unpack_next(struct cut_unpack *u, const unsigned char **data,
		    size_t *len, const char *path, uint64_t off,
		    struct err *err);
void cut_unpack_used(struct cut_unpack *u, size_t n);
/* Returns whether a record, or a block of zstd, has no end so far. */
bool cut_unpack_is_open(const struct cut_unpack *u);
