/* pack.h - packs a database for someone else: with the files that hold its
 * symbols, or redacted. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct err;
struct name_ask;
struct store;

struct pack_opts {
	const char *out; /* NULL: named after the database */
	bool force;	 /* replace an existing file */
	bool redact, no_debug;
	const char *const *keep; /* with redact: globs of images */
	size_t n_keep;
	const struct name_ask *names; /* where programs are */
};

/* Writes an archive, or the database alone if the name of the output is not
 * that of an archive; path is where db was read from. Reports on stderr what
 * was packed. Returns 0, or -1 and *err. */
int pack_write(struct store *db, const char *path, const struct pack_opts *o,
	       struct err *err);
