/* load.h - reads captures into a database, for ingest and for commands that
 * accept a capture in place of a database. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "cli/args/command.h"

struct symbolizer_cache;
struct store;
struct unwind_compare_count;

/* --memory --slack --no-symbols, and those of naming. */
extern const struct opt load_common_opts[];
/* load_common_opts and --fields, for ingest; script has a --fields of its own.
 */
extern const struct opt load_opts[];

/* For commands that look at fields of events: those of these events, or NULL of
 * all, become columns unless --fields says otherwise; "": store_opts.fields. */
void load_want_fields(const char *events);

/* Checks an input before any work. Returns 0, or -1 and *err with advice.
 * Stores in *is_db, which may be NULL, whether it is a database. */
int load_check(const char *path, bool *is_db, struct err *err);

struct load_ask {
	/* the database; NULL: a temporary one without a name */
	const char *out;
	bool force; /* replace it */
	/* of a temporary one: only the sums of samples will be read
	 * (stacks_load() with `summed`, without a filter), and neither source
	 * lines nor inlined functions */
	bool sums;
	bool unnamed; /* of stacks only: names are not needed */
	/* what symbolizers left (symbolize/symbolizer_cache.h), which is not
	 * read anew by a process that reads again and again; NULL: nothing */
	struct symbolizer_cache *kept;
	/* also unwind stack dumps with SFrame; NULL: do not */
	struct unwind_compare_count *pair;
};

/* Reads captures into a database; a temporary one is returned in *db and closed
 * by the caller. *damaged tells whether input was skipped. Returns 0, or -1 and
 * *err; then no file is left behind. */
int load_captures(char *const *paths, size_t n, const struct load_ask *ask,
		  struct store **db, bool *damaged, struct err *err);
