/* refuse.h - recognizes files that no reader accepts, for the message that
 * refuses them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct err;

/* Returns what this output of another program is, and what to give instead;
 * NULL if the first n bytes are not recognized. The string is constant. */
const char *formats_foreign(const void *head, size_t n);
/* Returns -1 and sets *err to "path: this is ..., needs ...", judged by the
 * first n bytes of the file. */
int formats_refuse(const char *path, const void *head, size_t n,
		   struct err *err);
/* Returns whether these bytes, which end a stream, are what perf record prints
 * at its end, as 'perf record -o - 2>&1' puts them there. */
bool formats_is_messages(const void *text, size_t n);
