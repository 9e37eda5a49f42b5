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
/* Waits for the end of a process. Returns its exit status, 128 + the signal
 * that ended it, 127 if pid is -1 as it could not be started. */
int child_wait(pid_t pid);
/* Runs the file, found by PATH too, without input; what it prints goes to these
 * two descriptors, which are above 2 or where they are. Returns as child_wait()
 * does. */
int child_run(const char *file, const char *const *argv, int out, int err);
/* Runs argv without input and output, and stores how long it took from its exec
 * to its end. Returns as child_wait() does. */
int child_time(const char *const *argv, int64_t *ns);
/* Runs argv, and keeps the start of all that it prints, in English. */
int child_ask(const char *const *argv, char *out, size_t size);
