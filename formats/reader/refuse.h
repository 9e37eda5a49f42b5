/* refuse.h - recognizes files that no reader accepts, for the message that
 * refuses them. */
#pragma once
#include <stddef.h>

struct err;

/* Returns what this output of another program is, and what to give instead;
 * NULL if the first n bytes are not recognized. The string is constant. */
const char *formats_foreign(const void *head, size_t n);
/* Returns -1 and sets *err to "path: this is ..., needs ...", judged by the
 * first n bytes of the file. */
int formats_refuse(const char *path, const void *head, size_t n,
		   struct err *err);
