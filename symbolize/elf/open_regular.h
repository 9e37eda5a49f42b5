/* open_regular.h - opens files whose paths may be from a capture. */
#ifndef SYMBOLIZE_ELF_OPEN_REGULAR_H
#define SYMBOLIZE_ELF_OPEN_REGULAR_H
#include <stddef.h>
#include <stdint.h>

struct err;

/* A descriptor to read from, and the size the file says it has; -1 and *err
 * for everything but a regular file: a fifo must not block us and a device
 * must not be touched. */
int open_regular_file(const char *path, uint64_t *size, struct err *err);
/* Its first size bytes, which the caller has found to be not too many: *len of
 * them are there. free() it. */
void *open_regular_read(int fd, uint64_t size, size_t *len);
#endif
