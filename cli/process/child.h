/* child.h - other programs: found by PATH, run without input, asked what they
 * say. */
#pragma once
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Finds what execvp() would start for the n bytes of name, and writes its path.
 * Returns false if there is none, or no PATH. */
bool child_find(const char *name, size_t n, char out[PATH_MAX]);
/* In a process that was just forked: it gets a signal when its parent ends,
 * whatever ends that; if that has happened it ends. exec() keeps this, unless
 * the program gains rights by it. */
void child_end_with(pid_t parent, int sig);
/* Raises the priority of this process and of those that it starts from now on
 * to nice -10, if that is allowed and its user has not chosen one. */
void child_hurry(void);
/* Takes back what child_hurry() did to a process; 0: this one. */
void child_hurry_ends(pid_t pid);
/* Waits for the end of a process. Returns its exit status, 128 + the signal
 * that ended it, 127 if pid is -1 as it could not be started. */
int child_wait(pid_t pid);
/* Runs the file, found by PATH too, without input; what it prints goes to these
 * two descriptors, which are above 2 or where they are. Returns as child_wait()
 * does. */
int child_run(const char *file, const char *const *argv, int out, int err);
/* Returns the first child of a process, 0 if it has none, -1 if that cannot be
 * known: there is no such process, or no CONFIG_PROC_CHILDREN. */
pid_t child_of(pid_t pid);
/* From the exec of a process to its end, in ns of CLOCK_MONOTONIC. */
struct child_span {
	int64_t from, to;
};
/* Runs argv without input and output; its errors go to err, or nowhere if that
 * is -1. Stores its time in *self, and in *below, unless that is NULL, when its
 * first child ended; 0: not known. Returns as child_wait() does. */
int child_time(const char *const *argv, int err, struct child_span *self,
	       int64_t *below);
/* Runs argv, and keeps the start of all that it prints, in English. */
int child_ask(const char *const *argv, char *out, size_t size);
