/* unpack.h - reads gzip, zstd, xz and bzip2 files as a stream of plain bytes.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct unpack;

/* Returns true if these first bytes are of such a file. */
bool unpack_knows(const void *head, size_t n);
/* Reads from fd, after the n bytes of head that were read from it before. path
 * is for messages and is borrowed. */
struct unpack *unpack_new(int fd, const char *path, const void *head, size_t n);
void unpack_free(struct unpack *u);
/* Reads up to n plain bytes. Returns their number, 0 at the end, or -1 and
 * *err. A file that is cut short gives its readable part, then the end, and
 * *cut is set. */
int64_t unpack_read(struct unpack *u, void *buf, size_t n, bool *cut,
		    struct err *err);
/* Returns how many bytes of the file were read. */
uint64_t unpack_taken(const struct unpack *u);
/* Fails if the plain bytes are more than this many packed ones of a capture or
 * database can give: 64 MiB and UNPACK_RATIO times as many. */
#define UNPACK_RATIO 256
int unpack_check(const char *path, uint64_t packed, uint64_t plain,
		 struct err *err);
/* Returns all plain bytes of a gzip or zstd file, which the caller frees; NULL
 * if it is not compressed, damaged, or has more than max bytes. */
unsigned char *unpack_all(int fd, const char *path, size_t max, size_t *len);
