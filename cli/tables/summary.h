/* summary.h - the text of info and of the end of ingest: contents and
 * losses. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

struct err;
struct store;

/* Options that may find names of code without one; "" if all were given. The
 * command is "symbolize" for a database, "ingest" for a capture. */
struct summary_more {
	const char *command, *options;
};

/* Prints the summary of a database; path is how the user names it. brief: the
 * form at the end of ingest, else that of info. Returns 0, or -1 and *err. */
int summary_print(FILE *out, struct store *db, const char *path, bool brief,
		  struct summary_more more, struct err *err);
/* Writes what info knows as JSON. Returns 0, or -1 and *err. */
int summary_json(FILE *out, struct store *db, struct err *err);
