/* write_all.h - writes all bytes of a buffer, however many calls it takes. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Writes n bytes where fd is, or at offset off of its file. A signal, or a
 * write of a part, is no failure: the rest is written. Returns 0, or -1 and
 * errno; then a part may be written. A system that takes no byte and gives no
 * reason has no space: ENOSPC. */
int write_all(int fd, const void *buf, size_t n);
int write_all_at(int fd, const void *buf, size_t n, uint64_t off);
