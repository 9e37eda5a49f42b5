/* silent_tasks.h - the tasks of which a capture has no record, as a sentence.
 */
#ifndef CLI_MODEL_SILENT_TASKS_H
#define CLI_MODEL_SILENT_TASKS_H
#include <stdint.h>

struct err;
struct store;

struct silent_tasks {
	char *names;	 /* "swapper/1 and NAME"; NULL: there are none */
	uint64_t tasks;	 /* how many these are, */
	uint64_t gaps;	 /* and places in which records are missing behind them
			  */
	uint64_t others; /* other places without a loss */
};

/* Reads the switches of a database; what cannot be asked of it has none.
 * Returns 0, or -1 and *err; the caller calls silent_tasks_release(). */
int silent_tasks_load(struct silent_tasks *s, struct store *db,
		      const char *path, struct err *err);
void silent_tasks_release(struct silent_tasks *s);
#endif
