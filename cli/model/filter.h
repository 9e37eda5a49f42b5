/* filter.h - the filters that report, flame, script and export share, and
 * the way a command gets its database: given, or made from a capture. */
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
/* -i --symfs --kallsyms --no-symbols ...: for commands that may ingest */
extern const struct opt ingest_opts[];

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

/* What to read: the argument, else -i, else perf.db or perf.data of the
 * current folder, whichever is newer (and says so on stderr). NULL and *err
 * when there is neither, or more than one argument. */
const char *input_path(int argc, char **argv, struct err *err);
/* -1 and *err when `out` (NULL, "-": no file) is the file that is read: with
 * perf.data in the folder, '-o perf.data' is an easy mistake. */
int input_apart(const char *in, const char *out, struct err *err);
/* Opens a database, or ingests a capture ("-": stdin) into a temporary one.
 * *status becomes STATUS_DAMAGED when the capture was damaged. */
struct store *database_open(const char *path, int *status, struct err *err);
#endif
