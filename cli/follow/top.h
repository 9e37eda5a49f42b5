/* top.h - the screens of view beside follow, on its newest segment.
 *
 * view has the terminal from top_open() to top_close(), as a process of its
 * own. Messages of that time are printed then. */
#pragma once
#include <stdbool.h>

struct err;
struct top;

/* Shows the segments in dir. Returns NULL and *err if there is no terminal. */
struct top *top_open(const char *dir, struct err *err);
void top_close(struct top *t); /* NULL is fine */
/* Returns whether the user left it. */
bool top_ended(struct top *t);
