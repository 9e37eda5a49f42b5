/* progress.h - one line on the terminal that shows progress.
 *
 * Shown only if standard error is a terminal and the work takes more than half
 * a second. Code that prints to stderr meanwhile calls progress_clear()
 * first. */
#pragma once
#include <stdint.h>

void progress_start(const char *what);
/* Starts the line for a live input, and shows it at once, since no data may
 * come for a long time. */
void progress_start_live(const char *what, const char *hint);
/* total 0: unknown. n counts what `unit` names. Draws at most ten times a
 * second. */
void progress_update(uint64_t done, uint64_t total, uint64_t n,
		     const char *unit);
void progress_clear(void);
