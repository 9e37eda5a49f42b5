/* out.h - standard output that remembers why it failed.
 *
 * A full disk must be said, a reader that went away (| head) must not, and
 * ferror() alone cannot tell one from the other. */
#ifndef CLI_OUTPUT_OUT_H
#define CLI_OUTPUT_OUT_H
#include <stdbool.h>
#include <stdio.h>

struct err;

/* Once, before anything is printed: puts our stream in place of stdout. */
void out_init(void);
/* True when there is no point in printing more; commands with long output
 * look at it and return STATUS_OK. */
bool out_failed(void);
/* Everything is shown, and a pager is done. */
void out_settle(void);
/* The same. 0 also when the reader went away; -1 and *err when the output is
 * not complete. */
int out_finish(struct err *err);
/* Lets write() fill the file (NULL or "-": standard output). A file that
 * could not be written whole is removed. 0, or -1 and *err. */
typedef int out_write_fn(FILE *out, void *arg, struct err *err);
int out_write(const char *path, out_write_fn *write, void *arg,
	      struct err *err);
#endif
