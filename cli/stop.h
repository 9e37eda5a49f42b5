/* stop.h - Ctrl-C: what it means depends on what is being done.
 *
 * Everywhere: stop_requested() becomes true, the work is given up tidily,
 * and main ends the program by SIGINT. While a live pipe is read it means
 * "end of the input": the recorder gets the same Ctrl-C and still writes what
 * it holds, so reading goes on until it closes the pipe, or for two seconds.
 * A second Ctrl-C then means give up. */
#ifndef CLI_STOP_H
#define CLI_STOP_H
#include <stdbool.h>

struct store;

void stop_init(void);
/* Standard input is a pipe that is being read. */
void stop_live(bool on);
/* A statement that Ctrl-C interrupts; NULL: none any more. */
void stop_query(struct store *db);
bool stop_requested(void);
/* Ends the program as the signal would have. */
void stop_now(void) __attribute__((noreturn));
#endif
