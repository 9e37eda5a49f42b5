/* progress.h - one line on the terminal that says how far we are.
 *
 * Only when standard error is a terminal, and only for work that takes more
 * than half a second. Everybody who prints to stderr meanwhile calls
 * progress_clear() first. */
#ifndef CLI_OUTPUT_PROGRESS_H
#define CLI_OUTPUT_PROGRESS_H
#include <stdint.h>

void progress_start(const char *what);
/* The same for what comes when it comes: says so at once, since it may be
 * quiet for long. */
void progress_start_live(const char *what, const char *hint);
/* total 0: not known. n counts what `unit` names. Cheap: looks at the clock
 * and draws ten times a second. */
void progress_update(uint64_t done, uint64_t total, uint64_t n,
		     const char *unit);
void progress_clear(void);
#endif
