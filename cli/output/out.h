/* out.h - standard output that keeps the reason of a failed write.
 *
 * A full disk is an error, a reader that went away (| head) is not, and
 * ferror() does not distinguish them. */
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include <stddef.h>

struct err;

/* Replaces stdout and stderr by streams that escape what controls a terminal
 * (escape_filter.h). To be called once, before anything is printed. */
void out_init(void);
/* Turns escaping off for stdout, as bytes for a program follow. */
void out_bytes(void);
/* Prints n bytes like fwrite() to stdout, but does not copy long text. */
void out_text(const char *text, size_t n);
/* Returns true once a write to standard output has failed. Commands with long
 * output then stop and return STATUS_OK. */
bool out_failed(void);
/* Flushes all output and waits for the pager. */
void out_settle(void);
/* Does out_settle(). Returns 0, also if the reader went away, or -1 and *err if
 * the output is incomplete. */
int out_finish(struct err *err);
/* Returns 0 if output may replace the file, or -1 and *err if it is a capture,
 * or a database while `database` is not set: these cannot be made again. */
int out_may_replace(const char *path, bool database, struct err *err);
/* Calls write() with the opened file (NULL or "-": standard output). All files
 * that a command writes go this way: an existing file is replaced when the new
 * one is complete, and stays as it is otherwise; out_may_replace() is asked.
 * Returns 0, or -1 and *err. */
typedef int out_write_fn(FILE *out, void *arg, struct err *err);
int out_write(const char *path, out_write_fn *write, void *arg,
	      struct err *err);

/* A pager shows long output on a terminal, as in git.
 *
 * pager_arm() is called once, before a command prints. Output is then kept
 * until it exceeds the screen; only then is the pager started, so that short
 * output is just printed. Descriptor 1 remains the terminal, so that widths and
 * colors are right. If stderr is the terminal, it goes to the pager as well
 * until out_settle(). */

extern bool pager_never; /* --no-pager */

/* Does nothing if standard output is not a terminal or there is no pager. */
void pager_arm(void);
