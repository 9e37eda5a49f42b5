/* summary.h - the text of info and of the end of ingest: contents and
 * losses. */
#pragma once
#include <stdio.h>

struct err;
struct store;

/* Prints the summary of a database; path is how the user names it. brief: the
 * form at the end of ingest, else that of info; it has the options of
 * 'symbolize' that may name what has no name, "" if all were given. Returns 0,
 * or -1 and *err. */
int summary_print(FILE *out, struct store *db, const char *path,
		  const char *brief, struct err *err);
int summary_json(FILE *out, struct store *db, struct err *err);
