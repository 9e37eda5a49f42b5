/* silent_tasks.h - the tasks of which a capture has no record, as a sentence;
 * and what else only the order of its switches shows to be missing. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct causes;
struct err;
struct store;

typedef void silent_tasks_fn(void *arg, const struct causes *c);
/* Reads the switches of a database and calls fn, but not for one that cannot be
 * asked. What fn gets is valid during the call. Returns 0, or -1 and *err. */
int silent_tasks_ask(struct store *db, const char *path, silent_tasks_fn *fn,
		     void *arg, struct err *err);

struct silent_tasks {
	char *text; /* "swapper/1 records nothing, ...: 3 gaps of 4 are of it";
		     * NULL: there are none */
	bool told;  /* switches say who was where */
	uint64_t others; /* gaps without a loss that are not of them */
};

/* Reads the switches of a database; what cannot be asked of it has none.
 * Returns 0, or -1 and *err; the caller calls silent_tasks_release(). */
int silent_tasks_load(struct silent_tasks *s, struct store *db,
		      const char *path, struct err *err);
void silent_tasks_release(struct silent_tasks *s);
