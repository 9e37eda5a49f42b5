/* filter.h - the filters that report, flame, script and export share. */
#ifndef CLI_MODEL_FILTER_H
#define CLI_MODEL_FILTER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/command.h"

struct err;
struct store;

struct filter {
	const char *time; /* perf's syntax: "start,stop" in seconds, or
			   * "10%-20%" */
	const char *cpu;  /* "0,2-4" */
	const char *pid, *tid, *comm, *event; /* comma lists */
};

extern struct filter filter;
/* --time -C --pid --tid --comm --event: for OPT_GROUP */
extern const struct opt filter_opts[];

#define FILTER_BIND 64 /* room for bind that is always enough */

/* The SQL condition on view `samples` for the options given ("1" for none)
 * into buf; -1 and *err for a malformed one. Names are bound, not printed:
 * numbers only are in the text, strings are ?1... in bind (see store.h) and
 * live until the program ends. */
struct value;
int filter_sql(struct store *db, char *buf, size_t size, struct value *bind,
	       size_t max, size_t *n, struct err *err);
bool filter_given(void);
/* Is that event among those of --event? Without it all are. */
bool filter_takes_event(const char *name);
#endif
