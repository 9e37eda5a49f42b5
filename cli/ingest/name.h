/* name.h - names the images of a database. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct frames;
struct symbolizer_cache;
struct err;
struct maker;
struct store;
struct symbolize_text;
struct symbolizer;

/* Where names are looked for, and which; borrowed. All zeros: in the usual
 * places, and all names. */
struct name_ask {
	/* a folder with the recorded programs; names of the kernel; or NULL */
	const char *symfs, *kallsyms, *vmlinux;
	const char *const *debug_dirs; /* up to a NULL; NULL: none */
	bool debuginfod;	       /* fetch files from servers */
	long fetch_seconds;	       /* the most for all files together */
	bool no_demangle, no_lines;
	bool no_cache; /* on disk */
	long jobs;     /* threads; 0: as many as there are CPUs, up to 8 */
};

/* Returns a symbolizer for the code of a database, for symbolize_free().
 * captured: copies of kallsyms in captures; kept: what earlier symbolizers
 * left; both may be NULL. */
struct symbolizer *name_symbolizer(const struct name_ask *a, struct store *db,
				   const struct symbolize_text *captured,
				   struct symbolizer_cache *kept);
/* Returns the options that may find more files and were not given, as advice:
 * "--symfs DIR, --debug-dir DIR"; "": there is none. */
#define NAME_NOT_GIVEN 80
const char *name_not_given(const struct name_ask *a, char buf[NAME_NOT_GIVEN]);
/* Returns how many threads unwind and name, at least 1. */
unsigned int name_jobs(const struct name_ask *a);

struct name_counts {
	uint64_t images, named;	 /* images; those with at least one name */
	uint64_t offsets, found; /* code offsets; those with a name */
	uint64_t fetched;	 /* files fetched from debuginfod servers */
	uint64_t missing;	 /* images for which the servers had no file */
};

/* Prints that a section has changed since the capture was read. */
void name_tell_changed(const char *file, const char *section);
/* Checks the options. Returns 0, or -1 and *err, for example if a file that is
 * named cannot be read. */
int name_check(const struct name_ask *a, struct err *err);
/* Names all code that has no name yet. captured: copies of kallsyms in
 * captures; kept: what earlier symbolizers left; both may be NULL. lines: also
 * source lines and inlined functions, unless a says no. Returns 0, or -1 and
 * *err if the database fails or Ctrl-C was pressed; files may have no names. */
int name_images(const struct name_ask *a, struct maker *mk,
		const struct symbolize_text *captured,
		struct symbolizer_cache *kept, bool lines, struct err *err);
/* Checks call sites by callsites_check(), with its result; shows progress. */
int name_check_calls(struct maker *mk, const struct frames *fr,
		     struct symbolizer *sy, struct err *err);
/* Does what name_images() does, also for code that has a name but no line.
 * Prints the files that have changed since names were read from them. */
int name_again(const struct name_ask *a, struct maker *mk,
	       struct name_counts *counts, struct err *err);
