/* run.h - runs perf until it ends, and passes signals on to it. */
#ifndef CLI_RECORD_RUN_H
#define CLI_RECORD_RUN_H
#include <stdbool.h>

struct err;
struct plan;

struct run_end {
	int status; /* what waitpid() said */
	bool asked; /* we were told to end it, or its time was over */
};

/* env: set what the runtime needs. seconds: then perf is interrupted; 0:
 * never. Returns 0, or -1 and *err if it did not start. */
int run_perf(const struct plan *p, bool env, double seconds,
	     struct run_end *end, struct err *err);
/* Prints the first screen of a capture, on standard error if `aside`. Returns
 * the exit status of that command. */
int run_screen(const char *file, bool aside);
#endif
