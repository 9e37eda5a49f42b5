/* ask.h - what other programs answer: perf to a trial, the loader to --list. */
#ifndef CLI_RECORD_ASK_H
#define CLI_RECORD_ASK_H
#include <stddef.h>
#include <sys/types.h>

/* Runs argv, found by PATH, without input, and keeps the start of what it
 * prints on both descriptors. Returns its exit status, 128 + the signal that
 * ended it, 127 if it could not be started. */
int ask(const char *const *argv, char *out, size_t size);
/* Waits for the end of a process, and returns as ask() does. */
int ask_wait(pid_t pid);
#endif
