/* refuse.h - tells what a file is that no reader accepts. */
#pragma once
#include <stddef.h>

struct err;

/* Returns what a text of another program is, and what is read in its place;
 * NULL: none that is known by its first bytes. */
const char *formats_foreign(const void *head, size_t n);
/* Returns -1 and sets *err to "path: this is ..., needs ..." by the first n
 * bytes. */
int formats_refuse(const char *path, const void *head, size_t n,
		   struct err *err);
