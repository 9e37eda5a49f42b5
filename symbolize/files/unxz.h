/* unxz.h - unpacks xz data in memory. */
#ifndef SYMBOLIZE_FILES_UNXZ_H
#define SYMBOLIZE_FILES_UNXZ_H
#include <stddef.h>

/* More than any debug data or kernel module unpacks to; bombs reach
 * petabytes. */
#define UNPACKED_MAX ((size_t)256 * 1024 * 1024)

/* NULL when it is broken or too big; free() it. */
void *unxz(const void *in, size_t in_len, size_t *out_len);
#endif
