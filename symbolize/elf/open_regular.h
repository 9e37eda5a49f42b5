/* open_regular.h - opens files whose paths may be from a capture. */
#ifndef SYMBOLIZE_ELF_OPEN_REGULAR_H
#define SYMBOLIZE_ELF_OPEN_REGULAR_H
#include <stddef.h>
#include <stdint.h>

struct err;

/* Opens a file for reading. Returns its descriptor and stores its size, or
 * returns -1 and *err. Anything but a regular file is refused: opening a FIFO
 * could block, and a device could react. */
int open_regular_file(const char *path, uint64_t *size, struct err *err);
/* Reads the first size bytes, a number that the caller has limited. Returns a
 * buffer to free(); *len is how many bytes were read. */
void *open_regular_read(int fd, uint64_t size, size_t *len);
#endif
