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

/* How captures are read, and what they do not say themselves; pointers are
 * borrowed. All zeros: into a temporary database. */
struct load_ask {
	/* the database; NULL: a temporary one without a name */
	const char *out;
	bool force; /* replace a file that exists */
	/* for a temporary one: only the sums of samples will be read
	 * (stacks_load() with `summed`, without a filter), and neither source
	 * lines nor inlined functions */
	bool sums;
	bool unnamed; /* only stacks are needed, no names */
	/* what earlier symbolizers left (symbolize/symbolizer_cache.h), for a
	 * process that reads captures again and again; NULL: nothing */
	struct symbolizer_cache *kept;
	/* also unwind stack dumps with SFrame; NULL: do not */
	struct unwind_compare_count *pair;
	const char *fields;   /* maker_opts.fields */
	unsigned long memory; /* bytes for records that wait; 0: the default */
	long cpus;	      /* if a text does not say them; else 0 */
	long slack_ms;	      /* records of a live pipe are held back longer */
	bool no_symbols;      /* look for no names */
	bool no_callers; /* chains get no caller that the code proves missing */
	const char *layout;		 /* of cookies: a name; NULL: "auto" */
	const char *const *nonce_format; /* templates */
	size_t n_nonce_format;
	/* if captures do not say it: the clock; folders with copies of tracefs;
	 * events that ask for a stack, and that bring it; or NULL each */
	const char *clock, *formats, *stats, *request, *chain;
	const char *const *maps; /* jitted.h */
	size_t n_maps;
	struct align_ask align;
	struct jitted_ask jitted;
	struct name_ask name;
};

/* Reads captures into a database; a temporary one is stored in *db, which the
 * caller closes. *damaged: input was skipped. Returns 0, or -1 and *err; then
 * no file is left behind. */
int load_captures(char *const *paths, size_t n, const struct load_ask *ask,
		  struct store **db, bool *damaged, struct err *err);
