/* pager.h - long output on a terminal is shown by a pager, as git does it.
 *
 * pager_arm() once, before a command prints. Bytes are then kept until they
 * are more than the screen shows, and only then the pager is started: what
 * fits the screen is just printed. Descriptor 1 stays the terminal all the
 * while, so that widths and colors are right. The pager gets stderr as well
 * (when that is the terminal too), until pager_end(). */
#ifndef CLI_OUTPUT_PAGER_H
#define CLI_OUTPUT_PAGER_H
#include <stdbool.h>
#include <stddef.h>

extern bool pager_never; /* --no-pager */

/* Nothing happens where standard output is no terminal, or without a pager. */
void pager_arm(void);
/* True: the bytes are kept. False: they are the caller's to write, behind
 * those of pager_kept(), to pager_fd(). */
bool pager_keep(const char *buf, size_t n);
/* What was kept, once; NULL: nothing. Owned. */
char *pager_kept(size_t *n);
int pager_fd(void);
/* No more bytes: waits until the user has read them. */
void pager_end(void);
#endif
