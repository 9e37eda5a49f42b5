/* pack.h - packs a database for someone else: with the files that hold its
 * symbols, or redacted. */
#pragma once
#include <stdbool.h>

struct err;
struct opt_list;
struct store;

struct pack_opts {
	const char *out; /* NULL: named after the database */
	bool force;	 /* replace an existing file */
	bool redact, no_debug;
	const struct opt_list *keep; /* with redact: globs of images */
};

/* Writes an archive, or the database alone if the name of the output is not
 * that of an archive; path is where db was read from. Reports on stderr what
 * was packed. Returns 0, or -1 and *err. */
int pack_write(struct store *db, const char *path, const struct pack_opts *o,
	       struct err *err);
