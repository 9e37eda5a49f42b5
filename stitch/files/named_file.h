/* named_file.h - opens files whose paths a capture or a database names.
 *
 * Whoever wrote the capture chose the path, so nothing is opened before it is
 * known what it is: a FIFO would block, a device could react, and files of
 * /proc and /sys tell about this machine. What a file holds is proved by who
 * reads it; cli/commands/bundle.c decides what may be given away. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct err;

/* Opens a regular file for reading, through links and "..". Returns its
 * descriptor and stores its size, or returns -1 and *err: if it is anything
 * else, or a file that a kernel makes up, such as those of /proc. */
int named_file_open(const char *path, uint64_t *size, struct err *err);
/* The same for a path that the user or this program chose, which may be in
 * /proc. */
int named_file_open_any(const char *path, uint64_t *size, struct err *err);
/* Reads such a file of at most max bytes. Returns a buffer to free(); *len is
 * how many bytes were read. NULL: it is empty, larger or cannot be opened. */
void *named_file_load(const char *path, uint64_t max, size_t *len);
