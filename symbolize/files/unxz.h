/* unxz.h - decompresses xz data in memory. */
#pragma once
#include <stddef.h>

/* More than any debug data or kernel module needs; a decompression bomb expands
 * to petabytes. */
#define UNPACKED_MAX ((size_t)256 * 1024 * 1024)

/* Returns the decompressed bytes, to be freed by the caller, or NULL if the
 * data is damaged or too large. */
void *unxz(const void *in, size_t in_len, size_t *out_len);
