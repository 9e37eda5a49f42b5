/* load.h - reads captures into a database, for ingest and for commands that
 * accept a capture in place of a database. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "cli/ingest/align.h"
#include "cli/ingest/jitted.h"
#include "cli/ingest/name.h"

struct unwind_compare_count;

/* Checks an input before any work. Returns 0, or -1 and *err with advice.
 * Stores in *is_db, which may be NULL, whether it is a database. */
int load_check(const char *path, bool *is_db, struct err *err);

/* What is wanted of captures, and what they do not say themselves; all that it
 * names is borrowed. All zeros: a temporary database. */
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
	const char *fields;   /* maker_opts.fields */
	unsigned long memory; /* for records that wait; 0: the default */
	long cpus;	      /* of a text that does not say how many; 0 */
	long slack_ms;	      /* of a live pipe: records are held back longer */
	bool no_symbols;      /* no names are looked for */
	bool no_callers; /* chains get no caller that the code proves missing */
	const char *layout;		 /* of cookies, a word; NULL: "auto" */
	const char *const *nonce_format; /* templates */
	size_t n_nonce_format;
	/* of captures that do not say it: the clock; folders with copies of
	 * tracefs; events that ask for a stack, and that bring it; NULL each:
	 * not given */
	const char *clock, *formats, *stats, *request, *chain;
	const char *const *maps; /* jitted.h */
	size_t n_maps;
	struct align_ask align;
	struct jitted_ask jitted;
	struct name_ask name;
};

/* Reads captures into a database; a temporary one is returned in *db and closed
 * by the caller. *damaged tells whether input was skipped. Returns 0, or -1 and
 * *err; then no file is left behind. */
int load_captures(char *const *paths, size_t n, const struct load_ask *ask,
		  struct store **db, bool *damaged, struct err *err);
