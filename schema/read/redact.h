/* redact.h - a copy of a database, for somebody else: as it is, or without
 * the words that say whose it is. */
#ifndef SCHEMA_READ_REDACT_H
#define SCHEMA_READ_REDACT_H
#include <stddef.h>
#include <stdint.h>

struct err;
struct store;

/* What is left as it is: the kernel's code, and images whose path is like one
 * of these globs. */
struct redact_opts {
	const char *const *keep;
	size_t n_keep;
};

/* What was replaced, for a word to the user. */
struct redact_counts {
	uint64_t words;	 /* distinct paths, names and texts */
	uint64_t values; /* places where they stood */
	uint64_t gone;	 /* values that have no form without a secret */
};

/* A compact copy into a new file: -1 and *err when it exists. The source may
 * be a temporary database. */
int store_copy(struct store *db, const char *path, struct err *err);

/* In the database at `path`, in place: every path, name and text of its
 * capture becomes a word of ours ("d3/f17", "comm-2"), the same for the same
 * one, numbered as they appear, so that equal databases become equal ones.
 * Build-ids, hashes over paths, payloads, and bytes of code are removed.
 * Numbers stay: times, addresses, ids. What the file held before is not in it
 * any more. */
int store_redact(const char *path, const struct redact_opts *o,
		 struct redact_counts *counts, struct err *err);

/* One column of a table, and what becomes of it. */
enum redact_how {
	REDACT_KEEP, /* says nothing of the user's */
	REDACT_PATH,
	REDACT_COMM,
	REDACT_NAME, /* of a function */
	REDACT_HOST,
	REDACT_TEXT,
	REDACT_GONE, /* becomes NULL */
};

struct redact_column {
	const char *table, *column;
	enum redact_how how;
	const char *image; /* SQL: the image that it is of; NULL: none */
};

/* Every column that can hold text or bytes; ends with table NULL. */
extern const struct redact_column redact_columns[];
#endif
