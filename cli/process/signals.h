/* signals.h - handles Ctrl-C, SIGTERM and SIGHUP.
 *
 * stop_requested() becomes true, pipes end that have no writer or reader,
 * commands stop and clean up, and main() ends the program by the signal. A
 * command that has not stopped after half a second, or by a second Ctrl-C, is
 * ended in the signal handler, which first calls the registered cleaners. While
 * a live pipe is read, the first Ctrl-C ends the input instead: the recorder
 * gets it as well and still writes its buffers, so reading goes on until the
 * pipe closes, for at most two seconds. */
#pragma once
#include <stdbool.h>

struct store;

/* Descriptors below this are replaced by /dev/null if they are pipes, or what
 * standard input is. */
#define STOP_FD_LOOK 64

void signals_init(void);
/* Tells whether standard input is a live pipe that is being read. */
void signals_live(bool on);
/* Has fn called before the program is ended at once. It is called in a signal
 * handler, so it may neither allocate nor wait for a lock. At most four. */
void signals_cleans(void (*fn)(void));
/* Tells whether the command must be left to stop by itself, because only it can
 * undo what it has changed. A second Ctrl-C ends it all the same. */
void signals_patiently(bool on);
/* Lets Ctrl-C interrupt statements on db; NULL ends that. */
void signals_query(struct store *db);
bool stop_requested(void);
/* Returns whether the first Ctrl-C came while a live pipe was read. */
bool stop_input_ends(void);
/* Ends the program by the signal that it got. */
void stop_now(void) __attribute__((noreturn));
