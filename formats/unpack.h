/* unpack.h - gzip and zstd files as a stream of plain bytes. */
#ifndef FORMATS_UNPACK_H
#define FORMATS_UNPACK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct unpack;

/* Do these first bytes belong to a gzip or zstd file? */
bool unpack_knows(const void *head, size_t n);
/* Reads from fd, after the n bytes of head that were read from it before.
 * path is for messages and is borrowed. */
struct unpack *unpack_new(int fd, const char *path, const void *head, size_t n);
void unpack_free(struct unpack *u);
/* Up to n plain bytes: how many, 0 at the end, -1 and *err. A file that is
 * cut short gives what is whole, then the end, and *cut is set. */
int64_t unpack_read(struct unpack *u, void *buf, size_t n, bool *cut,
		    struct err *err);
/* All plain bytes of the file; NULL: it is not packed, damaged, or they are
 * more than max. free() it. */
unsigned char *unpack_all(int fd, const char *path, size_t max, size_t *len);
#endif
