/* load.h - reads captures into a database, for ingest and for commands that
 * accept a capture in place of a database. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "cli/command.h"

struct kept;
struct store;

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

/* Reads captures into the database `out`; if it is NULL, into a temporary
 * database without a name, which is returned in *db and closed by the caller.
 * *damaged tells whether input was skipped. Returns 0, or -1 and *err; then no
 * file is left behind. */
int load_captures(char *const *paths, size_t n, const char *out, bool force,
		  struct store **db, bool *damaged, struct err *err);

/* Reads one capture into a temporary database, of which only the sums of its
 * samples will be read (stacks_load() with `summed`, without a filter), and
 * neither source lines nor inlined functions. */
int load_sums(const char *path, struct store **db, bool *damaged,
	      struct err *err);

/* As load_captures() into a file, by a process that does so again and again:
 * the result is the same, but what `kept` (symbolize/kept.h) holds is not read
 * anew. */
int load_again(char *const *paths, size_t n, const char *out, struct kept *kept,
	       bool *damaged, struct err *err);

/* Reads one capture into a temporary database for its stacks, without names.
 * pair: also unwind its stack dumps with SFrame; NULL: do not. */
struct unwind_compare_count;
int load_unnamed(const char *path, struct unwind_compare_count *pair,
		 struct store **db, bool *damaged, struct err *err);
