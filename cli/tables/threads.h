/* threads.h - the time of each thread: on a CPU, ready for one, waiting. */
#pragma once
#include <stddef.h>

struct err;
struct store;

/* Prints the threads that had or wanted a CPU longest, `limit` of them, below a
 * line with the sums. Returns 0; 1 if not all CPUs were recorded, and only that
 * was printed; or -1 and *err: ERR_FORMAT says that the database does not tell.
 */
int threads_print(struct store *db, const char *path, size_t limit,
		  struct err *err);
