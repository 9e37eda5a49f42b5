/* redact.h - makes a copy of a database to give away: complete, or without the
 * words that identify its origin. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct err;
struct store;

/* Images whose path matches one of these globs are not redacted; neither is the
 * kernel's code. */
struct redact_opts {
	const char *const *keep;
	size_t n_keep;
};

/* How much was replaced, for a message to the user. */
struct redact_counts {
	uint64_t words;	 /* distinct paths, names and texts */
	uint64_t values; /* values replaced by these words */
};

/* Writes a compact copy to a new file, which must not exist; db may be a
 * temporary database. Returns 0, or -1 and *err, which names the file
 * `name`. */
int store_copy(struct store *db, const char *path, const char *name,
	       struct err *err);

/* Redacts the database at `path` in place. Each path, name and text of its
 * captures is replaced by a word like "d3/f17" or "comm-2": equal texts by
 * equal words, numbered in the order in which they appear, so that equal
 * databases stay equal. Build-ids, hashes of paths, payloads and bytes of code
 * are removed. Numbers stay: times, addresses, ids. No part of the file has the
 * old texts any more. Returns 0, or -1 and *err, which names the file
 * `name`. */
int store_redact(const char *path, const char *name,
		 const struct redact_opts *o, struct redact_counts *counts,
		 struct err *err);

/* A column of a table, and its rule. */
enum redact_how {
	REDACT_KEEP, /* identifies no one */
	REDACT_PATH,
	REDACT_COMM,
	REDACT_NAME, /* of a function */
	REDACT_HOST,
	REDACT_TEXT,
	REDACT_STATE, /* a text, but letters of states and numbers stay */
	REDACT_GONE,  /* becomes NULL */
};

struct redact_column {
	const char *table, *column;
	enum redact_how how;
	const char *image; /* SQL expression for the row's image; NULL: none */
};

/* Every column that can hold text or bytes; ends with table NULL. */
extern const struct redact_column redact_columns[];
