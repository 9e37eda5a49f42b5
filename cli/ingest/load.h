/* load.h - captures into a database: the loop that ingest is, also for the
 * commands that take a capture where a database is expected. */
#ifndef CLI_INGEST_LOAD_H
#define CLI_INGEST_LOAD_H
#include <stdbool.h>
#include <stddef.h>

#include "cli/command.h"

struct err;
struct store;

/* --memory --slack --no-symbols, and those of naming. */
extern const struct opt load_common_opts[];
/* These and --fields, for ingest; script has a --fields of its own. */
extern const struct opt load_opts[];

/* Looks at an input before any work is done: 0, or -1 and *err with what to
 * do. *is_db (may be NULL) says that it is a database. */
int load_check(const char *path, bool *is_db, struct err *err);

/* out NULL: a temporary database with no name, given back in *db; then the
 * caller closes it. Otherwise the database is at `out` and *db is NULL.
 * *damaged: input was skipped. On -1 nothing is left behind. */
int load_captures(char *const *paths, size_t n, const char *out, bool force,
		  struct store **db, bool *damaged, struct err *err);

/* One capture into a temporary database, for its stacks: nothing is named.
 * pair: its stack dumps are unwound with SFrame as well; NULL: they are not. */
struct unwind_compare_count;
int load_unnamed(const char *path, struct unwind_compare_count *pair,
		 struct store **db, bool *damaged, struct err *err);
/* Where temporary files go: $TMPDIR, or /tmp. */
const char *load_temp_dir(void);
#endif
