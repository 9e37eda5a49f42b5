/* refuse.h - tells what a file is that no reader accepts. */
#pragma once
#include <stddef.h>

struct err;

/* Returns -1 and sets *err to "path: this is ..., needs ..." by the first n
 * bytes. */
int formats_refuse(const char *path, const void *head, size_t n,
		   struct err *err);
