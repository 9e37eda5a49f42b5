/* write_all.h - writes all bytes of a buffer, however many calls it takes. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Write n bytes at the current position of fd, or at offset off. An interrupted
 * or partial write is no failure: the rest is written. Return 0, or -1 and
 * errno; then some bytes may be written. A write that takes no byte without an
 * error counts as ENOSPC. */
int write_all(int fd, const void *buf, size_t n);
int write_all_at(int fd, const void *buf, size_t n, uint64_t off);
