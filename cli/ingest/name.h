/* name.h - names the images of a database. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "cli/args/command.h"

struct frames;
struct symbolizer_cache;
struct store;
struct symbolize_opts;
struct symbolize_text;
struct symbolizer;

/* --symfs: for commands that read programs but name nothing. */
extern const struct opt name_place_opts[];
/* --symfs --kallsyms --vmlinux --debug-dir --debuginfod --no-demangle ... */
extern const struct opt name_opts[];

/* Returns a symbolizer with the options of name_opts, which the caller frees.
 * captured: copies of kallsyms in captures; kept: what earlier ones left; NULL:
 * nothing. */
struct symbolizer *name_symbolizer(struct store *db,
				   const struct symbolize_text *captured,
				   struct symbolizer_cache *kept);
/* Returns what --symfs, --kallsyms and --vmlinux name; NULL each: none. */
const struct symbolize_opts *name_asked(void);
/* Returns whether --debuginfod was given. */
bool name_asks_servers(void);
/* Returns whether --symfs or --debug-dir was given. */
bool name_has_places(void);
/* Returns the options that may find more files and were not given, as advice:
 * "--symfs DIR, --debug-dir DIR"; "": there is none. */
#define NAME_NOT_GIVEN 80
const char *name_not_given(char buf[NAME_NOT_GIVEN]);
/* Returns whether a capture is of this machine and kernel version; of one that
 * names neither (NULL) it is not. */
bool name_recorded_here(const char *host, const char *release);

/* Returns how many threads unwind and name, at least 1. */
unsigned int name_jobs(void);

struct name_counts {
	uint64_t images, named;	 /* images; those with at least one name */
	uint64_t offsets, found; /* code offsets; those with a name */
	uint64_t fetched;	 /* files fetched from debuginfod servers */
	uint64_t missing;	 /* images for which the servers had no file */
};

/* Prints that a section has changed since the capture was read. */
void name_tell_changed(const char *file, const char *section);
/* Checks the options. Returns 0, or -1 and *err, if a file that they name
 * cannot be read, for example. */
int name_check(struct err *err);
/* Names all code that has no name yet. captured: copies of kallsyms in
 * captures; kept: what earlier symbolizers left; both may be NULL. lines: also
 * source lines and inlined functions, unless options say no. Returns 0, or -1
 * and *err if the database fails or Ctrl-C was pressed; a file without names is
 * not an error. */
int name_images(struct store *db, const struct symbolize_text *captured,
		struct symbolizer_cache *kept, bool lines, struct err *err);
/* Checks the call sites: callsites_check(), while a line shows progress. */
int name_check_calls(struct store *db, const struct frames *fr,
		     struct symbolizer *sy, struct err *err);
/* Like name_images(), also for code that has a name but no line. Prints the
 * files that have changed since names were read from them. */
int name_again(struct store *db, struct name_counts *counts, struct err *err);
