/* silent_tasks.h - describes the tasks without records in a capture, and counts
 * the other records that only the order of its switches shows to be missing. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct causes;
struct err;
struct store;

typedef void silent_tasks_fn(void *arg, const struct causes *c);
/* Reads the switches of a database and calls fn with them; c is valid during
 * the call. Does not call fn if the database has no usable switches. Returns 0,
 * or -1 and *err. */
int silent_tasks_ask(struct store *db, const char *path, silent_tasks_fn *fn,
		     void *arg, struct err *err);

struct silent_tasks {
	char *text; /* "swapper/1 records nothing, ...: 3 gaps of 4 are of it";
		     * NULL: no such task */
	bool told;  /* the database has switches to judge by */
	uint64_t others; /* gaps without a reported loss that are not due to
			  * these tasks */
};

/* Describes the silent tasks of a database; without usable switches there are
 * none. Returns 0, or -1 and *err; the caller calls silent_tasks_release(). */
int silent_tasks_load(struct silent_tasks *s, struct store *db,
		      const char *path, struct err *err);
void silent_tasks_release(struct silent_tasks *s);
