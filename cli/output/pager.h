/* pager.h - shows long output on a terminal in a pager, as git does.
 *
 * pager_arm() is called once, before a command prints. Output is then kept
 * until it exceeds the screen; only then is the pager started, so that short
 * output is just printed. Descriptor 1 remains the terminal, so that widths and
 * colors are right. If stderr is the terminal, it goes to the pager as well
 * until pager_end(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>

extern bool pager_never; /* --no-pager */

/* Does nothing if standard output is not a terminal or there is no pager. */
void pager_arm(void);
/* Returns true if it keeps the bytes. If false, the caller writes those of
 * pager_kept() and then these to pager_fd(). */
bool pager_keep(const char *buf, size_t n);
/* Returns the kept bytes and forgets them, NULL if there are none. The caller
 * frees them. */
char *pager_kept(size_t *n);
int pager_fd(void);
/* Ends the output and waits until the user leaves the pager. */
void pager_end(void);
